"""Times: aware datetimes in UTC, and the texts and numbers that they are read from and written as."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from partita.errors import DecodeError

from .json import Json

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Timestamp: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""An aware datetime. The wire refuses a time without a zone; `in_utc` refuses it in code."""


def in_utc(time: datetime, where: str) -> datetime:
    """The same time in UTC. A time without a zone is refused."""
    if time.tzinfo is None:
        raise DecodeError(
            "time without a zone",
            where=where,
            hint="use an aware datetime, such as datetime.now(UTC)",
            expected="aware datetime",
            found=time.isoformat(),
        )
    try:
        return time if time.tzinfo is UTC else time.astimezone(UTC)
    except OverflowError:
        raise DecodeError(
            "time out of range",
            where=where,
            hint="use a time in the years 1 to 9999 UTC",
            expected="years 1 to 9999",
            found=time.isoformat(),
        ) from None


def iso_text(time: datetime, timespec: Literal["auto", "milliseconds"] = "auto") -> str:
    """A time as ISO 8601 text, in UTC with a `Z`, with microseconds if it has them.

    `milliseconds` is the form that JavaScript writes.
    """
    text: str = msgspec.to_builtins(time if time.tzinfo is UTC else time.astimezone(UTC))
    return text if timespec == "auto" else f"{text[:19]}.{time.microsecond // 1000:03}Z"


def javascript_date(time: datetime) -> str:
    """A time as `Date.toJSON` of JavaScript writes it, with microseconds if it has them."""
    return iso_text(time, "auto" if time.microsecond % 1000 else "milliseconds")


def parse_iso(text: str) -> datetime | None:
    """The time of an ISO 8601 text; `None` if the text is not one. Without a zone it is taken as UTC."""
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is UTC:
            return time
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def from_milliseconds(value: Json) -> datetime | None:
    """The time of a number of milliseconds since 1970; `None` if it is out of range or not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return EPOCH + timedelta(milliseconds=value)
    except (OverflowError, ValueError):
        return None


# Times as people write them: a date, a time, or how long ago.

DAY: Final = 86_400
SECONDS: Final = {
    "minute": 60,
    "hour": 3600,
    "day": DAY,
    "week": 7 * DAY,
    "month": 30 * DAY,
    "year": 365 * DAY,
}
UNITS: Final = {"m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week"}
DURATION: Final = re.compile(
    rf"(?P<count>\d{{1,6}})\s*(?P<unit>{'|'.join(UNITS)}|(?:{'|'.join(SECONDS)})s?)", re.IGNORECASE
)
AGO: Final = re.compile(r"\s*ago$")
DAYS: Final = {"today": 0, "yesterday": 1}
MONTH: Final = re.compile(r"\d{4}-\d{2}")


def parse_duration(text: str) -> timedelta | None:
    """The duration that a text such as `3h`, `2 days` or `1 week` means, or `None`. A month has 30 days."""
    match = DURATION.fullmatch(text.strip())
    if match is None:
        return None
    unit = match["unit"].lower()
    return timedelta(seconds=int(match["count"]) * SECONDS[UNITS.get(unit, unit.removesuffix("s"))])


def parse_time_expression(text: str, now: datetime) -> datetime | None:
    """The time that a text means, or `None`: a date, `2026-06`, `yesterday`, `2h`, `2 days ago`, `last week`.

    `now` also has the zone.
    """
    expression = text.strip().lower()
    if expression in DAYS:
        day = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS[expression])
        return day.astimezone(UTC)
    last = expression.removeprefix("last ")
    try:
        ago = parse_duration(AGO.sub("", expression) if last == expression else f"1 {last}")
        if ago is not None:
            return (now - ago).astimezone(UTC)
        time = datetime.fromisoformat(f"{expression}-01" if MONTH.fullmatch(expression) else text.strip())
        return (time.replace(tzinfo=now.tzinfo) if time.tzinfo is None else time).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class MachineZone(tzinfo):
    """The time zone of this machine, with daylight saving time."""

    def fromutc(self, dt: datetime) -> datetime:
        """Return the local time of a UTC time."""
        return dt.replace(tzinfo=UTC).astimezone()

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """Return the offset from UTC at a local time."""
        return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        """Return `None`: how much of the offset is daylight saving time is not known."""
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        """Return the name of the zone at a local time."""
        return None if dt is None else dt.replace(tzinfo=None).astimezone().tzname()
