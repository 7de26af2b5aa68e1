"""What the store gives and takes, besides messages, threads and runs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, Literal, TypeAlias, TypeVar

from partita.types.json import Json, JsonObject
from partita.types.times import Moment
from partita.types.value import Value

T = TypeVar("T")

Order: TypeAlias = Literal["asc", "desc"]
Branch: TypeAlias = Literal["active", "all"]
"""`active`: the way from the first message to the active leaf; `all`: the other branches too."""

BlobMode: TypeAlias = Literal["inline", "reference", "files"]
"""`inline`: large outputs and files are put back in place; `reference`: `blob:` urls stand for them; `files`:
`blob:` urls stand for the files of a message, all else is put back.
"""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list, and the cursor to ask for the next one; without a cursor it was the last."""

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
    """A part as queries across threads find it: where it is, what it is, how it went."""

    thread_id: str
    message_id: str
    seq: int
    path: str  # `2`, or `2.children.0.1` for a sub-agent's
    type: str
    resource_id: str | None = None
    tool_name: str | None = None
    call_id: str | None = None
    state: str | None = None
    error: str | None = None
    started_at: Moment | None = None
    ended_at: Moment | None = None

    @property
    def duration(self) -> timedelta | None:
        """How long it took, when both ends are known."""
        return self.ended_at - self.started_at if self.started_at and self.ended_at else None


class Source(Value, kw_only=True):
    """A file that messages are imported from, and how far it has been read."""

    path: str
    identity: str | None = None  # what tells the file from another one under the same path
    agent: str | None = None
    thread_id: str | None = None
    offset: int = 0
    hash: str | None = None
    state: Json = None
    updated_at: Moment | None = None


class ConsumptionRecord(Value, kw_only=True):
    """What one response of a model consumed, and in which thread it stands. Unknown counts are 0.

    `input_tokens` include those that were cached and those that were written to a cache; `output_tokens`
    include the reasoning.
    """

    thread_id: str
    key: str  # the same wherever the same response is told again
    message_id: str | None = None
    run_id: str | None = None
    agent: str | None = None  # when it is not the thread's
    provider: str | None = None
    model: str | None = None
    time: Moment | None = None
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None  # in US dollars; `None` when no price is known
    price: JsonObject | None = None  # the rates that the cost was made with


class UsageTotals(Value, kw_only=True):
    """What responses consumed together."""

    responses: int
    input_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost: float | None = None  # in US dollars, of those with a price; `None` when none has one
    unpriced: int  # responses without a price


By: TypeAlias = Literal["total", "day", "week", "month", "project", "agent", "model", "tool"]
"""What statistics are told by. A week is named by its Monday."""


class Stat(UsageTotals, kw_only=True):
    """One row of statistics. A model has no messages, and a tool has no tokens: those are 0."""

    key: tuple[str | None, ...]  # what the row is about, in the order that was asked for; `None`: unknown
    threads: int
    thread_ids: tuple[str, ...] | None = None  # when they were asked for, and are not too many
    messages: int
    runs: int  # a tool has none
    tool_calls: int
    tool_errors: int  # interrupted calls are no errors here
    denied: int
    interrupted: int


class Blob(Value, kw_only=True):
    """Bytes by their hash."""

    url: str
    size: int
    media_type: str | None = None
    created_at: Moment | None = None


KeyRole: TypeAlias = Literal["read", "chat", "write", "admin"]
"""What a key may do: see `partita.runtime.principal`."""


class ApiKey(Value, kw_only=True):
    """A key that lets a program in. The secret is no part of it, nor is it stored."""

    id: str
    role: KeyRole
    resource_id: str | None = None  # `None`: every resource
    name: str | None = None
    created_at: Moment | None = None
    expires_at: Moment | None = None
    revoked_at: Moment | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was made just now, with the text that programs show. It cannot be had again."""

    key: ApiKey
    text: str = field(repr=False)  # so that it reaches no log by accident


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFilter:
    """Which threads to list. What is not given does not narrow."""

    resource_id: str | None = None
    agent: str | None = None
    project: str | None = None
    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    has_errors: bool | None = None
    metadata: tuple[tuple[str, Json], ...] = ()
    model: str | None = None
    tool: str | None = None
    pinned: bool | None = None
    ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Which messages of a thread to list. What is not given does not narrow."""

    before: int | None = None
    after: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    roles: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    internal: bool | None = False
    branch: Branch = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFilter:
    """Which parts to find, across threads. What is not given does not narrow."""

    thread_id: str | None = None
    types: tuple[str, ...] = ()
    tool: str | None = None
    states: tuple[str, ...] = ()
    has_error: bool | None = None
    longer_than: timedelta | None = None
    shorter_than: timedelta | None = None
    agent: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
