"""Redaction takes linear time for any text."""

import random
from collections.abc import Iterator
from time import process_time

from partita.formats.redaction.custom import Custom
from partita.formats.redaction.detectors import DETECTORS
from partita.formats.redaction.kinds import BY_NAME
from partita.formats.redaction.redactor import Redactor, Rules
from partita.formats.redaction.token_formats import TOKEN_FORMATS
from tests.sampling import FULL, sampled
from tests.tables import each_row

from .planted import from_pattern

SIZE = 40_000 if FULL else 4_000
TIMES = 4
SLOWEST = 12e-6
"""Seconds per character of a worst-case text; ordinary text is a hundred times faster."""

SEPARATORS = ("", "-", "_", ".", " ", "\n", '"', "\\", "%", "=", ": ")


def units() -> Iterator[str]:
    """Return texts that are slow to search when repeated: prefixes of secrets, and unfinished secrets."""
    rng = random.Random(3)
    for token in TOKEN_FORMATS:
        for prefix in token.prefixes[:2]:
            sample = from_pattern(token._replace(prefixes=(prefix,)).expression, rng)
            yield prefix + rng.choice(SEPARATORS)
            yield sample[:-1] + rng.choice(SEPARATORS)
            yield sample[: len(sample) // 2] + rng.choice(SEPARATORS)
    for _, literals, _ in DETECTORS:
        for literal in literals:
            for ending in (*SEPARATORS, '="', ":'", " is ", '": "', "=$", "=x,", ':{"'):
                yield literal.decode() + ending
                yield literal.decode().upper() + ending + "A1"
    yield from ("\\", "\\u00", "%", "%4", "%25", "&#", "\x1b[", "\x1b]", "\\u001b[", "\u200b", "data:")
    yield from (
        "data:image/png;base64,",
        "data:text/plain;base64,QQ==",
        "/home/",
        "/Users/a",
        "-home-a",
        "~a/",
    )
    yield from ("x", "_", "-", "a" * 15 + " ", "a" * 16 + " ", "eyJ", "eyJaaaaaaaa.", "a:b@", "://a:")


def seconds(text: str, rules: Rules) -> float:
    redactor = Redactor(rules)
    begin = process_time()
    redactor.text(text, "$")
    redactor.start_replacing()
    redactor.text(text, "$")
    return process_time() - begin


def grows_linearly(unit: str, rules: Rules) -> bool:
    """Return whether four times the text takes less than eight times as long, in one of three attempts."""
    short = unit * (SIZE // len(unit) + 1)
    for _ in range(3):
        first, second = seconds(short, rules), seconds(short * TIMES, rules)
        if second < 2 * TIMES * first + 0.02 and second < SLOWEST * len(short) * TIMES:
            return True
    return False


def test_every_format_and_detector_takes_linear_time() -> None:
    rules = Rules(frozenset(BY_NAME))
    chosen = sampled(list(units()), 40)
    slow = [unit for unit in chosen if not grows_linearly(unit, rules)]
    assert not slow


def test_a_megabyte_of_token_prefixes_is_searched_in_a_second() -> None:
    assert seconds("eyJ" * 350_000, Rules()) < 1.0


def test_ordinary_text_takes_a_fraction_of_a_second() -> None:
    line = "The service listens on port 8080; see `docs/server.md` (line 12) and set `MODE=fast`.\n"
    assert seconds(line * 12_000, Rules()) < 1.5


def test_many_secrets_take_linear_time() -> None:
    secrets = [f"ghp_{number:036d}" for number in range(2_000)]
    short, long = "\n".join(secrets[:500]), "\n".join(secrets)
    first, second = seconds(short, Rules()), seconds(long, Rules())
    assert second < 3 * TIMES * first + 0.3


@each_row(
    "patterns",
    [["a*b"], ["[ab]+x", "a{1,200}c"], [r"\w*\d*-", "a.{0,99}z"], ["ab" * 100 + "c"]],
)
def test_custom_patterns_take_linear_time(patterns: list[str]) -> None:
    rules = Rules(frozenset(), tuple(Custom(pattern, is_pattern=True) for pattern in patterns))
    assert grows_linearly("a", rules)
    assert grows_linearly("ab", rules)


def test_custom_strings_take_linear_time() -> None:
    rules = Rules(frozenset(), (Custom("a" * 400), Custom("ab" * 200 + "c")))
    assert grows_linearly("a", rules)
    assert grows_linearly("ab", rules)
