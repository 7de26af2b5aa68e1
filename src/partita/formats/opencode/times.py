"""Times of OpenCode: milliseconds since 1970."""

from datetime import UTC, datetime, timedelta
from typing import Final

from partita.types.json import Json, JsonObject, is_object

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment_of(value: Json) -> datetime | None:
    """A time, if it is one that a calendar has."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return EPOCH + timedelta(milliseconds=value)
    except (OverflowError, ValueError):
        return None


def time_in(fields: JsonObject, name: str) -> datetime | None:
    """One of the times that an object has."""
    time = fields.get("time")
    return moment_of(time.get(name)) if is_object(time) else None
