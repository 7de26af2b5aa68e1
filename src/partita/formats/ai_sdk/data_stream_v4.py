"""The data stream of AI SDK 4 → chunks: lines of `CODE:JSON`, as `useChat` of version 4 reads them.

Folding the chunks gives the message that the npm package makes of the same lines: a text or a reasoning
continues until its step ends, whatever is in between. It differs where the package would lose something:

- a signature ends its reasoning, so that a second one does not replace it. One without a reasoning, which
  the package ignores, gets an empty reasoning. Reasoning that starts again after other parts of its step is
  placed after them;
- data (`2`), which the package keeps outside of the message, are `data` parts;
- the message has the id of its first step, because another id would start another message. All ids, finish
  reasons and usages are in the metadata, under `steps`; the last usage under `usage`, the annotations
  under `annotations`;
- a step that starts without a start line, as in early streams of version 4, gets a `start-step`;
- a text after the end of the message (`d`) is a text of its own, and an error (`3`) does not end anything.

Data and annotations before anything else wait for the next line, which may have the id.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.errors import DecodeError, StreamError
from partita.formats.ai_sdk.versions import REDACTED, SIGNATURE, SIGNER
from partita.formats.core.files import file_url
from partita.formats.format import Format
from partita.formats.losses import UNREAD, Loss
from partita.types.chunks import (
    DATA_PREFIX,
    Chunk,
    DataChunk,
    ErrorChunk,
    FileChunk,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, loads
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.value import keep_fields

Line: TypeAlias = str | bytes | tuple[str, Json]
"""A line of the stream, or its code and its value."""

BEGINS_STEP = frozenset("09bghijke")
"""Codes of lines that start a step if none is open."""

WAITS = frozenset("28")
"""Codes whose chunks wait for the id of the message."""

_BYTE_ORDER_MARK = "\ufeff"


class LineDiagnostic(NamedTuple):
    """Something in a stream that was ignored, and the number of its line."""

    line: int
    what: str


class DataStreamDecoder:
    """Converts lines to chunks. A refused line changes nothing."""

    def __init__(self, message: AssistantMessage | None = None, *, lenient: bool = False) -> None:
        """Start a message, or continue `message`, which then keeps its id.

        A lenient decoder ignores invalid lines and lists them in `diagnostics`; a strict one raises
        `StreamError`.
        """
        self.lines = 0
        self.losses: list[Loss] = []
        """Values that are not in the message: errors, and the finish reason."""
        self.diagnostics: list[LineDiagnostic] = []
        self._lenient = lenient
        self._continues = message is not None
        metadata: Json = message.content.metadata if message else UNSET
        self._annotations = _list_in(metadata, "annotations")
        self._steps = _list_in(metadata, "steps")
        self._step: JsonObject = {}  # the members of the start of the current step
        self._step_due = False  # whether a step has ended and no other has started
        parts = message.parts if message else ()
        self._calls = {part.id for part in parts if isinstance(part, ToolCallPart)}
        self._inputs: set[str] = set()
        self._blocks = 0
        self._text: str | None = None  # the id of the open text
        self._reasoning: str | None = None
        self._waiting: list[Chunk] | None = []  # `None` once the message has started
        self._handlers: Mapping[str, Callable[[Json], list[Chunk]]] = {
            "0": self._take_text,
            "2": self._take_data,
            "3": self._take_error,
            "8": self._take_annotations,
            "9": self._take_call,
            "a": self._take_result,
            "b": self._take_call_start,
            "c": self._take_call_delta,
            "d": self._take_finish,
            "e": self._take_step_finish,
            "f": self._take_step_start,
            "g": self._take_reasoning,
            "h": self._take_source,
            "i": self._take_redacted,
            "j": self._take_signature,
            "k": self._take_file,
        }

    def feed(self, event: Line) -> list[Chunk]:
        """Return the chunks of a line."""
        self.lines += 1
        try:
            line = self._parse(event)
            return [] if line is None else self._read(*line)
        except StreamError as error:
            error.where = f"line {self.lines}"
            if not self._lenient:
                raise
            self.diagnostics.append(LineDiagnostic(self.lines, str(error)))
            return []

    def finish(self) -> list[Chunk]:
        """Return the chunks that end whatever is open when the stream ends."""
        chunks = [*self._close_reasoning(), *self._close_text()]
        if self._step:
            chunks.append(self._note_step({}))
        if self._waiting:
            chunks = [MessageStart(), *self._waiting, *chunks]
            self._waiting = None
        return chunks

    def _parse(self, event: Line) -> tuple[str, Json] | None:
        """Return the code and the value of a line, or `None` for a blank one."""
        match event:
            case str() | bytes():
                line = _decoded(event).removeprefix(_BYTE_ORDER_MARK if self.lines == 1 else "")
            case (str(code), value):
                return code, value
            case _:
                raise StreamError(
                    f"a line is text, or a pair of code and value, found {kind_of(event)}",
                    hint="pass the lines unchanged",
                )
        if not line.strip():
            return None
        code, colon, text = line.partition(":")
        if not colon:
            raise StreamError("line without a colon", hint="a line is CODE:JSON")
        try:
            return self._known(code), loads(text)
        except DecodeError as error:
            what = f"the value of code {code} is invalid: {error.what}"
            raise StreamError(what, hint=error.hint) from None

    def _known(self, code: str) -> str:
        if code not in self._handlers:
            raise StreamError(f"unknown code {code[:20]!r}", hint=f"one of {' '.join(self._handlers)}")
        return code

    def _read(self, code: str, value: Json) -> list[Chunk]:
        due = self._step_due and code in BEGINS_STEP
        chunks = self._handlers[self._known(code)](value)
        if due:
            chunks.insert(0, StepStart())
            self._step_due = code == "e"
        if self._waiting is None:
            return chunks
        if code in WAITS:
            self._waiting += chunks
            return []
        message_id = value["messageId"] if code == "f" and not self._continues else None
        chunks = [MessageStart(message_id), *self._waiting, *chunks]
        self._waiting = None
        return chunks

    # Text and reasoning

    def _take_text(self, value: Json) -> list[Chunk]:
        delta = _string("0", value)
        if self._text is not None:
            return [TextDelta(self._text, delta)]
        self._text = self._new_block("text")
        return [TextStart(self._text), TextDelta(self._text, delta)]

    def _take_reasoning(self, value: Json) -> list[Chunk]:
        delta = _string("g", value)
        if self._reasoning is not None:
            return [ReasoningDelta(self._reasoning, delta)]
        self._reasoning = self._new_block("reasoning")
        return [ReasoningStart(self._reasoning), ReasoningDelta(self._reasoning, delta)]

    def _take_signature(self, value: Json) -> list[Chunk]:
        rest = _object("j", value, "signature")
        metadata: JsonObject = {SIGNER: {SIGNATURE: rest.pop("signature")}}
        begun: list[Chunk] = []
        if self._reasoning is None:
            self._reasoning = self._new_block("reasoning")
            begun = [ReasoningStart(self._reasoning)]
        return [*begun, *self._close_reasoning(metadata, rest)]

    def _take_redacted(self, value: Json) -> list[Chunk]:
        rest = _object("i", value, "data")
        metadata: JsonObject = {SIGNER: {REDACTED: rest.pop("data")}}
        closed = self._close_reasoning()
        self._reasoning = self._new_block("reasoning")
        return [*closed, ReasoningStart(self._reasoning), *self._close_reasoning(metadata, rest)]

    def _new_block(self, kind: str) -> str:
        self._blocks += 1
        return f"{kind}-{self._blocks}"

    def _close_text(self) -> list[Chunk]:
        block, self._text = self._text, None
        return [] if block is None else [TextEnd(block)]

    def _close_reasoning(
        self, metadata: JsonObject | None = None, rest: Mapping[str, Json] | None = None
    ) -> list[Chunk]:
        block, self._reasoning = self._reasoning, None
        if block is None:
            return []
        return [ReasoningEnd(block, metadata, extra=keep_fields(rest or {}, ReasoningEnd))]

    # Tool calls

    def _take_call_start(self, value: Json) -> list[Chunk]:
        rest = _object("b", value, "toolCallId", "toolName")
        call, name = rest.pop("toolCallId"), rest.pop("toolName")
        self._calls.add(call)
        self._inputs.add(call)
        return [ToolInputStart(call, name, extra=keep_fields(rest, ToolInputStart))]

    def _take_call_delta(self, value: Json) -> list[Chunk]:
        rest = _object("c", value, "toolCallId", "argsTextDelta")
        call, delta = rest.pop("toolCallId"), rest.pop("argsTextDelta")
        if call not in self._inputs:
            raise StreamError(f"arguments of call {call!r}, which has not started", hint="send b first")
        return [ToolInputDelta(call, delta, extra=keep_fields(rest, ToolInputDelta))]

    def _take_call(self, value: Json) -> list[Chunk]:
        rest = _object("9", value, "toolCallId", "toolName")
        if not isinstance(rest.get("args", ""), (dict, list, type(None))):
            raise _misfit("9", "args", "an object", rest.get("args", UNSET))
        call, name, input_ = rest.pop("toolCallId"), rest.pop("toolName"), rest.pop("args")
        self._calls.add(call)
        return [ToolInputAvailable(call, name, input_, extra=keep_fields(rest, ToolInputAvailable))]

    def _take_result(self, value: Json) -> list[Chunk]:
        rest = _object("a", value, "toolCallId")
        if "result" not in rest:
            raise _misfit("a", "result", "a value", UNSET)
        call, output = rest.pop("toolCallId"), rest.pop("result")
        if call not in self._calls:
            raise StreamError(
                f"result of call {call!r}, which is missing",
                hint="send 9 first, or pass the message that has the call",
            )
        return [ToolOutputAvailable(call, output, extra=keep_fields(rest, ToolOutputAvailable))]

    # Steps and the message

    def _take_step_start(self, value: Json) -> list[Chunk]:
        begun = _object("f", value, "messageId")
        noted = [self._note_step({})] if self._step else []
        self._step, self._step_due = begun, False
        return [*noted, StepStart()]

    def _take_step_finish(self, value: Json) -> list[Chunk]:
        ended = _object("e", value, "finishReason")
        self._step_due = True
        closed = self._close_reasoning()
        if ended.get("isContinued") is True:
            # The text continues in the next step. Readers of versions 5 and 6 would drop it at a finish-step.
            return [*closed, self._note_step(ended)]
        return [*closed, *self._close_text(), self._note_step(ended), StepFinish()]

    def _note_step(self, ended: JsonObject) -> Chunk:
        """Return the metadata with one more step. Lists are replaced, not merged, so it has all steps."""
        if self._step.keys() & ended.keys():
            self._steps.append(self._step)
            self._step = {}
        self._steps.append({**self._step, **ended})
        self._step = {}
        return MessageMetadata({"steps": [*self._steps]})

    def _take_finish(self, value: Json) -> list[Chunk]:
        rest = _object("d", value, "finishReason")
        reason = rest.pop("finishReason")
        metadata: Json = {"usage": rest.pop("usage")} if "usage" in rest else UNSET
        closed = [*self._close_reasoning(), *self._close_text()]
        self._lose("finishReason", reason)
        return [*closed, MessageFinish(reason, metadata, extra=keep_fields(rest, MessageFinish))]

    def _take_annotations(self, value: Json) -> list[Chunk]:
        annotations = _array("8", value)
        self._annotations += annotations
        return [MessageMetadata({"annotations": [*self._annotations]})] if annotations else []

    # Values that are not streamed

    def _take_data(self, value: Json) -> list[Chunk]:
        return [DataChunk(f"{DATA_PREFIX}data", item) for item in _array("2", value)]

    def _take_error(self, value: Json) -> list[Chunk]:
        text = _string("3", value)
        self._lose("errorText", text)
        return [ErrorChunk(text)]

    def _lose(self, name: str, value: str) -> None:
        self.losses.append(Loss.of(f"$[{self.lines - 1}].{name}", value, UNREAD))

    def _take_file(self, value: Json) -> list[Chunk]:
        rest = _object("k", value, "data", "mimeType")
        data, media_type = rest.pop("data"), rest.pop("mimeType")
        return [FileChunk(file_url(data, media_type), media_type, extra=keep_fields(rest, FileChunk))]

    def _take_source(self, value: Json) -> list[Chunk]:
        rest = _object("h", value, "sourceType", "id", "url")
        title, metadata = rest.pop("title", None), rest.pop("providerMetadata", None)
        if rest.pop("sourceType") != "url":
            raise _misfit("h", "sourceType", "'url'", value["sourceType"])
        if not isinstance(title, str | None):
            raise _misfit("h", "title", "a string", title)
        if metadata is not None and not is_object(metadata):
            raise _misfit("h", "providerMetadata", "an object", metadata)
        id_, url = rest.pop("id"), rest.pop("url")
        return [SourceUrlChunk(id_, url, title, metadata, extra=keep_fields(rest, SourceUrlChunk))]


def _list_in(metadata: Json, name: str) -> list[Json]:
    items: Json = metadata.get(name) if is_object(metadata) else None
    return [*items] if is_array(items) else []


def _decoded(line: str | bytes) -> str:
    try:
        return line if isinstance(line, str) else line.decode()
    except UnicodeDecodeError as error:
        raise StreamError(
            f"line is not UTF-8: {error.reason} at byte {error.start}", hint="send UTF-8"
        ) from None


def _string(code: str, value: Json) -> str:
    if not isinstance(value, str):
        raise _misfit(code, "", "a string", value)
    return value


def _array(code: str, value: Json) -> list[Json]:
    if not is_array(value):
        raise _misfit(code, "", "an array", value)
    return value


def _object(code: str, value: Json, *strings: str) -> JsonObject:
    """Return a copy of an object that has these members as strings."""
    if not is_object(value):
        raise _misfit(code, "", "an object", value)
    for name in strings:
        if not isinstance(value.get(name), str):
            raise _misfit(code, name, "a string", value.get(name, UNSET))
    return dict(value)


def _misfit(code: str, member: str, expected: str, found: Json) -> StreamError:
    place = f"member {member!r} of code {code}" if member else f"code {code}"
    was = "nothing" if found is UNSET else kind_of(found)
    return StreamError(f"{place} takes {expected}, found {was}", hint="check that version 4 wrote the stream")


FORMAT: Final = Format(
    "ai-sdk-data-stream-v4", "AI SDK 4 data stream lines", decoder=DataStreamDecoder, is_complete=True
)
