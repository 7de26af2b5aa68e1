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
from msgspec.structs import force_setattr

from partita.errors import DecodeError

from .chunks import DATA_PREFIX, Chunk, DataChunk, UnknownChunk
from .json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, is_array, is_object, kind_of
from .messages import MessageBase, Part
from .older_forms import today_message, today_part, today_parts
from .parts import ForeignPart, ReasoningPart, UnknownPart
from .value import EXTRA_NAME, Extra, OpenValue, UnknownVariant, Value

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
    names: frozenset[str]
    """The wire names of the fields, and that of the tag."""
    nested: tuple[tuple[str, Read], ...]
    """The fields that hold values again, which may have unknown members."""


def read(value: Json, type_: Any) -> Any:
    """`value` as a `type_`, with unknown fields and unknown parts kept."""
    return read_with(reader(type_), value)


def read_with(read_value: Read, value: Json) -> Any:
    """What a reader returns for a whole value."""
    try:
        return read_value(value, "$")
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
        return _array_reader(get_args(type_)[0])
    if isinstance(type_, type) and issubclass(type_, Value):
        return _value_reader(type_)
    return partial(_read_leaf, type_)


def _read_any(value: Json, path: str) -> Json:
    return value


def _read_leaf(type_: Any, value: Json, path: str) -> Any:
    try:
        return msgspec.convert(value, type_)
    except (msgspec.ValidationError, UnicodeError):
        _refuse(path, _name_of(type_), value)


def _array_reader(item_type: Any) -> Read:
    read_one = reader(item_type)
    may_be_several = ReasoningPart in get_args(item_type)

    def read_array(value: Json, path: str) -> tuple[Any, ...]:
        if not is_array(value):
            _refuse(path, "array", value)
        if not may_be_several:
            return tuple([read_one(item, f"{path}[{index}]") for index, item in enumerate(value)])
        return tuple(
            [
                read_one(part, f"{path}[{index}]")
                for index, item in enumerate(value)
                for part in today_parts(item)
            ]
        )

    return read_array


@cache
def _value_reader(type_: type[Value]) -> Read:
    """Read a value of a type. What the value holds in nested values is read first, then msgspec reads it."""
    tag, tag_field = type_.__struct_config__.tag, type_.__struct_config__.tag_field
    is_message, is_open = issubclass(type_, MessageBase), issubclass(type_, OpenValue)
    plan: Plan | None = None  # made on first use: types refer to each other

    def read_value(value: Json, path: str) -> Value:
        nonlocal plan
        if plan is None:
            plan = plan_of(type_)
        if not is_object(value):
            _refuse(path, "object", value)
        if tag_field is not None and value.get(tag_field, tag) != tag:
            _refuse(f"{path}.{tag_field}", repr(tag), value[tag_field])
        if is_message:
            value = today_message(value)
        names = plan.names
        is_known = value.keys() <= names
        known = value if is_known else {key: item for key, item in value.items() if key in names}
        try:
            if plan.nested:
                known = dict(known)
                for key, read_nested in plan.nested:
                    if key in known:
                        known[key] = read_nested(known[key], f"{path}.{key}")
            result: Value = msgspec.convert(known, type_)
        except (msgspec.ValidationError, UnicodeError):
            return _read_each(type_, plan, value, path)
        except DecodeError:
            if not is_open:
                raise
            return _read_each(type_, plan, value, path)
        if not is_known:
            extra = Extra({key: item for key, item in value.items() if key not in names})
            force_setattr(result, "extra", extra)  # nothing else has a reference to it yet
        return result

    return read_value


def _read_each(type_: type[Value], plan: Plan, value: JsonObject, path: str) -> Value:
    """Read a value field by field, to find the one that is wrong, and its path.

    Of a type that is open, an optional field that does not fit is kept like an unknown one.
    """
    known: JsonObject = {}
    unknown: JsonObject = {}
    for key, item in value.items():
        field = plan.fields.get(key)
        if field is not None:
            try:
                known[field.name] = field.read(item, f"{path}.{key}")
            except DecodeError:
                if field.required or not issubclass(type_, OpenValue):
                    raise
                unknown[key] = item
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
    read_object = _tagged_reader(values) if len(values) > 1 else reader(values[0]) if values else None
    read_array = reader(arrays[0]) if arrays else None
    leaf: Any = Union[leaves] if leaves else None  # noqa: UP007 # pyrefly: ignore[not-a-type] # built from a tuple

    def read_union(value: Json, path: str) -> Any:
        if read_object is not None and is_object(value):
            return read_object(value, path)
        if read_array is not None and is_array(value):
            return read_array(value, path)
        if leaves:
            try:
                return msgspec.convert(value, leaf)
            except (msgspec.ValidationError, UnicodeError):
                pass
        _refuse(path, expected, value)

    return read_union


def _tagged_reader(members: tuple[type[Value], ...]) -> Read:
    """Read an object of a tagged union."""
    tags = {str(m.__struct_config__.tag): m for m in members if not _is_open(m)}
    tag_field = members[0].__struct_config__.tag_field or "type"
    fallback = next((member for member in members if issubclass(member, UnknownVariant)), None)
    unknown = next((member for member in members if member in (UnknownPart, UnknownChunk)), None)
    has_data_chunks, is_of_parts = UnknownChunk in members, ForeignPart in members
    readers = {tag: _value_reader(member) for tag, member in tags.items()}
    read_data = _value_reader(DataChunk)

    def read_tagged(value: Json, path: str) -> Any:
        tag: object = value.get(tag_field)
        if not isinstance(tag, str):
            _refuse(f"{path}.{tag_field}", "string", tag)
        if is_of_parts:
            value = today_part(value, tags)
            tag = str(value[tag_field])
        if fallback is not None:
            return _read_or_keep(readers.get(tag), fallback, value, path)
        if tag in tags:
            return readers[tag](value, path)
        if has_data_chunks and tag.startswith(DATA_PREFIX):
            return read_data(value, path)
        if unknown is None or tag in closed_tags(unknown):
            _refuse(f"{path}.{tag_field}", " or ".join(tags), tag, f"{tag!r} may not stand here")
        return unknown(raw=Extra(value))

    return read_tagged


def _read_or_keep(known: Read | None, fallback: type[UnknownVariant], value: JsonObject, path: str) -> Value:
    """The variant that a tag names, or the whole object if there is none or it does not fit."""
    try:
        return fallback(raw=Extra(value)) if known is None else known(value, path)
    except DecodeError:
        return fallback(raw=Extra(value))


def _is_open(member: type[Value]) -> bool:
    return member in OPEN or issubclass(member, UnknownVariant)


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
    names = frozenset(fields) | ({config.tag_field} if config.tag_field else set[str]())
    nested = tuple(
        (field.encode_name, fields[field.encode_name].read)
        for field in msgspec.structs.fields(type_)
        if field.encode_name != EXTRA_NAME and _holds_values(field.type)
    )
    return Plan(fields, config.tag_field, None if config.tag is None else str(config.tag), names, nested)


def _holds_values(type_: Any) -> bool:
    is_value = isinstance(type_, type) and issubclass(type_, Value)
    return is_value or any(map(_holds_values, get_args(type_)))


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
