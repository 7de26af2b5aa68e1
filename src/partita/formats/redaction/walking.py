"""Secrets in values of ours: every text of a message, a thread, a run or a chunk, wherever it stands.

What only means something to us (the type of a part, the state of a call) stays: there is a fixed set of words
for it. Everything else may bear a secret: names of members, ids, metadata, fields nobody knows.
"""

import types
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, Literal, TypeGuard, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.types.chunks import DATA_PREFIX, DataChunk
from partita.types.json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, is_array, is_object
from partita.types.value import Extra, Value

from .redactor import Redactor

T = TypeVar("T")

CLOSED: Final = (int, float, bool, type(None), datetime)
"""Types of fields that cannot hold a mark, and no words either."""


def redacted(value: T, redactor: Redactor, path: str = "$") -> T:
    """The same value without secrets; what bears none is the very same."""
    try:
        result: T = _walk(value, redactor, path)
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    return result


def _is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _walk(value: Any, redactor: Redactor, path: str) -> Any:
    if _is_tuple(value):
        return _items(value, redactor, path)
    match value:
        case str():
            return redactor.text(value, path)
        case Value():
            return _value(value, redactor, path)
        case Extra():
            return _extra(value, redactor, path)
        case dict() | list():
            return redacted_json(value, redactor, path)
        case int() | float() if redactor.has_custom and not isinstance(value, bool):
            return _number(value, redactor, path)
        case _:
            return value


def _value(value: Value, redactor: Redactor, path: str) -> Value:
    changed: dict[str, Any] = {}
    for name, wire_name in _open_fields(type(value)):
        was = getattr(value, name)
        if was is None:
            continue
        now = _walk(was, redactor, path if name == "extra" else f"{path}.{wire_name}")
        if now is not was and now != was:
            changed[name] = now
    if isinstance(value, DataChunk) and not changed.get("type", DATA_PREFIX).startswith(DATA_PREFIX):
        changed["type"] = f"{DATA_PREFIX}{changed['type']}"  # its type is a name behind that
    return replace(value, **changed) if changed else value


def _items(items: Sequence[Any], redactor: Redactor, path: str) -> Sequence[Any]:
    now = tuple(_walk(item, redactor, f"{path}[{index}]") for index, item in enumerate(items))
    return items if all(a is b for a, b in zip(now, items, strict=True)) else now


def _extra(extra: Extra, redactor: Redactor, path: str) -> Extra:
    was: JsonObject = dict(extra)
    now = _members(was, redactor, path)
    return extra if now == was else Extra(now)


def redacted_json(value: Json, redactor: Redactor, path: str) -> Json:
    """Plain JSON without secrets, in names of members too."""
    if isinstance(value, str):
        return redactor.text(value, path)
    if is_object(value):
        return _members(value, redactor, path)
    if is_array(value):
        return [redacted_json(item, redactor, f"{path}[{index}]") for index, item in enumerate(value)]
    if redactor.has_custom and isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, redactor, path)
    return value


def _members(members: Mapping[str, Json], redactor: Redactor, path: str) -> JsonObject:
    told: JsonObject = {}
    for name, value in members.items():
        inside = f"{path}.{name}"
        now = (
            redactor.member(name, value, inside)
            if isinstance(value, str)
            else redacted_json(value, redactor, inside)
        )
        new_name = redactor.text(name, path)
        while new_name in told:
            new_name += "′"
        told[new_name] = now
    return told


def _number(value: float, redactor: Redactor, path: str) -> Json:
    """A number, or a mark where its digits are what somebody wants replaced."""
    text = msgspec.json.encode(value).decode()
    plain = redactor.text(text, path)
    return value if plain == text else plain


@cache
def _open_fields(type_: type[Value]) -> tuple[tuple[str, str], ...]:
    """The fields that may hold anything."""
    return tuple(
        (one.name, one.encode_name) for one in msgspec.structs.fields(type_) if not _is_closed(one.type)
    )


def _is_closed(type_: Any) -> bool:
    """Whether a field takes some words, or numbers, alone."""
    if get_origin(type_) in (Union, types.UnionType):
        return all(_is_closed(one) for one in get_args(type_))
    return get_origin(type_) is Literal or type_ in CLOSED
