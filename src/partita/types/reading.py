"""Plain JSON → values, keeping what has no name here. The slow path: msgspec has refused the data.

Unknown fields go to `extra`, unknown tags to the `Unknown…` value of their union, and whatever is
really wrong gets an error with its JSON path, what was expected and what was found.
"""

import types
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import UnsetType

from partita.errors import DecodeError

from .chunks import DATA_PREFIX, Chunk, DataChunk, UnknownChunk
from .json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, is_array, is_object, kind_of
from .messages import MessageBase, Part
from .older_forms import today_message, today_part, today_parts
from .parts import ForeignPart, ReasoningPart, UnknownPart
from .value import EXTRA_NAME, Extra, Value

Read: TypeAlias = Callable[[Json, str], Any]

OPEN: tuple[type[Value], ...] = (UnknownPart, UnknownChunk, DataChunk)
"""Values whose tag on the wire is not their own."""

ALIASES: Mapping[str, str] = {"thinking": "reasoning"}
"""Older types of parts that mean one type of today: where that may not stand, they are refused too."""


class Field(NamedTuple):
    """How one field of a value is read."""

    name: str
    read: Read
    required: bool


class Plan(NamedTuple):
    """How a value is read: its fields by wire name, and the tag that names it."""

    fields: Mapping[str, Field]
    tag_field: str | None
    tag: str | None


def read(value: Json, type_: Any) -> Any:
    """`value` as a `type_`, with unknown fields and unknown parts kept."""
    try:
        return reader(type_)(value, "$")
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


@cache
def reader(type_: Any) -> Read:
    """The function that reads a type, made once."""
    origin = get_origin(type_)
    if type_ is Any:
        return _read_any
    if origin in (Union, types.UnionType):
        return _union_reader(get_args(type_))
    if origin is tuple:
        return partial(_read_array, get_args(type_)[0])
    if isinstance(type_, type) and issubclass(type_, Value):
        return partial(_read_value, type_)
    return partial(_read_leaf, type_)


def _read_any(value: Json, path: str) -> Json:
    return value


def _read_leaf(type_: Any, value: Json, path: str) -> Any:
    try:
        return msgspec.convert(value, type_)
    except (msgspec.ValidationError, UnicodeError):
        _refuse(path, _name_of(type_), value)


def _read_array(item_type: Any, value: Json, path: str) -> tuple[Any, ...]:
    if not is_array(value):
        _refuse(path, "array", value)
    read_item = reader(item_type)
    if ReasoningPart not in get_args(item_type):
        return tuple(read_item(item, f"{path}[{index}]") for index, item in enumerate(value))
    return tuple(
        read_item(part, f"{path}[{index}]") for index, item in enumerate(value) for part in today_parts(item)
    )


def _read_value(type_: type[Value], value: Json, path: str) -> Value:
    if not is_object(value):
        _refuse(path, "object", value)
    if issubclass(type_, MessageBase):
        value = today_message(value)
    plan = plan_of(type_)
    if plan.tag_field is not None and value.get(plan.tag_field, plan.tag) != plan.tag:
        _refuse(f"{path}.{plan.tag_field}", repr(plan.tag), value[plan.tag_field])
    known: JsonObject = {}
    unknown: JsonObject = {}
    for key, item in value.items():
        field = plan.fields.get(key)
        if field is not None:
            known[field.name] = field.read(item, f"{path}.{key}")
        elif key != plan.tag_field:
            unknown[key] = item
    return _make(type_, plan, known, unknown, path)


def _make(type_: type[Value], plan: Plan, known: JsonObject, unknown: JsonObject, path: str) -> Value:
    for key, field in plan.fields.items():
        if field.required and field.name not in known:
            raise DecodeError(
                f"missing field `{key}`",
                where=path,
                hint=f"{type_.__name__} needs it",
                expected=key,
                found="nothing",
            )
    if unknown:
        known["extra"] = Extra(unknown)
    return type_(**known)


def _union_reader(members: tuple[Any, ...]) -> Read:
    if Any in members:
        return _read_any
    members = tuple(member for member in members if member is not UnsetType)
    values: tuple[type[Value], ...] = tuple(
        m for m in members if isinstance(m, type) and issubclass(m, Value)
    )
    others = tuple(m for m in members if m not in values)
    arrays = tuple(m for m in others if get_origin(m) is tuple)
    leaves = tuple(m for m in others if m not in arrays)
    expected = " or ".join(
        [*(["object"] if values else []), *(["array"] if arrays else []), *map(_name_of, leaves)]
    )

    def read_union(value: Json, path: str) -> Any:
        if values and is_object(value):
            return _read_tagged(values, value, path)
        if arrays and is_array(value):
            return reader(arrays[0])(value, path)
        if leaves:
            try:
                return msgspec.convert(value, Union[leaves])  # noqa: UP007 # pyrefly: ignore[not-a-type] # built from a tuple
            except (msgspec.ValidationError, UnicodeError):
                pass
        _refuse(path, expected, value)

    return read_union


def _read_tagged(members: tuple[type[Value], ...], value: JsonObject, path: str) -> Any:
    if len(members) == 1:
        return reader(members[0])(value, path)
    tags, tag_field = _tags_of(members)
    tag: object = value.get(tag_field)
    if not isinstance(tag, str):
        _refuse(f"{path}.{tag_field}", "string", tag)
    if ForeignPart in members:  # one of today's unions of parts
        value = today_part(value, tags)
        tag = str(value[tag_field])
    if tag in tags:
        return reader(tags[tag])(value, path)
    if UnknownChunk in members and tag.startswith(DATA_PREFIX):
        return reader(DataChunk)(value, path)
    unknown = next((member for member in members if member in (UnknownPart, UnknownChunk)), None)
    if unknown is None or tag in closed_tags(unknown):
        _refuse(f"{path}.{tag_field}", " or ".join(tags), tag, f"{tag!r} may not stand here")
    return unknown(raw=Extra(value))


@cache
def _tags_of(members: tuple[type[Value], ...]) -> tuple[Mapping[str, type[Value]], str]:
    plans = {member: plan_of(member) for member in members}
    tags = {str(plan.tag): member for member, plan in plans.items() if member not in OPEN}
    return tags, next(iter(plans.values())).tag_field or "type"


@cache
def closed_tags(unknown: type[Value]) -> frozenset[str]:
    """Tags that mean something: where they may not stand, they are refused, not kept as unknown."""
    family = get_args(Part) if unknown is UnknownPart else get_args(Chunk)
    return frozenset(str(plan_of(member).tag) for member in family if member not in OPEN) | ALIASES.keys()


@cache
def plan_of(type_: type[Value]) -> Plan:
    """How a value is read."""
    config = type_.__struct_config__
    fields = {
        field.encode_name: Field(field.name, reader(field.type), field.required)
        for field in msgspec.structs.fields(type_)
        if field.encode_name != EXTRA_NAME
    }
    return Plan(fields, config.tag_field, None if config.tag is None else str(config.tag))


def _refuse(path: str, expected: str, found: Json, hint: str = "") -> NoReturn:
    shown = kind_of(found) if not isinstance(found, str | int | float) else f"{kind_of(found)} {found!r:.60}"
    raise DecodeError(
        f"expected {expected}, found {shown}",
        where=path,
        hint=hint or f"make it {expected}, or leave it out if it is optional",
        expected=expected,
        found=shown,
    )


def _name_of(type_: Any) -> str:
    if get_origin(type_) is Literal:
        return " or ".join(repr(choice) for choice in get_args(type_))
    if get_origin(type_) is Annotated:
        return "time with a zone"
    names: dict[Any, str] = {
        str: "string",
        int: "integer",
        float: "number",
        bool: "boolean",
        type(None): "null",
    }
    return names.get(type_, "object" if get_origin(type_) is dict else str(type_))
