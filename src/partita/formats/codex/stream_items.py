"""Items of a live stream, as they begin, grow and end → chunks."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    SteeringMessageChunk,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.json import JsonObject
from partita.types.parts import FilePart, ForeignPart, TextPart
from partita.types.tools import InterruptedOutput, Interruption, TextOutput

from .content import agent_words, media_type_of, user_parts
from .fields import AGENT, found, text, texts, under_agent
from .legacy_events import Phase
from .turn_items import Work, kind_of_item, work_of

WORDS: Final = frozenset({"agent_message", "assistant_message", "plan"})
DATA: Final = f"data-{AGENT}-"


class Block:
    """A text or a reasoning that is being written."""

    __slots__ = ("is_reasoning", "pieces")

    def __init__(self, is_reasoning: bool) -> None:
        self.is_reasoning = is_reasoning
        self.pieces: list[str] = []


class ItemStream:
    """Items of one turn in; chunks out. Blocks and calls have the ids of their items."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block] = {}
        self._calls: dict[str, Work] = {}
        self._ended: set[str] = set()
        self._prompted = False
        self._nameless = 0

    # Items

    def item(self, phase: Phase, item: JsonObject) -> list[Chunk]:
        """The chunks of an item that begins, has grown, or has ended."""
        kind, name = kind_of_item(item), text(item, "id") or self._new_name()
        if kind in WORDS:
            return self._words(phase, name, agent_words(item), item)
        if kind == "reasoning":
            return self._words(phase, name, _reasoning_words(item), item)
        if (work := work_of(item)) is not None:
            return self._work(phase, work._replace(id=name))
        if kind == "user_message":
            return self._user(item, name) if phase == "completed" else []
        if kind == "error":
            return [ErrorChunk(text(item, "message") or "")] if phase == "completed" else []
        if phase == "started" and kind != "todo_list":
            return []
        return [DataChunk(DATA + (kind.replace("_", "-") or "item"), item, id=name)]

    def grow(self, name: str, words: str, *, reasoning: bool = False) -> list[Chunk]:
        """The next piece of a text or a reasoning; the first one opens it."""
        if name in self._ended:
            return []
        block = self._blocks.get(name)
        chunks: list[Chunk] = [] if block is not None else [self._open(name, reasoning)]
        if words:
            block = self._blocks[name]
            block.pieces.append(words)
            chunks.append(ReasoningDelta(name, words) if block.is_reasoning else TextDelta(name, words))
        return chunks

    def break_section(self, name: str) -> list[Chunk]:
        """A further section of a reasoning begins."""
        block = self._blocks.get(name)
        return self.grow(name, "\n\n", reasoning=True) if block is not None and block.pieces else []

    def last_block(self, *, reasoning: bool) -> str | None:
        """The open text or reasoning, for events that do not name theirs."""
        for name, block in reversed(self._blocks.items()):
            if block.is_reasoning == reasoning:
                return name
        return None

    def progress(self, name: str, words: str) -> list[Chunk]:
        """The next piece of a command's output. It is shown and not kept: the whole comes at the end."""
        return [DataChunk(f"{DATA}output-delta", {"id": name, "delta": words}, transient=True)]

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
                tool_metadata={AGENT: work.metadata} if work.metadata else None,
            )
        ]

    def close(self, why: Interruption) -> list[Chunk]:
        """The turn is over: texts end, and calls that were at work will not."""
        chunks: list[Chunk] = [self._close(name) for name in list(self._blocks)]
        for name in self._calls:
            if name not in self._ended:
                self._ended.add(name)
                chunks.append(ToolOutputChunk(name, InterruptedOutput(why)))
        return chunks

    # Inside

    def _words(self, phase: Phase, name: str, words: str, item: JsonObject) -> list[Chunk]:
        reasoning = kind_of_item(item) == "reasoning"
        if name in self._ended:
            return []
        if phase == "started" and not words:
            return [] if name in self._blocks else [self._open(name, reasoning)]
        block = self._blocks.get(name)
        told = "".join(block.pieces) if block is not None else ""
        differs = not words.startswith(told)
        chunks = [] if differs else self.grow(name, words[len(told) :], reasoning=reasoning)
        if phase == "completed":
            self._ended.add(name)
            phrase = text(item, "phase")
            chunks.append(self._close(name, phase=phrase, final=words if differs else None))
        return chunks

    def _new_name(self) -> str:
        self._nameless += 1
        return f"nameless-{self._nameless}"

    def _open(self, name: str, reasoning: bool) -> Chunk:
        self._blocks[name] = Block(reasoning)
        return ReasoningStart(name) if reasoning else TextStart(name)

    def _close(self, name: str, **said: str | None) -> Chunk:
        block = self._blocks.pop(name)
        metadata = under_agent(**said)
        return ReasoningEnd(name, metadata) if block.is_reasoning else TextEnd(name, metadata)

    def _work(self, phase: Phase, work: Work) -> list[Chunk]:
        chunks = self.begin(work)
        if work.id in self._ended:
            return chunks
        metadata = {AGENT: work.metadata} if work.metadata else None
        if phase == "completed":
            self._ended.add(work.id)
            output = work.output or InterruptedOutput("lost")
            chunks.append(ToolOutputChunk(work.id, output, tool_metadata=metadata))
            chunks += [SourceUrlChunk(url, url, title) for url, title in work.sources]
        elif work.output is not None and work.output != TextOutput(""):
            chunks.append(ToolOutputChunk(work.id, work.output, tool_metadata=metadata, preliminary=True))
        return chunks

    def _user(self, item: JsonObject, name: str) -> list[Chunk]:
        """A user's words: the prompt itself, which its sender knows, or words that steer the work."""
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
        elif (url := getattr(part, "url", None)) is not None:
            yield FilePart(url, media_type_of(url) or "image/*")


def _reasoning_words(item: JsonObject) -> str:
    """The words of a reasoning: bare, or in sections."""
    bare = text(item, "text")
    if bare is not None:
        return bare
    sections = texts(item, "summary") or texts(item, "summary_text")
    return "\n\n".join(sections or texts(item, "content") or texts(item, "raw_content"))
