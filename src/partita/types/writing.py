"""Values → plain JSON, with what was kept put back where it was. The slow path of `codec.encode`."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import UNSET

from .chunks import UnknownChunk
from .json import Json, JsonObject
from .parts import UnknownPart
from .value import EXTRA_NAME, OpenValue, UnknownVariant, Value

JSON_TYPES = frozenset({str, dict, int, float, bool, type(None)})
"""The types of JSON values, except lists: those may have other values in them."""


def plain(value: object) -> Json:
    """`value` as plain JSON: what `encode` writes, before it is text."""
    if type(value) in JSON_TYPES:
        return cast("Json", value)
    if type(value) is tuple:
        return [plain(item) for item in cast("Sequence[object]", value)]
    match value:
        case UnknownPart() | UnknownChunk() | UnknownVariant():
            return dict(value.raw)
        case Value():
            return _plain_value(value)
        case tuple() | list():
            return [plain(item) for item in cast("Sequence[object]", value)]  # of anything: `plain` sorts it
        case dict() | str() | int() | float() | None:
            return cast("Json", value)  # JSON already
        case _:
            return msgspec.to_builtins(value)


def _plain_value(value: Value) -> JsonObject:
    config = value.__struct_config__
    result: JsonObject = {config.tag_field: config.tag} if config.tag_field else {}
    for name, wire, default in _fields_of(type(value)):
        item = getattr(value, name)
        if item is not UNSET and item is not default:
            result[wire] = item if type(item) in JSON_TYPES else plain(item)
    if isinstance(value, OpenValue):
        return {**result, **(value.extra or {})}  # a member whose value did not fit is there by its own name
    return _with_extra(result, value.extra)


def _with_extra(result: JsonObject, extra: Mapping[str, Any] | None) -> JsonObject:
    if extra:
        for key, item in extra.items():
            result.setdefault(key, item)
    return result


@cache
def _fields_of(type_: type[Value]) -> tuple[tuple[str, str, Any], ...]:
    return tuple(
        (field.name, field.encode_name, field.default)
        for field in msgspec.structs.fields(type_)
        if field.encode_name != EXTRA_NAME
    )
