"""Text from elsewhere, made fit to be shown: nothing in it may reach the terminal as a command."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
LINE_ENDS = re.compile(r"\r\n?")
UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for tab and line feed
    "\u00ad\u180e\u200b\u2060-\u2064\ufeff"  # invisible: words that look alike need not be alike
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # turn the direction of writing
    "\u2028\u2029\ufff9-\ufffb"
    "\ud800-\udfff"  # half a surrogate pair, which no terminal can be sent
    "\U000e0000-\U000e0fff"  # tags and selectors nobody sees
    "]"
)
BLANK = re.compile(r"\s+")


def safe(text: str, *, tabs: int = 8) -> str:
    """The text without colours; what a terminal would obey, hide or turn around is written as an escape.

    A carriage return ends a line: what it would have overwritten stays in sight.
    """
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    if "\r" in text:
        text = LINE_ENDS.sub("\n", text)
    if "\t" in text:
        text = text.expandtabs(tabs)
    return escaped(text)


def escaped(text: str) -> str:
    """The text with an escape in the place of each character that must not be sent."""
    return UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_escaped(text: bytes) -> bytes:
    """JSON with the same meaning, in which nothing is left that a terminal would obey."""
    return UNSAFE.sub(_json_escape, text.decode("utf-8", "replace")).encode("utf-8", "replace")


def _json_escape(match: re.Match[str]) -> str:
    halves = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{halves[place : place + 2].hex()}" for place in range(0, len(halves), 2))


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one line, cut with `…` where it is longer than that."""
    if limit is not None:
        text = text[: 4 * limit]  # of a text of megabytes the beginning will do
    line = BLANK.sub(" ", safe(text, tabs=1)).strip()
    return line if limit is None or len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"


class Folded(NamedTuple):
    """Some lines of many: the first, how many are left out, the last."""

    head: Sequence[str]
    hidden: int
    tail: Sequence[str]


def fold(lines: Sequence[str], head: int, tail: int = 0) -> Folded:
    """The first and the last lines. A single line is not worth leaving out."""
    if len(lines) <= head + tail + 1:
        return Folded(lines, 0, ())
    return Folded(lines[:head], len(lines) - head - tail, lines[len(lines) - tail :] if tail else ())


def clipped(line: str, limit: int) -> str:
    """A line, or its beginning and how much there is after it."""
    return line if len(line) <= limit else f"{line[:limit]}… ({len(line) - limit:,} characters more)"


def lines_of(text: str, *, tabs: int = 8) -> list[str]:
    """The lines of a text, made safe, without blank ones at its ends."""
    return safe(text, tabs=tabs).strip("\n").split("\n") if text.strip() else []


def tokens_of(count: int) -> str:
    """How many tokens, in short: `860`, `12.5k`, `1.2M`."""
    if count < 1000:
        return str(count)
    number, unit = (count / 1000, "k") if count < 999_500 else (count / 1_000_000, "M")
    return f"{number:.0f}{unit}" if number >= 100 else f"{number:.1f}{unit}"


# Moments and durations in words.

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
DAYS_COUNTED = 14
"""After so many days a date says more than a count."""


def ago(moment: datetime, now: datetime, zone: tzinfo | None = None) -> str:
    """How long ago it was: `just now`, `5 min ago`, `3 h ago`, `2 d ago`, then the date."""
    seconds = (now - moment).total_seconds()
    if -MINUTE < seconds < MINUTE:
        return "just now"
    if 0 < seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min ago"
    if 0 < seconds < DAY:
        return f"{seconds // HOUR:.0f} h ago"
    if 0 < seconds < DAYS_COUNTED * DAY:
        return f"{seconds // DAY:.0f} d ago"
    return f"{moment.astimezone(zone):%Y-%m-%d}"


def iso(moment: datetime) -> str:
    """A moment to the second, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def clock(moment: datetime, before: datetime | None, zone: tzinfo | None = None) -> str:
    """The time of day, with the date when it is not that of the moment before."""
    here = moment.astimezone(zone)
    same_day = before is not None and before.astimezone(zone).date() == here.date()
    return f"{here:%H:%M:%S}" if same_day else f"{here:%Y-%m-%d %H:%M:%S}"


def took(duration: timedelta) -> str:
    """How long something took: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."""
    seconds = max(duration.total_seconds(), 0)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return _pair(whole, MINUTE, "min", 1, "s")
    if whole < DAY:
        return _pair(whole, HOUR, "h", MINUTE, "min")
    return _pair(whole, DAY, "d", HOUR, "h")


def _pair(seconds: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    first, rest = divmod(seconds, large)
    second = rest // small
    return f"{first} {large_unit} {second} {small_unit}" if second else f"{first} {large_unit}"
