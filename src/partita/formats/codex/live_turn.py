"""A turn while it runs: its items as they begin, grow and end, its approvals, its usage → chunks."""

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
from .usage import TokenCounts, read_usage
from .wire import AGENT, found, text, texts, under_agent
from .work import Phase, Work, kind_of_item, work_of

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
        self._calls: dict[str, Work] = {}
        self._ended: set[str] = set()
        self._prompted = False
        self._nameless = 0

    def item(self, phase: Phase, item: JsonObject) -> list[Chunk]:
        """An item begins, has grown, or has ended."""
        kind, name = kind_of_item(item), text(item, "id") or self._new_name()
        if kind in TEXT_ITEMS:
            return self._text(phase, name, item_text(item), item)
        if kind == "reasoning":
            return self._text(phase, name, _reasoning_text(item), item)
        if (work := work_of(item)) is not None:
            return self._work(phase, work._replace(id=name))
        if kind == "user_message":
            return self._user(item, name) if phase == "completed" else []
        if kind == "error":
            return [ErrorChunk(text(item, "message") or "")] if phase == "completed" else []
        if phase == "started" and kind != "todo_list":
            return []
        return [DataChunk(DATA + (kind.replace("_", "-") or "item"), item, id=name)]

    def append(self, name: str, piece: str, *, reasoning: bool = False) -> list[Chunk]:
        """The next piece of a text or of reasoning; the first one begins it."""
        if name in self._ended:
            return []
        block = self._blocks.get(name)
        chunks: list[Chunk] = [] if block is not None else [self._open(name, reasoning)]
        if piece:
            block = self._blocks[name]
            block.pieces.append(piece)
            chunks.append(ReasoningDelta(name, piece) if block.is_reasoning else TextDelta(name, piece))
        return chunks

    def begin_section(self, name: str) -> list[Chunk]:
        """A further section of reasoning begins."""
        block = self._blocks.get(name)
        return self.append(name, "\n\n", reasoning=True) if block is not None and block.pieces else []

    def last_block(self, *, reasoning: bool) -> str | None:
        """The open text or reasoning, for events that do not name theirs."""
        for name, block in reversed(self._blocks.items()):
            if block.is_reasoning == reasoning:
                return name
        return None

    def progress(self, name: str, piece: str) -> list[Chunk]:
        """The next piece of a command's output. It is transient: the whole output comes at the end."""
        return [DataChunk(f"{DATA}output-delta", {"id": name, "delta": piece}, transient=True)]

    def known(self, call_id: str) -> Work | None:
        """A call that has begun."""
        return self._calls.get(call_id)

    def begin(self, work: Work) -> list[Chunk]:
        """A call, unless it has begun with the same input."""
        known = self._calls.get(work.id)
        if known is not None and (known.input == work.input or work.id in self._ended):
            return []
        self._calls[work.id] = work
        return [
            ToolInputAvailable(
                work.id,
                work.name if known is None else known.name,
                work.input,
                provider_executed=work.by_provider or None,
                tool_metadata=under_agent(work.metadata),
            )
        ]

    def close(self, why: Interruption) -> list[Chunk]:
        """The turn has ended: texts end, and calls without an output are interrupted."""
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
        self._nameless += 1
        return f"nameless-{self._nameless}"

    def _open(self, name: str, reasoning: bool) -> Chunk:
        self._blocks[name] = Block(reasoning)
        return ReasoningStart(name) if reasoning else TextStart(name)

    def _close(self, name: str, **notes: str | None) -> Chunk:
        block = self._blocks.pop(name)
        metadata = under_agent(present(**notes))
        return ReasoningEnd(name, metadata) if block.is_reasoning else TextEnd(name, metadata)

    def _work(self, phase: Phase, work: Work) -> list[Chunk]:
        chunks = self.begin(work)
        if work.id in self._ended:
            return chunks
        metadata = under_agent(work.metadata)
        if phase == "completed":
            self._ended.add(work.id)
            output = work.output or InterruptedOutput("lost")
            chunks.append(ToolOutputChunk(work.id, output, tool_metadata=metadata))
            chunks += [SourceUrlChunk(url, url, title) for url, title in work.sources]
        elif work.output is not None and work.output != TextOutput(""):
            chunks.append(ToolOutputChunk(work.id, work.output, tool_metadata=metadata, preliminary=True))
        return chunks

    def _user(self, item: JsonObject, name: str) -> list[Chunk]:
        """A user's message: the prompt, which its sender knows, or a message that steers the turn."""
        if not self._prompted:
            self._prompted = True
            return [DataChunk(f"{DATA}user-message", item)]
        return [SteeringMessageChunk(name, tuple(_steering(item)))]


def _steering(item: JsonObject) -> Iterable[TextPart | FilePart | ForeignPart]:
    for part in user_parts(found(item, "content")):
        if isinstance(part, TextPart):
            yield replace(part, provider_metadata=None)
        elif isinstance(part, ForeignPart):
            yield part
        elif isinstance(part, ImagePart | FilePart):
            yield FilePart(part.url, media_type_of(part.url) or "image/*")


def _reasoning_text(item: JsonObject) -> str:
    """The text of reasoning: a string, or sections."""
    bare = text(item, "text")
    if bare is not None:
        return bare
    sections = texts(item, "summary") or texts(item, "summary_text")
    return "\n\n".join(sections or texts(item, "content") or texts(item, "raw_content"))


ASKED: Final = ("command", "cwd", "changes")


class LiveTurn:
    """The current turn. Its message begins with the first thing that happens in it."""

    def __init__(self) -> None:
        self.items = ItemStream()
        self._counts = TokenCounts()
        self._facts: JsonObject = {}
        self._begun = False
        self._held: list[Chunk] = []  # what came before the first turn
        self._spent: list[JsonObject] = []
        self._asked: dict[str, str] = {}  # approvals by the id of their request

    def begin(self, turn_id: str | None = None) -> list[Chunk]:
        """The message of the turn begins, unless it has begun."""
        if self._begun:
            return []
        self._begun = True
        held, self._held = self._held, []
        return [MessageStart(turn_id, dict(self._facts)), StepStart(), *held]

    def item(self, phase: Phase, item: JsonObject) -> list[Chunk]:
        """An item begins, grows or ends."""
        return self.begin() + self.items.item(phase, item)

    def append(self, name: str, piece: str, *, reasoning: bool = False) -> list[Chunk]:
        """The next piece of a text or of reasoning."""
        return self.begin() + self.items.append(name, piece, reasoning=reasoning)

    def fail(self, error: JsonObject) -> list[Chunk]:
        """An error."""
        return [*self.begin(), ErrorChunk(text(error, "message") or "unknown error")]

    def abort(self, reason: str | None) -> list[Chunk]:
        """The turn was stopped."""
        return [*self.begin(), MessageAbort(reason), *self.end("other", "aborted")]

    def end(self, reason: str, why: Interruption = "lost") -> list[Chunk]:
        """The turn has ended; calls without an output were interrupted for the reason `why`."""
        chunks = self.begin() + self.items.close(why)
        finish = MessageFinish(reason, {"usage": self._usage()} if self._spent else None)
        self.items, self._begun, self._spent = ItemStream(), False, []
        return [*chunks, StepFinish(), finish]

    def finish(self) -> list[Chunk]:
        """The stream has ended."""
        return (self.begin() if self._held else []) + (self.items.close("lost") if self._begun else [])

    def count(self, info: JsonObject) -> list[Chunk]:
        """A running total and the usage of the last model call: what is new was consumed in this turn."""
        count = self._counts.take(info)
        if count is not None and is_object(count.usage.raw):
            self._spent.append(count.usage.raw)
        return []

    def set_usage(self, usage: Json) -> None:
        """The usage of the turn."""
        if is_object(usage):
            self._spent = [usage]

    def set_facts(self, facts: JsonObject) -> list[Chunk]:
        """Facts of the thread, which are in the metadata of each message."""
        self._facts |= present(
            sessionId=text(facts, "id"),
            model=text(facts, "model"),
            cwd=text(facts, "cwd") or text(facts, "workdir"),
        )
        return [MessageMetadata(dict(self._facts))] if self._begun else []

    def ask(self, params: JsonObject, kind: str, request: str | None = None) -> list[Chunk]:
        """An approval request for a call, which may not have begun."""
        call_id = item_id(params)
        approval = request or call_id
        if request is not None:
            self._asked[request] = approval
        given = {name: params[name] for name in ASKED if name in params}
        call = self.items.known(call_id) or Work(call_id, kind, given, None, {})
        question = ToolApprovalRequest(approval, call_id, reason=text(params, "reason"))
        return [*self.begin(), *self.items.begin(call), question]

    def decide(self, request: str, approved: bool) -> list[Chunk] | None:
        """The response to an approval request; `None` if there was no such request."""
        approval = self._asked.pop(request, None)
        return None if approval is None else [ToolApprovalResponse(approval, approved)]

    def keep(self, kind: str, data: Json) -> list[Chunk]:
        """Keep something unknown as data; what comes before the first turn is added to it."""
        chunk = DataChunk(DATA + kind, data)
        if self._begun:
            return [chunk]
        self._held.append(chunk)
        return []

    def show(self, kind: str, data: Json) -> list[Chunk]:
        """Something that is only shown while the turn runs."""
        return [DataChunk(DATA + kind, data, transient=True)] if self._begun else []

    def _usage(self) -> JsonObject:
        names = dict.fromkeys(name for usage in self._spent for name in usage)
        sums: JsonObject = {
            name: sum(count for usage in self._spent if type(count := usage.get(name)) is int)
            for name in names
        }
        usage: JsonObject = to_json(read_usage(sums))
        return usage | {"raw": sums}


def item_id(params: JsonObject) -> str:
    """The item or call that an event belongs to."""
    return text(params, "item_id") or text(params, "call_id") or ""
