"""Values in and out: msgspec at full speed, and the keeping path only for data that needs it."""

from functools import cache, cached_property
from typing import Any, Generic, NoReturn, TypeVar, cast

import msgspec

from partita.errors import DecodeError

from . import reading, writing
from .chunks import DATA_PREFIX, Chunk, DataChunk
from .events import AgentStreamEvent
from .json import TOO_DEEP, TOO_DEEP_HINT, Json, dumps, loads
from .messages import Message
from .value import Value

T = TypeVar("T")


class _KeepingError(Exception):
    """msgspec met something it cannot write: an extra, an unknown value."""


def _stop_writing(value: object) -> NoReturn:
    raise _KeepingError


def _stop_reading(type_: type, value: object) -> NoReturn:
    raise ValueError("kept apart")


class Codec(Generic[T]):
    """Reads one type, from text or from plain JSON."""

    def __init__(self, type_: Any) -> None:
        self._type = type_

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[T]:
        return msgspec.json.Decoder(self._type, dec_hook=_stop_reading)

    def decode(self, text: bytes | str) -> T:
        """The value of a JSON text."""
        try:
            return self._decoder.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError, DecodeError):
            return self._read_keeping(loads(text))

    def read(self, value: Json) -> T:
        """The value of plain JSON, as a parser gave it."""
        try:
            result: T = msgspec.convert(value, self._type, dec_hook=_stop_reading)
        except (msgspec.ValidationError, RecursionError, DecodeError):
            return self._read_keeping(value)
        return result

    def _read_keeping(self, value: Json) -> T:
        result: T = reading.read(value, self._type)
        return result


MESSAGE: Codec[Message] = Codec(Message)
MESSAGES: Codec[tuple[Message, ...]] = Codec(tuple[Message, ...])
CHUNK: Codec[Chunk] = Codec(Chunk)
EVENT: Codec[AgentStreamEvent] = Codec(AgentStreamEvent)


class _DataChunkOnWire(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A data chunk as it travels, so that it too is read and written at full speed."""

    type: str
    data: Json | msgspec.UnsetType = msgspec.UNSET
    id: str | None = None
    transient: bool | None = None


_D: frozenset[int | str] = frozenset({ord("d"), "d"})
_decode_chunk = msgspec.json.Decoder(Chunk, dec_hook=_stop_reading).decode
_decode_data_chunk = msgspec.json.Decoder(_DataChunkOnWire).decode
_ENCODER = msgspec.json.Encoder(enc_hook=_stop_writing)


def decode_message(text: bytes | str) -> Message:
    """A message from its JSON text."""
    return MESSAGE.decode(text)


def decode_chunk(text: bytes | str) -> Chunk:
    """A chunk from its JSON text."""
    try:
        if text[9] in _D:  # {"type":"d…: no tag but that of data chunks begins so
            wire = _decode_data_chunk(text)
            if wire.type.startswith(DATA_PREFIX):
                return DataChunk(wire.type[5:], wire.data, wire.id, wire.transient)
        chunk: Chunk = _decode_chunk(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError, DecodeError, IndexError):
        return CHUNK.decode(text)
    return chunk


def read_message(value: Json) -> Message:
    """A message from plain JSON."""
    return MESSAGE.read(value)


def read_chunk(value: Json) -> Chunk:
    """A chunk from plain JSON."""
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
    if type(value) is DataChunk and not value.extra:
        value = _DataChunkOnWire(DATA_PREFIX + value.name, value.data, value.id, value.transient)
    try:
        return _ENCODER.encode(value)
    except (_KeepingError, UnicodeEncodeError):
        return dumps(to_json(value))
    except RecursionError:
        raise DecodeError(TOO_DEEP, hint=TOO_DEEP_HINT) from None


def to_json(value: object) -> Json:
    """A value, or a sequence of values, as plain JSON."""
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
