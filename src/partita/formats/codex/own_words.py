"""A sub-agent's rollout under its call: only what is its own is told.

Its file mostly begins with a copy of what its caller had said until then, which is told where it comes from.
"""

from contextlib import AbstractContextManager
from datetime import datetime

from partita.formats.diagnostics import Place
from partita.formats.transcript import Consumption, Fact, Teller, TurnEnd
from partita.types.chunks import Chunk
from partita.types.json import Json
from partita.types.messages import AssistantMessage, Message

from .lineage import Lineage


class OwnWords:
    """A teller that passes on what is not copied; nor does a sub-agent's header tell facts of the session."""

    def __init__(self, teller: Teller, lineage: Lineage) -> None:
        self._teller = teller
        self._lineage = lineage
        self._untold: set[str] = set()  # messages that were begun in the copy

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""
        return self._teller.thread_id

    @property
    def run_id(self) -> str | None:
        """The run at hand."""
        return self._teller.run_id

    @property
    def tail(self) -> str | None:
        """The message that the next one follows."""
        return self._teller.tail

    @property
    def place(self) -> Place:
        """Where the record at hand is."""
        return self._teller.place

    @property
    def line(self) -> int:
        """The number of the record at hand."""
        return self._teller.line

    @property
    def time(self) -> datetime | None:
        """The time of the record at hand."""
        return self._teller.time

    def tick(self, time: datetime) -> None:
        """The record at hand was made at `time`."""
        self._teller.tick(time)

    def say(self, message: Message) -> None:
        """A whole message."""
        if not self._lineage.copied:
            self._teller.say(message)

    def open(self, message: AssistantMessage) -> None:
        """An assistant message begins."""
        if self._lineage.copied:
            self._untold.add(message.id)
        else:
            self._teller.open(message)

    def grow(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of a message."""
        if message_id not in self._untold:
            return self._teller.grow(message_id, *chunks)
        self.puzzle("an output of a call that was copied", detail=message_id)
        return False

    def close(self, message_id: str) -> None:
        """Nothing more comes for a message."""
        self._teller.close(message_id)

    def call_message(self, call_id: str) -> str | None:
        """The message that holds a call."""
        return self._teller.call_message(call_id)

    def is_waiting(self, call_id: str) -> bool:
        """Whether a call has no output yet."""
        return self._teller.is_waiting(call_id)

    def note(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is no talk."""
        if not self._lineage.copied:
            self._teller.note(name, data, id)

    def consume(self, consumption: Consumption) -> None:
        """What a response consumed."""
        if not self._lineage.copied:
            self._teller.consume(consumption)

    def as_of(self, *lines: int) -> AbstractContextManager[None]:
        """What is told meanwhile was said by the records of those lines."""
        return self._teller.as_of(*lines)

    def learn(self, fact: Fact, value: Json) -> None:
        """A sub-agent's name and origin are not the session's."""

    def begin_turn(self) -> None:
        """A prompt begins a new run."""
        self._teller.begin_turn()

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """How the turn at hand ended."""
        self._teller.end_turn(how, why)

    def agent(self, name: str) -> Teller:
        """The teller for a sub-agent of this one."""
        return self._teller.agent(name)

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent hangs under a call."""
        self._teller.link(agent, call_id)

    def puzzle(self, what: str, *, detail: str = "") -> None:
        """Something was not understood; of what was copied, that is told where it comes from."""
        if not self._lineage.copied:
            self._teller.puzzle(what, detail=detail)

    def report(self, what: str, place: Place, detail: str = "") -> None:
        """Something is wrong with the record at `place`."""
        self._teller.report(what, place, detail)
