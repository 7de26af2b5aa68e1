"""The stream of a response → chunks: what the decoders of APIs have in common.

One response is one step of a message. While a block is streamed, its text and its input become deltas; when
it ends, it is read like the block of a body, so that metadata, citations and results are the same. An event
that is unknown becomes data. Nothing makes a decoder fail.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.answers.outlet import INTERRUPTED, Call, Outlet
from partita.formats.losses import Loss
from partita.formats.reasons import UNREAD
from partita.types.chunks import Chunk, DataChunk
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.usage import Usage

UNPARSABLE: Final = "unparsable record"
CUT: Final = frozenset({"length", "content-filter", "error", INTERRUPTED})
"""Finish reasons after which an input that is not JSON was cut, and is not an error."""

EARLIER: Final = "an earlier event has another value"
POSITION: Final = "blocks are in order by their place in the message"
NOTHING: Final = "the end of something that did not begin"


class StreamedBlock:
    """A block that is being streamed: what it began with, grown by its deltas."""

    def __init__(self, kind: str, raw: Any, index: int) -> None:
        self.kind, self.raw, self.index = kind, raw, index
        self.call: Call | None = None
        self.citations: list[JsonObject] = []
        self.data: bytes | None = None  # of a file
        self.deltas: list[JsonObject] = []
        """Deltas that are unknown."""
        self.given: Json | UnsetType = UNSET
        """The input of a call, if it is not streamed."""
        self.is_ended = False


class ResponseDecoder:
    """Events in, chunks out. One decoder reads one response."""

    def __init__(
        self,
        namespace: str,
        finish_reasons: Mapping[str, str],
        read_usage: Callable[[JsonObject], Usage | None],
    ) -> None:
        """`finish_reasons`: by those of the API."""
        self.losses: list[Loss] = []
        """What chunks have no place for."""
        self._namespace, self._finish_reasons, self._read_usage = namespace, finish_reasons, read_usage
        self._outlet = Outlet(namespace)
        self._number = -1  # of the event
        self._failures: list[Json] = []
        self._reset()

    def _reset(self) -> None:
        self._id: str | None = None
        self._model: str | None = None
        self._stop: str | None = None
        self._usage: JsonObject = {}
        self._said: JsonObject = {}  # of the response as a whole
        self._blocks: dict[int, StreamedBlock] = {}  # those that are open
        self._calls: dict[Any, StreamedBlock] = {}

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of one event. A text is a record that is not JSON."""
        self._number += 1
        if isinstance(event, str):
            self._outlet.error(UNPARSABLE)
        if not is_object(event) or not self._take(event):
            self._unknown(event)
        return self._outlet.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        self._end()
        return self._outlet.take()

    def _take(self, event: JsonObject) -> bool:
        """Read an event; whether it is known."""
        raise NotImplementedError

    def _close(self, block: StreamedBlock) -> None:
        """A block is complete. If it is a call, its input may not be JSON."""
        raise NotImplementedError

    def _call_notes(self, block: StreamedBlock) -> JsonObject:
        """The notes about a call."""
        raise NotImplementedError

    def _end(self, *, is_body: bool = False) -> None:
        """The response is complete, or is interrupted. `is_body`: it was not streamed."""
        if self._outlet.is_finished:
            return
        reason = INTERRUPTED if self._stop is None else self._finish_reasons.get(self._stop, "other")
        self._finish("error" if self._failures else reason, is_complete=is_body or not self._failures)

    def _finish(self, reason: str, *, is_complete: bool = True) -> None:
        """Close what is open, and emit what was said of the response as a whole."""
        self._close_all(reason)
        own = {**self._said, **({"errors": self._failures} if self._failures else {})}
        found: JsonObject = {
            "complete": None if is_complete and reason != INTERRUPTED else False,
            "model": self._model,
            "responseId": self._id,
            self._namespace: own or None,
        }
        more = {name: item for name, item in found.items() if item is not None}
        usage = self._read_usage(self._usage) if self._usage else None
        self._outlet.finish(reason, self._stop, usage, more)

    def _close_all(self, reason: str) -> None:
        """Close what is open."""
        for block in list(self._blocks.values()):
            self._close(block)
        self._end_calls(reason)

    def _end_calls(self, reason: str) -> None:
        """End all calls, unless their inputs may have been cut off."""
        for block in self._calls.values() if reason not in CUT else ():
            self._end_call(block, is_final=True)

    def _end_call(self, block: StreamedBlock, *, is_final: bool) -> None:
        """The input of a call is complete if it is JSON. If not, that depends on how the response ends."""
        if block.is_ended or block.call is None:
            return
        text = "".join(block.call.pieces)
        value = block.given
        if text.strip():
            try:
                value = self._read_input(text)
            except DecodeError:
                if not is_final:
                    return
                value = UNSET
        block.is_ended = True
        self._outlet.end_call(block.call, value, self._call_notes(block))

    def _read_input(self, text: str) -> Json:
        """The input of a call that was streamed as text."""
        return loads(text)

    def _unknown(self, event: Json) -> None:
        self._outlet.emit(DataChunk(f"data-{self._namespace}-unknown", event))

    def _lose(self, path: str, value: Json, why: str, severity: Literal["lost", "minor"] = "minor") -> None:
        """Report something of the event as lost."""
        self.losses.append(Loss.of(f"$[{self._number}].{path}", value, why, severity))

    def _unread(self, value: JsonObject, path: str, *known: str) -> None:
        """Report the members of an object in the event that are not known."""
        for key, item in value.items():
            if key not in known:
                self._lose(f"{path}{key}", item, UNREAD)
