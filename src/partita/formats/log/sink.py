"""What a decoder of logs reports: messages, chunks of messages, and facts about the thread.

A log holds a whole conversation, so its decoder cannot be a stream of chunks alone. It sends what each record
contains to a `LogSink`; `thread_builder` is the sink that builds messages, with the one reducer.
"""

from contextlib import AbstractContextManager
from datetime import datetime
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message
from partita.types.usage import Usage

from .diagnostics import Place

TurnEnd: TypeAlias = Literal["completed", "failed", "interrupted"]

Fact: TypeAlias = Literal[
    "sessionId",
    "title",  # given by a person
    "agentTitle",  # given by the agent; used if no person gave one
    "summary",  # used if there is no title
    "prompt",  # the beginning of the first prompt; used if there is nothing else
    "cwd",
    "gitBranch",
    "gitCommit",
    "gitRepository",
    "version",  # of the agent's program
    "entrypoint",
    "model",
    "provider",
    "agentName",
    "parentSessionId",
    "forkedFrom",
    "leaf",  # the id of the message that the log calls the last one
]
"""What a log may say about its thread."""


class Consumption(Struct, frozen=True, gc=False):
    """What one response of a model consumed. `key` is the same wherever the same response is repeated."""

    key: str
    message_id: str
    model: str | None
    usage: Usage
    time: datetime | None = None
    provider: str | None = None
    cost: float | None = None  # in US dollars, if the log itself has it
    run_id: str | None = None  # the sink adds it


class LogSink(Protocol):
    """Receives what a log contains, in the order of the log."""

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""

    @property
    def run_id(self) -> str | None:
        """The current run."""

    @property
    def tail(self) -> str | None:
        """The message that the next one follows."""

    @property
    def place(self) -> Place:
        """Where the current record is."""
        ...

    @property
    def line(self) -> int:
        """The number of the current record."""
        ...

    @property
    def time(self) -> datetime | None:
        """The time of the current record, or of the last one that had one."""

    def set_time(self, time: datetime) -> None:
        """The current record was made at `time`."""

    def add_message(self, message: Message) -> None:
        """A whole message: a prompt, or a notice (`type="event"`). It replaces one with the same id."""

    def open(self, message: AssistantMessage) -> None:
        """An assistant message begins, without parts. Its chunks are appended, by its id."""

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of an open message; whether it is still remembered."""
        ...

    def close(self, message_id: str) -> None:
        """Nothing more comes for a message, except outputs of its calls."""

    def call_message(self, call_id: str) -> str | None:
        """The message with a call, if it is still remembered."""

    def is_waiting(self, call_id: str) -> bool:
        """Whether a call is remembered that has no output yet."""
        ...

    def note(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is not part of the conversation. Adjacent ones share an internal event message."""

    def consume(self, consumption: Consumption) -> None:
        """What a response consumed. The last one with the same key counts."""

    def as_of(self, *lines: int) -> AbstractContextManager[None]:
        """What is reported meanwhile is from the records of those lines, which were held back."""
        ...

    def set_fact(self, fact: Fact, value: Json) -> None:
        """Something about the thread. The last value counts."""

    def begin_turn(self) -> None:
        """A prompt begins a new run; the current record is its first."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """How the current turn ended."""

    def agent(self, name: str) -> "LogSink":
        """The sink for the messages of a sub-agent."""
        ...

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent was started by that call; its messages belong under it."""

    def report_unknown(self, what: str, *, detail: str = "") -> None:
        """Something was not understood; it is kept, and counted by `what`."""

    def report(self, what: str, place: Place, detail: str = "") -> None:
        """Something is wrong with the record at `place`, which may be an earlier one."""


class LogDecoder(Protocol):
    """Records of a log in; what they contain goes to a sink."""

    def feed(self, record: JsonObject) -> None:
        """Take the next record."""

    def finish(self) -> None:
        """The log has ended, for now or for good."""


@runtime_checkable
class LinkChecker(Protocol):
    """A decoder of records that name their parents."""

    def check_links(self) -> None:
        """Report the parents that no record has, once all records were fed."""
