"""Which messages and titles a search may find, as conditions of its statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from partita.errors import StoreError
from partita.store.texts import storable
from partita.store.transaction import Transaction
from partita.types.times import in_utc

Field: TypeAlias = Literal["title", "text", "reasoning", "tool-input", "tool-output"]
FIELDS: tuple[Field, ...] = get_args(Field)

NEWEST = 2**62
"""A key that no row ever gets."""

KEYS_OF_THREAD = (
    "SELECT min(messages.key) AS first, max(messages.key) AS last FROM threads"
    " JOIN messages ON messages.owner = threads.owner AND messages.thread_id = threads.id"
    " WHERE threads.id = ?"
)


class Match(NamedTuple):
    """A message or a title that matches: the key of its row, whose it is, and how well it matches."""

    key: int
    owner: str
    thread_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Which messages and titles to find. What is not given does not narrow; `until` itself is outside."""

    thread_id: str | None = None
    roles: Sequence[str] = ()
    tool: str | None = None
    agent: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    fields: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in self.fields:
            if name not in FIELDS:
                raise StoreError(
                    f"there is no field {name!r} to search", hint=f"choose from {', '.join(FIELDS)}"
                )
        for value in (self.thread_id, self.tool, self.agent, self.project, *self.roles):
            storable(value, "a filter of the search")

    @property
    def titles(self) -> bool:
        """Whether titles of threads may be found: they have no role and call no tool."""
        return not self.roles and self.tool is None and (not self.fields or "title" in self.fields)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The fields of messages to search."""
        return tuple(name for name in FIELDS[1:] if not self.fields or name in self.fields)

    @property
    def of_thread(self) -> bool:
        """Whether the row of the thread must be looked at."""
        return self.agent is not None or self.project is not None


class Conditions:
    """A WHERE clause: fixed texts, and the values for their placeholders."""

    def __init__(self, text: str, *values: Any) -> None:
        self._texts = [text]
        self.values = list(values)

    def add(self, text: str, *values: Any) -> None:
        """Add a condition that must hold too."""
        self._texts.append(text)
        self.values.extend(values)

    def __str__(self) -> str:
        return " AND ".join(self._texts)


def narrow(tx: Transaction, wanted: SearchFilter, conditions: Conditions, *, titles: bool) -> None:
    """Add what the filter and the owner of the transaction ask of the rows `messages` and `threads`."""
    table, thread_id = ("threads", "threads.id") if titles else ("messages", "messages.thread_id")
    if tx.owner is not None:
        conditions.add(f"{table}.owner = ?", tx.owner)
    if wanted.thread_id is not None:
        conditions.add(f"{thread_id} = ?", wanted.thread_id)
    if wanted.since is not None:
        conditions.add(f"{table}.created_at >= ?", tx.instant(in_utc(wanted.since, "since")))
    if wanted.until is not None:
        conditions.add(f"{table}.created_at < ?", tx.instant(in_utc(wanted.until, "until")))
    if wanted.agent is not None:
        conditions.add("threads.agent = ?", wanted.agent)
    if wanted.project is not None:
        conditions.add("threads.project = ?", wanted.project)
    if wanted.roles:
        conditions.add(f"messages.role IN ({', '.join('?' * len(wanted.roles))})", *wanted.roles)
    if wanted.tool is not None:
        conditions.add(
            "EXISTS (SELECT 1 FROM parts WHERE parts.owner = messages.owner"
            " AND parts.message = messages.key AND parts.tool_name = ?)",
            wanted.tool,
        )


def keys_of_thread(tx: Transaction, thread_id: str) -> tuple[int, int]:
    """The first and the last key of a thread's messages: what lies outside need not be looked at."""
    if tx.owner is None:
        row = tx.sql(KEYS_OF_THREAD, (thread_id,)).one()
    else:
        row = tx.sql(f"{KEYS_OF_THREAD} AND threads.owner = ?", (thread_id, tx.owner)).one()
    return (NEWEST, NEWEST) if row.first is None else (row.first, row.last)
