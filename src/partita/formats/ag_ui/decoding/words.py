"""Texts and reasoning of one agent: begun, grown and ended, by the ids of their messages."""

from collections.abc import Callable
from typing import Final, NamedTuple

from partita.formats.ag_ui import names
from partita.formats.ag_ui.names import MESSAGE_ID
from partita.formats.ag_ui.notes import SEALED, opened
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SteeringMessageChunk,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.json import Json, JsonObject
from partita.types.parts import TextPart

TEXT: Final = "assistant"
REASONING: Final = "reasoning"


class Block(NamedTuple):
    """A message that is being written: whose it is, what is noted of it, and its pieces if they are held."""

    role: str
    notes: JsonObject
    pieces: list[str]


class Words:
    """What one agent says."""

    def __init__(self, emit: Callable[[Chunk], None], begin: Callable[[], None]) -> None:
        """`begin` is called before a text or a reasoning begins."""
        self._emit = emit
        self._begin = begin
        self._open: dict[str, Block] = {}
        self._ending: tuple[str, Block] | None = None
        self._spans: dict[str, JsonObject] = {}
        self._empty_span: str | None = None
        self._count = 0
        self.chunked: str | None = None
        """The message that came in shorthand and may go on."""
        self.thought: str | None = None
        """The reasoning at hand, in streams that do not name it."""

    def start(self, id: str, role: Json, notes: JsonObject, *, chunked: bool = False) -> None:
        """A message begins."""
        self.settle()
        self._empty_span = None
        if id in self._open:
            return
        self.chunked = id if chunked else None
        block = Block(role if isinstance(role, str) else TEXT, dict(notes), [])
        self._open[id] = block
        if block.role == TEXT:
            self._begin()
            self._emit(TextStart(id, opened({MESSAGE_ID: id, **notes})))
        elif block.role == REASONING:
            self._begin()
            self._emit(ReasoningStart(id, opened({MESSAGE_ID: id, **notes})))

    def grow(self, id: str, delta: str, role: str = TEXT) -> None:
        """The next piece of a message; it begins with its first one."""
        if id not in self._open:
            self.start(id, role, {})
        block = self._open[id]
        if block.role == TEXT:
            self._emit(TextDelta(id, delta))
        elif block.role == REASONING:
            self._emit(ReasoningDelta(id, delta))
        else:
            block.pieces.append(delta)

    def note(self, id: str, notes: JsonObject) -> None:
        """Note something of a message that is open."""
        self._open[id].notes.update(notes)

    def end(self, id: str, notes: JsonObject) -> bool:
        """A message is whole, if it is open; it is told so once nothing can be added to it."""
        block = self._open.pop(id, None)
        if block is None:
            return False
        self.settle()
        if self.chunked == id:
            self.chunked = None
        self._ending = (id, block._replace(notes={**block.notes, **notes}))
        return True

    def settle(self) -> None:
        """Something else begins."""
        if self._ending is not None:
            (id_, block), self._ending = self._ending, None
            self._tell_end(id_, block)
        if self.chunked is not None:
            id_, self.chunked = self.chunked, None
            if id_ in self._open:
                self._tell_end(id_, self._open.pop(id_))

    def end_all(self) -> None:
        """Nothing more comes."""
        self.settle()
        for id_ in list(self._open):
            self._tell_end(id_, self._open.pop(id_))

    def seal(self, entity: str, value: str) -> bool:
        """Note a sealed value on a message that is open or has just ended; whether there is one."""
        block = self._ending[1] if self._ending and self._ending[0] == entity else self._open.get(entity)
        if block is None and entity == self._empty_span:
            self.start(entity, REASONING, self._spans[entity])
            block = self._open[entity]
        if block is None:
            return False
        block.notes[SEALED] = value
        return True

    def _tell_end(self, id_: str, block: Block) -> None:
        match block.role:
            case "assistant":
                more = opened({MESSAGE_ID: id_, **block.notes}) if block.notes else None
                self._emit(TextEnd(id_, more))
            case "reasoning":
                self._emit(ReasoningEnd(id_, opened({MESSAGE_ID: id_, **block.notes})))
            case "user" if not block.notes:
                self._emit(SteeringMessageChunk(id_, (TextPart("".join(block.pieces)),)))
            case _:
                said = {"id": id_, "role": block.role, "content": "".join(block.pieces), **block.notes}
                self._emit(DataChunk(names.MESSAGE, said, id_))

    # Spans of reasoning

    def start_span(self, id: str, notes: JsonObject) -> None:
        """Reasoning begins: messages of it come, or none."""
        self.settle()
        self._spans[id] = notes
        self._empty_span = id

    def start_reasoning(self, id: str, notes: JsonObject, *, chunked: bool = False) -> None:
        """A message of reasoning begins. What its span says stands with the first of them."""
        span, self._empty_span = self._empty_span, None
        said = dict(self._spans.get(span, {})) if span is not None else {}
        if span is not None and span != id:
            said["spanId"] = span
        self.start(id, REASONING, {**said, **notes}, chunked=chunked)

    def end_span(self, id: str, notes: JsonObject) -> JsonObject:
        """Reasoning has ended; what is said of that and has no place."""
        said = {**self._spans.pop(id), **notes}
        if self._empty_span == id:  # it held no message: it is one
            self._empty_span = None
            self.start(id, REASONING, said)
            self.end(id, {})
            return {}
        if id in self._open:
            self.end(id, {})
        if notes and self._ending is not None:
            self._ending[1].notes.update(notes)
            return {}
        return notes

    def end_thinking(self, notes: JsonObject) -> JsonObject:
        """Reasoning that has no name has ended; what is said of that and has no place."""
        return self.end_span(next(reversed(self._spans)), notes) if self._spans else notes

    def new_thought(self) -> str:
        """A name for the next reasoning of a stream that gives none."""
        self._count += 1
        self.thought = f"thinking-{self._count}"
        return self.thought
