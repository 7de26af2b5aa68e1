"""Events of a response, or a whole response → chunks. One response is one step of a message.

Items are identified by their position in the output, because some gateways change the id of an item from
event to event. Text that came in deltas is not repeated; everything else of an item is read when the item is
complete, like the item of a body, so that metadata, citations and outputs are the same. What is unknown
becomes `data-openai-unknown`. Nothing makes the decoder fail.

Source: https://platform.openai.com/docs/api-reference/responses-streaming
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.core.decoder import Call, ChunkEmitter
from partita.formats.core.members import count_in, items_in, text_in, without
from partita.formats.core.metadata import RAW_INPUT, notes
from partita.formats.core.sources import source_chunk
from partita.formats.core.tool_text import as_text, parse_input
from partita.formats.core.turns import ReadPart
from partita.formats.core.wire import RESPELLED
from partita.formats.losses import DERIVED, UNREAD, Loss
from partita.types.chunks import (
    Chunk,
    CustomChunk,
    DataChunk,
    FileChunk,
    ToolApprovalRequest,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputError,
)
from partita.types.json import Json, JsonObject, is_object, kind_of
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    CustomPart,
    ErrorTextOutput,
    FilePart,
    JsonOutput,
    SourceDocumentPart,
    SourceUrlPart,
    TextPart,
)

from . import wire
from .calls import BEHIND, CALLS, DYNAMIC, OUTCOMES, error_text, parse_arguments, runs_at_provider
from .items import ENCRYPTED, ITEM, RAW, Context, add_output, keep_whole, read_item
from .parts import MADE, source_of
from .response import client_tools_of, ending_of, is_response
from .wire import NAMESPACE

UNKNOWN: Final = "data-openai-unknown"

START_EVENTS: Final = ("response.created", "response.queued", "response.in_progress")
END_EVENTS: Final = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
PROGRESS: Final = tuple(
    f"response.{tool}."
    for tool in (
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_list_tools",
        "mcp_call",
    )
)
STAGES: Final = frozenset(
    {"in_progress", "searching", "interpreting", "generating", "calling", "completed", "failed", "incomplete"}
)
"""How far a tool has come. Its item has it too."""

STRAYS: Final = (
    ("response.output_text.", "message"),
    ("response.refusal.", "message"),
    ("response.reasoning", "reasoning"),
)
"""Events that identify the type of their item: a stream that was resumed begins in the middle of one."""

_TEXTS: Final[Mapping[str, str]] = {"output_text": "text", "refusal": "refusal"}
"""Content that is text, and the member with the text."""


def _notes(metadata: JsonObject | None) -> JsonObject:
    """Notes for a chunk. A stream is not written back, so it is not noted how an item was written.

    An id that the API does not accept is not noted either: the message may be sent to another server.
    """
    about = notes(metadata, NAMESPACE)
    kept = notes(about, ITEM)
    if not kept:
        return about
    rest = without(kept, RESPELLED, "id")
    about = without(about, ITEM)
    return {**about, ITEM: rest} if rest else about


def _call_notes(part: ToolCallPart | None) -> JsonObject:
    """Notes about a call for the chunk with its input, which notes the text of the input itself."""
    return {} if part is None else without(_notes(part.call_provider_metadata), RAW_INPUT)


class _Response:
    """What the items of a response share: the chunks, and what its end depends on."""

    def __init__(self) -> None:
        self.chunks = ChunkEmitter(NAMESPACE)
        self.context = Context()
        self.is_refused = False
        self.searches: list[str] = []
        """Searches for tools by the provider that have no output yet."""
        self.calls: dict[str, ToolCallPart | None] = {}
        """The calls so far, as their items were read."""
        self._waiting: dict[str, bool] = {}
        self._names = 0

    @property
    def has_calls(self) -> bool:
        """Whether the client must run a call."""
        return any(self._waiting.values())

    def is_provider_tool(self, name: str) -> bool:
        """Whether a custom tool is one that the client did not declare: then the provider runs it."""
        tools = self.context.client_tools
        return tools is not None and bool(name) and name not in tools

    def call_id(self, raw: JsonObject, *, is_provider: bool) -> str:
        """The id of a new call, made unique: some servers give two calls the same (seen in recordings)."""
        first, count = text_in(raw, "call_id") or text_in(raw, "id") or self.name("call"), 1
        name = first
        while name in self._waiting:
            count += 1
            name = f"{first}:{count}"
        self._waiting[name] = not is_provider
        return name

    def end_call(self, call_id: str) -> None:
        """A call has its output."""
        self._waiting[call_id] = False

    def knows(self, call_id: str) -> bool:
        """Whether there is a call with that id."""
        return call_id in self._waiting

    def name(self, kind: str) -> str:
        """An id for something without one."""
        self._names += 1
        return f"{kind}-{self._names}"

    def read(self, raw: JsonObject) -> list[ReadPart]:
        """The parts of an item."""
        try:
            return read_item(wire.ITEM.read(raw), Context(self.context.client_tools))
        except DecodeError:  # nested too deeply, or without a type
            return []

    def read_call(self, raw: JsonObject, call: Call) -> tuple[ToolCallPart | None, list[ReadPart]]:
        """The call of an item, if it can be read, and the other parts that are derived from it."""
        found = self.read(_identified(raw, call))
        part = found[0].part if found else None
        return (part if isinstance(part, ToolCallPart) else None), found[1:]


class _Item:
    """An item of the output while it is streamed. This class keeps an item whole."""

    def __init__(self, response: _Response, raw: JsonObject) -> None:
        self.response, self.raw = response, raw
        self.kind = text_in(raw, "type")
        self.is_ended = False

    def apply(self, event: JsonObject) -> bool:
        """Read an event about the item; whether it is known."""
        return False

    def may_be(self, raw: JsonObject) -> bool:
        """Whether a complete item with another id is this one."""
        call_id = text_in(raw, "call_id")
        return bool(call_id) and call_id == text_in(self.raw, "call_id")

    def end(self, raw: JsonObject) -> None:
        """Read the complete item."""
        if not self.is_ended:
            self.is_ended = True
            self.raw = raw
            self.close(raw)

    def close(self, raw: JsonObject) -> None:
        """Emit what was not emitted yet of the complete item."""
        keep(self.response, raw)

    def stop(self, *, is_complete: bool) -> None:
        """End the item without its complete form; `is_complete`: the response is complete."""
        self.end(self.raw)


def keep(response: _Response, raw: JsonObject) -> None:
    """Emit an item that is kept whole."""
    part = keep_whole(raw)
    response.chunks.emit(CustomChunk(part.kind, part.provider_metadata))


class _Passage:
    """Content of a message while it is streamed."""

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.is_refusal = False
        self.pieces: list[str] = []
        self.logprobs: list[Json] = []
        self.annotations: list[Json] = []
        self.sources: list[SourceUrlPart | SourceDocumentPart] = []

    def content(self, whole: JsonObject) -> JsonObject:
        """The content: what was complete, with the text and what else came in events."""
        text = "".join(self.pieces)
        if self.is_refusal:
            return {**whole, "type": "refusal", "refusal": text}
        annotations = items_in(whole.get("annotations")) or self.annotations
        logprobs = items_in(whole.get("logprobs")) or self.logprobs
        more = {"logprobs": logprobs} if logprobs else {}
        return {**whole, "type": "output_text", "text": text, "annotations": annotations, **more}


class _Message(_Item):
    """A message. Its first text has the id of the item, as in the AI SDK."""

    def __init__(self, response: _Response, raw: JsonObject) -> None:
        super().__init__(response, raw)
        self._first_id = text_in(raw, "id")
        self._id = self._first_id or response.name("text")
        self._passages: dict[int, _Passage] = {}
        self._passage(0)

    def apply(self, event: JsonObject) -> bool:
        if self.is_ended:
            return False
        index = count_in(event, "content_index") or 0
        kind = text_in(event, "type")
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                passage = self._passage(index)
                self._append(passage, text_in(event, "delta"), is_refusal="refusal" in kind)
                passage.logprobs += items_in(event.get("logprobs"))
            case "response.output_text.done":
                self._fill(self._passage(index), {**event, "type": "output_text"})
            case "response.refusal.done":
                self._fill(self._passage(index), {**event, "type": "refusal"})
            case "response.output_text.annotation.added":
                self._cite(self._passage(index), event.get("annotation"))
            case "response.content_part.added" | "response.content_part.done":
                part = notes(event, "part")
                if text_in(part, "type") not in _TEXTS:
                    return False
                self._fill(self._passage(index), part)
            case _:
                return False
        return True

    def may_be(self, raw: JsonObject) -> bool:
        """Whether a complete message begins with the text that came in deltas."""
        text = "".join(piece for passage in self._passages.values() for piece in passage.pieces)
        parts = [part for part in items_in(raw.get("content")) if is_object(part)]
        whole = "".join(text_in(part, _TEXTS.get(text_in(part, "type"), "")) for part in parts)
        return bool(text) and whole.startswith(text)

    def close(self, raw: JsonObject) -> None:
        content: list[Json] = []
        for index, part in enumerate(items_in(raw.get("content"))):
            if is_object(part) and text_in(part, "type") in _TEXTS:
                passage = self._passage(index)
                self._fill(passage, part)
                content.append(passage.content(part))
            elif is_object(part):
                content.append(part)
        self._close(raw, content)

    def stop(self, *, is_complete: bool) -> None:
        if not self.is_ended:
            self.is_ended = True
            self._close(without(self.raw, "status"), [])

    def _close(self, raw: JsonObject, content: list[Json]) -> None:
        for index, passage in sorted(self._passages.items()):
            if index >= len(content):
                content.append(passage.content({}))
        # The id with which it began: some gateways change it, and the AI SDK keeps the first
        named = {**raw, "id": self._first_id} if self._first_id else raw
        found = self.response.read({**named, "role": "assistant", "content": content})
        parts = [one.part for one in found if isinstance(one.part, TextPart | CustomPart)]
        numbers = sorted(self._passages)
        for index, part in enumerate(parts):
            if isinstance(part, CustomPart):
                self.response.chunks.emit(CustomChunk(part.kind, part.provider_metadata))
            elif index in self._passages:
                passage = self._passages[index]
                numbers.remove(index)
                self.response.chunks.end(passage.id, _notes(part.provider_metadata), part.citations)
                for source in passage.sources:
                    self.response.chunks.emit(source_chunk(source))
        for index in numbers:  # an item that cannot be read
            self.response.chunks.end(self._passages[index].id, self._known())

    def _known(self) -> JsonObject:
        known = {"itemId": self._first_id, "phase": text_in(self.raw, "phase")}
        return {name: value for name, value in known.items() if value}

    def _passage(self, index: int) -> _Passage:
        passage = self._passages.get(index)
        if passage is None:
            passage = self._passages[index] = _Passage(f"{self._id}:{index}" if index else self._id)
            self.response.chunks.start_text(passage.id, self._known())
        return passage

    def _append(self, passage: _Passage, text: str, *, is_refusal: bool) -> None:
        passage.is_refusal |= is_refusal
        self.response.is_refused |= is_refusal
        if text:
            passage.pieces.append(text)
            self.response.chunks.append_text(passage.id, text)

    def _fill(self, passage: _Passage, part: JsonObject) -> None:
        """Content that is complete. Text that came in deltas is not repeated."""
        kind = text_in(part, "type")
        text = "" if passage.pieces else text_in(part, _TEXTS[kind])
        self._append(passage, text, is_refusal=kind == "refusal")
        passage.logprobs = passage.logprobs or [*items_in(part.get("logprobs"))]
        for annotation in items_in(part.get("annotations"))[len(passage.annotations) :]:
            self._cite(passage, annotation)

    def _cite(self, passage: _Passage, annotation: Json) -> None:
        if not is_object(annotation):
            return
        passage.annotations.append(annotation)
        cited = source_of(annotation)
        source = None if cited is None else self.response.context.number(cited, is_found=False)
        if source is None:
            return
        if text_in(annotation, "type") in MADE:
            self.response.chunks.emit(source_chunk(source))
        else:
            passage.sources.append(source)


_REASONING: Final[Mapping[str, str]] = {
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_summary_text.done": "summary",
    "response.reasoning_summary_part.added": "summary",
    "response.reasoning_summary_part.done": "summary",
    "response.reasoning_text.delta": "content",
    "response.reasoning_text.done": "content",
    "response.reasoning_part.added": "content",
    "response.reasoning_part.done": "content",
    "response.content_part.added": "content",
    "response.content_part.done": "content",
}
"""Events about reasoning, and the member of the item that they are about."""


class _Thought:
    """A summary, or a text of raw reasoning. The member is unknown until the first event."""

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.member: str | None = None
        self.pieces: list[str] = []


class _Reasoning(_Item):
    """Reasoning. It begins with an empty text: the item is needed even if nothing in it can be read."""

    def __init__(self, response: _Response, raw: JsonObject) -> None:
        super().__init__(response, raw)
        self._id = text_in(raw, "id") or response.name("reasoning")
        self._known: JsonObject = {"itemId": raw["id"]} if text_in(raw, "id") else {}
        self._thoughts: dict[tuple[str | None, int], _Thought] = {}
        self._last = self._open(None, 0)

    def apply(self, event: JsonObject) -> bool:
        member = _REASONING.get(text_in(event, "type"))
        if member is None or self.is_ended:
            return False
        thought = self._thought(member, count_in(event, f"{member}_index") or 0)
        if "delta" in event:
            self._append(thought, text_in(event, "delta"))
        elif not thought.pieces:
            self._append(thought, text_in(event, "text") or text_in(notes(event, "part"), "text"))
        return True

    def may_be(self, raw: JsonObject) -> bool:
        """Whether complete reasoning begins with the text that came in deltas."""
        text = "".join(piece for thought in self._thoughts.values() for piece in thought.pieces)
        parts = [*items_in(raw.get("summary")), *items_in(raw.get("content"))]
        whole = "".join(text_in(part, "text") for part in parts if is_object(part))
        return bool(text) and whole.startswith(text)

    def close(self, raw: JsonObject) -> None:
        for member in ("summary", "content"):
            for index, part in enumerate(items_in(raw.get(member))):
                thought = self._thought(member, index)
                if not thought.pieces:
                    self._append(thought, text_in(part, "text") if is_object(part) else "")
        found = self.response.read({"summary": [], **raw})
        about = _notes(found[-1].part.provider_metadata) if found else {}
        more = {name: about[name] for name in (ENCRYPTED, ITEM) if name in about}
        self._finish({ENCRYPTED: raw.get("encrypted_content"), **more})

    def stop(self, *, is_complete: bool) -> None:
        if not self.is_ended:
            self.is_ended = True
            self._finish({ENCRYPTED: self.raw.get("encrypted_content")})

    def _finish(self, more: JsonObject) -> None:
        for thought in self._thoughts.values():
            self.response.chunks.end(thought.id, {**self._metadata(thought), **more})

    def _thought(self, member: str, index: int) -> _Thought:
        """The text that an event is about. A new one ends the one before; the first is already open."""
        thought = self._thoughts.get((member, index))
        if thought is not None:
            return thought
        first = self._thoughts.pop((None, 0), None)
        if first is not None:
            first.member = member
            self._thoughts[member, index] = first
            return first
        self.response.chunks.end(self._last.id, self._metadata(self._last))
        self._last = self._open(member, index)
        return self._last

    def _open(self, member: str | None, index: int) -> _Thought:
        thought = _Thought(f"{self._id}:{len(self._thoughts)}")
        thought.member = member
        self._thoughts[member, index] = thought
        encrypted = {ENCRYPTED: self.raw.get("encrypted_content")}
        self.response.chunks.start_reasoning(thought.id, {**self._known, **encrypted})
        return thought

    def _append(self, thought: _Thought, text: str) -> None:
        if text:
            thought.pieces.append(text)
            self.response.chunks.append_reasoning(thought.id, text, self._metadata(thought))

    def _metadata(self, thought: _Thought) -> JsonObject:
        return {**self._known, **({"type": RAW} if thought.member == "content" else {})}


_ARGUMENTS: Final[Mapping[str, str]] = {
    "response.function_call_arguments.delta": "delta",
    "response.custom_tool_call_input.delta": "delta",
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}
"""Events about the input of a call, and the member with the text."""


class _TextualCall(_Item):
    """A call of a function or a custom tool, whose input is text."""

    def __init__(self, response: _Response, raw: JsonObject) -> None:
        super().__init__(response, raw)
        self._is_custom = self.kind == "custom_tool_call"
        self._input: Json = None  # the input, once it came in one piece
        self._call = Call(response.call_id(raw, is_provider=False), "", [])
        self._name(raw)
        if self._call.name:
            self._start()

    def apply(self, event: JsonObject) -> bool:
        member = _ARGUMENTS.get(text_in(event, "type"))
        if member is None or self.is_ended:
            return False
        if member != "delta":
            self._input = event.get(member) or self._input
        elif text_in(event, "delta"):
            self._start()
            self.response.chunks.append_input(self._call.id, text_in(event, "delta"))
        return True

    def end(self, raw: JsonObject) -> None:
        self.raw = raw
        self._input = raw.get("input" if self._is_custom else "arguments") or self._input
        self._name(raw)
        self._close(is_cut=text_in(raw, "status") == "incomplete")

    def stop(self, *, is_complete: bool) -> None:
        """A complete response has complete calls, even if they have no status."""
        self._close(is_cut=not is_complete and self._input is None)

    def _name(self, raw: JsonObject) -> None:
        """Note the name of the tool, which decides who runs it."""
        name = text_in(raw, "name") or self._call.name
        is_provider = self._is_custom and self.response.is_provider_tool(name)
        self._call = self._call._replace(name=name, provider_executed=is_provider or None)
        if is_provider:
            self.response.end_call(self._call.id)

    def _start(self) -> None:
        call, chunks = self._call, self.response.chunks
        if not self._is_custom:
            chunks.start_call(call)
        elif call.id not in chunks.calls:
            chunks.calls[call.id] = call
            chunks.emit(ToolInputStart(call.id, call.name, call.provider_executed, input_encoding="text"))

    def _close(self, *, is_cut: bool) -> None:
        """Emit the complete input. A call that was cut stays open."""
        if self.is_ended:
            return
        self.is_ended = True
        self._start()
        written = "".join(self._call.pieces)
        given = written if self._input is None else self._input
        chunks = self.response.chunks
        if is_cut and (self._is_custom or not _is_json(given)):
            if not written and isinstance(given, str):
                chunks.append_input(self._call.id, given)
            return
        part, _ = self.response.read_call(self.raw, self._call)
        metadata = _call_notes(part)
        if self._is_custom or not isinstance(given, str):
            chunks.end_call(self._call._replace(pieces=[]), given, metadata)
        else:
            chunks.end_call(self._call._replace(pieces=[given]), UNSET, metadata)


def _is_json(value: Json) -> bool:
    try:
        parse_input(value if isinstance(value, str) else "")
    except DecodeError:
        return False
    return is_object(value) or (isinstance(value, str) and bool(value.strip()))


def _identified(raw: JsonObject, call: Call) -> JsonObject:
    """An item with an id and a name, as far as they are missing."""
    has_id = bool(text_in(raw, "call_id") or text_in(raw, "id"))
    needs_name = CALLS[text_in(raw, "type")].name is None and not text_in(raw, "name")
    named = {**raw, "name": call.name} if needs_name else raw
    return named if has_id else {**named, "call_id": call.id}


# Built-in tools whose call is emitted when their item begins: `start` without an input, `input` with it, as
# the AI SDK does. The others are emitted when their item is complete.
_OPENINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "web_search_call": ("start", "input"),
    "file_search_call": ("input",),
    "image_generation_call": ("input",),
    "tool_search_call": ("start",),
}

_REPEATED: Final = (
    "response.mcp_call_arguments.delta",
    "response.mcp_call_arguments.done",
    "response.shell_call_command.added",
    "response.shell_call_command.delta",
    "response.shell_call_command.done",
)
"""Pieces of an input that the complete item repeats."""

_PARTIAL_IMAGE: Final = "response.image_generation_call.partial_image"


class _ToolCall(_Item):
    """A call of a built-in tool, of the provider or the client."""

    def __init__(self, response: _Response, raw: JsonObject) -> None:
        super().__init__(response, raw)
        self._pieces: list[str] = []
        self._has_input = False
        self._opened: Call | None = None
        opening = _OPENINGS.get(self.kind, ())
        if "start" in opening and runs_at_provider(self.kind, raw):
            response.chunks.start_call(self._call(raw))
        if "input" in opening:
            self._end_input(raw, {})

    def apply(self, event: JsonObject) -> bool:
        kind = text_in(event, "type")
        if self.is_ended:
            return False
        if kind in _REPEATED:
            self._pieces.append(text_in(event, "delta"))
        elif kind == _PARTIAL_IMAGE and self.kind == "image_generation_call":
            output = {"result": event.get("partial_image_b64")}
            id_ = self._call(self.raw).id
            chunk = ToolOutputAvailable(id_, output, provider_executed=True, preliminary=True)
            self.response.chunks.emit(chunk)
        else:
            return False
        return True

    def close(self, raw: JsonObject) -> None:
        call = self._call(raw)
        part, others = self.response.read_call(raw, call)
        self.response.calls[call.id] = part
        if not self._has_input:
            if "start" in _OPENINGS.get(self.kind, ()):
                self.response.chunks.start_call(call)
            self._end_input(raw, _call_notes(part), part)
        if self.kind == "mcp_approval_request":
            asked = text_in(raw, "approval_request_id") or text_in(raw, "id") or call.id
            self.response.chunks.emit(ToolApprovalRequest(asked, call.id))
        elif self.kind in OUTCOMES and part is not None:
            self.response.end_call(call.id)
            emit_output(self.response, call.id, part)
            for one in others:
                if isinstance(one.part, FilePart):
                    chunk = FileChunk(one.part.url, one.part.media_type, one.part.provider_metadata)
                    self.response.chunks.emit(chunk)
                elif (source := self.response.context.number(one.part, is_found=True)) is not None:
                    self.response.chunks.emit(source_chunk(source))

    def stop(self, *, is_complete: bool) -> None:
        """A call that was not emitted yet is emitted as one that was being written."""
        if self.is_ended or self._has_input:
            return
        self.is_ended = True
        call, text = self._call(self.raw), "".join(self._pieces)
        self.response.chunks.start_call(call)
        if text:
            self.response.chunks.append_input(call.id, text)

    def _call(self, raw: JsonObject) -> Call:
        """The call. Its id is that of the first chunk; before, a server may still change it."""
        if self._opened is None:
            is_provider = runs_at_provider(self.kind, raw)
            id_ = self.response.call_id(raw, is_provider=is_provider)
            name = CALLS[self.kind].name or text_in(raw, "name")
            self._opened = Call(id_, name, [], is_provider or None, True if self.kind in DYNAMIC else None)
            if self.kind == "tool_search_call" and is_provider:
                self.response.searches.append(id_)
        return self._opened

    def _end_input(self, raw: JsonObject, metadata: JsonObject, part: ToolCallPart | None = None) -> None:
        self._has_input = True
        text = text_in(raw, "arguments") if self.kind in DYNAMIC or self.kind == "tool_search_call" else ""
        value = parse_arguments(raw.get("arguments")) if part is None or part.input is UNSET else part.input
        self.response.chunks.end_call(self._call(raw)._replace(pieces=[text]), value, metadata)


def emit_output(response: _Response, call_id: str, part: ToolCallPart) -> None:
    """Emit the output of a call of the provider."""
    metadata = {NAMESPACE: _notes(part.result_provider_metadata)}
    match part.output:
        case JsonOutput(value=value):
            response.chunks.emit(ToolOutputAvailable(call_id, value, True, metadata))
        case ErrorTextOutput(value=text):
            response.chunks.emit(ToolOutputError(call_id, text, True, metadata))
        case _:
            pass


_QUOTED: Final[Mapping[str, str]] = {"code_interpreter_call": "code", "apply_patch_call": "diff"}
"""Calls whose input is an object with a long text that comes in deltas, and the member with the text."""

_QUOTED_DELTAS: Final = (
    "response.code_interpreter_call_code.delta",
    "response.apply_patch_call_operation_diff.delta",
)
_QUOTED_DONE: Final = (
    "response.code_interpreter_call_code.done",
    "response.apply_patch_call_operation_diff.done",
)


class _QuotedCall(_Item):
    """A call of the code interpreter, or a patch."""

    def __init__(self, response: _Response, raw: JsonObject) -> None:
        super().__init__(response, raw)
        self._member = _QUOTED[self.kind]
        self._is_provider = self.kind == "code_interpreter_call"
        self._is_quoting = self._has_input = False
        id_ = response.call_id(raw, is_provider=self._is_provider)
        self._call = Call(id_, CALLS[self.kind].name or "", [], self._is_provider or None)
        response.chunks.start_call(self._call)

    def apply(self, event: JsonObject) -> bool:
        kind = text_in(event, "type")
        if self.is_ended or self._has_input:
            return False
        if kind in _QUOTED_DELTAS:
            self._append(text_in(event, "delta"))
        elif kind in _QUOTED_DONE:
            text = text_in(event, self._member)
            if not self._is_quoting and text:
                self._append(text)
            self._end_quote()
            if self._is_provider:  # code runs from here on; a patch waits for its item
                self._end_input({**self._input(), self._member: text}, None)
        else:
            return False
        return True

    def close(self, raw: JsonObject) -> None:
        whole = raw if self._is_provider else {"operation": {}, **raw}
        part, _ = self.response.read_call(whole, self._call)
        if not self._has_input:
            self._end_quote()
            self._end_input(self._input(), _call_notes(part))
        if self._is_provider and part is not None:
            emit_output(self.response, self._call.id, part)

    def stop(self, *, is_complete: bool) -> None:
        self.is_ended = True

    def _append(self, text: str) -> None:
        """Write a piece into the JSON of the input, after the other members."""
        if not self._is_quoting:
            self._is_quoting = True
            opening = as_text({**without(self._input(), self._member), self._member: ""})
            self.response.chunks.append_input(self._call.id, opening.removesuffix('"}'))
        if text:
            self.response.chunks.append_input(self._call.id, as_text([text])[2:-2])

    def _end_quote(self) -> None:
        if self._is_quoting:
            self._is_quoting = False
            self.response.chunks.append_input(self._call.id, '"}')

    def _end_input(self, value: Json, metadata: JsonObject | None) -> None:
        self._has_input = True
        self.response.chunks.end_call(self._call._replace(pieces=[]), value, metadata)

    def _input(self) -> JsonObject:
        if self.kind == "apply_patch_call":
            return notes(self.raw, "operation")
        return {"containerId": self.raw.get("container_id"), "code": self.raw.get("code")}


_OUTPUT_PIECES: Final = (
    "response.shell_call_output_content.delta",
    "response.shell_call_output_content.done",
)


class _Output(_Item):
    """The output of a call of the provider, in an item of its own."""

    def apply(self, event: JsonObject) -> bool:
        return text_in(event, "type") in _OUTPUT_PIECES and not self.is_ended

    def close(self, raw: JsonObject) -> None:
        call_id = text_in(raw, "call_id")
        if self.kind == "tool_search_output" and not call_id and self.response.searches:
            call_id = self.response.searches.pop(0)
        call = self.response.calls.get(call_id)
        if not self.response.knows(call_id) or call is None:
            keep(self.response, raw)
            return
        self.response.end_call(call_id)
        item: Any = wire.ITEM.read(raw)
        emit_output(self.response, call_id, add_output(call, item))

    def stop(self, *, is_complete: bool) -> None:
        self.is_ended = True


_Make: TypeAlias = Callable[[_Response, JsonObject], _Item]

MAKERS: Final[Mapping[str, _Make]] = {
    **dict.fromkeys(CALLS, _ToolCall),
    **dict.fromkeys(_QUOTED, _QuotedCall),
    **dict.fromkeys(("function_call", "custom_tool_call"), _TextualCall),
    **dict.fromkeys(BEHIND, _Output),
    "message": _Message,
    "reasoning": _Reasoning,
}
"""What reads each type of item; any other is kept whole."""


class ResponsesDecoder:
    """Events in, chunks out. One decoder reads one response."""

    def __init__(self) -> None:
        self._shared = _Response()
        self._items: dict[int | str, _Item] = {}
        self._ids: dict[str, _Item] = {}
        self._counts: Counter[str] = Counter()
        self._response: JsonObject = {}
        self._end_members: JsonObject = {}
        self._is_ended = False
        self._reported: set[str] = set()

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of one event. A text is a record that is not JSON."""
        self._shared.chunks.start()
        if isinstance(event, str):
            self._shared.chunks.error(f"unparsable record: {event[:200]}")
        elif not is_object(event) or not self._take(event):
            self._shared.chunks.emit(DataChunk(UNKNOWN, event))
        return self._shared.chunks.take()

    def finish(self) -> list[Chunk]:
        """The chunks that end the message. Without the last event of a stream, it was interrupted."""
        chunks = self._shared.chunks
        if not chunks.is_finished:
            for item in self._items.values():
                item.stop(is_complete=False)
            ending = ending_of(
                self._response,
                self._end_members,
                is_ended=self._is_ended,
                is_failed=bool(self._reported),
                is_refused=self._shared.is_refused,
                has_calls=self._shared.has_calls,
            )
            chunks.finish(ending.reason, ending.raw, ending.usage, ending.more)
        return chunks.take()

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of a response that was not streamed, or of the error instead of one."""
        if is_object(body) and is_response(body):
            self._read_response(body)
        else:
            self._is_ended = True
            self._fail(body if is_object(body) else f"the body is not a response: {kind_of(body)}")
        return self.finish()

    def _take(self, event: JsonObject) -> bool:
        """Read an event; whether it is known."""
        kind = text_in(event, "type")
        if kind in START_EVENTS:
            self._update(notes(event, "response"))
        elif kind in END_EVENTS:
            self._end(event)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            return self._take_item(event, is_complete=kind.endswith("done"))
        elif kind == "error" or (not kind and event.get("error") is not None):
            self._fail(event)
        elif kind.startswith(PROGRESS) and kind.rpartition(".")[2] in STAGES:
            pass
        elif not kind and is_response(event):
            self._read_response(event)
        else:
            return self._apply(event)
        return True

    def _apply(self, event: JsonObject) -> bool:
        """Read an event about an item. If that is unknown, the last item that accepts the event."""
        item = self._find(event)
        if item is not None:
            return item.apply(event)
        if count_in(event, "output_index") is None and any(one.apply(event) for one in self._open()):
            return True
        stray = self._stray(event)
        return stray is not None and stray.apply(event)

    def _open(self) -> list[_Item]:
        """The items that are not complete, the last first."""
        return [item for item in reversed(self._items.values()) if not item.is_ended]

    def _take_item(self, event: JsonObject, *, is_complete: bool) -> bool:
        raw, index = notes(event, "item"), count_in(event, "output_index")
        kind = text_in(raw, "type")
        if not kind:
            return False
        item = self._find(event, raw)
        if item is None and is_complete:
            item = self._find_open(raw, index)
        if item is None or item.kind != kind or (item.is_ended and not is_complete):
            if item is not None:
                item.stop(is_complete=True)
            item = self._make(raw, index)
        if is_complete:
            item.end(raw)
        return True

    def _find(self, event: JsonObject, raw: JsonObject | None = None) -> _Item | None:
        """The item that an event is about: by its position, or else by its id."""
        index = count_in(event, "output_index")
        if index is not None and index in self._items:
            return self._items[index]
        return self._ids.get(text_in(event, "item_id") or text_in(raw or {}, "id"))

    def _find_open(self, raw: JsonObject, index: int | None) -> _Item | None:
        """The item that a complete one with another id is: one with the same text, or the only one."""
        unended = [item for item in self._open() if item.kind == text_in(raw, "type")]
        for item in reversed(unended):
            if item.may_be(raw):
                return item
        return unended[0] if index is None and len(unended) == 1 else None

    def _make(self, raw: JsonObject, index: int | None) -> _Item:
        kind = text_in(raw, "type")
        item = MAKERS.get(kind, _Item)(self._shared, raw)
        self._counts[kind] += 1
        self._items[f"item {len(self._items)}" if index is None else index] = item
        if text_in(raw, "id"):
            self._ids[raw["id"]] = item
        return item

    def _stray(self, event: JsonObject) -> _Item | None:
        """An item that started before the stream."""
        for beginning, kind in STRAYS:
            if text_in(event, "type").startswith(beginning):
                id_ = text_in(event, "item_id")
                raw = {"type": kind, **({"id": id_} if id_ else {})}
                return self._make(raw, count_in(event, "output_index"))
        return None

    def _end(self, event: JsonObject) -> None:
        """Read the last event. Its output fills what did not come in events of its own."""
        response = notes(event, "response")
        self._is_ended = True
        self._update(response)
        self._end_members = without(event, "type", "response", "sequence_number", "event_id")
        self._response.setdefault("status", text_in(event, "type").removeprefix("response."))
        self._fill(response)
        for item in self._open():
            item.stop(is_complete=self._response["status"] == "completed")
        if response.get("error") is not None:
            self._fail(response["error"])

    def _fill(self, response: JsonObject) -> None:
        """End items that are open, and add those that never came: as many as are missing of their type."""
        raws = [(index, raw) for index, raw in enumerate(items_in(response.get("output"))) if is_object(raw)]
        wanted = Counter(text_in(raw, "type") for _, raw in raws)
        for index, raw in raws:
            kind = text_in(raw, "type")
            item = self._ids.get(text_in(raw, "id")) or self._items.get(index)
            if item is not None and kind and item.kind == kind:
                item.end(raw)
            elif kind and self._counts[kind] < wanted[kind]:
                self._make(raw, None).end(raw)

    def _update(self, response: JsonObject) -> None:
        """Note what is known of the response as a whole."""
        self._response = {**self._response, **response}
        self._shared.context.client_tools = client_tools_of(self._response)

    def _read_response(self, response: JsonObject) -> None:
        self._shared.context.client_tools = client_tools_of(response)
        for index, raw in enumerate(items_in(response.get("output"))):
            if is_object(raw):
                self._take_item({"item": raw, "output_index": index}, is_complete=False)
                self._take_item({"item": raw, "output_index": index}, is_complete=True)
        status = text_in(response, "status") or "completed"
        self._end({"type": f"response.{status}", "response": response})

    def _fail(self, error: Json) -> None:
        """Report a failure once: it often comes as an event, and again in the response."""
        text = error_text(error)
        if text not in self._reported:
            self._reported.add(text)
            self._shared.chunks.error(text)


# What a stream contains and its message does not

ONLY_TEXT: Final = "only the text of an error is kept"

_POSITIONS: Final = frozenset(
    {
        "sequence_number",
        "event_id",
        "item_id",
        "output_index",
        "content_index",
        "summary_index",
        "annotation_index",
        "partial_image_index",
        "obfuscation",
    }
)
"""Members of events that only serve the stream."""

_CARRIED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("response.output_text.delta", "response.refusal.delta"), "delta"),
    **{name: "delta" for name in (*_REASONING, *_ARGUMENTS, *_QUOTED_DELTAS) if name.endswith(".delta")},
    **dict.fromkeys(END_EVENTS, "response"),
}
"""The member of an event that is read into the message."""


def unread_losses(events: Sequence[Json]) -> Iterator[Loss]:
    """What of known events is not in the message: positions, and what other events repeat."""
    ended = [index for index, event in enumerate(events) if is_object(event) and "response" in event]
    for index, event in enumerate(events):
        if not is_object(event):
            continue
        path, kind = f"$[{index}]", text_in(event, "type")
        if kind == "error" or (not kind and "error" in event):
            yield Loss.of(path, event, ONLY_TEXT, "changed")
            continue
        if not kind.startswith("response."):
            continue
        positions = {name: value for name, value in event.items() if name in _POSITIONS}
        if positions:
            yield Loss.of(path, positions, DERIVED, "minor")
        for name, value in event.items():
            where = f"{path}.{name}"
            if name == "response" and index == ended[-1] and is_object(value):
                yield from _unread_response(value, where)
            elif name not in ("type", _CARRIED.get(kind), *_POSITIONS) and kind not in END_EVENTS and value:
                yield Loss.of(where, value, DERIVED, "minor")


def _unread_response(response: JsonObject, path: str) -> Iterator[Loss]:
    for name in ("output", "output_text"):
        if response.get(name):
            yield Loss.of(f"{path}.{name}", response[name], DERIVED, "minor")
    for name, expected in (("id", str), ("model", str), ("status", str), ("usage", dict)):
        if response.get(name) is not None and not isinstance(response[name], expected):
            yield Loss.of(f"{path}.{name}", response[name], UNREAD)
    if response.get("object", "response") != "response":
        yield Loss.of(f"{path}.object", response["object"], UNREAD)
