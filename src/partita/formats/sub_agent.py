"""A sub-agent's line of talk. Its messages stay with it until the one they hang under is forgotten."""

from datetime import datetime
from typing import Final, Protocol

from partita.types.chunks import Chunk
from partita.types.json import Json
from partita.types.messages import Message
from partita.types.tools import Interruption

from .chain import Chain, Entry, Root
from .diagnostics import Place
from .transcript import Fact, TurnEnd

DEEPEST: Final = 32
"""How far sub-agents may stand under each other; those below are told as ones that no call claims."""


class Host(Root, Protocol):
    """What a sub-agent asks of the whole log."""

    facts: dict[Fact, Json]
    depth: int

    @property
    def place(self) -> Place:
        """Where the record at hand is."""
        ...

    def tick(self, time: datetime) -> None:
        """The record at hand was made at `time`."""
        ...


class Agent(Chain):
    """The teller for a sub-agent. Its messages stay with it until the one they hang under is forgotten."""

    def __init__(self, root: Host, name: str) -> None:
        super().__init__(None, name)
        self.root = self.host = root
        self.call: str | None = None  # that it hangs under
        self.placed = False  # whether a message was told with it
        self.stirred = False  # whether there is anything new since then
        self.apart = False  # whether it is told as one that no call claims
        self._telling = False

    def grow(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of a message; the one above has changed with it."""
        self.stirred = True
        return super().grow(message_id, *chunks)

    def children(self, interrupted: Interruption | None) -> list[Message]:
        """Its messages, to stand under its call; none if that call is its own, by whatever ways."""
        if self.apart or self._telling or self.host.depth >= DEEPEST:
            return []
        self.placed = True
        # What is open now will be lost, or will have ended, when all is told again.
        self.stirred = interrupted is None and any(entry.calls for entry in self._entries.values())
        return self.alone(interrupted)

    def alone(self, interrupted: Interruption | None) -> list[Message]:
        """Its messages, whether it stands under a call or not."""
        self._telling, self.host.depth = True, self.host.depth + 1
        try:
            return self.messages(interrupted)
        finally:
            self._telling, self.host.depth = False, self.host.depth - 1

    def forget(self) -> None:
        """Nobody can be told of it any more: what comes now stands alone."""
        for entry in self._entries.values():
            for agent in entry.agents or ():
                agent.forget()
        self._entries.clear()
        self._notes = self._open = self.call = None
        self.placed = self.stirred = False

    def _add(self, entry: Entry) -> None:
        self.stirred = True
        super()._add(entry)

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""
        return self.host.thread_id

    @property
    def run_id(self) -> str | None:
        """The run at hand."""
        return self.host.run_id

    @property
    def place(self) -> Place:
        """Where the record at hand is."""
        return self.host.place

    @property
    def line(self) -> int:
        """The number of the record at hand."""
        return self.host.line

    @property
    def time(self) -> datetime | None:
        """The time of the record at hand."""
        return self.host.time

    def tick(self, time: datetime) -> None:
        """The record at hand was made at `time`."""
        self.host.tick(time)

    def learn(self, fact: Fact, value: Json) -> None:
        """What a sub-agent's records say of the thread counts less than what the conversation's say."""
        self.host.facts.setdefault(fact, value)

    def begin_turn(self) -> None:
        """A sub-agent has one turn alone."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """A sub-agent has one turn alone."""
