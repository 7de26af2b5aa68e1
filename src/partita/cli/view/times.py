"""Moments and durations in words."""

from datetime import UTC, datetime, timedelta, tzinfo

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
