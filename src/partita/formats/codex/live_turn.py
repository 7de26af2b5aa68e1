"""A running turn → chunks: its items, its approvals, its usage."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from partita.formats.core.members import present
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    SteeringMessageChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import (
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    Interruption,
    TextOutput,
    TextPart,
)

from .content import item_text, media_type_of, user_parts
from .tool_items import Phase, ToolItem, kind_of_item, read_tool_item
from .usage import TokenCounts, read_usage
from .wire import AGENT, codex_metadata, member, text, texts

TEXT_ITEMS: Final = frozenset({"agent_message", "assistant_message", "plan"})
DATA: Final = f"data-{AGENT}-"


class Block:
    """A text or reasoning that is being written."""

    __slots__ = ("is_reasoning", "pieces")

    def __init__(self, is_reasoning: bool) -> None:
        self.is_reasoning = is_reasoning
        self.pieces: list[str] = []


class ItemStream:
    """The items of one turn → chunks. Blocks and calls have the ids of their items."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block] = {}
        self._calls: dict[str, ToolItem] = {}
        self._ended: set[str] = set()
        self._has_prompt = False
        self._unnamed = 0

    def item(self, phase: Phase, item: JsonObject) -> list[Chunk]:
        """Read an item that begins, continues or ends."""
        kind, name = kind_of_item(item), text(item, "id") or self._new_name()
        if kind in TEXT_ITEMS:
            return self._text(phase, name, item_text(item), item)
        if kind == "reasoning":
            return self._text(phase, name, _reasoning_text(item), item)
        if (tool_item := read_tool_item(item)) is not None:
            return self._tool(phase, tool_item._replace(id=name))
        if kind == "user_message":
            return self._user(item, name) if phase == "completed" else []
        if kind == "error":
            return [ErrorChunk(text(item, "message") or "")] if phase == "completed" else []
        if phase == "started" and kind != "todo_list":
            return []
        return [DataChunk(DATA + (kind.replace("_", "-") or "item"), item, id=name)]

    def append(self, name: str, delta: str, *, reasoning: bool = False) -> list[Chunk]:
        """Append to a text or to reasoning, which begins with the first delta."""
        if name in self._ended:
            return []
        block = self._blocks.get(name)
        chunks: list[Chunk] = [] if block is not None else [self._open(name, reasoning)]
        if delta:
            block = self._blocks[name]
            block.pieces.append(delta)
            chunks.append(ReasoningDelta(name, delta) if block.is_reasoning else TextDelta(name, delta))
        return chunks

    def begin_section(self, name: str) -> list[Chunk]:
        """Begin another section of reasoning."""
        block = self._blocks.get(name)
        return self.append(name, "\n\n", reasoning=True) if block is not None and block.pieces else []

    def last_block(self, *, reasoning: bool) -> str | None:
        """Return the open text or reasoning, for events that do not name it."""
        for name, block in reversed(self._blocks.items()):
            if block.is_reasoning == reasoning:
                return name
        return None

    def progress(self, name: str, delta: str) -> list[Chunk]:
        """Return the delta of an output as transient data: the whole output comes at the end."""
        return [DataChunk(f"{DATA}output-delta", {"id": name, "delta": delta}, transient=True)]

    def call(self, call_id: str) -> ToolItem | None:
        """Return a call that has begun."""
        return self._calls.get(call_id)

    def begin(self, tool_item: ToolItem) -> list[Chunk]:
        """Begin a call, unless it has begun with the same input."""
        known = self._calls.get(tool_item.id)
        if known is not None and (known.input == tool_item.input or tool_item.id in self._ended):
            return []
        self._calls[tool_item.id] = tool_item
        return [
            ToolInputAvailable(
                tool_item.id,
                tool_item.name if known is None else known.name,
                tool_item.input,
                provider_executed=tool_item.by_provider or None,
                tool_metadata=codex_metadata(tool_item.metadata),
            )
        ]

    def close(self, why: Interruption) -> list[Chunk]:
        """End the texts, and interrupt the calls without an output."""
        chunks: list[Chunk] = [self._close(name) for name in list(self._blocks)]
        for name in self._calls:
            if name not in self._ended:
                self._ended.add(name)
                chunks.append(ToolOutputChunk(name, InterruptedOutput(why)))
        return chunks

    def _text(self, phase: Phase, name: str, value: str, item: JsonObject) -> list[Chunk]:
        reasoning = kind_of_item(item) == "reasoning"
        if name in self._ended:
            return []
        if phase == "started" and not value:
            return [] if name in self._blocks else [self._open(name, reasoning)]
        block = self._blocks.get(name)
        sent = "".join(block.pieces) if block is not None else ""
        differs = not value.startswith(sent)
        chunks = [] if differs else self.append(name, value[len(sent) :], reasoning=reasoning)
        if phase == "completed":
            self._ended.add(name)
            chunks.append(self._close(name, phase=text(item, "phase"), final=value if differs else None))
        return chunks

    def _new_name(self) -> str:
        self._unnamed += 1
        return f"nameless-{self._unnamed}"

    def _open(self, name: str, reasoning: bool) -> Chunk:
        self._blocks[name] = Block(reasoning)
        return ReasoningStart(name) if reasoning else TextStart(name)

    def _close(self, name: str, **notes: str | None) -> Chunk:
        block = self._blocks.pop(name)
        metadata = codex_metadata(present(**notes))
        return ReasoningEnd(name, metadata) if block.is_reasoning else TextEnd(name, metadata)

    def _tool(self, phase: Phase, tool_item: ToolItem) -> list[Chunk]:
        chunks = self.begin(tool_item)
        if tool_item.id in self._ended:
            return chunks
        metadata = codex_metadata(tool_item.metadata)
        if phase == "completed":
            self._ended.add(tool_item.id)
            output = tool_item.output or InterruptedOutput("lost")
            chunks.append(ToolOutputChunk(tool_item.id, output, tool_metadata=metadata))
            chunks += [SourceUrlChunk(url, url, title) for url, title in tool_item.sources]
        elif tool_item.output is not None and tool_item.output != TextOutput(""):
            chunks.append(
                ToolOutputChunk(tool_item.id, tool_item.output, tool_metadata=metadata, preliminary=True)
            )
        return chunks

    def _user(self, item: JsonObject, name: str) -> list[Chunk]:
        """Read a user message: the prompt, which the client knows, or a message that steers the turn."""
        if not self._has_prompt:
            self._has_prompt = True
            return [DataChunk(f"{DATA}user-message", item)]
        return [SteeringMessageChunk(name, tuple(_steering(item)))]


def _steering(item: JsonObject) -> Iterable[TextPart | FilePart | ForeignPart]:
    for part in user_parts(member(item, "content")):
        if isinstance(part, TextPart):
            yield replace(part, provider_metadata=None)
        elif isinstance(part, ForeignPart):
            yield part
        elif isinstance(part, ImagePart | FilePart):
            yield FilePart(part.url, media_type_of(part.url) or "image/*")


def _reasoning_text(item: JsonObject) -> str:
    """The text of reasoning: a string, or sections."""
    string = text(item, "text")
    if string is not None:
        return string
    sections = texts(item, "summary") or texts(item, "summary_text")
    return "\n\n".join(sections or texts(item, "content") or texts(item, "raw_content"))


INPUT_MEMBERS: Final = ("command", "cwd", "changes")


class LiveTurn:
    """The current turn. Its message begins with its first event."""

    def __init__(self) -> None:
        self.items = ItemStream()
        self._counts = TokenCounts()
        self._facts: JsonObject = {}
        self._begun = False
        self._pending: list[Chunk] = []  # from before the first turn
        self._usages: list[JsonObject] = []
        self._approvals: dict[str, str] = {}  # approvals by the id of their request

    def begin(self, turn_id: str | None = None) -> list[Chunk]:
        """Begin the message of the turn, unless it has begun."""
        if self._begun:
            return []
        self._begun = True
        pending, self._pending = self._pending, []
        return [MessageStart(turn_id, dict(self._facts)), StepStart(), *pending]

    def item(self, phase: Phase, item: JsonObject) -> list[Chunk]:
        """Read an item that begins, continues or ends."""
        return self.begin() + self.items.item(phase, item)

    def append(self, name: str, delta: str, *, reasoning: bool = False) -> list[Chunk]:
        """Append to a text or to reasoning."""
        return self.begin() + self.items.append(name, delta, reasoning=reasoning)

    def add_error(self, error: JsonObject) -> list[Chunk]:
        """Add an error."""
        return [*self.begin(), ErrorChunk(text(error, "message") or "unknown error")]

    def abort(self, reason: str | None) -> list[Chunk]:
        """End the turn, which was stopped."""
        return [*self.begin(), MessageAbort(reason), *self.end("other", "aborted")]

    def end(self, reason: str, why: Interruption = "lost") -> list[Chunk]:
        """End the turn; calls without an output were interrupted for the reason `why`."""
        chunks = self.begin() + self.items.close(why)
        finish = MessageFinish(reason, {"usage": self._usage()} if self._usages else None)
        self.items, self._begun, self._usages = ItemStream(), False, []
        return [*chunks, StepFinish(), finish]

    def finish(self) -> list[Chunk]:
        """End what is open, because the stream has ended."""
        return (self.begin() if self._pending else []) + (self.items.close("lost") if self._begun else [])

    def count(self, info: JsonObject) -> list[Chunk]:
        """Add what is new in a running total to the usage of the turn."""
        count = self._counts.take(info)
        if count is not None and is_object(count.usage.raw):
            self._usages.append(count.usage.raw)
        return []

    def set_usage(self, usage: Json) -> None:
        """Set the usage of the turn."""
        if is_object(usage):
            self._usages = [usage]

    def set_facts(self, facts: JsonObject) -> list[Chunk]:
        """Set facts of the thread, which are in the metadata of each message."""
        self._facts |= present(
            sessionId=text(facts, "id"),
            model=text(facts, "model"),
            cwd=text(facts, "cwd") or text(facts, "workdir"),
        )
        return [MessageMetadata(dict(self._facts))] if self._begun else []

    def request_approval(self, params: JsonObject, kind: str, request: str | None = None) -> list[Chunk]:
        """Add an approval request for a call, which may not have begun."""
        call_id = item_id(params)
        approval = request or call_id
        if request is not None:
            self._approvals[request] = approval
        input_ = {name: params[name] for name in INPUT_MEMBERS if name in params}
        call = self.items.call(call_id) or ToolItem(call_id, kind, input_, None, {})
        chunk = ToolApprovalRequest(approval, call_id, reason=text(params, "reason"))
        return [*self.begin(), *self.items.begin(call), chunk]

    def decide(self, request: str, approved: bool) -> list[Chunk] | None:
        """Add the response to an approval request; return `None` if there was no such request."""
        approval = self._approvals.pop(request, None)
        return None if approval is None else [ToolApprovalResponse(approval, approved)]

    def keep(self, kind: str, data: Json) -> list[Chunk]:
        """Keep an unknown event as data; those before the first turn are added to it."""
        chunk = DataChunk(DATA + kind, data)
        if self._begun:
            return [chunk]
        self._pending.append(chunk)
        return []

    def add_transient(self, kind: str, data: Json) -> list[Chunk]:
        """Add data that is only shown while the turn runs."""
        return [DataChunk(DATA + kind, data, transient=True)] if self._begun else []

    def _usage(self) -> JsonObject:
        names = dict.fromkeys(name for usage in self._usages for name in usage)
        sums: JsonObject = {
            name: sum(count for usage in self._usages if type(count := usage.get(name)) is int)
            for name in names
        }
        usage: JsonObject = to_json(read_usage(sums))
        return usage | {"raw": sums}


def item_id(params: JsonObject) -> str:
    """The item or call that an event belongs to."""
    return text(params, "item_id") or text(params, "call_id") or ""
