"""Server-sent events: bytes → payloads, payload → bytes.

The decoder follows the event-stream rules of the HTML standard and gives the payloads that the npm
package `ai` sees. Two differences are on purpose, both about the end of a stream: a blank line that ends
in a lone CR closes its event at once, where the npm parser waits for one more byte; and what the npm
parser drops there without a word is kept in `SseDecoder.dropped`.
"""

import re
from typing import Final, Literal

from partita.errors import StreamError

HEADERS: Final[dict[str, str]] = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",  # a proxy that compresses would hold the words back
    "connection": "keep-alive",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-accel-buffering": "no",
}
"""Headers of a response that carries a UI message stream."""

MAX_EVENT_BYTES: Final = 256 * 1024 * 1024

_BYTE_ORDER_MARK = "\ufeff"
_DONE = "[DONE]"
_LINE_END = re.compile(rb"\r\n|\r|\n")


def frame(payload: bytes) -> bytes:
    """One event with `payload` as its data; a payload of several lines becomes as many data lines."""
    return b"data: %b\n\n" % _continue_lines(payload, b"\ndata: ")


def comment(text: str) -> bytes:
    """A comment, which every client skips: for keep-alive."""
    return b": %b\n\n" % _continue_lines(text.encode(errors="replace"), b"\n: ")


def _continue_lines(payload: bytes, separator: bytes) -> bytes:
    if b"\n" in payload or b"\r" in payload:
        return _LINE_END.sub(separator, payload)
    return payload


DONE: Final = frame(_DONE.encode())
"""The event that ends a UI message stream. Clients do not wait for it."""


class SseDecoder:
    """Bytes of an event stream in, the data of each whole event out. The bytes may be cut anywhere.

    An error is raised once everything before it was handed out: by the call that met it, or by the next
    one if that call had payloads to return. After an error every call raises it again.
    """

    def __init__(
        self, *, errors: Literal["strict", "replace"] = "strict", max_event_bytes: int = MAX_EVENT_BYTES
    ) -> None:
        self.done = False
        """Whether a `[DONE]` event came. It is not returned as a payload."""
        self.dropped: str | None = None
        """After `finish`: the start of an event that the stream broke off, if there was one."""
        self._errors = errors
        self._max_event_bytes = max_event_bytes
        self._line: list[bytes] = []  # pieces of the line so far: one huge line may come in tiny slices
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
        """Note in `dropped` what the stream left unfinished. There are no payloads left by now."""
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
        """`data` without the LF of a CRLF whose CR came with the bytes before."""
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
        """Keep a data line. Other fields, and comments, mean nothing to this protocol."""
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
