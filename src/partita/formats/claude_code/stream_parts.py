"""What is known of the parts of a streamed message while they arrive: texts, calls, responses.

A text or a call may arrive in pieces, as a whole, or as both, in any order. Each object here knows what was
emitted of it, so that nothing is emitted twice and nothing is left out.
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

from .blocks import CallFacts, citations_of, data_type, server_of
from .wire import ANTHROPIC, CLAUDE_CODE

UNKNOWN: Final = "data-claude-unknown"
"""The type of a chunk with something that was not understood, whole."""

UNKNOWN_TOOL: Final = "unknown-tool"
"""The name of a tool of which only a result, a question or a sub-agent is known."""

TEXT_KINDS: Final[Mapping[str, "TextKind"]] = {
    "text": "text",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
}
TEXT_MEMBERS: Final[Mapping[str, str]] = {"text": "text", "thinking": "thinking"}
"""By the type of a block: what it is, and the member with its text."""

# Why something of an event is not in the message
REPEATED: Final = "another event has it too"
RETRACTED: Final = "the response was retracted"

TextKind: TypeAlias = Literal["text", "reasoning"]
TextState: TypeAlias = Literal["open", "due", "ended"]
"""`due`: the text is complete, and its end waits for the whole block, which may have a signature."""

CallState: TypeAlias = Literal["streaming", "available", "lost", "done", "retracted"]
"""`lost`: given up, until an output comes. `retracted`: the response with the call was retracted."""


def strings(value: Json) -> Iterator[str]:
    """The strings in a list, if it is one."""
    if is_array(value):
        yield from (item for item in value if isinstance(item, str))


class ChunkEmitter:
    """Collects chunks. A message begins before anything is in it.

    `losses` are what the chunks do not have of the events; `None` if they are not asked for.
    """

    def __init__(self, message_id: str | None, *, with_losses: bool = False) -> None:
        self._message_id = message_id
        self._chunks: list[c.Chunk] = []
        self._ever_begun = False
        self.is_open = False
        """Whether a message has begun and has not ended."""
        self.losses: list[Loss] | None = [] if with_losses else None
        self.path = "$"
        """The path of the current event."""

    def begin(self, metadata: Json | UnsetType = UNSET) -> None:
        """Begin the message, or continue it: work after a result belongs to the same message."""
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
        """Add data about the work. It begins a message, but does not reopen one that has ended."""
        if not self._ever_begun:
            self.begin()
        self._chunks.append(c.DataChunk(data_type(name), data, id, transient or None))

    def emit_unknown(self, value: Json, path: tuple[str, ...] = ()) -> None:
        """Add something that was not understood, whole."""
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

    def lose(self, where: str, value: Json, why: str) -> None:
        """Report something of the current event that no chunk has."""
        self.lose_at(f"{self.path}{where}", value, why)

    def lose_at(self, path: str, value: Json, why: str) -> None:
        """Report something of an event that no chunk has."""
        if self.losses is not None:
            self.losses.append(Loss.of(path, value, why, "minor"))

    def lose_members(self, value: JsonObject, where: str, *known: str) -> None:
        """Report the members of an object that are not known."""
        if self.losses is not None:
            for key, item in value.items():
                if key not in known:
                    self.lose(f"{where}.{key}", item, UNREAD)

    def lose_unusual(self, value: JsonObject, where: str, **usual: Json) -> None:
        """Report members that have another value than they always have."""
        for key, expected in usual.items():
            if not is_equal(value.get(key, expected), expected):
                self.lose(f"{where}.{key}", value[key], UNREAD)


class TextStream:
    """A text or a reasoning: what was emitted of it, and what its end will have."""

    def __init__(self, id: str, kind: TextKind) -> None:
        self.id = id
        self.kind: TextKind = kind
        self.state: TextState = "open"
        self.confirmed = False  # the whole block was received
        self.fields: JsonObject = {}  # what the provider says beside the text
        self.places: dict[str, str] = {}  # the paths of fields
        self._citations: list[Json] = []
        self._pieces: list[str] = []
        self._length = 0  # how many characters were emitted
        self._received = 0  # how many were received as pieces

    @property
    def text(self) -> str:
        """Everything that was emitted."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def start(self) -> c.Chunk:
        """The chunk that begins it."""
        metadata: JsonObject | None = {ANTHROPIC: dict(self.fields)} if self.fields else None
        return c.TextStart(self.id, metadata) if self.kind == "text" else c.ReasoningStart(self.id, metadata)

    def receive(self, piece: str) -> str:
        """What a piece adds to what was emitted: all of it, unless the whole block came before."""
        known = self._length - self._received
        self._received += len(piece)
        return piece if known <= 0 else piece[known:]

    def append(self, text: str) -> c.Chunk:
        """The chunk with the next text."""
        self._pieces.append(text)
        self._length += len(text)
        self.state = "open"
        return c.TextDelta(self.id, text) if self.kind == "text" else c.ReasoningDelta(self.id, text)

    def cite(self, citation: Json) -> None:
        """Add a citation, which is emitted at the end."""
        self._citations.append(citation)

    @property
    def waits(self) -> bool:
        """Whether the whole block may still have what belongs to the end: a signature."""
        return self.kind == "reasoning" and "signature" not in self.fields and not self.confirmed

    def end(self, *, aborted: bool = False) -> c.Chunk | None:
        """The chunk that ends it, once."""
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

    def has(self, fields: JsonObject, citations: list[Json]) -> bool:
        """Whether its end has all that a whole block has beside the text."""
        known = all(is_equal(self.fields.get(key), value) for key, value in fields.items())
        return known and (not citations or is_equal(citations, self._citations))

    def confirm(self, text: str, fields: JsonObject, citations: list[Json], emitter: ChunkEmitter) -> str:
        """The whole block was received: take what it has beside the text; returns the text that is new."""
        self.confirmed = True
        for key, value in self.fields.items():
            if key in fields and not is_equal(value, fields[key]):
                emitter.lose_at(self.places.get(key, emitter.path), value, REPLACED)
        if citations and self._citations and not is_equal(citations, self._citations):
            emitter.lose("", self._citations, REPLACED)
        self.fields.update(fields)
        self._citations = citations or self._citations
        emitted = self.text
        return text[len(emitted) :] if text.startswith(emitted) else ""

    def matches(self, text: str, fields: JsonObject) -> bool:
        """Whether a whole block is this text, as far as it was emitted."""
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
    """A tool call. `path` leads to the agent that made it; `step` is the step it is in."""

    __slots__ = ("_pieces", "approval", "facts", "failure", "input", "path", "state", "step", "wire_id")

    def __init__(self, facts: CallFacts, path: tuple[str, ...], step: int, wire_id: str) -> None:
        """`wire_id` is its id in the stream, which may have been used before."""
        self.facts = facts
        self.wire_id = wire_id
        self.path = path
        self.step = step
        self.state: CallState = "streaming"
        self.input: Json | UnsetType = UNSET
        self.approval: str | None = None
        self.failure: tuple[JsonObject, Json | UnsetType] | None = None
        """The block of an error and the structured result beside it: it may turn out to be a denial."""
        self._pieces: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether an output is still to come."""
        return self.state in ("streaming", "available")

    def start(self) -> c.ToolInputStart:
        """The chunk that begins the input."""
        return c.ToolInputStart(self.facts.call_id, self.facts.name, **self._description())

    def receive(self, piece: str) -> c.ToolInputDelta | None:
        """The chunk for a piece of the input; `None` once the input is complete."""
        if self.state != "streaming" or not piece:
            return None
        self._pieces.append(piece)
        return c.ToolInputDelta(self.facts.call_id, piece)

    def stop(self) -> c.ToolInputAvailable | None:
        """The input is written. Without a name, or if it is not JSON, the whole block may still come."""
        if self.state != "streaming" or not self.facts.name:
            return None
        try:
            return self.available(self._written())
        except DecodeError:
            return None

    def finish(self) -> c.ToolInputAvailable | c.ToolInputError | None:
        """The input as it is, because nothing more comes."""
        if self.state != "streaming":
            return None
        self.name(UNKNOWN_TOOL)
        try:
            return self.available(self._written())
        except DecodeError as error:
            self.state = "lost"
            text = bad_input_text(error)
            facts = self.facts
            return c.ToolInputError(
                facts.call_id, facts.name, text, "".join(self._pieces), **self._description()
            )

    def available(self, input: Json | UnsetType) -> c.ToolInputAvailable:
        """The chunk with the whole input."""
        self.state, self.input = "available", input
        return c.ToolInputAvailable(self.facts.call_id, self.facts.name, input, **self._description())

    def output(self, chunk: c.ToolOutputChunk) -> c.ToolOutputChunk:
        """The chunk that ends it. Tool metadata of a chunk replaces that of the call, so it has both."""
        self.state = "done"
        if chunk.tool_call_id != self.facts.call_id:
            chunk = replace(chunk, tool_call_id=self.facts.call_id)
        own, new = self.facts.tool_metadata, chunk.tool_metadata
        if own is None or new is None:
            return chunk
        return replace(chunk, tool_metadata={CLAUDE_CODE: {**own[CLAUDE_CODE], **new[CLAUDE_CODE]}})

    def give_up(self, output: ToolOutput) -> c.ToolOutputChunk:
        """The chunk for a call without an output."""
        self.state = "lost"
        return c.ToolOutputChunk(self.facts.call_id, output, provider_executed=self.facts.provider_executed)

    def name(self, name: str) -> None:
        """Give it a name if it has none."""
        if not self.facts.name:
            own = self.facts.tool_metadata or server_of(name)
            self.facts = self.facts._replace(name=name, tool_metadata=own)

    def _written(self) -> Json:
        text = "".join(self._pieces)
        return loads(text) if text.strip() else {} if self.input is UNSET else self.input

    def _description(self) -> JsonObject:
        facts = self.facts
        return {
            "provider_executed": facts.provider_executed,
            "provider_metadata": facts.provider_metadata,
            "tool_metadata": facts.tool_metadata,
        }


class ResponseStream:
    """A response of the model: as events, as whole messages, or as both."""

    def __init__(self, id: str | None, emitter: ChunkEmitter, *, streamed: bool) -> None:
        self.id = id
        self.streamed = streamed
        self.stopped = False
        self.texts: list[TextStream] = []
        self.open: dict[int, TextStream | CallStream | JsonObject] = {}  # by index; an object is a block
        self.shown: list[JsonObject] = []  # blocks that came in one piece and may come again
        self.blocks: list[Json] = []  # all blocks in whole messages
        self.uuids: set[str] = set()  # of those messages
        self.facts: JsonObject = {}
        self._emitter = emitter
        self._places: dict[str, str] = {}

    def note(self, source: JsonObject, names: Mapping[str, str], where: str) -> None:
        """Take members of an object, under other names, except those that are null."""
        for key, name in names.items():
            value = source.get(key)
            if value is None:
                continue
            if name in self.facts and not is_equal(self.facts[name], value):
                self._emitter.lose_at(self._places[name], self.facts[name], REPLACED)
            self.facts[name] = value
            self._places[name] = f"{self._emitter.path}{where}.{key}"

    def count(self, usage: Json, where: str, *, adds: bool = False) -> None:
        """Take the usage with the most output, the later one if equal. `adds`: it has only new counts."""
        if not is_object(usage):
            return
        known: JsonObject = self.facts.get("usage", {})
        new = dict(usage)
        if adds:
            new = {**known, **{key: value for key, value in usage.items() if value is not None}}
        place = f"{self._emitter.path}{where}.usage"
        if _output(new) < _output(known):
            self._emitter.lose_at(place, usage, REPLACED)
            return
        for key, value in known.items():
            if not is_equal(new.get(key), value):
                self._emitter.lose_at(f"{self._places['usage']}.{key}", value, REPLACED)
        self.facts["usage"], self._places["usage"] = new, place


def _output(usage: JsonObject) -> float:
    count = usage.get("output_tokens")
    return count if isinstance(count, int | float) else 0
