"""The conditions of a query as SQL, on the rows of messages or of titles."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, assert_never

from partita.store.projects import project_condition
from partita.store.schema import NEVER
from partita.store.sql.distinct import among, distinct_texts
from partita.store.sql.transaction import Transaction
from partita.store.values import MESSAGE_FIELDS, SEARCH_FIELDS, SearchField

from .query import Condition, Query, Term

Key: TypeAlias = tuple[str, str]
"""The owner and the id of a thread."""

NEWEST = 2**62
"""Larger than the key of any row."""

KEYS_OF_THREAD = (
    "SELECT min(messages.key) AS first, max(messages.key) AS last FROM threads"
    " JOIN messages ON messages.owner = threads.owner AND messages.thread_id = threads.id"
    " WHERE threads.id = ?"
)
OF_MESSAGES = ("role", "tool")
"""What only messages have: with such a condition no title is found."""

OF_THREADS = ("agent", "project", "thread-keys")

SELECTIVE = (*OF_MESSAGES, *OF_THREADS, "before", "after")
"""With such a condition, the newest messages are found even without a word."""


class Match(NamedTuple):
    """A message or a title that matches: the key of its row, its owner, and its score."""

    key: int
    owner: str
    thread_id: str
    score: float


class Lookup(NamedTuple):
    """What is looked up: in the messages, or in the titles."""

    titles: bool
    required: tuple[Term, ...]
    excluded: tuple[Term, ...]
    fields: tuple[SearchField, ...]  # where terms without a field must be found
    conditions: tuple[Condition, ...]
    in_title: tuple[Term, ...] = ()  # for messages: what the title of their thread must contain
    not_in_title: tuple[Term, ...] = ()

    @property
    def needs_thread(self) -> bool:
        """Whether a condition reads the row of the thread."""
        titled = self.in_title or self.not_in_title
        return bool(titled) or any(one.name in OF_THREADS for one in self.conditions)

    @property
    def thread_id(self) -> str | None:
        """The only thread that is searched."""
        found = [one.values[0] for one in self.conditions if one.name == "thread"]
        return found[0] if found else None


def lookup(query: Query, *, titles: bool) -> Lookup | None:
    """What a query looks up in the messages or in the titles; `None` if it can find nothing there."""
    fields = _fields(query.conditions)
    conditions = tuple(one for one in query.conditions if one.name != "in")
    if titles:
        possible = "title" in fields and query.required
        if not possible or any(one.name in OF_MESSAGES and not one.excluded for one in conditions):
            return None
        if any(term.field not in (None, "title") for term in query.required):
            return None
        excluded = tuple(term for term in query.excluded if term.field in (None, "title"))
        conditions = tuple(one for one in conditions if one.name not in OF_MESSAGES)
        return Lookup(True, query.required, excluded, ("title",), conditions)
    fields = tuple(name for name in fields if name != "title")
    required, in_title = _parted(query.required)
    excluded, not_in_title = _parted(query.excluded)
    selective = OF_MESSAGES if in_title else SELECTIVE
    if not fields or not (required or any(one.name in selective and not one.excluded for one in conditions)):
        return None
    return Lookup(False, required, excluded, fields, conditions, in_title, not_in_title)


def _fields(conditions: Sequence[Condition]) -> tuple[SearchField, ...]:
    """The fields that all conditions allow."""
    return tuple(
        name
        for name in SEARCH_FIELDS
        if all((name in one.values) is not one.excluded for one in conditions if one.name == "in")
    )


def shown_fields(query: Query) -> tuple[SearchField, ...]:
    """The fields of a message that can show why it was found, the preferred ones first."""
    own = {term.field for term in query.required if term.field is not None}
    names = [name for name in MESSAGE_FIELDS if name in own or name in _fields(query.conditions)]
    calls = any(one.name == "tool" and not one.excluded for one in query.conditions)
    return tuple(sorted(names, key=lambda name: name != "tool-input")) if calls else tuple(names)


def _parted(terms: Sequence[Term]) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Terms of messages, and terms of titles."""
    of_messages = tuple(term for term in terms if term.field != "title")
    return of_messages, tuple(term for term in terms if term.field == "title")


class Conditions:
    """The conditions of a WHERE clause, and the values of their parameters."""

    def __init__(self, text: str = "", *values: Any) -> None:
        self._texts = [text] if text else []
        self.values = list(values)

    def add(self, text: str, *values: Any) -> None:
        """Add a condition."""
        self._texts.append(text)
        self.values.extend(values)

    def add_any(self, alternatives: Sequence["Conditions"], *, excluded: bool) -> None:
        """Add the condition that one of several is true, or with `excluded` that none is."""
        text = f"({' OR '.join(map(str, alternatives))})"
        values = [value for one in alternatives for value in one.values]
        self.add(f"NOT coalesce({text}, FALSE)" if excluded else text, *values)

    def __str__(self) -> str:
        return " AND ".join(self._texts)


def add_conditions(tx: Transaction, found: Lookup, conditions: Conditions) -> None:
    """Add the conditions of a lookup and of the owner on the rows of `messages` and `threads`."""
    if tx.owner is not None:
        conditions.add(f"{'threads' if found.titles else 'messages'}.owner = ?", tx.owner)
    for one in found.conditions:
        alternatives = [_alternative(tx, one, value, titles=found.titles) for value in one.values]
        conditions.add_any(alternatives, excluded=one.excluded)


def _alternative(tx: Transaction, condition: Condition, value: Any, *, titles: bool) -> Conditions:
    """The condition for one value."""
    time = "threads.updated_at" if titles else "messages.created_at"
    match condition.name:
        case "thread":
            return Conditions("threads.id = ?" if titles else "messages.thread_id = ?", value)
        case "thread-keys":
            return Conditions(among(tx, "threads.key", "bigint"), tx.list_parameter(value))
        case "agent":
            return Conditions("threads.agent = ?", value)
        case "project":
            condition_text, values = project_condition(tx, "threads", value)
            return Conditions(condition_text, *values)
        case "role":
            return Conditions("messages.role = ?", value)
        case "tool":
            names = tx.list_parameter(matching_tools(tx, value))
            calls = f"SELECT message FROM parts WHERE {among(tx, 'tool_name')}"
            return Conditions(f"messages.key IN ({calls})", names)
        case "before":
            return Conditions(f"{time} < ? AND {time} > ?", tx.instant(value), tx.instant(NEVER))
        case "after":
            return Conditions(f"{time} >= ?", tx.instant(value))
        case "in":
            raise AssertionError("fields are not a condition on rows")
        case _:
            assert_never(condition.name)


def matching_tools(tx: Transaction, text: str) -> list[str]:
    """The names of called tools that a text means: in any case, and `mcp__files*` with any end."""
    wanted = text.casefold()
    start = wanted.removesuffix("*")
    return [
        name
        for name in distinct_texts(tx, "parts", "tool_name")
        if name.casefold() == wanted or (start != wanted and name.casefold().startswith(start))
    ]


# The messages of few threads, each of which is looked up in the index: there may be many matches in others.
COUNTS = (
    "SELECT messages.owner, messages.thread_id, count(*) AS matches FROM threads"
    " CROSS JOIN messages WHERE messages.owner = threads.owner AND messages.thread_id = threads.id"
    " AND {conditions} GROUP BY messages.owner, messages.thread_id"
)


def count_in_threads(
    tx: Transaction, found: Lookup, contents: Conditions, threads: Sequence[str], newest: int
) -> dict[Key, int]:
    """The number of messages with some contents in each of some threads."""
    conditions = Conditions(among(tx, "threads.id"), tx.list_parameter(threads))
    conditions.add("messages.key <= ?", newest)
    if str(contents):
        conditions.add(str(contents), *contents.values)
    add_conditions(tx, found, conditions)
    rows = tx.sql(COUNTS.format(conditions=conditions), tuple(conditions.values))
    return {(row.owner, row.thread_id): row.matches for row in rows}


def keys_of_thread(tx: Transaction, thread_id: str) -> tuple[int, int]:
    """The first and the last key of a thread's messages, which bound a search in the index."""
    if tx.owner is None:
        row = tx.sql(KEYS_OF_THREAD, (thread_id,)).one()
    else:
        row = tx.sql(f"{KEYS_OF_THREAD} AND threads.owner = ?", (thread_id, tx.owner)).one()
    return (NEWEST, NEWEST) if row.first is None else (row.first, row.last)


def add_bounds(tx: Transaction, found: Lookup, column: str, newest: int, conditions: Conditions) -> None:
    """Limit the keys in a column to those of messages or titles, of one thread, and not after the newest."""
    if found.titles:
        conditions.add(f"{column} BETWEEN ? AND -1", -newest)
    elif found.thread_id is not None:
        first, last = keys_of_thread(tx, found.thread_id)
        conditions.add(f"{column} BETWEEN ? AND ?", first, min(last, newest))
    else:
        conditions.add(f"{column} BETWEEN 1 AND ?", newest)
