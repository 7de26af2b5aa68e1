"""Messages that are a role and a list of blocks, written turn by turn.

A message on the wire may be several messages here: results of tools, and what else is in it. Those after the
first have a note that they continue the one before, and are written into it again.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.types.json import JsonObject

from .metadata import message_notes
from .report import Place, Record
from .turns import Instructions, Prompt, Results, Turn

JOINED: Final = "joined"
"""The note of a message that continues the one before."""


class Written:
    """A message that is written: its role, its blocks so far, and the notes of the message that began it."""

    def __init__(self, role: str, note: JsonObject, origins: Sequence[Any]) -> None:
        self.role, self.note = role, note
        self.blocks: list[Any] = []
        self.count = 0  # of the parts: there may be blocks that are not parts
        self.start = 0  # of the last message in it
        self.origins = origins  # of the results at its end: what other results in it have in common with them


class MessageWriter:
    """Writes messages, and records what went where.

    A part has a place by the number of its message on the wire, and its number among the parts there; a
    message has the place of its first part.
    """

    def __init__(self, namespace: str, *, joins_results: bool = False) -> None:
        """`joins_results`: all results of a step are in one message, as the API demands."""
        self.record = Record()
        self.written: list[Written] = []
        self._namespace, self._joins_results = namespace, joins_results

    def add(self, turn: Instructions | Prompt | Results, role: str, blocks: Sequence[Any]) -> None:
        """Write the blocks of a turn, `None` for parts without one.

        If it has parts, but none of them can be written, nothing is.
        """
        known = [block for block in blocks if block is not None]
        is_steering = isinstance(turn, Prompt) and turn.steering is not None
        if not known and (blocks or is_steering):
            self.record.add(turn, None, [None] * len(blocks))
            return
        origins: list[Any] = []
        if isinstance(turn, Results):
            origins.append(replace(turn.message, content=replace(turn.message.content, parts=())))
            if self._joins_results and turn.step is not None:
                origins.append(turn.step)
        written = self.begin(role, message_notes(turn.message, self._namespace), origins)
        self.append(turn, written, known, numbers_of(blocks))

    def begin(self, role: str, note: JsonObject, origins: Sequence[Any] = ()) -> Written:
        """A new message, or the one before if they were one.

        `origins`: the message of results, without its parts. Results that have a call come before the others.
        """
        last = self.written[-1] if self.written else None
        if last is not None and last.role != "assistant":
            if any(one in last.origins for one in origins):
                last.origins = (*last.origins, *origins)
                return last
            if note.get(JOINED) is True:
                last.start, last.origins = last.count, origins
                return last
        self.written.append(Written(role, note, origins))
        return self.written[-1]

    def append(
        self, turn: Turn, written: Written, blocks: Sequence[Any], numbers: Sequence[int | None]
    ) -> None:
        """Add blocks to the last message. `numbers`: of the parts among those that are written."""
        at = len(self.written) - 1
        places: list[Place | None] = [
            None if number is None else (at, written.count + number, 0) for number in numbers
        ]
        self.record.add(turn, (at, written.start), places)
        written.blocks += blocks
        written.count += sum(number is not None for number in numbers)


def numbers_of(blocks: Sequence[Any]) -> list[int | None]:
    """The numbers of the blocks that there are."""
    numbers = iter(range(len(blocks)))
    return [None if block is None else next(numbers) for block in blocks]
