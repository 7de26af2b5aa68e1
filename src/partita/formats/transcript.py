"""The former place of `log.sink`, and the sink with the former names of its methods."""

from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from partita.types.chunks import Chunk
from partita.types.json import Json
from partita.types.messages import AssistantMessage, Message

from .log.diagnostics import Place
from .log.sink import Consumption, Fact, LinkChecker, LogDecoder, TurnEnd

__all__ = ["Consumption", "Fact", "LinkChecker", "LogDecoder", "Teller", "TurnEnd"]


class Teller(Protocol):
    """Who is told what a log says. Everything is told in the order of the log."""

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""

    @property
    def run_id(self) -> str | None:
        """The run at hand."""

    @property
    def tail(self) -> str | None:
        """The message that the next one follows."""

    @property
    def place(self) -> Place:
        """Where the record at hand is."""
        ...

    @property
    def line(self) -> int:
        """The number of the record at hand."""
        ...

    @property
    def time(self) -> datetime | None:
        """The time of the record at hand, or of the last one that had one."""

    def tick(self, time: datetime) -> None:
        """The record at hand was made at `time`."""

    def say(self, message: Message) -> None:
        """A whole message: a prompt, or a notice (`type="event"`). A known id replaces it."""

    def open(self, message: AssistantMessage) -> None:
        """An assistant message begins: its envelope, no parts yet. Chunks follow, by its id."""

    def grow(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of an open message; whether it is still at hand."""
        ...

    def close(self, message_id: str) -> None:
        """Nothing more comes for a message, but outputs of its calls."""

    def call_message(self, call_id: str) -> str | None:
        """The message that holds a call, as far back as can be remembered."""

    def is_waiting(self, call_id: str) -> bool:
        """Whether a call is at hand that has no output yet."""
        ...

    def note(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is no talk. It is kept in an internal event message, with others beside it."""

    def consume(self, consumption: Consumption) -> None:
        """What a response consumed. Told again under the same key, the later word counts."""

    def as_of(self, *lines: int) -> AbstractContextManager[None]:
        """What is told meanwhile was said by the records of those lines, some of which were held back."""
        ...

    def learn(self, fact: Fact, value: Json) -> None:
        """Something about the thread. The later word counts."""

    def begin_turn(self) -> None:
        """A prompt begins a new run; the record at hand is its first."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """How the turn at hand ended."""

    def agent(self, name: str) -> "Teller":
        """The teller for the messages of a sub-agent."""
        ...

    def link(self, agent: str, call_id: str) -> None:
        """The messages of a sub-agent hang under that call."""

    def puzzle(self, what: str, *, detail: str = "") -> None:
        """Something was not understood; it is kept, and counted by `what`."""

    def report(self, what: str, place: Place, detail: str = "") -> None:
        """Report something wrong with the record at `place`, which may be an earlier one."""
