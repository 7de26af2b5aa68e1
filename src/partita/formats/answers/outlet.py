"""The chunks of one response of a model: started once, nothing repeated, everything closed at the end.

A provider's decoder calls the methods as events arrive. One response is one step of a message.
"""

from typing import Literal, NamedTuple

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.core.tool_text import bad_input_text, parse_input
from partita.types.chunks import (
    Chunk,
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
from partita.types.json import Json, JsonObject, dumps
from partita.types.parts import Citation
from partita.types.usage import Usage

RAW_INPUT = "rawInput"
"""The note of the text of an input, if it is not the JSON that is written for its value."""

INTERRUPTED = "interrupted"
"""The finish reason of a stream that ended early."""


class Call(NamedTuple):
    """A call whose input is being written."""

    id: str
    name: str
    pieces: list[str]
    provider_executed: bool | None = None
    dynamic: bool | None = None
    title: str | None = None


class Outlet:
    """Collects the chunks of a response. `take` returns them."""

    def __init__(self, namespace: str) -> None:
        """`namespace` is the provider's name in provider metadata."""
        self.namespace = namespace
        self.is_begun = False
        self.is_finished = False
        self.errors: list[str] = []
        self.calls: dict[str, Call] = {}
        """Calls whose input is not whole yet, by id."""
        self._chunks: list[Chunk] = []
        self._open: dict[str, Literal["text", "reasoning"]] = {}

    def take(self) -> list[Chunk]:
        """The chunks since the last call."""
        chunks, self._chunks = self._chunks, []
        return chunks

    def emit(self, chunk: Chunk) -> None:
        """Add a chunk. The message is started if it has not been."""
        self.begin()
        self._chunks.append(chunk)

    def begin(self) -> None:
        """Start the response, if it has not started. Its id is chosen by the code that folds it."""
        if not self.is_begun:
            self.is_begun = True
            self._chunks += [MessageStart(), StepStart()]

    def is_open(self, id: str) -> bool:
        """Whether a text or a reasoning of that id is being written."""
        return id in self._open

    def start_text(self, id: str, metadata: JsonObject | None = None) -> None:
        """A text begins, unless it has."""
        if id not in self._open:
            self._open[id] = "text"
            self.emit(TextStart(id, self._named(metadata)))

    def text(self, id: str, delta: str) -> None:
        """The next piece of a text; it begins with its first one."""
        self.start_text(id)
        self.emit(TextDelta(id, delta))

    def start_reasoning(self, id: str, metadata: JsonObject | None = None) -> None:
        """A reasoning begins, unless it has."""
        if id not in self._open:
            self._open[id] = "reasoning"
            self.emit(ReasoningStart(id, self._named(metadata)))

    def reasoning(self, id: str, delta: str, metadata: JsonObject | None = None) -> None:
        """The next piece of a reasoning; it begins with its first one."""
        self.start_reasoning(id)
        self.emit(ReasoningDelta(id, delta, self._named(metadata)))

    def end(
        self, id: str, metadata: JsonObject | None = None, citations: tuple[Citation, ...] | None = None
    ) -> None:
        """A text or a reasoning is whole, if it is open."""
        kind = self._open.pop(id, None)
        if kind == "text":
            self.emit(TextEnd(id, self._named(metadata), citations))
        elif kind == "reasoning":
            self.emit(ReasoningEnd(id, self._named(metadata)))

    def end_all(self, kind: Literal["text", "reasoning"] | None = None) -> None:
        """All texts and reasonings, or those of one kind, are whole."""
        for name in [name for name, is_kind in self._open.items() if kind in (None, is_kind)]:
            self.end(name)

    def start_call(self, call: Call, metadata: JsonObject | None = None) -> None:
        """The input of a call begins to be written, unless it has."""
        if call.id not in self.calls:
            self.calls[call.id] = call
            self.emit(
                ToolInputStart(
                    call.id,
                    call.name,
                    call.provider_executed,
                    self._named(metadata),
                    dynamic=call.dynamic,
                    title=call.title,
                )
            )

    def grow_call(self, id: str, delta: str) -> None:
        """The next piece of a call's input."""
        call = self.calls.get(id)
        if call is not None:
            call.pieces.append(delta)
            self.emit(ToolInputDelta(id, delta))

    def end_call(
        self, call: Call, given: Json | UnsetType = UNSET, metadata: JsonObject | None = None
    ) -> None:
        """The input of a call is complete: `given`, or the text so far. Text that is not JSON is an error."""
        self.calls.pop(call.id, None)
        text = "".join(call.pieces)
        try:
            value = parse_input(text) if given is UNSET else given
        except DecodeError as error:
            self._refuse_call(call, text, bad_input_text(error), metadata)
            return
        has_text = text or given is UNSET
        kept = {RAW_INPUT: text} if has_text and dumps(value).decode() != text else {}
        self.emit(
            ToolInputAvailable(
                call.id,
                call.name,
                value,
                call.provider_executed,
                self._named({**(metadata or {}), **kept}),
                dynamic=call.dynamic,
                title=call.title,
            )
        )

    def error(self, text: str) -> None:
        """Something failed."""
        self.errors.append(text)
        self.emit(ErrorChunk(text))

    def finish(
        self,
        reason: str,
        raw: str | None = None,
        usage: Usage | None = None,
        more: JsonObject | None = None,
    ) -> None:
        """The response is complete: the reason in our terms and in theirs, the usage, and other metadata."""
        if self.is_finished:
            return
        self.begin()
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

    def _refuse_call(self, call: Call, text: str, why: str, metadata: JsonObject | None) -> None:
        self.emit(
            ToolInputError(
                call.id,
                call.name,
                why,
                text,
                call.provider_executed,
                self._named(metadata),
                dynamic=call.dynamic,
                title=call.title,
            )
        )

    def _named(self, metadata: JsonObject | None) -> JsonObject | None:
        return {self.namespace: metadata} if metadata else None
