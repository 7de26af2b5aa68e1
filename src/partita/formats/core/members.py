"""Members of JSON whose types are unknown: servers fill members that they do not use with anything."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, loads
from partita.types.usage import LARGEST_COUNT


def text_in(value: Json, name: str) -> str:
    """A member that is a string; the empty string if it is not."""
    found = value.get(name) if is_object(value) else None
    return found if isinstance(found, str) else ""


def text_or(value: Json, default: str) -> str:
    """A value that is a string and not empty; else the default."""
    return nonempty_text(value) or default


def count_in(value: Json, name: str) -> int | None:
    """A member that is a number of tokens or characters, or an index."""
    found = value.get(name) if is_object(value) else None
    return found if type(found) is int and 0 <= found <= LARGEST_COUNT else None


def object_in(value: Json, name: str) -> JsonObject:
    """A member that is an object; an empty one if it is not."""
    found = value.get(name) if is_object(value) else None
    return found if is_object(found) else {}


def list_in(value: Json, name: str) -> list[Json]:
    """The items of a member that is a list; none if it is not."""
    return items_in(value.get(name)) if is_object(value) else []


def items_in(value: Json) -> list[Json]:
    """The items of a list; none if it is not a list."""
    return value if is_array(value) else []


def objects_in(value: Json) -> list[JsonObject]:
    """The objects in a list; none if it is not a list."""
    return [item for item in items_in(value) if is_object(item)]


def is_empty(value: Json) -> bool:
    """Whether a value is null or has no content."""
    return value is None or value in ("", [], {})


def member_at(value: Json, path: Sequence[str]) -> Json:
    """A member of objects in each other; `None` if it is absent."""
    for name in path:
        value = value.get(name) if is_object(value) else None
    return value


def set_member(value: JsonObject, path: Sequence[str], item: Json) -> None:
    """Set a member of objects in each other, or remove it if it is unset. Inner objects are copied."""
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
    """A value that is a string and not empty; `None` for any other."""
    return value if isinstance(value, str) and value else None


def without(value: Mapping[str, Json], *names: str) -> JsonObject:
    """An object without some of its members."""
    return {name: item for name, item in value.items() if name not in names}


def present(**members: Json) -> JsonObject:
    """The members that are not `None`."""
    return {name: item for name, item in members.items() if item is not None}


def renamed(value: Json, names: Mapping[str, str]) -> Json:
    """An object with other names for its members; any other value as it is."""
    return {names.get(name, name): item for name, item in value.items()} if is_object(value) else value


def inverse(names: Mapping[str, str]) -> Mapping[str, str]:
    """Names by their replacements."""
    return {new: name for name, new in names.items()}


def parsed(value: Json) -> Json:
    """A value that may be given as JSON text, parsed. Text that is not JSON is returned as it is."""
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
    """What kind of value a payload is, for an error."""
    if not is_object(payload):
        return kind_of(payload)
    return f"an object with {', '.join(list(payload)[:5])}" if payload else "an empty object"
