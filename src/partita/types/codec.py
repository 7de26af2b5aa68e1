"""Encoding and decoding of values: with msgspec, and with a slower path for data with unknown members."""

import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import force_setattr

from partita.errors import DecodeError

from .chunks import DATA_PREFIX, AgentStreamEvent, Chunk, DataChunk, TaggedChunk, UnknownChunk
from .json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, dumps, is_array, is_object, kind_of, loads
from .messages import Message, MessageBase, Part
from .older_forms import current_message, current_part, current_parts
from .parts import ForeignPart, ReasoningPart, UnknownPart
from .value import EXTRA_NAME, Extra, OpenValue, UnknownVariant, Value

# Values → plain JSON with the unknown members that were kept: the slow path of `encode`.

JSON_TYPES = frozenset({str, dict, int, float, bool, type(None)})
"""The types of plain JSON values, except lists, which may contain values of other types."""


def to_plain(value: object) -> Json:
    """`value` as plain JSON."""
    if type(value) in JSON_TYPES:
        return cast("Json", value)
    if type(value) is tuple:
        return [to_plain(item) for item in cast("Sequence[object]", value)]
    match value:
        case UnknownPart() | UnknownChunk() | UnknownVariant():
            return dict(value.raw)
        case Value():
            return _plain_value(value)
        case tuple() | list():
            return [to_plain(item) for item in cast("Sequence[object]", value)]  # of anything
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
            result[wire] = item if type(item) in JSON_TYPES else to_plain(item)
    if isinstance(value, OpenValue):
        return {**result, **(value.extra or {})}  # `extra` has members whose value had another type
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


# Plain JSON → values, for data that msgspec refuses.
#
# Unknown fields are kept in `extra`, objects with unknown tags in the `Unknown…` value of their union.
# Invalid data raises an error with its JSON path, the expected and the actual type.

Read: TypeAlias = Callable[[Json, str], Any]

OPEN: tuple[type[Value], ...] = (UnknownPart, UnknownChunk, DataChunk)
"""Types that accept more tags than one."""

ALIASES: Mapping[str, str] = {"thinking": "reasoning"}
"""Older part types and the current type. They are refused where the current type is not allowed."""


class Field(NamedTuple):
    """How one field of a value is read."""

    name: str
    read: Read
    required: bool


class Plan(NamedTuple):
    """How a value is read: its fields by wire name, and its tag."""

    fields: Mapping[str, Field]
    tag_field: str | None
    tag: str | None
    names: frozenset[str]
    """The wire names of the fields, and that of the tag."""
    nested: tuple[tuple[str, Read], ...]
    """The fields that contain values, which may have unknown members."""


def read(value: Json, type_: Any) -> Any:
    """`value` as a `type_`; unknown fields and parts are kept."""
    return read_whole(reader_of(type_), value)


def read_whole(read_value: Read, value: Json) -> Any:
    """Call a reader for a whole value."""
    try:
        return read_value(value, "$")
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


@cache
def reader_of(type_: Any) -> Read:
    """The function that reads a type."""
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
    read_one = reader_of(item_type)
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
                for part in current_parts(item)
            ]
        )

    return read_array


@cache
def _value_reader(type_: type[Value]) -> Read:
    """The function that reads a value type: it reads nested values, then msgspec reads the value."""
    tag, tag_field = type_.__struct_config__.tag, type_.__struct_config__.tag_field
    is_message, is_open = issubclass(type_, MessageBase), issubclass(type_, OpenValue)
    plan: Plan | None = None  # created on first use, because types refer to each other

    def read_value(value: Json, path: str) -> Value:
        nonlocal plan
        if plan is None:
            plan = read_plan(type_)
        if not is_object(value):
            _refuse(path, "object", value)
        if tag_field is not None and value.get(tag_field, tag) != tag:
            _refuse(f"{path}.{tag_field}", repr(tag), value[tag_field])
        if is_message:
            value = current_message(value)
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
            force_setattr(result, "extra", extra)  # allowed, because nothing else refers to the value yet
        return result

    return read_value


def _read_each(type_: type[Value], plan: Plan, value: JsonObject, path: str) -> Value:
    """Read a value field by field, to find the invalid field and its path.

    For an `OpenValue`, an optional field with an invalid value is kept like an unknown one.
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
    read_object = _tagged_reader(values) if len(values) > 1 else reader_of(values[0]) if values else None
    read_array = reader_of(arrays[0]) if arrays else None
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
            value = current_part(value, tags)
            tag = str(value[tag_field])
        if fallback is not None:
            return _read_or_keep(readers.get(tag), fallback, value, path)
        if tag in tags:
            return readers[tag](value, path)
        if has_data_chunks and tag.startswith(DATA_PREFIX):
            return read_data(value, path)
        if unknown is None or tag in reserved_tags(unknown):
            _refuse(f"{path}.{tag_field}", " or ".join(tags), tag, f"{tag!r} is not allowed here")
        return unknown(raw=Extra(value))

    return read_tagged


def _read_or_keep(known: Read | None, fallback: type[UnknownVariant], value: JsonObject, path: str) -> Value:
    """The variant for a tag; an object of an unknown or invalid variant is kept as `fallback`."""
    try:
        return fallback(raw=Extra(value)) if known is None else known(value, path)
    except DecodeError:
        return fallback(raw=Extra(value))


def _is_open(member: type[Value]) -> bool:
    return member in OPEN or issubclass(member, UnknownVariant)


@cache
def reserved_tags(unknown: type[Value]) -> frozenset[str]:
    """Known tags of a family. Where they are not allowed they are refused, not kept as unknown."""
    family = get_args(Part) if unknown is UnknownPart else get_args(Chunk)
    return frozenset(str(read_plan(member).tag) for member in family if member not in OPEN) | ALIASES.keys()


@cache
def read_plan(type_: type[Value]) -> Plan:
    """How a value is read."""
    config = type_.__struct_config__
    fields = {
        field.encode_name: Field(field.name, reader_of(field.type), field.required)
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


T = TypeVar("T")


class _KeepingError(Exception):
    """msgspec met `extra` or an unknown value, which it cannot write."""


def _stop_writing(value: object) -> NoReturn:
    raise _KeepingError


def _stop_reading(type_: type, value: object) -> NoReturn:
    raise ValueError("read by the slow path")


def taggable(type_: Any) -> Any:
    """The type without `DataChunk`, which msgspec cannot distinguish because its tag varies."""
    arguments = tuple(taggable(item) for item in get_args(type_) if item is not DataChunk)
    if not arguments or get_origin(type_) in (Literal, Annotated):
        return type_
    if get_origin(type_) in (Union, types.UnionType):
        return Union[arguments]  # noqa: UP007 # pyrefly: ignore[not-a-type] # built from a tuple
    return get_origin(type_)[arguments]


class Codec(Generic[T]):
    """Reads one type, from text or from plain JSON."""

    def __init__(self, type_: Any) -> None:
        self._type = type_
        self._fast = taggable(type_)

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[T]:
        return msgspec.json.Decoder(self._fast, dec_hook=_stop_reading)

    @cached_property
    def _holder(self) -> Any:
        """A struct with one field of the type: msgspec caches type information of structs, not of unions."""
        return msgspec.defstruct("Holder", [("value", self._fast)])

    def decode(self, text: bytes | str) -> T:
        """Decode JSON text."""
        try:
            return self._decoder.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError, DecodeError):
            return self._read_keeping(loads(text))

    def read(self, value: Json) -> T:
        """Read plain JSON, such as a parser returns."""
        try:
            result: T = msgspec.convert({"value": value}, self._holder, dec_hook=_stop_reading).value
        except (msgspec.ValidationError, UnicodeError, RecursionError, DecodeError):
            return self._read_keeping(value)
        return result

    @cached_property
    def _reader(self) -> Read:
        return reader_of(self._type)

    def _read_keeping(self, value: Json) -> T:
        result: T = read_whole(self._reader, value)
        return result


MESSAGE: Codec[Message] = Codec(Message)
MESSAGES: Codec[tuple[Message, ...]] = Codec(tuple[Message, ...])
CHUNK: Codec[Chunk] = Codec(Chunk)
_DATA_CHUNK: Codec[DataChunk] = Codec(DataChunk)
EVENT: Codec[AgentStreamEvent] = Codec(AgentStreamEvent)


_D: frozenset[int | str] = frozenset({ord("d"), "d"})
_decode_chunk = msgspec.json.Decoder(TaggedChunk, dec_hook=_stop_reading).decode
_decode_data_chunk = msgspec.json.Decoder(DataChunk, dec_hook=_stop_reading).decode
_ENCODER = msgspec.json.Encoder(enc_hook=_stop_writing)
_PLAIN: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def decode_message(text: bytes | str) -> Message:
    """A message from its JSON text."""
    return MESSAGE.decode(text)


def decode_chunk(text: bytes | str) -> Chunk:
    """A chunk from its JSON text."""
    try:
        if text[9] in _D:  # {"type":"d…: only the tags of data chunks start with a d
            return _decode_data_chunk(text)
        chunk: Chunk = _decode_chunk(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError, DecodeError, IndexError):
        return CHUNK.decode(text)
    return chunk


def read_message(value: Json) -> Message:
    """A message from plain JSON."""
    return MESSAGE.read(value)


def read_chunk(value: Json) -> Chunk:
    """A chunk from plain JSON."""
    if is_object(value) and str(value.get("type")).startswith(DATA_PREFIX):
        return _DATA_CHUNK.read(value)
    return CHUNK.read(value)


def decode(text: bytes | str, type_: type[T]) -> T:
    """A value of a canonical type from its JSON text."""
    codec: Codec[T] = _codec_of(cast("Any", type_))  # mypy does not accept a type variable as hashable
    return codec.decode(text)


@cache
def _codec_of(type_: Any) -> Codec[Any]:
    return Codec(type_)


def encode(value: object) -> bytes:
    """Compact JSON of a value or a sequence of values, including unknown members that were kept."""
    try:
        return _ENCODER.encode(value)
    except (_KeepingError, UnicodeEncodeError):
        return dumps(to_json(value))
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


def to_json(value: object) -> Json:
    """A value or a sequence of values as plain JSON."""
    try:
        if type(value) not in JSON_TYPES:
            return _PLAIN.decode(_ENCODER.encode(value))  # encoding and decoding is the fastest way
    except (_KeepingError, UnicodeError, RecursionError):
        pass
    try:
        return to_plain(value)
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
