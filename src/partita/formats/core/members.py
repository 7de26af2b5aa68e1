"""Members of JSON whose types are unknown: servers fill members that they do not use with anything."""

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.usage import LARGEST_COUNT


def text_in(value: Json, name: str) -> str:
    """A member that is a string; the empty string if it is not."""
    found = value.get(name) if is_object(value) else None
    return found if isinstance(found, str) else ""


def text_or(value: Json, otherwise: str) -> str:
    """A value if it is a string that is not empty."""
    return value if isinstance(value, str) and value else otherwise


def count_in(value: Json, name: str) -> int | None:
    """A member that is a number of tokens or characters, or an index."""
    found = value.get(name) if is_object(value) else None
    return found if type(found) is int and 0 <= found <= LARGEST_COUNT else None


def items_in(value: Json) -> list[Json]:
    """The items of a list; none if it is not a list."""
    return value if is_array(value) else []


def objects_in(value: Json) -> list[JsonObject]:
    """The objects in a list; none if it is not a list."""
    return [item for item in items_in(value) if is_object(item)]


def is_empty(value: Json) -> bool:
    """Whether a value is null or has no content."""
    return value is None or value in ("", [], {})


def without(value: JsonObject, *names: str) -> JsonObject:
    """An object without the named members."""
    return {name: item for name, item in value.items() if name not in names}


def equal(one: Json, other: Json) -> bool:
    """Whether two values are equal. Values that are nested too deeply to compare are not."""
    try:
        return bool(one == other)
    except RecursionError:
        return False
