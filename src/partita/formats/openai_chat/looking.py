"""Looking at JSON values of which nothing is known."""

from collections.abc import Iterator

from partita.types.json import Json, JsonObject, is_array, is_object

LARGEST_COUNT = 2**63 - 1
"""Above it no database and no other reader takes an integer."""


def word(value: Json, key: str) -> str:
    """The string under a key; an empty one if there is none."""
    found = value.get(key) if is_object(value) else None
    return found if isinstance(found, str) else ""


def count(value: Json, key: str) -> int | None:
    """The number of tokens under a key."""
    found = value.get(key) if is_object(value) else None
    is_count = isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= LARGEST_COUNT
    return found if is_count else None


def items(value: Json) -> list[Json]:
    """The items of an array; none if it is no array."""
    return value if is_array(value) else []


def objects(value: Json) -> Iterator[JsonObject]:
    """The objects in an array, if it is one."""
    return (item for item in items(value) if is_object(item))


def is_empty(value: Json) -> bool:
    """Whether a value says nothing: servers fill fields they do not use with these."""
    return value is None or value in ("", [], {})
