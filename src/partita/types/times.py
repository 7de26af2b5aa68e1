"""Moments: aware datetimes, in UTC."""

from datetime import UTC, datetime
from typing import Annotated, TypeAlias

import msgspec

from partita.errors import DecodeError

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


def iso_text(moment: datetime, timespec: str = "auto") -> str:
    """A moment as ISO 8601 text, in UTC with a `Z`. JavaScript writes it with `milliseconds`."""
    return moment.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def json_date(moment: datetime) -> str:
    """A moment as `Date.toJSON` of JavaScript writes it, with microseconds if it has them."""
    return iso_text(moment, "microseconds" if moment.microsecond % 1000 else "milliseconds")
