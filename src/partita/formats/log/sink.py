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


class Position(NamedTuple):
    """Where a record is: the number of its line, from 1, and the offset of the line in bytes."""

    line: int
    offset: int


class LogSink(Protocol):
    """Receives what a log contains, in the order of the log."""

    # Where the decoder is

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
    def position(self) -> Position:
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

    def from_lines(self, *lines: int) -> AbstractContextManager[None]:
        """What is reported inside comes from the records of those lines, which were held back."""
        ...

    # Messages

    def add_message(self, message: Message) -> None:
        """A whole message: a prompt, or a notice (`type="event"`). It replaces one with the same id."""

    def open(self, message: AssistantMessage) -> None:
        """An assistant message starts, without parts. Its chunks are appended, by its id."""

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of an open message; returns whether it is still remembered."""
        ...

    def close(self, message_id: str) -> None:
        """Nothing is appended to a message after this, except outputs of its calls."""

    def call_message(self, call_id: str) -> str | None:
        """The message with a call, if it is still remembered."""

    def is_pending(self, call_id: str) -> bool:
        """Whether a call is remembered that has no output yet."""
        ...

    def add_record(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is not part of the conversation. Adjacent ones share an internal event message."""

    # The thread

    def add_consumption(self, consumption: Consumption) -> None:
        """What a response consumed. The last one with the same key counts."""

    def set_fact(self, fact: Fact, value: Json) -> None:
        """Something about the thread. The last value counts."""

    def start_turn(self) -> None:
        """A prompt starts a new run; the current record is its first."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """How the current turn ended."""

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
        """A sub-agent was started by that call; its messages belong under it."""

    def expect_agent(self, call_id: str, sign: str | None) -> None:
        """A call starts a sub-agent without naming it. `sign` is in the sub-agent's own log too, such as its
        prompt; `None`: the call has started none.
        """

    def expected_sign(self, call_id: str) -> str | None:
        """The sign of the sub-agent that a call expects, until one is linked to the call."""

    def find_agent(self, sign: str) -> str | None:
        """The first sub-agent with that sign in its own log that no call is known to have started."""

    def claim_call(self, sign: str) -> str | None:
        """The first call that expects a sub-agent with that sign. It expects none after this."""

    # What is not understood

    def report_unknown(self, what: str, *, detail: str = "", position: Position | None = None) -> None:
        """Something was not understood, in the current record or an earlier one; it is counted by `what`."""


class LogDecoder(Protocol):
    """Records of a log in; what they contain goes to a sink."""

    def feed(self, record: JsonObject) -> None:
        """Read the next record."""

    def finish(self) -> None:
        """The log has ended, for now or for good."""


@runtime_checkable
class ResumableDecoder(Protocol):
    """A decoder that can stop between two turns and continue later."""

    def mark(self) -> Any:
        """Remember this place between two turns."""

    def state(self, mark: Any) -> JsonObject:
        """What is needed to continue from a mark, as JSON."""
        ...

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""


@runtime_checkable
class LinkChecker(Protocol):
    """A decoder of records that name their parents."""

    def check_links(self) -> None:
        """Report the parents that are in no record. All records must have been fed."""


# What was not understood

MAX_POSITIONS: Final = 20
"""How many positions of one kind are remembered; others are only counted."""

MAX_KINDS: Final = 1000
"""How many kinds are counted separately."""

OTHER_KINDS: Final = "other things that were not understood"

DUPLICATE_UUID: Final = "duplicate uuid"
MISSING_PARENT: Final = "missing parent"
PARENT_CYCLE: Final = "cycle of parents"
LINK_PROBLEMS: Final = frozenset({DUPLICATE_UUID, MISSING_PARENT, PARENT_CYCLE})
"""What may be wrong with the links between records. Nothing is lost by it."""

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
    """Unknown records by kind. Its size is limited by the number of kinds, not by the length of the log."""

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
