"""Bytes of a UI message stream → chunks: what a client does with the body of a response."""

from typing import Literal

from partita.errors import PartitaError
from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk

from .secure_json import may_be_forbidden, secure_loads
from .sse import MAX_EVENT_BYTES, SseDecoder


class ChunkReader:
    """Server-sent events in, chunks out. The bytes may be cut anywhere.

    As with `SseDecoder`, an error is raised once every chunk before it was handed out, and again by every
    call after that.
    """

    def __init__(
        self, *, errors: Literal["strict", "replace"] = "strict", max_event_bytes: int = MAX_EVENT_BYTES
    ) -> None:
        self._events = SseDecoder(errors=errors, max_event_bytes=max_event_bytes)
        self._count = 0
        self._failure: PartitaError | None = None

    @property
    def done(self) -> bool:
        """Whether the stream said `[DONE]`."""
        return self._events.done

    @property
    def dropped(self) -> str | None:
        """After `finish`: the start of an event that the stream broke off, if there was one."""
        return self._events.dropped

    def feed(self, data: bytes) -> list[Chunk]:
        """The chunks of the events that `data` completes."""
        if self._failure is not None:
            raise self._failure
        return self._read(self._events.feed(data))

    def finish(self) -> list[Chunk]:
        """Nothing more, but the error that is still to be told, and what the stream left unfinished."""
        if self._failure is not None:
            raise self._failure
        return self._read(self._events.finish())

    def _read(self, payloads: list[str]) -> list[Chunk]:
        chunks: list[Chunk] = []
        try:
            for payload in payloads:
                chunks.append(_chunk_of(payload))
                self._count += 1
        except PartitaError as error:
            error.where = f"event {self._count}{f', {error.where}' if error.where else ''}"
            self._failure = error
            if not chunks:
                raise
        return chunks


def _chunk_of(payload: str) -> Chunk:
    if may_be_forbidden(payload):
        secure_loads(payload)
    return decode_chunk(payload)
