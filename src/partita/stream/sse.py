"""Server-sent events: bytes → payloads, payload → bytes.

The decoder follows the event-stream rules of the HTML standard and returns the payloads that the npm
package `ai` receives. There are two intended differences at the end of a stream: a blank line that ends in a
lone CR completes its event at once, where the npm parser waits for one more byte; and an incomplete event,
which the npm parser drops silently, is kept in `SseDecoder.dropped`.
"""

import re
from typing import Final, Literal

from partita.errors import PartitaError, StreamError
from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk

from .partial_json import may_be_forbidden, secure_loads

HEADERS: Final[dict[str, str]] = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",  # a compressing proxy would buffer the stream
    "connection": "keep-alive",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-accel-buffering": "no",
}
"""The headers of a response with a UI message stream."""

MAX_EVENT_BYTES: Final = 256 * 1024 * 1024

_BYTE_ORDER_MARK = "\ufeff"
_DONE = "[DONE]"
_LINE_END = re.compile(rb"\r\n|\r|\n")


def frame(payload: bytes) -> bytes:
    """One event with `payload` as its data; a payload of several lines becomes as many data lines."""
    return b"data: %b\n\n" % _continue_lines(payload, b"\ndata: ")


def comment(text: str) -> bytes:
    """A comment, which clients ignore."""
    return b": %b\n\n" % _continue_lines(text.encode(errors="replace"), b"\n: ")


def _continue_lines(payload: bytes, separator: bytes) -> bytes:
    if b"\n" in payload or b"\r" in payload:
        return _LINE_END.sub(separator, payload)
    return payload


DONE: Final = frame(_DONE.encode())
"""The event that ends a UI message stream. Clients do not need it."""


class SseDecoder:
    """Decodes the bytes of an event stream, which may be cut anywhere, to the data of each event.

    An error is raised after everything before it was returned: by the same call, or by the next one if that
    call had payloads to return. After an error every call raises it.
    """

    def __init__(
        self, *, errors: Literal["strict", "replace"] = "strict", max_event_bytes: int = MAX_EVENT_BYTES
    ) -> None:
        self.done = False
        """Whether a `[DONE]` event was received. It is not returned as a payload."""
        self.dropped: str | None = None
        """After `finish`: the start of an incomplete last event, if there was one."""
        self._errors = errors
        self._max_event_bytes = max_event_bytes
        self._line: list[
            bytes
        ] = []  # pieces of the current line, which may be huge and arrive in small slices
        self._line_bytes = 0
        self._line_start = 0  # offset in the stream
        self._data: list[str] = []  # data lines of the event so far
        self._data_bytes = 0
        self._after_cr = False
        self._failure: StreamError | None = None

    def feed(self, data: bytes) -> list[str]:
        """Payloads of the events that `data` completes."""
        self._raise_failure()
        payloads: list[str] = []
        try:
            for piece in self._without_split_lf(data).splitlines(keepends=True):
                payload = self._take(piece)
                if payload is not None:
                    payloads.append(payload)
        except StreamError as error:
            self._failure = error
            if not payloads:
                raise
        return payloads

    def finish(self) -> list[str]:
        """Set `dropped` to an incomplete last event. Returns no payloads."""
        self._raise_failure()
        rest = self._without_mark(b"".join(self._line).decode(errors="replace"))
        if not self._take_field(rest) and not self._data and not rest.startswith(":"):
            self._data.append(rest)
        left = "\n".join(self._data)
        if left == _DONE:
            self.done = True
        elif left:
            self.dropped = left
        self._line.clear()
        self._data.clear()
        return []

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _without_split_lf(self, data: bytes) -> bytes:
        """`data` without the LF of a CRLF whose CR was in the previous bytes."""
        if not data:
            return data
        if self._after_cr and data.startswith(b"\n"):
            self._line_start += 1
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        return data

    def _take(self, piece: bytes) -> str | None:
        """Add a piece that is a line, its end or a part of it; the payload if it ends an event."""
        content = piece.rstrip(b"\r\n")
        self._line.append(content)
        self._line_bytes += len(content)
        self._check_size()
        if len(content) == len(piece):
            return None
        line = self._decode(b"".join(self._line))
        payload = None
        if not line:
            payload = self._end_event()
        elif self._take_field(line):
            self._data_bytes += self._line_bytes
        self._line.clear()
        self._line_start += self._line_bytes + len(piece) - len(content)
        self._line_bytes = 0
        return payload

    def _check_size(self) -> None:
        if self._data_bytes + self._line_bytes > self._max_event_bytes:
            raise StreamError(
                f"event larger than {self._max_event_bytes} bytes",
                where=f"byte {self._line_start}",
                hint="check that a blank line ends each event, or raise max_event_bytes",
            )

    def _decode(self, line: bytes) -> str:
        try:
            return self._without_mark(line.decode(errors=self._errors))
        except UnicodeDecodeError as error:
            raise StreamError(
                f"event stream is not UTF-8: {error.reason}",
                where=f"byte {self._line_start + error.start}",
                hint='send UTF-8, or read with errors="replace" as browsers do',
            ) from None

    def _without_mark(self, line: str) -> str:
        return line if self._line_start else line.removeprefix(_BYTE_ORDER_MARK)

    def _take_field(self, line: str) -> bool:
        """Keep a data line. This protocol does not use other fields or comments."""
        name, _, value = line.partition(":")
        if name != "data":
            return False
        self._data.append(value.removeprefix(" "))
        return True

    def _end_event(self) -> str | None:
        if not self._data:
            return None
        payload = "\n".join(self._data)
        self._data.clear()
        self._data_bytes = 0
        if payload == _DONE:
            self.done = True
            return None
        return payload


# Bytes of a UI message stream → chunks, as a client reads a response


class ChunkReader:
    """Decodes the bytes of a UI message stream, which may be cut anywhere, to chunks.

    As with `SseDecoder`, an error is raised after all chunks before it were returned, and by later calls.
    """

    def __init__(
        self, *, errors: Literal["strict", "replace"] = "strict", max_event_bytes: int = MAX_EVENT_BYTES
    ) -> None:
        self._events = SseDecoder(errors=errors, max_event_bytes=max_event_bytes)
        self._count = 0
        self._failure: PartitaError | None = None

    @property
    def done(self) -> bool:
        """Whether a `[DONE]` event was received."""
        return self._events.done

    @property
    def dropped(self) -> str | None:
        """After `finish`: the start of an incomplete last event, if there was one."""
        return self._events.dropped

    def feed(self, data: bytes) -> list[Chunk]:
        """The chunks of the events that `data` completes."""
        if self._failure is not None:
            raise self._failure
        return self._read(self._events.feed(data))

    def finish(self) -> list[Chunk]:
        """Raise a pending error, and set `dropped`. Returns no chunks."""
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
