"""Chunks as server-sent events in any format that can be streamed."""

from collections.abc import Iterable
from typing import Final, Protocol

from partita.formats.format import Encoder
from partita.stream.sse import comment, frame
from partita.types.chunks import Chunk
from partita.types.json import Json, dumps

KEEP_ALIVE: Final = comment("keep-alive")


class Framing(Protocol):
    """Makes the bytes of a stream."""

    def encode(self, chunk: Chunk, json: bytes | None = None) -> bytes:
        """The events of a chunk, whose JSON may be at hand."""
        ...

    def encode_all(self, chunks: Iterable[tuple[Chunk, bytes]]) -> list[bytes]:
        """The events of each of these chunks."""
        ...

    def finish(self) -> bytes:
        """The events that end the stream."""
        ...

    def keep_alive(self) -> bytes:
        """Bytes that mean nothing."""
        ...


class EventFraming:
    """The events of an encoder, framed."""

    def __init__(self, encoder: Encoder, end: bytes = b"") -> None:
        """`end` comes behind the last event."""
        self._encoder = encoder
        self._end = end

    def encode(self, chunk: Chunk, json: bytes | None = None) -> bytes:
        """The events of a chunk."""
        return _framed(self._encoder.feed(chunk))

    def encode_all(self, chunks: Iterable[tuple[Chunk, bytes]]) -> list[bytes]:
        """The events of each of these chunks."""
        return [self.encode(chunk) for chunk, _ in chunks]

    def finish(self) -> bytes:
        """The events that end the stream."""
        return _framed(self._encoder.finish()) + self._end

    def keep_alive(self) -> bytes:
        """Bytes that mean nothing."""
        return KEEP_ALIVE


def _framed(events: Iterable[Json]) -> bytes:
    return b"".join([frame(dumps(event)) for event in events])
