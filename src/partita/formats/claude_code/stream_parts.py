"""The state of the parts of a streamed message: texts, calls, responses.

A text or a call may arrive as deltas, as a whole block, or as both, in any order. Each object remembers what
was emitted of it, so that nothing is emitted twice and nothing is left out.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.members import is_equal
from partita.formats.core.tool_text import bad_input_text
from partita.formats.losses import REPLACED, UNREAD, Loss
from partita.types import chunks as c
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.parts import ToolOutput

from .blocks import CallFacts, citations_of, data_type, mcp_metadata
from .wire import ANTHROPIC, CLAUDE_CODE

UNKNOWN: Final = "data-claude-unknown"
"""The type of a chunk with an unknown event or block."""

UNKNOWN_TOOL: Final = "unknown-tool"
"""The name of a tool of which only a result, a request for permission or a sub-agent is known."""

TEXT_KINDS: Final[Mapping[str, "TextKind"]] = {
    "text": "text",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
}
TEXT_MEMBERS: Final[Mapping[str, str]] = {"text": "text", "thinking": "thinking"}
"""By the type of a block: its kind, and the member with its text."""

# Why a part of an event is not in the message
REPEATED: Final = "another event has it too"
RETRACTED: Final = "the response was retracted"

TextKind: TypeAlias = Literal["text", "reasoning"]
TextState: TypeAlias = Literal["open", "due", "ended"]
"""`due`: the text is complete, and waits for the whole block, which may have a signature."""

CallState: TypeAlias = Literal["streaming", "available", "lost", "done", "retracted"]
"""`lost`: ended without an output, which may still come. `retracted`: its response was retracted."""


def strings(value: Json) -> Iterator[str]:
    """The strings in a list, if it is one."""
    if is_array(value):
        yield from (item for item in value if isinstance(item, str))


class ChunkEmitter:
    """Collects chunks, and begins the message before its first chunk.

    `losses` are the parts of events that no chunk has; `None` if they are not reported.
    """

    def __init__(self, message_id: str | None, *, with_losses: bool = False) -> None:
        self._message_id = message_id
        self._chunks: list[c.Chunk] = []
        self._ever_begun = False
        self.is_open = False
        """Whether a message is open."""
        self.losses: list[Loss] | None = [] if with_losses else None
        self.path = "$"
        """The path of the current event."""

    def begin(self, metadata: Json | UnsetType = UNSET) -> None:
        """Begin the message, or continue it: events after a result belong to the same message."""
        if not self.is_open:
            self._chunks.append(c.MessageStart(None if self._ever_begun else self._message_id, metadata))
            self.is_open = self._ever_begun = True
        elif metadata is not UNSET:
            self._chunks.append(c.MessageMetadata(metadata))

    def emit(self, chunk: c.Chunk, path: tuple[str, ...] = ()) -> None:
        """Add a chunk of the main agent, or of the sub-agent under the calls of `path`."""
        if not self.is_open:
            self.begin()
        is_plain = not path or type(chunk) is c.ChildMessage
        self._chunks.append(chunk if is_plain else c.ChildChunk(path, chunk))

    def emit_data(self, name: str, data: Json, *, id: str | None = None, transient: bool = False) -> None:
        """Add data about the turn. It begins a message, but does not reopen one that has ended."""
        if not self._ever_begun:
            self.begin()
        self._chunks.append(c.DataChunk(data_type(name), data, id, transient or None))

    def emit_unknown(self, value: Json, path: tuple[str, ...] = ()) -> None:
        """Add an unknown event or block."""
        if path:
            self.emit(c.DataChunk(UNKNOWN, value), path)
        else:
            self.emit_data("unknown", value)

    def end(self, chunk: c.MessageFinish | c.MessageAbort) -> None:
        """Add the end of the message."""
        self.begin()
        self._chunks.append(chunk)
        self.is_open = False

    def take(self) -> list[c.Chunk]:
        """The chunks since the last call."""
        chunks, self._chunks = self._chunks, []
        return chunks

    def report_loss(self, location: str, value: Json, why: str) -> None:
        """Report a value in the current event that no chunk has."""
        self.report_loss_at(f"{self.path}{location}", value, why)

    def report_loss_at(self, path: str, value: Json, why: str) -> None:
        """Report a value in an event that no chunk has."""
        if self.losses is not None:
            self.losses.append(Loss.of(path, value, why, "minor"))

    def report_members(self, value: JsonObject, location: str, *known: str) -> None:
        """Report the members of an object that are not known."""
        if self.losses is not None:
            for key, item in value.items():
                if key not in known:
                    self.report_loss(f"{location}.{key}", item, UNREAD)

    def report_unexpected(self, value: JsonObject, location: str, **usual: Json) -> None:
        """Report members that do not have their expected values."""
        for key, expected in usual.items():
            if not is_equal(value.get(key, expected), expected):
                self.report_loss(f"{location}.{key}", value[key], UNREAD)


class TextStream:
    """A text or a reasoning: what was emitted of it, and the members of its end."""

    def __init__(self, id: str, kind: TextKind) -> None:
        self.id = id
        self.kind: TextKind = kind
        self.state: TextState = "open"
        self.has_whole = False  # the whole block was received
        self.fields: JsonObject = {}  # of the block, besides the text
        self.paths: dict[str, str] = {}  # the paths of fields
        self._citations: list[Json] = []
        self._deltas: list[str] = []
        self._length = 0  # how many characters were emitted
        self._received = 0  # how many were received as deltas

    @property
    def text(self) -> str:
        """The text that was emitted."""
        if len(self._deltas) > 1:
            self._deltas = ["".join(self._deltas)]
        return self._deltas[0] if self._deltas else ""

    def start(self) -> c.Chunk:
        """Return the chunk that begins it."""
        metadata: JsonObject | None = {ANTHROPIC: dict(self.fields)} if self.fields else None
        return c.TextStart(self.id, metadata) if self.kind == "text" else c.ReasoningStart(self.id, metadata)

    def receive(self, delta: str) -> str:
        """Return the new text in a delta: all of it, unless the whole block came before."""
        known = self._length - self._received
        self._received += len(delta)
        return delta if known <= 0 else delta[known:]

    def append(self, text: str) -> c.Chunk:
        """Return the chunk with the next text."""
        self._deltas.append(text)
        self._length += len(text)
        self.state = "open"
        return c.TextDelta(self.id, text) if self.kind == "text" else c.ReasoningDelta(self.id, text)

    def add_citation(self, citation: Json) -> None:
        """Add a citation, which is emitted at the end."""
        self._citations.append(citation)

    @property
    def expects_signature(self) -> bool:
        """Whether the whole block may still follow with a signature."""
        return self.kind == "reasoning" and "signature" not in self.fields and not self.has_whole

    def end(self, *, aborted: bool = False) -> c.Chunk | None:
        """Return the chunk that ends it; `None` if it has ended."""
        if self.state == "ended":
            return None
        self.state = "ended"
        fields = {**self.fields, "citations": self._citations} if self._citations else self.fields
        metadata: JsonObject = {ANTHROPIC: fields} if fields else {}
        if aborted:
            metadata[CLAUDE_CODE] = {"aborted": True}
        if self.kind == "reasoning":
            return c.ReasoningEnd(self.id, metadata or None)
        return c.TextEnd(self.id, metadata or None, citations_of(self._citations, self.id))

    def has_all(self, fields: JsonObject, citations: list[Json]) -> bool:
        """Whether it has all fields and citations of a whole block."""
        known = all(is_equal(self.fields.get(key), value) for key, value in fields.items())
        return known and (not citations or is_equal(citations, self._citations))

    def add_whole(self, text: str, fields: JsonObject, citations: list[Json], emitter: ChunkEmitter) -> str:
        """Add the fields and citations of the whole block; return the part of its text that is new."""
        self.has_whole = True
        for key, value in self.fields.items():
            if key in fields and not is_equal(value, fields[key]):
                emitter.report_loss_at(self.paths.get(key, emitter.path), value, REPLACED)
        if citations and self._citations and not is_equal(citations, self._citations):
            emitter.report_loss("", self._citations, REPLACED)
        self.fields.update(fields)
        self._citations = citations or self._citations
        emitted = self.text
        return text[len(emitted) :] if text.startswith(emitted) else ""

    def matches(self, text: str, fields: JsonObject) -> bool:
        """Whether a whole block is this text or continues it."""
        emitted = self.text
        if text == emitted and (text or self.state != "ended" or is_equal(fields, self.fields)):
            return True
        signature = fields.get("signature") or fields.get("redactedData")
        if signature is not None and signature in (
            self.fields.get("signature"),
            self.fields.get("redactedData"),
        ):
            return True
        if self.state == "open" and text.startswith(emitted):
            return True
        return bool(emitted) and text.strip() == emitted.strip()


class CallStream:
    """A tool call. `path` leads to its agent; `step` is the number of its step."""

    __slots__ = ("_deltas", "approval", "facts", "failure", "input", "path", "state", "step", "wire_id")

    def __init__(self, facts: CallFacts, path: tuple[str, ...], step: int, wire_id: str) -> None:
        """`wire_id`: its id in the stream, which an earlier call may have."""
        self.facts = facts
        self.wire_id = wire_id
        self.path = path
        self.step = step
        self.state: CallState = "streaming"
        self.input: Json | UnsetType = UNSET
        self.approval: str | None = None
        self.failure: tuple[JsonObject, Json | UnsetType] | None = None
        """The block and the structured result of an error, which may be reported as a denial later."""
        self._deltas: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether its output is expected."""
        return self.state in ("streaming", "available")

    def start(self) -> c.ToolInputStart:
        """Return the chunk that begins the input."""
        return c.ToolInputStart(self.facts.call_id, self.facts.name, **self._description())

    def receive(self, delta: str) -> c.ToolInputDelta | None:
        """Return the chunk for a delta of the input; `None` if the input is complete."""
        if self.state != "streaming" or not delta:
            return None
        self._deltas.append(delta)
        return c.ToolInputDelta(self.facts.call_id, delta)

    def stop(self) -> c.ToolInputAvailable | None:
        """Return the chunk with the streamed input; `None` without a name, or if it is not JSON."""
        if self.state != "streaming" or not self.facts.name:
            return None
        try:
            return self.available(self._written())
        except DecodeError:
            return None

    def finish_input(self) -> c.ToolInputAvailable | c.ToolInputError | None:
        """Return the chunk with the streamed input as it is, because no more follows."""
        if self.state != "streaming":
            return None
        self.set_name(UNKNOWN_TOOL)
        try:
            return self.available(self._written())
        except DecodeError as error:
            self.state = "lost"
            text = bad_input_text(error)
            facts = self.facts
            return c.ToolInputError(
                facts.call_id, facts.name, text, "".join(self._deltas), **self._description()
            )

    def available(self, input: Json | UnsetType) -> c.ToolInputAvailable:
        """Return the chunk with the whole input."""
        self.state, self.input = "available", input
        return c.ToolInputAvailable(self.facts.call_id, self.facts.name, input, **self._description())

    def output(self, chunk: c.ToolOutputChunk) -> c.ToolOutputChunk:
        """Return the chunk that ends the call, with the tool metadata of the call and its own."""
        self.state = "done"
        if chunk.tool_call_id != self.facts.call_id:
            chunk = replace(chunk, tool_call_id=self.facts.call_id)
        own, new = self.facts.tool_metadata, chunk.tool_metadata
        if own is None or new is None:
            return chunk
        return replace(chunk, tool_metadata={CLAUDE_CODE: {**own[CLAUDE_CODE], **new[CLAUDE_CODE]}})

    def end_without_output(self, output: ToolOutput) -> c.ToolOutputChunk:
        """Return the chunk that ends the call without an output."""
        self.state = "lost"
        return c.ToolOutputChunk(self.facts.call_id, output, provider_executed=self.facts.provider_executed)

    def set_name(self, name: str) -> None:
        """Set the name of the call if it has none."""
        if not self.facts.name:
            own = self.facts.tool_metadata or mcp_metadata(name)
            self.facts = self.facts._replace(name=name, tool_metadata=own)

    def _written(self) -> Json:
        text = "".join(self._deltas)
        return loads(text) if text.strip() else {} if self.input is UNSET else self.input

    def _description(self) -> JsonObject:
        facts = self.facts
        return {
            "provider_executed": facts.provider_executed,
            "provider_metadata": facts.provider_metadata,
            "tool_metadata": facts.tool_metadata,
        }


class ResponseStream:
    """A response of the model, from events, whole messages, or both."""

    def __init__(self, id: str | None, emitter: ChunkEmitter, *, streamed: bool) -> None:
        self.id = id
        self.streamed = streamed
        self.stopped = False
        self.texts: list[TextStream] = []
        self.open: dict[int, TextStream | CallStream | JsonObject] = {}  # by index; an object is a block
        self.emitted_blocks: list[JsonObject] = []  # blocks without deltas, which may be repeated
        self.blocks: list[Json] = []  # all blocks in whole messages
        self.uuids: set[str] = set()  # of those messages
        self.facts: JsonObject = {}
        self._emitter = emitter
        self._paths: dict[str, str] = {}

    def set_facts(self, source: JsonObject, names: Mapping[str, str], location: str) -> None:
        """Set facts from the members of an object, under other names, except those that are null."""
        for key, name in names.items():
            value = source.get(key)
            if value is None:
                continue
            if name in self.facts and not is_equal(self.facts[name], value):
                self._emitter.report_loss_at(self._paths[name], self.facts[name], REPLACED)
            self.facts[name] = value
            self._paths[name] = f"{self._emitter.path}{location}.{key}"

    def set_usage(self, usage: Json, location: str, *, adds: bool = False) -> None:
        """Set the usage if it has the most output tokens so far. `adds`: it has only changed counts."""
        if not is_object(usage):
            return
        known: JsonObject = self.facts.get("usage", {})
        new = dict(usage)
        if adds:
            new = {**known, **{key: value for key, value in usage.items() if value is not None}}
        path = f"{self._emitter.path}{location}.usage"
        if _output(new) < _output(known):
            self._emitter.report_loss_at(path, usage, REPLACED)
            return
        for key, value in known.items():
            if not is_equal(new.get(key), value):
                self._emitter.report_loss_at(f"{self._paths['usage']}.{key}", value, REPLACED)
        self.facts["usage"], self._paths["usage"] = new, path


def _output(usage: JsonObject) -> float:
    count = usage.get("output_tokens")
    return count if isinstance(count, int | float) else 0
