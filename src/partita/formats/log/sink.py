"""Between the decoder of a log and the builder of its messages: what a decoder reports to its `LogSink`.

A log has a whole conversation, so its decoder cannot be a stream of chunks alone. It reports what each record
contains to a `LogSink`; `thread_builder` is the sink that builds messages, with the one reducer.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message
from partita.types.usage import Usage

TurnEnd: TypeAlias = Literal["completed", "failed", "interrupted"]

Fact: TypeAlias = Literal[
    "sessionId",
    "title",  # given by a person
    "agentTitle",  # given by the agent; used if no person gave one
    "summary",  # used if there is no title
    "prompt",  # a prompt; the first that says something is used if there is no title and no summary
    "opening",  # a command that the agent responded to, or a message of another agent; used like a prompt
    "command",  # another command; used if there is nothing else
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
"""Facts about its thread that a log may contain."""


class Consumption(Struct, frozen=True, gc=False):
    """The token usage of one response of a model. A repeated response has the same `key`."""

    key: str
    message_id: str
    model: str | None
    usage: Usage
    time: datetime | None = None
    provider: str | None = None
    cost: float | None = None  # in US dollars, if the log itself has it
    run_id: str | None = None  # the sink adds it


class Position(NamedTuple):
    """The position of a record: the number of its line, from 1, and the offset of the line in bytes."""

    line: int
    offset: int


class LogSink(Protocol):
    """Receives the content of a log, in the order of the log."""

    # The current position

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""

    @property
    def run_id(self) -> str | None:
        """The current run."""

    @property
    def tail(self) -> str | None:
        """The last message, which the next one follows."""

    @property
    def position(self) -> Position:
        """The position of the current record."""
        ...

    @property
    def line(self) -> int:
        """The line number of the current record."""
        ...

    @property
    def time(self) -> datetime | None:
        """The time of the current record, or of the last one that had one."""

    def set_time(self, time: datetime) -> None:
        """Set the time of the current record."""

    def from_lines(self, *lines: int) -> AbstractContextManager[None]:
        """Return a context in which everything added comes from earlier records: those of these lines."""
        ...

    # Messages

    def add_message(self, message: Message) -> None:
        """Add a whole message: a prompt, or a notice (`type="event"`). It replaces one with the same id."""

    def open(self, message: AssistantMessage) -> None:
        """Begin an assistant message without parts. Its chunks are appended, by its id."""

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Append chunks to an open message; return whether it is still remembered."""
        ...

    def close(self, message_id: str) -> None:
        """Close a message. After this, only outputs of its calls are appended."""

    def call_message(self, call_id: str) -> str | None:
        """The message with a call, if it is still remembered."""

    def is_pending(self, call_id: str) -> bool:
        """Whether a call is remembered that has no output yet."""
        ...

    def add_record(self, name: str, data: Json, id: str | None = None) -> None:
        """Keep a record that is not part of the conversation. Adjacent ones share an internal message."""

    # The thread

    def add_consumption(self, consumption: Consumption) -> None:
        """Add the usage of a response. The last one with the same key is used."""

    def set_fact(self, fact: Fact, value: Json) -> None:
        """Set a fact about the thread. The last value is used."""

    def start_turn(self) -> None:
        """Start a new run at the current record, which is a prompt."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """End the current turn."""

    # Sub-agents

    @property
    def is_sub_agent(self) -> bool:
        """Whether this is the sink of a sub-agent whose messages belong under a call."""
        ...

    def agent(self, name: str) -> "LogSink":
        """The sink for the messages of a sub-agent."""
        ...

    def has_own_log(self, agent: str) -> bool:
        """Whether a sub-agent has a log of its own that is read too."""
        ...

    def link_agent(self, agent: str, call_id: str) -> None:
        """Nest the messages of a sub-agent under the call that started it."""

    def expect_agent(self, call_id: str, key: str | None) -> None:
        """Note that a call starts a sub-agent without naming it.

        `key` is a text that the log of the sub-agent contains too, such as its prompt. If it is `None`, the
        call has started none.
        """

    def expected_agent_key(self, call_id: str) -> str | None:
        """Return the key of the sub-agent that a call expects, until one is linked to the call."""

    def find_agent(self, key: str) -> str | None:
        """Return the first sub-agent with that key in its log that is not linked to a call."""

    def claim_call(self, key: str) -> str | None:
        """Return the first call that expects a sub-agent with that key. It expects none after this."""

    # Unknown records

    def report_unknown(self, what: str, *, detail: str = "", position: Position | None = None) -> None:
        """Report something unknown or damaged in the current or an earlier record; counted by `what`."""


class LogDecoder(Protocol):
    """Reads the records of a log into a sink."""

    def feed(self, record: JsonObject) -> None:
        """Read the next record."""

    def finish(self) -> None:
        """Read what is pending, because the log has ended, at least for now."""


@runtime_checkable
class ResumableDecoder(Protocol):
    """A decoder that can stop between two turns and continue later."""

    def mark(self) -> Any:
        """Return a mark of the current position, which is between two turns."""

    def state(self, mark: Any) -> JsonObject:
        """Return the state that reading continues from at a mark, as JSON."""
        ...

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""


@runtime_checkable
class LinkChecker(Protocol):
    """A decoder of records that name their parents."""

    def check_links(self) -> None:
        """Report the parents that are in no record. All records must have been fed."""


# Unknown and damaged records

MAX_POSITIONS: Final = 20
"""How many positions of one kind are remembered. Others are only counted."""

MAX_KINDS: Final = 1000
"""How many kinds are counted separately. Others are counted together."""

OTHER_KINDS: Final = "other things that were not understood"

DUPLICATE_UUID: Final = "duplicate uuid"
MISSING_PARENT: Final = "missing parent"
PARENT_CYCLE: Final = "cycle of parents"
LINK_PROBLEMS: Final = frozenset({DUPLICATE_UUID, MISSING_PARENT, PARENT_CYCLE})
"""Problems with the links between records, by which nothing is lost."""

CUT_LAST_LINE: Final = "cut last line"


class UnknownRecord(NamedTuple):
    """Records that were damaged or not understood, of one kind: how many, the first positions, an example."""

    what: str
    times: int
    positions: tuple[Position, ...]
    detail: str

    def __str__(self) -> str:
        lines = ", ".join(str(position.line) for position in self.positions[:5])
        more = ", …" if self.times > min(len(self.positions), 5) else ""
        detail = f": {self.detail}" if self.detail else ""
        times = "once" if self.times == 1 else f"{self.times} times"
        return f"{self.what}{detail} ({times}, line {lines}{more})"


class UnknownRecords:
    """Counts unknown records by kind, in memory that depends only on the number of kinds."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._positions: dict[str, list[Position]] = {}
        self._details: dict[str, str] = {}

    def add(self, what: str, position: Position, detail: str = "") -> None:
        """Count one more."""
        if what not in self._counts and len(self._counts) >= MAX_KINDS:
            what, detail = OTHER_KINDS, what
        self._counts[what] = self._counts.get(what, 0) + 1
        positions = self._positions.setdefault(what, [])
        if len(positions) < MAX_POSITIONS:
            positions.append(position)
        if detail:
            self._details.setdefault(what, detail[:200])

    def __iter__(self) -> Iterator[UnknownRecord]:
        for what, count in self._counts.items():
            yield UnknownRecord(what, count, tuple(self._positions[what]), self._details.get(what, ""))

    def __len__(self) -> int:
        return sum(self._counts.values())
