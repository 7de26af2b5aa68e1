"""The fields of a record, in the two spellings that Codex has for them: `exit_code` and `exitCode`.

What is not of the kind that was looked for counts as absent, so a garbled record costs its own words alone.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from partita.types.json import Json, JsonObject, dumps, is_array, is_object

AGENT: Final = "codex"
"""Where everything that only Codex has is kept, in metadata of any kind."""


def found(fields: JsonObject, name: str) -> Json:
    """What stands under `name`, or under its camel case; `None` when there is nothing."""
    value = fields.get(name)
    return fields.get(camel(name)) if value is None and "_" in name else value


def text(fields: JsonObject, name: str) -> str | None:
    """A text under that name."""
    value = fields.get(name)
    if value is None and "_" in name:
        value = fields.get(camel(name))
    return value if isinstance(value, str) else None


def whole(fields: JsonObject, name: str) -> int | None:
    """A whole number under that name."""
    value = fields.get(name)
    if value is None and "_" in name:
        value = fields.get(camel(name))
    return value if type(value) is int else None  # a boolean is none


def number(value: Json) -> float | None:
    """A number, as one."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def inner(fields: JsonObject, name: str) -> JsonObject:
    """The object under that name; an empty one when there is none."""
    value = found(fields, name)
    return value if is_object(value) else {}


def items(fields: JsonObject, name: str) -> Iterator[JsonObject]:
    """The objects of the list under that name."""
    value = found(fields, name)
    return (item for item in value if is_object(item)) if is_array(value) else iter(())


def texts(fields: JsonObject, name: str) -> list[str]:
    """The texts of the list under that name, be they bare or inside objects."""
    value = found(fields, name)
    if not is_array(value):
        return []
    bare = (item.get("text") if is_object(item) else item for item in value)
    return [item for item in bare if isinstance(item, str)]


def present(**fields: Json) -> JsonObject:
    """The fields that are there."""
    return {name: value for name, value in fields.items() if value is not None}


def under_agent(**fields: Json) -> JsonObject | None:
    """Metadata of ours with the fields that are there; `None` when there are none."""
    kept = present(**fields)
    return {AGENT: kept} if kept else None


def error_words(error: Json) -> str:
    """The words of an error, be it a text, an object with a message, or anything else."""
    if is_object(error) and isinstance(error.get("message"), str):
        return str(error["message"])
    return error if isinstance(error, str) else dumps(error).decode()


@lru_cache(maxsize=1024)
def camel(name: str) -> str:
    """`exit_code` → `exitCode`."""
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


@lru_cache(maxsize=1024)
def snake(name: str) -> str:
    """`CommandExecution`, `commandExecution` → `command_execution`."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")


def duration(fields: JsonObject) -> float | None:
    """How long something took, in seconds, in any of the ways in which Codex says it."""
    value = found(fields, "duration")
    if is_object(value):
        seconds, nanos = number(value.get("secs")), number(value.get("nanos"))
        return None if seconds is None else round(seconds + (nanos or 0) / 1e9, 6)
    if (seconds := number(value)) is not None:
        return seconds
    millis = number(found(fields, "duration_ms"))
    return None if millis is None else millis / 1000


@lru_cache(maxsize=64)
def moment(timestamp: str) -> datetime | None:
    """The moment that a timestamp names, in UTC."""
    try:
        time = datetime.fromisoformat(timestamp)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
