"""Values in and out: msgspec at full speed, and the keeping path only for data that needs it."""

import types
from functools import cache, cached_property
from typing import Annotated, Any, Generic, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin

import msgspec

from partita.errors import DecodeError

from . import reading, writing
from .chunks import DATA_PREFIX, Chunk, DataChunk, TaggedChunk
from .events import AgentStreamEvent
from .json import TOO_DEEP, TOO_DEEP_HINT, Json, dumps, is_object, loads
from .messages import Message
from .value import Value

T = TypeVar("T")


class _KeepingError(Exception):
    """msgspec met something it cannot write: an extra, an unknown value."""


def _stop_writing(value: object) -> NoReturn:
    raise _KeepingError


def _stop_reading(type_: type, value: object) -> NoReturn:
    raise ValueError("kept apart")


def told_apart(type_: Any) -> Any:
    """As much of a type as msgspec can tell apart: data chunks, whose tag is open, are left to `reading`."""
    arguments = tuple(told_apart(item) for item in get_args(type_) if item is not DataChunk)
    if not arguments or get_origin(type_) in (Literal, Annotated):
        return type_
    if get_origin(type_) in (Union, types.UnionType):
        return Union[arguments]  # noqa: UP007 # pyrefly: ignore[not-a-type] # built from a tuple
    return get_origin(type_)[arguments]


class Codec(Generic[T]):
    """Reads one type, from text or from plain JSON."""

    def __init__(self, type_: Any) -> None:
        self._type = type_
        self._fast = told_apart(type_)

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[T]:
        return msgspec.json.Decoder(self._fast, dec_hook=_stop_reading)

    @cached_property
    def _holder(self) -> Any:
        """A struct with one field of the type: msgspec remembers what it knows of structs, not of unions."""
        return msgspec.defstruct("Holder", [("value", self._fast)])

    def decode(self, text: bytes | str) -> T:
        """The value of a JSON text."""
        try:
            return self._decoder.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError, DecodeError):
            return self._read_keeping(loads(text))

    def read(self, value: Json) -> T:
        """The value of plain JSON, as a parser gave it."""
        try:
            result: T = msgspec.convert({"value": value}, self._holder, dec_hook=_stop_reading).value
        except (msgspec.ValidationError, UnicodeError, RecursionError, DecodeError):
            return self._read_keeping(value)
        return result

    @cached_property
    def _reader(self) -> reading.Read:
        return reading.reader(self._type)

    def _read_keeping(self, value: Json) -> T:
        result: T = reading.read_with(self._reader, value)
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
        if text[9] in _D:  # {"type":"d…: no tag but that of data chunks begins so
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
    """Any value of ours from its JSON text."""
    codec: Codec[T] = _codec_of(cast("Any", type_))  # mypy takes no type variable for hashable
    return codec.decode(text)


@cache
def _codec_of(type_: Any) -> Codec[Any]:
    return Codec(type_)


def encode(value: object) -> bytes:
    """Compact JSON of a value, or of a sequence of values, with everything that was kept in its place."""
    try:
        return _ENCODER.encode(value)
    except (_KeepingError, UnicodeEncodeError):
        return dumps(to_json(value))
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


def to_json(value: object) -> Json:
    """A value, or a sequence of values, as plain JSON."""
    try:
        if type(value) not in writing.JSON_TYPES:
            return _PLAIN.decode(_ENCODER.encode(value))  # text and back is fastest
    except (_KeepingError, UnicodeError, RecursionError):
        pass
    try:
        return writing.plain(value)
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


__all__ = [
    "CHUNK",
    "EVENT",
    "MESSAGE",
    "MESSAGES",
    "Codec",
    "Value",
    "decode",
    "decode_chunk",
    "decode_message",
    "encode",
    "read_chunk",
    "read_message",
    "to_json",
]
