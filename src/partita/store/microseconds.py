"""Moments as SQLite keeps them."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def to_microseconds(moment: datetime) -> int:
    """A moment as SQLite keeps it: microseconds since 1970, exactly."""
    return (moment - EPOCH) // MICROSECOND


def from_microseconds(number: int) -> datetime:
    """The moment that SQLite kept."""
    return EPOCH + number * MICROSECOND
