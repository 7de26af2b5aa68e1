"""Moments: aware datetimes, in UTC."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from partita.errors import DecodeError

from .json import Json

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""An aware datetime. The wire refuses a time without a zone; `in_utc` refuses it in code."""


def in_utc(moment: datetime, where: str) -> datetime:
    """The same moment in UTC."""
    if moment.tzinfo is None:
        raise DecodeError(
            "time without a zone",
            where=where,
            hint="use an aware datetime, such as datetime.now(UTC)",
            expected="aware datetime",
            found=moment.isoformat(),
        )
    try:
        return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except OverflowError:
        raise DecodeError(
            "time out of range",
            where=where,
            hint="use a time that is in the years 1 to 9999 in UTC too",
            expected="years 1 to 9999",
            found=moment.isoformat(),
        ) from None


def iso_text(moment: datetime, timespec: Literal["auto", "milliseconds"] = "auto") -> str:
    """A moment as ISO 8601 text, in UTC with a `Z`, with microseconds if it has them.

    JavaScript writes it with `milliseconds`.
    """
    text: str = msgspec.to_builtins(moment if moment.tzinfo is UTC else moment.astimezone(UTC))
    return text if timespec == "auto" else f"{text[:19]}.{moment.microsecond // 1000:03}Z"


def json_date(moment: datetime) -> str:
    """A moment as `Date.toJSON` of JavaScript writes it, with microseconds if it has them."""
    return iso_text(moment, "auto" if moment.microsecond % 1000 else "milliseconds")


def read_time(text: str) -> datetime | None:
    """The moment that ISO 8601 text names, in UTC if it names no zone; `None` if it names none."""
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is UTC:
            return time
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_millis(value: Json) -> datetime | None:
    """The moment that is so many milliseconds after 1970; `None` if it is out of range, or not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return EPOCH + timedelta(milliseconds=value)
    except (OverflowError, ValueError):
        return None
