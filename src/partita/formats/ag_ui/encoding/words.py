"""Texts and reasoning as events."""

from typing import Final, TypeAlias

from partita.formats.ag_ui.names import MESSAGE_ID
from partita.formats.ag_ui.notes import SEALED, notes_in
from partita.types.chunks import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject

from .calls import Calls
from .seals import lose_notes, seal_in, tell_seal
from .telling import Telling

Spoke: TypeAlias = TextStart | TextDelta | TextEnd | ReasoningStart | ReasoningDelta | ReasoningEnd

TOLD: Final = (SEALED, MESSAGE_ID, "name", "metadata", "timestamp")
"""Notes of a text that its events tell."""

NO_PLACE: Final = "events have no place for it"


class Block:
    """A text or a reasoning that is being written, by the id of its message."""

    def __init__(self, message_id: str, metadata: JsonObject | None) -> None:
        self.message_id = message_id
        self.metadata = metadata


class Spoken:
    """What one agent says, as events."""

    def __init__(self, telling: Telling, calls: Calls) -> None:
        self._telling = telling
        self._calls = calls
        self._texts: dict[str, Block] = {}
        self._thoughts: dict[str, Block] = {}
        self._used: set[str] = set()

    def tell(self, chunk: Spoke) -> None:
        """Tell of a chunk. What never began begins with its first piece."""
        match chunk:
            case TextDelta():
                block = self._texts.get(chunk.id) or self._start_text(chunk.id, None)
                self._grow("TEXT_MESSAGE_CONTENT", block, chunk)
            case TextStart():
                self._start_text(chunk.id, chunk.provider_metadata)
            case TextEnd():
                block = self._texts.get(chunk.id) or self._start_text(chunk.id, None)
                if chunk.citations is not None:
                    self._telling.lose("citations", to_json(chunk.citations), "there are no citations")
                self._end_text(chunk.id, chunk.provider_metadata or block.metadata)
            case ReasoningStart():
                self._start_reasoning(chunk.id, chunk.provider_metadata)
            case ReasoningDelta():
                block = self._thoughts.get(chunk.id) or self._start_reasoning(chunk.id, None)
                self._grow("REASONING_MESSAGE_CONTENT", block, chunk)
            case ReasoningEnd():
                block = self._thoughts.get(chunk.id) or self._start_reasoning(chunk.id, None)
                self._end_reasoning(chunk.id, chunk.provider_metadata or block.metadata)

    def close(self) -> None:
        """All that is open is whole."""
        if not self._texts and not self._thoughts:
            return
        for id_, block in list(self._texts.items()):
            self._end_text(id_, block.metadata)
        for id_, block in list(self._thoughts.items()):
            self._end_reasoning(id_, block.metadata)

    def _grow(self, type: str, block: Block, chunk: TextDelta | ReasoningDelta) -> None:
        if chunk.provider_metadata is not None:
            block.metadata = chunk.provider_metadata
        if chunk.delta:
            self._telling.emit(type, messageId=block.message_id, delta=chunk.delta)

    def _start_text(self, id: str, metadata: JsonObject | None) -> Block:
        if id in self._texts:
            self._end_text(id, None)
        made = self._calls.pieces.text()
        notes = notes_in(metadata)
        block = Block(self._named(notes.get(MESSAGE_ID), made), metadata)
        self._calls.parent = block.message_id
        self._texts[id] = block
        rest = {name: notes[name] for name in ("name", "metadata", "timestamp") if name in notes}
        self._telling.emit("TEXT_MESSAGE_START", messageId=block.message_id, role="assistant", **rest)
        return block

    def _named(self, known_as: Json, made: str) -> str:
        """The id of a message: the one it came with, unless another has it."""
        id_ = known_as if isinstance(known_as, str) and known_as not in self._used else made
        self._used.add(id_)
        return id_

    def _end_text(self, id: str, metadata: JsonObject | None) -> None:
        block = self._texts.pop(id)
        self._telling.emit("TEXT_MESSAGE_END", messageId=block.message_id)
        self._seal(block.message_id, metadata)

    def _start_reasoning(self, id: str, metadata: JsonObject | None) -> Block:
        if id in self._thoughts:
            self._end_reasoning(id, None)
        self._calls.pieces.step()
        made = f"{self._telling.message_id}:{id}"
        if made in self._used:
            made = f"{made}:{len(self._used)}"
        block = Block(self._named(notes_in(metadata).get(MESSAGE_ID), made), metadata)
        self._thoughts[id] = block
        self._telling.emit("REASONING_START", messageId=block.message_id)
        self._telling.emit("REASONING_MESSAGE_START", messageId=block.message_id, role="reasoning")
        return block

    def _end_reasoning(self, id: str, metadata: JsonObject | None) -> None:
        block = self._thoughts.pop(id)
        self._telling.emit("REASONING_MESSAGE_END", messageId=block.message_id)
        self._seal(block.message_id, metadata)
        self._telling.emit("REASONING_END", messageId=block.message_id)

    def _seal(self, message_id: str, metadata: JsonObject | None) -> None:
        if metadata is not None:
            tell_seal(self._telling, "message", message_id, seal_in(metadata))
            lose_notes(self._telling, metadata, NO_PLACE, *TOLD)
