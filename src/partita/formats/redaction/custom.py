"""Custom texts and patterns to replace, in addition to the known kinds.

A pattern is searched in texts of any size, so its language is small: letters, `.`, classes, escapes such as
`\\d`, `^ $`, alternatives at the top, and possessive quantifiers with an upper limit. There are no groups,
and all quantifiers together have a limit: each position of a text is searched in bounded time.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from partita.errors import DecodeError

LONGEST: Final = 500
MOST: Final = 100
REACH: Final = 256
"""The most characters that a quantifier without an upper limit matches."""

TOTAL_REACH: Final = 4096
"""The most characters that all quantifiers of all patterns match together."""

_TOKEN: Final = re.compile(
    r"(?P<item>\\[dDwWsSbBnrt]|\\[^A-Za-z0-9]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[\](){}*+?|])"
    r"(?P<count>[*+?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})?"
    r"|(?P<or>\|)"
)
_HIGH: Final = re.compile(r"\{[0-9]+,([0-9]+)\}\+")


class Custom(NamedTuple):
    """A text or a pattern to replace."""

    text: str
    is_pattern: bool = False


def compiled(customs: Sequence[Custom]) -> list[re.Pattern[str]]:
    """The patterns, compiled. An error names the text or pattern that cannot be used."""
    if len(customs) > MOST:
        raise DecodeError(
            f"more than {MOST} strings and patterns",
            where="redact.custom",
            hint="use fewer, or patterns that match several",
        )
    patterns: list[re.Pattern[str]] = []
    reach = 0
    for number, custom in enumerate(customs):
        where = f"redact.custom[{number}]"
        _check(custom, where)
        if custom.is_pattern:
            expression = _bounded(custom.text, where)
            reach += sum(int(high) for high in _HIGH.findall(expression))
            if reach > TOTAL_REACH:
                raise DecodeError(
                    f"the quantifiers of the patterns reach over more than {TOTAL_REACH} characters together",
                    where=where,
                    hint="write {1,20} instead of +, or use fewer patterns",
                )
            patterns.append(_pattern(expression, where))
    return patterns


def _check(custom: Custom, where: str) -> None:
    if not custom.text:
        raise DecodeError("the text is empty", where=where, hint="use a string or a pattern")
    if len(custom.text) > LONGEST:
        raise DecodeError(f"longer than {LONGEST} characters", where=where, hint="use a part of it")


def _pattern(expression: str, where: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise DecodeError(
            f"the pattern cannot be compiled: {error}", where=where, hint="write it as a regular expression"
        ) from None
    if pattern.match(""):
        raise DecodeError("the pattern matches an empty text", where=where, hint="require at least a letter")
    return pattern


def _bounded(text: str, where: str) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise DecodeError(
                f"the pattern has something at character {at + 1} that is not supported: {text[at]!r}",
                where=where,
                hint="letters, classes, \\d \\w \\s \\b, | and quantifiers are supported; groups are not",
            )
        pieces.append("|" if token["or"] else token["item"] + _quantifier(token["count"]))
        at = token.end()
    return "".join(pieces)


def _quantifier(count: str | None) -> str:
    """The same quantifier with an upper limit, and possessive."""
    if count is None:
        return ""
    if count == "?":
        return "?+"
    low, _, high = {"*": "0,", "+": "1,"}.get(count, count.strip("{}")).partition(",")
    bounded = min(int(high), REACH) if high else (REACH if count in "*+" or "," in count else int(low))
    return f"{{{min(int(low), REACH)},{bounded}}}+"
