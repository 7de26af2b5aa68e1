"""Members of JSON whose types are unknown: servers fill members that they do not use with anything."""

from collections.abc import Iterator

from partita.types.json import Json, JsonObject, is_array, is_object

LARGEST_COUNT = 2**63 - 1
"""Databases and other readers do not accept larger integers."""


def text_of(value: Json, key: str) -> str:
    """The text under a key; an empty one if there is none."""
    found = value.get(key) if is_object(value) else None
    return found if isinstance(found, str) else ""


def count_of(value: Json, key: str) -> int | None:
    """The number of tokens under a key."""
    found = value.get(key) if is_object(value) else None
    is_count = isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= LARGEST_COUNT
    return found if is_count else None


def items_in(value: Json) -> list[Json]:
    """The items of a list; none if it is not a list."""
    return value if is_array(value) else []


def objects_in(value: Json) -> Iterator[JsonObject]:
    """The objects of a list; none if it is not a list."""
    return (item for item in items_in(value) if is_object(item))


def is_empty(value: Json) -> bool:
    """Whether a value is null or has no content."""
    return value is None or value in ("", [], {})
