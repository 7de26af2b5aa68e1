"""Making text safe for a terminal, shortening it, and formatting numbers, times and durations."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
LINE_ENDS = re.compile(r"\r\n?")
UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and line feed
    "\u00ad\u180e\u200b\u2060-\u2064\ufeff"  # invisible characters: different texts would look the same
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # characters that change the text direction
    "\u2028\u2029\ufff9-\ufffb"
    "\ud800-\udfff"  # half a surrogate pair, which cannot be encoded
    "\U000e0000-\U000e0fff"  # invisible tags and selectors
    "]"
)
BLANK = re.compile(r"\s+")


def safe(text: str, *, tabs: int = 8) -> str:
    """Return the text without colours and with unsafe characters escaped.

    A carriage return becomes a line break, so that the text it would overwrite stays visible.
    """
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    if "\r" in text:
        text = LINE_ENDS.sub("\n", text)
    if "\t" in text:
        text = text.expandtabs(tabs)
    return escaped(text)


def escaped(text: str) -> str:
    """Return the text with each unsafe character replaced by an escape."""
    return UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_escaped(text: bytes) -> bytes:
    """Return equivalent JSON with each unsafe character replaced by a JSON escape."""
    return UNSAFE.sub(_json_escape, text.decode("utf-8", "replace")).encode("utf-8", "replace")


def _json_escape(match: re.Match[str]) -> str:
    halves = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{halves[place : place + 2].hex()}" for place in range(0, len(halves), 2))


def one_line(text: str, limit: int | None = None) -> str:
    """Return the text on one line, cut with `…` if it is longer than `limit`."""
    if limit is not None:
        text = text[: 4 * limit]  # the text may have megabytes
    line = BLANK.sub(" ", safe(text, tabs=1)).strip()
    return line if limit is None or len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"


class Folded(NamedTuple):
    """The first lines, the number of hidden lines, and the last lines."""

    head: Sequence[str]
    hidden: int
    tail: Sequence[str]


def fold(lines: Sequence[str], head: int, tail: int = 0) -> Folded:
    """Return the first and the last lines. A single line is never hidden."""
    if len(lines) <= head + tail + 1:
        return Folded(lines, 0, ())
    return Folded(lines[:head], len(lines) - head - tail, lines[len(lines) - tail :] if tail else ())


def clipped(line: str, limit: int) -> str:
    """Return a line, or its beginning and the number of characters after it."""
    return line if len(line) <= limit else f"{line[:limit]}… ({len(line) - limit:,} characters more)"


def lines_of(text: str, *, tabs: int = 8) -> list[str]:
    """Return the safe lines of a text, without blank lines at both ends."""
    return safe(text, tabs=tabs).strip("\n").split("\n") if text.strip() else []


def tokens_of(count: int) -> str:
    """Return a short token count: `860`, `12.5k`, `1.2M`."""
    if count < 1000:
        return str(count)
    number, unit = (count / 1000, "k") if count < 999_500 else (count / 1_000_000, "M")
    return f"{number:.0f}{unit}" if number >= 100 else f"{number:.1f}{unit}"


MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MAX_DAYS_AGO = 14
"""Older times are formatted as dates."""


def ago(moment: datetime | None, now: datetime, zone: tzinfo | None = None) -> str:
    """Return a relative time: `just now`, `5 min ago`, `3 h ago`, `2 d ago`, or the date.

    An unknown time is an empty text.
    """
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    if -MINUTE < seconds < MINUTE:
        return "just now"
    if 0 < seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min ago"
    if 0 < seconds < DAY:
        return f"{seconds // HOUR:.0f} h ago"
    if 0 < seconds < MAX_DAYS_AGO * DAY:
        return f"{seconds // DAY:.0f} d ago"
    return f"{moment.astimezone(zone):%Y-%m-%d}"


def zone_name(moment: datetime, zone: tzinfo | None = None) -> str:
    """Return the name of the time zone at a time: `CEST`."""
    return moment.astimezone(zone).tzname() or ""


def time_title(
    title: str,
    moments: Iterable[datetime | None],
    now: datetime,
    zone: tzinfo | None = None,
    *,
    exact: bool = False,
) -> str:
    """Return the title of a column of times, with the time zone if dates or clock times are in it."""
    if exact:
        return f"{title} (UTC)"
    has_dates = any(ago(moment, now, zone)[4:5] == "-" for moment in moments)
    return f"{title} ({zone_name(now, zone)})" if has_dates else title


def iso(moment: datetime) -> str:
    """Return a time in UTC, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def clock(moment: datetime, before: datetime | None, zone: tzinfo | None = None) -> str:
    """Return the time of day, with the date if it differs from the date of the previous time."""
    local = moment.astimezone(zone)
    same_day = before is not None and before.astimezone(zone).date() == local.date()
    return f"{local:%H:%M:%S}" if same_day else f"{local:%Y-%m-%d %H:%M:%S}"


def format_duration(duration: timedelta) -> str:
    """Return a duration: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."""
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
