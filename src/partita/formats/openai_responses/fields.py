"""Reading the fields of events and items, none of which is sure to be there."""

from collections.abc import Iterator
from typing import Final

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of

NAMESPACE: Final = "openai"
"""The provider's name in provider metadata."""

FORMAT: Final = "openai-responses"
"""The name of the format, on parts of it that are kept whole."""

ITEM: Final = "item"
"""Where the fields of an item stand in metadata that no chunk says otherwise."""

WORDS: Final = ("message", "error", "detail", "error_message", "code", "type")
"""Where an error may say what went wrong, the best first."""


def text(fields: JsonObject, name: str) -> str:
    """A field that is a string, or none."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def whole(fields: JsonObject, name: str) -> int | None:
    """A field that is a whole number."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def inner(fields: JsonObject, name: str) -> JsonObject:
    """A field that is an object, or an empty one."""
    value = fields.get(name)
    return value if is_object(value) else {}


def array(fields: JsonObject, name: str) -> list[Json]:
    """A field that is an array, or an empty one."""
    value = fields.get(name)
    return value if is_array(value) else []


def objects(fields: JsonObject, name: str) -> Iterator[JsonObject]:
    """The objects in a field that is an array."""
    return (item for item in array(fields, name) if is_object(item))


def present(**fields: Json) -> JsonObject:
    """Those fields that say something."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def rest_of(item: JsonObject, *told: str) -> JsonObject:
    """What an item says besides the fields that are told elsewhere."""
    return {
        name: value
        for name, value in item.items()
        if value is not None and name not in told and name not in ("id", "type")
    }


def about(item: JsonObject, *told: str) -> JsonObject:
    """The metadata that an item leaves behind: which it was, and what no chunk says of it."""
    return present(itemId=text(item, "id"), type=text(item, "type"), item=rest_of(item, *told))


def error_words(error: Json) -> str:
    """What an error says, whatever its shape."""
    while is_object(error) or is_array(error):
        said = _said(error)
        if said is None:
            break
        error = said
    return error if isinstance(error, str) and error else written(error)


def written(value: Json) -> str:
    """A value as JSON text."""
    try:
        return dumps(value).decode()
    except DecodeError:
        return kind_of(value)


def _said(error: Json) -> Json:
    """What is inside an error: its best field, or the first of several errors."""
    if is_object(error):
        return next((error[name] for name in WORDS if error.get(name) not in (None, "", [], {})), None)
    return error[0] if error else None
