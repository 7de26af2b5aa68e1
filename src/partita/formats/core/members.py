"""Access to members of JSON objects whose types are not certain.

Servers and logs fill unused members with null, empty texts, or other types. These functions return a default
then, so that the code of a format has no checks for it.
"""

from collections.abc import Mapping, Sequence

from msgspec import UNSET

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, loads
from partita.types.usage import LARGEST_COUNT


def text_in(value: Json, name: str) -> str:
    """Return a member that is a string, else the empty string."""
    found = value.get(name) if is_object(value) else None
    return found if isinstance(found, str) else ""


def text_or(value: Json, default: str) -> str:
    """Return a value that is a string and not empty, else the default."""
    return nonempty_text(value) or default


def count_in(value: Json, name: str) -> int | None:
    """Return a member that is a valid count or index, else `None`."""
    found = value.get(name) if is_object(value) else None
    return found if type(found) is int and 0 <= found <= LARGEST_COUNT else None


def object_in(value: Json, name: str) -> JsonObject:
    """Return a member that is an object, else an empty one."""
    found = value.get(name) if is_object(value) else None
    return found if is_object(found) else {}


def list_in(value: Json, name: str) -> list[Json]:
    """Return the items of a member that is a list, else none."""
    return items_in(value.get(name)) if is_object(value) else []


def items_in(value: Json) -> list[Json]:
    """Return the items of a list, else none."""
    return value if is_array(value) else []


def objects_in(value: Json) -> list[JsonObject]:
    """Return the objects in a list, else none."""
    return [item for item in items_in(value) if is_object(item)]


def is_empty(value: Json) -> bool:
    """Whether a value is null, or an empty string, list or object."""
    return value is None or value in ("", [], {})


def member_at(value: Json, path: Sequence[str]) -> Json:
    """Return a member of nested objects, or `None` if it is absent."""
    for name in path:
        value = value.get(name) if is_object(value) else None
    return value


def set_member(value: JsonObject, path: Sequence[str], item: Json) -> None:
    """Set a member of nested objects, or remove it if it is unset. Inner objects are copied."""
    name, *inner = path
    if inner:
        around = dict(value[name]) if is_object(value.get(name)) else {}
        set_member(around, inner, item)
        item = around or UNSET
    if item is UNSET:
        value.pop(name, None)
    else:
        value[name] = item


def nonempty_text(value: Json) -> str | None:
    """Return a value that is a string and not empty, else `None`."""
    return value if isinstance(value, str) and value else None


def without(value: Mapping[str, Json], *names: str) -> JsonObject:
    """Return an object without some of its members."""
    return {name: item for name, item in value.items() if name not in names}


def present(**members: Json) -> JsonObject:
    """Return an object of the members that are not `None`."""
    return {name: item for name, item in members.items() if item is not None}


def renamed(value: Json, names: Mapping[str, str]) -> Json:
    """Return an object with other names for its members, and any other value as it is."""
    return {names.get(name, name): item for name, item in value.items()} if is_object(value) else value


def inverse(names: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names by their replacements."""
    return {new: name for name, new in names.items()}


def parsed(value: Json) -> Json:
    """Parse a value that may be JSON text. Text that is not JSON is returned as it is."""
    try:
        return loads(value) if isinstance(value, str) else value
    except DecodeError:
        return value


def is_equal(one: Json, other: Json) -> bool:
    """Whether two values are equal. Values that are nested too deeply to compare are not."""
    try:
        return bool(one == other)
    except RecursionError:
        return False


def described(payload: Json) -> str:
    """Describe a payload for an error: its type, and its first members."""
    if not is_object(payload):
        return kind_of(payload)
    return f"an object with {', '.join(list(payload)[:5])}" if payload else "an empty object"
