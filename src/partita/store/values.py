"""Values of the store besides messages, threads and runs: what it returns, and filters that it takes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, Literal, TypeAlias, TypeVar, get_args

from partita.errors import StoreError
from partita.types.json import Json, JsonObject
from partita.types.messages import MessageType
from partita.types.threads import RunStatus
from partita.types.times import Timestamp
from partita.types.value import Value

from .sql.texts import storable

T = TypeVar("T")

OnProgress: TypeAlias = Callable[[int, int], None]
"""Called during long work with how much is done, and how much there is."""

Order: TypeAlias = Literal["asc", "desc"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Branch: TypeAlias = Literal["active", "all"]
"""`active`: the messages from the first one to the active leaf; `all`: the other branches too."""

BlobMode: TypeAlias = Literal["inline", "reference", "files"]
"""What messages have in place of large outputs and files: `inline`: the values; `reference`: `blob:` URLs;
`files`: `blob:` URLs for the files of the message itself, and values for everything else.
"""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list, and the cursor of the next one; `None` if this is the last."""

    items: tuple[T, ...]
    next: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def has_more(self) -> bool:
        """Whether there is a next page."""
        return self.next is not None


class StoredPart(Value, kw_only=True):
    """A part with its position: the result of a query across threads."""

    thread_id: str
    message_id: str
    seq: int
    path: str  # `2`, or `2.children.0.1` for a part of a sub-agent
    type: str
    resource_id: str | None = None
    tool_name: str | None = None
    call_id: str | None = None
    state: str | None = None
    error: str | None = None
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None

    @property
    def duration(self) -> timedelta | None:
        """The time between start and end, if both are known."""
        return self.ended_at - self.started_at if self.started_at and self.ended_at else None


class Source(Value, kw_only=True):
    """A file that messages are imported from, and how far it has been read."""

    path: str
    identity: str | None = None  # distinguishes the file from another one with the same path
    agent: str | None = None
    thread_id: str | None = None
    offset: int = 0
    hash: str | None = None
    state: Json = None
    updated_at: Timestamp | None = None


class ConsumptionRecord(Value, kw_only=True):
    """What one response of a model consumed, and the thread that contains it. Unknown counts are 0.

    `input_tokens` include those that were cached and those that were written to a cache; `output_tokens`
    include the reasoning.
    """

    thread_id: str
    key: str  # identifies the response: the same in every thread that contains it
    message_id: str | None = None
    run_id: str | None = None
    agent: str | None = None  # if it is not the agent of the thread
    provider: str | None = None
    model: str | None = None
    time: Timestamp | None = None
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None  # in US dollars; `None` if the price is unknown
    price: JsonObject | None = None  # the rates that the cost was computed with


class UsageTotals(Value, kw_only=True):
    """What responses consumed in total."""

    responses: int
    input_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost: float | None = None  # in US dollars, of responses with a price; `None` if none has one
    unpriced: int  # responses without a price


GroupBy: TypeAlias = Literal[
    "total", "day", "week", "month", "hour", "project", "agent", "model", "tool", "thread"
]
"""What statistics are grouped by. A week is named by its Monday, an hour by its place in the week (`1-09` is
Monday at nine), and a thread by its id.
"""


MeasureName: TypeAlias = Literal["messages", "usage", "calls", "runs"]
"""What statistics are computed from."""


class UsageStat(UsageTotals, kw_only=True):
    """One row of statistics. A model has no messages, and a tool has no tokens: those are 0."""

    key: tuple[str | None, ...]  # the values of the group, in the requested order; `None`: unknown
    threads: int
    thread_ids: tuple[str, ...] | None = None  # if requested, and not too many
    messages: int
    runs: int  # a tool has none
    failed_runs: int = 0
    interrupted_runs: int = 0  # also those that were cancelled
    seconds: float = 0  # of its runs, as far as it is known; that of sub-agents only by model
    tool_calls: int
    tool_errors: int  # without interrupted calls
    denied: int
    interrupted: int


class Blob(Value, kw_only=True):
    """Bytes by their hash."""

    url: str
    size: int
    media_type: str | None = None
    created_at: Timestamp | None = None


KeyRole: TypeAlias = Literal["read", "chat", "write", "admin"]
"""The permissions of a key: see `partita.runtime.principal`."""


class ApiKey(Value, kw_only=True):
    """An API key. Its secret is neither here nor in the store."""

    id: str
    role: KeyRole
    resource_id: str | None = None  # `None`: all resources
    name: str | None = None
    created_at: Timestamp | None = None
    expires_at: Timestamp | None = None
    revoked_at: Timestamp | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just created, with the text that clients send. The text cannot be read later."""

    key: ApiKey
    text: str = field(repr=False)  # keeps it out of logs


SearchField: TypeAlias = Literal["title", "text", "reasoning", "tool-input", "tool-output"]
SEARCH_FIELDS: tuple[SearchField, ...] = get_args(SearchField)
MESSAGE_FIELDS = SEARCH_FIELDS[1:]
"""The fields that messages have; only threads have titles."""


class SearchHit(Value, kw_only=True):
    """A message that was found, or a thread by its title: where it is, and the passage that shows why."""

    thread_id: str
    message_id: str | None = None  # `None` for a title
    seq: int | None = None
    role: str | None = None
    part: str | None = None  # the path of the part with the passage: `2`, or `2.children.0.1` in a sub-agent
    resource_id: str | None = None
    title: str | None = None  # of the thread, or else the start of its first user message
    field: SearchField
    snippet: str
    highlights: tuple[tuple[int, int], ...]  # start and end of each match in the snippet, in characters
    score: float  # higher is better; a title has 1 more than a message can have
    created_at: Timestamp | None = None  # if it is known; of a title: when its thread got its last message
    thread_matches: int = 0  # the number of messages of the thread that match


@dataclass(frozen=True, slots=True)
class SearchPage(Page[SearchHit]):
    """A page of hits, with the totals of all pages."""

    threads: int = 0
    matches: int = 0  # the number of messages
    complete: bool = True  # otherwise older messages match, too


class PartMatches(Value, kw_only=True):
    """The occurrences of the words of a query in a part, or in a message that matches as a whole."""

    message_id: str
    part: str | None = None
    count: int
    words: tuple[str, ...] = ()  # the different texts that were found


class ThreadMatches(Value, kw_only=True):
    """Where the words of a query occur in a thread, in order."""

    items: tuple[PartMatches, ...]
    complete: bool  # otherwise there are more, in older messages


ThreadSort: TypeAlias = Literal["time", "created", "cost", "tokens", "messages", "duration"]
"""What lists of threads are sorted by. `time` is that of the last message, `duration` that of all runs
without those of sub-agents.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFilter:
    """Selects threads. A field that is not set matches everything."""

    resource_id: str | None = None
    agent: str | None = None
    project: str | None = None
    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    has_errors: bool | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    model: str | None = None
    tool: str | None = None
    pinned: bool | None = None
    active: bool | None = None  # with an active run
    tags: Sequence[str] = ()
    """Tags that a thread must have, all of them."""
    ids: Sequence[str] | None = None
    empty: bool | None = None  # without visible messages and without an active run


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Selects messages of a thread. A field that is not set matches everything."""

    before: int | None = None
    after: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    roles: Sequence[Role] = ()
    types: Sequence[MessageType] = ()
    internal: bool | None = False
    branch: Branch = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFilter:
    """Selects parts across threads. A field that is not set matches everything."""

    thread_id: str | None = None
    types: Sequence[str] = ()
    tool: str | None = None
    states: Sequence[str] = ()
    has_error: bool | None = None
    longer_than: timedelta | None = None
    shorter_than: timedelta | None = None
    agent: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Selects runs. A field that is not set matches everything."""

    thread_id: str | None = None
    status: Sequence[RunStatus] = ()
    agent: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Selects messages and titles. A field that is not set matches everything; `until` is exclusive."""

    thread_id: str | None = None
    roles: Sequence[str] = ()
    tool: str | None = None
    agent: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    fields: Sequence[str] = ()
    threads: ThreadFilter | None = None  # only in these threads; its times are those of the threads

    def __post_init__(self) -> None:
        for name in self.fields:
            if name not in SEARCH_FIELDS:
                raise StoreError(
                    f"unknown search field {name!r}", hint=f"choose from {', '.join(SEARCH_FIELDS)}"
                )
        for value in (self.thread_id, self.tool, self.agent, self.project, *self.roles):
            storable(value, "a filter of the search")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatFilter:
    """Selects what statistics count. A field that is not set matches everything; `until` is exclusive."""

    since: datetime | None = None
    until: datetime | None = None
    agent: str | None = None
    project: str | None = None
    model: str | None = None
    thread_id: str | None = None

    def __post_init__(self) -> None:
        for value in (self.agent, self.project, self.model, self.thread_id):
            storable(value, "a filter of the statistics")
