"""Events of a streamed response → chunks: what the decoders of APIs have in common.

`ChunkEmitter` emits the chunks of a response in an order that is always valid: everything starts once and
ends. `ResponseDecoder` reads the events of APIs that stream blocks, and uses the emitter. For whole bodies
see `response`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.losses import UNREAD, Loss
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageFinish,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.parts import Citation
from partita.types.usage import Usage

from .metadata import RAW_INPUT
from .tool_text import bad_input_text, parse_input

INTERRUPTED: Final = "interrupted"
"""The finish reason of a stream that ended early."""


class Call(NamedTuple):
    """A call whose input is being streamed."""

    id: str
    name: str
    pieces: list[str]
    provider_executed: bool | None = None
    dynamic: bool | None = None
    title: str | None = None


class ChunkEmitter:
    """Emits the chunks of a response, which is one step of a message. `take` returns them."""

    def __init__(self, namespace: str) -> None:
        """`namespace`: the name of the format in provider metadata."""
        self.namespace = namespace
        self.is_started = False
        self.is_finished = False
        self.errors: list[str] = []
        self.calls: dict[str, Call] = {}
        """The calls whose input is not complete yet, by id."""
        self._chunks: list[Chunk] = []
        self._open: dict[str, Literal["text", "reasoning"]] = {}

    def take(self) -> list[Chunk]:
        """Return the chunks since the last call of `take`."""
        chunks, self._chunks = self._chunks, []
        return chunks

    def emit(self, chunk: Chunk) -> None:
        """Add a chunk. The message is started if it has not been."""
        self.start()
        self._chunks.append(chunk)

    def start(self) -> None:
        """Start the response, unless it has started. The id of the message is chosen by the caller."""
        if not self.is_started:
            self.is_started = True
            self._chunks += [MessageStart(), StepStart()]

    def is_open(self, id: str) -> bool:
        """Whether a text or reasoning of that id has started and not ended."""
        return id in self._open

    def start_text(self, id: str, metadata: JsonObject | None = None) -> None:
        """Start a text, unless it has started."""
        if id not in self._open:
            self._open[id] = "text"
            self.emit(TextStart(id, self._named(metadata)))

    def append_text(self, id: str, delta: str) -> None:
        """Append to a text, which is started if it has not been."""
        self.start_text(id)
        self.emit(TextDelta(id, delta))

    def start_reasoning(self, id: str, metadata: JsonObject | None = None) -> None:
        """Start a reasoning, unless it has started."""
        if id not in self._open:
            self._open[id] = "reasoning"
            self.emit(ReasoningStart(id, self._named(metadata)))

    def append_reasoning(self, id: str, delta: str, metadata: JsonObject | None = None) -> None:
        """Append to a reasoning, which is started if it has not been."""
        self.start_reasoning(id)
        self.emit(ReasoningDelta(id, delta, self._named(metadata)))

    def end(
        self, id: str, metadata: JsonObject | None = None, citations: tuple[Citation, ...] | None = None
    ) -> None:
        """End a text or a reasoning, if it is open."""
        kind = self._open.pop(id, None)
        if kind == "text":
            self.emit(TextEnd(id, self._named(metadata), citations))
        elif kind == "reasoning":
            self.emit(ReasoningEnd(id, self._named(metadata)))

    def end_all(self) -> None:
        """End all texts and reasonings."""
        for id_ in list(self._open):
            self.end(id_)

    def start_call(self, call: Call, metadata: JsonObject | None = None) -> None:
        """Start the input of a call, unless it has started."""
        if call.id not in self.calls:
            self.calls[call.id] = call
            more: Any = {"dynamic": call.dynamic, "title": call.title}
            named = self._named(metadata)
            self.emit(ToolInputStart(call.id, call.name, call.provider_executed, named, **more))

    def append_input(self, id: str, delta: str) -> None:
        """Append to the input of a call."""
        call = self.calls.get(id)
        if call is not None:
            call.pieces.append(delta)
            self.emit(ToolInputDelta(id, delta))

    def end_call(
        self, call: Call, value: Json | UnsetType = UNSET, metadata: JsonObject | None = None
    ) -> None:
        """End the input of a call: `value`, or the streamed text. Text that is not JSON becomes an error."""
        self.calls.pop(call.id, None)
        text = "".join(call.pieces)
        more: Any = {"dynamic": call.dynamic, "title": call.title}
        is_text = value is UNSET
        try:
            value = parse_input(text) if is_text else value
        except DecodeError as error:
            why, named = bad_input_text(error), self._named(metadata)
            self.emit(ToolInputError(call.id, call.name, why, text, call.provider_executed, named, **more))
            return
        is_respelled = (text or is_text) and dumps(value).decode() != text
        named = self._named({**(metadata or {}), RAW_INPUT: text} if is_respelled else metadata)
        self.emit(ToolInputAvailable(call.id, call.name, value, call.provider_executed, named, **more))

    def error(self, text: str) -> None:
        """Report an error."""
        self.errors.append(text)
        self.emit(ErrorChunk(text))

    def finish(
        self,
        reason: str,
        raw: str | None = None,
        usage: Usage | None = None,
        more: JsonObject | None = None,
    ) -> None:
        """End the response.

        `reason`: the canonical finish reason; `raw`: that of the API; `more`: other metadata of the message.
        """
        if self.is_finished:
            return
        self.start()
        self.end_all()
        self.is_finished = True
        metadata: JsonObject = {"finishReason": reason}
        if raw is not None:
            metadata["rawFinishReason"] = raw
        if usage is not None:
            metadata["usage"] = to_json(usage)
        if self.errors:
            metadata["errors"] = list(self.errors)
        metadata |= more or {}
        self._chunks += [StepFinish(), MessageFinish(reason, metadata)]

    def _named(self, metadata: JsonObject | None) -> JsonObject | None:
        return {self.namespace: metadata} if metadata else None


# Decoders of APIs that stream blocks

UNPARSABLE: Final = "unparsable record"
CUT_REASONS: Final = frozenset({"length", "content-filter", "error", INTERRUPTED})
"""Finish reasons after which an input that is not JSON was cut off, and is not reported as an error."""

OTHER_VALUE: Final = "an earlier event has another value"
BLOCK_ORDER: Final = "blocks are in order by their position in the message"
NOT_STARTED: Final = "the end of something that did not start"


class StreamedBlock:
    """A block that is being streamed: its first event, and its deltas."""

    def __init__(self, kind: str, raw: Any, index: int) -> None:
        self.kind, self.raw, self.index = kind, raw, index
        self.call: Call | None = None
        self.citations: list[JsonObject] = []
        self.data: bytes | None = None  # of a file
        self.deltas: list[JsonObject] = []
        """Deltas that are unknown."""
        self.input: Json | UnsetType = UNSET
        """The input of a call whose input is not streamed."""
        self.is_ended = False


class ResponseDecoder:
    """Reads the events of one response and returns chunks.

    While a block is streamed, its text and its input become deltas. When it ends, it is read like a block of
    a body, so that metadata, citations and results are the same. An unknown event becomes a data chunk. No
    event makes a decoder fail.
    """

    def __init__(
        self,
        namespace: str,
        finish_reasons: Mapping[str, str],
        read_usage: Callable[[JsonObject], Usage | None],
    ) -> None:
        """`finish_reasons`: our finish reasons by those of the API."""
        self.losses: list[Loss] = []
        """What no chunk can express."""
        self._namespace, self._finish_reasons, self._read_usage = namespace, finish_reasons, read_usage
        self._emitter = ChunkEmitter(namespace)
        self._number = -1  # of the event
        self._errors: list[Json] = []
        self._reset()

    def _reset(self) -> None:
        self._id: str | None = None
        self._model: str | None = None
        self._stop: str | None = None
        self._usage: JsonObject = {}
        self._metadata: JsonObject = {}  # of the response as a whole
        self._blocks: dict[int, StreamedBlock] = {}  # those that are open
        self._calls: dict[Any, StreamedBlock] = {}

    def feed(self, event: Json) -> list[Chunk]:
        """Return the chunks of an event. A string is a record that is not JSON."""
        self._number += 1
        if isinstance(event, str):
            self._emitter.error(UNPARSABLE)
        if not is_object(event) or not self._read(event):
            self._emit_unknown(event)
        return self._emitter.take()

    def finish(self) -> list[Chunk]:
        """Return the chunks that end whatever is open when the stream ends."""
        self._end()
        return self._emitter.take()

    def _read(self, event: JsonObject) -> bool:
        """Read an event and return whether it is known."""
        raise NotImplementedError

    def _close(self, block: StreamedBlock) -> None:
        """End a block. If it is a call, its input may not be JSON."""
        raise NotImplementedError

    def _call_notes(self, block: StreamedBlock) -> JsonObject:
        """Return the notes about a call."""
        raise NotImplementedError

    def _end(self, *, is_body: bool = False) -> None:
        """Finish a response that is complete or was interrupted. `is_body`: it was not streamed."""
        if self._emitter.is_finished:
            return
        reason = INTERRUPTED if self._stop is None else self._finish_reasons.get(self._stop, "other")
        self._finish("error" if self._errors else reason, is_complete=is_body or not self._errors)

    def _finish(self, reason: str, *, is_complete: bool = True) -> None:
        """End whatever is open, and emit the metadata of the response."""
        self._close_all(reason)
        own = {**self._metadata, **({"errors": self._errors} if self._errors else {})}
        found: JsonObject = {
            "complete": None if is_complete and reason != INTERRUPTED else False,
            "model": self._model,
            "responseId": self._id,
            self._namespace: own or None,
        }
        more = {name: item for name, item in found.items() if item is not None}
        usage = self._read_usage(self._usage) if self._usage else None
        self._emitter.finish(reason, self._stop, usage, more)

    def _close_all(self, reason: str) -> None:
        """End whatever is open."""
        for block in list(self._blocks.values()):
            self._close(block)
        self._end_calls(reason)

    def _end_calls(self, reason: str) -> None:
        """End the input of all calls, unless the finish reason shows that it may have been cut off."""
        for block in self._calls.values() if reason not in CUT_REASONS else ():
            self._end_call(block, is_final=True)

    def _end_call(self, block: StreamedBlock, *, is_final: bool) -> None:
        """End the input of a call if it is JSON. Otherwise the finish reason decides, once it is known."""
        if block.is_ended or block.call is None:
            return
        text = "".join(block.call.pieces)
        value = block.input
        if text.strip():
            try:
                value = self._read_input(text)
            except DecodeError:
                if not is_final:
                    return
                value = UNSET
        block.is_ended = True
        self._emitter.end_call(block.call, value, self._call_notes(block))

    def _read_input(self, text: str) -> Json:
        """Parse the input of a call, which was streamed as text."""
        return loads(text)

    def _emit_unknown(self, event: Json) -> None:
        self._emitter.emit(DataChunk(f"data-{self._namespace}-unknown", event))

    def _report(self, path: str, value: Json, why: str, severity: Literal["lost", "minor"] = "minor") -> None:
        """Report a value of the event as lost."""
        self.losses.append(Loss.of(f"$[{self._number}].{path}", value, why, severity))

    def _report_others(self, value: JsonObject, path: str, *known: str) -> None:
        """Report the unknown members of an object in the event as lost."""
        for key, item in value.items():
            if key not in known:
                self._report(f"{path}{key}", item, UNREAD)
