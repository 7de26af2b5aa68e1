"""What somebody wants replaced besides: strings, and patterns that cannot run away.

A pattern is searched in texts of any size, so it is a small language: letters, `.`, classes, `\\d` and its
likes, `^ $`, alternatives at the top, and quantifiers that take what they can and give nothing back. There
are no groups. Each place of a text is then looked at once, in bounded time.
"""

import re
from typing import Final, NamedTuple

from partita.errors import DecodeError

LONGEST: Final = 500
MOST: Final = 100
REACH: Final = 256
"""How far a quantifier without an end reaches."""

_TOKEN: Final = re.compile(
    r"(?P<item>\\[dDwWsSbBnrt]|\\[^A-Za-z0-9]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[\](){}*+?|])"
    r"(?P<count>[*+?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})?"
    r"|(?P<or>\|)"
)


class Custom(NamedTuple):
    """Something to be replaced, as it was given."""

    text: str
    is_pattern: bool = False


def compiled(customs: list[Custom]) -> list[re.Pattern[str]]:
    """The patterns for what was given; an error that says which one is no good."""
    if len(customs) > MOST:
        raise DecodeError(
            f"more than {MOST} strings and patterns",
            where="redact.custom",
            hint="give fewer, or patterns for several",
        )
    return [_compiled(one, f"redact.custom[{number}]") for number, one in enumerate(customs)]


def _compiled(custom: Custom, where: str) -> re.Pattern[str]:
    if not custom.text:
        raise DecodeError("there is nothing to look for", where=where, hint="give a string or a pattern")
    if len(custom.text) > LONGEST:
        raise DecodeError(f"longer than {LONGEST} characters", where=where, hint="give a part of it")
    if not custom.is_pattern:
        return re.compile(re.escape(custom.text))
    try:
        pattern = re.compile(_bounded(custom.text, where))
    except re.error as error:
        raise DecodeError(
            f"the pattern is no good: {error}", where=where, hint="write it as a regular expression"
        ) from None
    if pattern.match(""):
        raise DecodeError("the pattern matches nothing at all", where=where, hint="ask for at least a letter")
    return pattern


def _bounded(text: str, where: str) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise DecodeError(
                f"the pattern has something at character {at + 1} that is not taken: {text[at]!r}",
                where=where,
                hint="letters, classes, \\d \\w \\s \\b, | and quantifiers are taken; groups are not",
            )
        pieces.append("|" if token["or"] else token["item"] + _quantifier(token["count"]))
        at = token.end()
    return "".join(pieces)


def _quantifier(count: str | None) -> str:
    """The same, with an end, and giving nothing back."""
    if count is None:
        return ""
    if count == "?":
        return "?+"
    low, _, high = {"*": "0,", "+": "1,"}.get(count, count.strip("{}")).partition(",")
    bounded = min(int(high), REACH) if high else (REACH if count in "*+" or "," in count else int(low))
    return f"{{{min(int(low), REACH)},{bounded}}}+"
