"""Writing messages one by one, for frameworks and APIs that do not join neighbours of one role."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from partita.types.json import Json, JsonObject

from .metadata import message_notes
from .request import JOINED_NOTE, RoleWriter
from .turns import Instructions, Prompt, Results, Step, Turn


class MessageWriter(RoleWriter):
    """Writes each turn as a message, except turns that were one message in their source.

    There, results of tools and what else is in a message are several messages here. Those after the first
    have a note that they continue the one before. The position of a part is the number of its message, and
    its number among the parts there; that of a message is the position of its first part.
    """

    result_role = "user"
    """The role of messages with results."""

    def __init__(self, namespace: str, *, joins_results: bool = False) -> None:
        """`joins_results`: all results of a step are in one message, as the API demands."""
        super().__init__(namespace)
        self._joins_results = joins_results
        self._count = 0  # of the parts in the last message: there may be blocks that are not parts
        self._start = 0  # of the last message here that is in it
        self._origins: Sequence[Any] = ()  # what other results in it have in common with those at its end

    def notes_of(self, turn: Instructions | Prompt) -> JsonObject:
        """The notes about a message."""
        return message_notes(turn.message, self._namespace)

    def write_results(self, turn: Results) -> None:
        """Add a message with results."""
        blocks, positions = self.write_blocks(turn, self.result_role)
        self.add(self.result_role, blocks, turn, positions, message_notes(turn.message, self._namespace))

    def write_step(self, step: Step) -> None:
        """Add a message of the assistant. A later step has no notes."""
        blocks, positions = self.write_blocks(step, "assistant")
        noted = message_notes(step.message, self._namespace) if step.number == 1 else {}
        self.add("assistant", blocks, step, positions, noted)

    def add(
        self, role: str, blocks: list[Json], turn: Turn, positions: Sequence[Any], noted: JsonObject
    ) -> None:
        """Add the blocks of a turn. If it has parts, but none of them can be written, nothing is."""
        if isinstance(turn, Step):
            self._record_start(turn, None)
        if not blocks and _is_skipped(turn):
            self.record.add(turn, None, [None] * len(positions))
            return
        self._begin(role, turn, noted)
        at, count = len(self.messages) - 1, self._count
        numbers = [None if position is None else (at, count + position, 0) for position in positions]
        self.record.add(turn, (at, self._start), numbers)
        self.messages[at][1].extend(blocks)
        self._count += len(positions) - positions.count(None)

    def _begin(self, role: str, turn: Turn, noted: JsonObject) -> None:
        """Begin a message, unless the turn was one with the message before."""
        origins: tuple[Any, ...] = ()
        if isinstance(turn, Results):
            origin = turn.message
            if origin.content.parts:
                origin = replace(origin, content=replace(origin.content, parts=()))
            origins = (origin,)
            if self._joins_results and turn.step is not None:
                origins = (*origins, turn.step)
        if self.messages and self.messages[-1][0] != "assistant":
            if any(one in self._origins for one in origins):
                self._origins = (*self._origins, *origins)
                return
            if noted.get(JOINED_NOTE) is True:
                self._start, self._origins = self._count, origins
                return
        self.messages.append((role, [], noted))
        self._count, self._start, self._origins = 0, 0, origins


def _is_skipped(turn: Turn) -> bool:
    """Whether a turn without blocks is not written: messages without parts are."""
    if isinstance(turn, Step):
        return turn.number > 1
    return bool(turn.parts) or (isinstance(turn, Prompt) and turn.steering is not None)
