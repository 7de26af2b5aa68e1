"""What a value says: its fields that are not as they are when nobody sets them."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import UNSET
from msgspec.structs import fields

from partita.types.codec import to_json
from partita.types.json import Json
from partita.types.value import EXTRA_NAME, Value


def said_in(value: Value, *written: str) -> Iterator[tuple[str, Json]]:
    """Names on the wire and plain JSON of what a value says, in the order it is written in.

    Fields that are `written` already are passed over, and never turned into JSON.
    """
    for name, wire, default in _fields(type(value)):
        item = getattr(value, name)
        if item is not default and item is not UNSET and wire not in written:
            yield wire, to_json(item)
    if value.extra is not None:
        for wire, item in value.extra.items():
            if wire not in written:
                yield wire, item


@cache
def _fields(type_: type[Value]) -> tuple[tuple[str, str, Any], ...]:
    return tuple(
        (field.name, field.encode_name, field.default)
        for field in fields(type_)
        if field.encode_name != EXTRA_NAME
    )
