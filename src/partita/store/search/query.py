"""What to search: the terms of a query, and the conditions of a filter.

A query is words, `"phrases"`, `-without`, `prefix*`. Any text is a query. All words must be found; the last
one is also a prefix, since it may not be complete yet.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from partita.store.projects import project_condition
from partita.store.schema import NEVER
from partita.store.sql.transaction import Transaction
from partita.store.values import MESSAGE_FIELDS, SearchField, SearchFilter
from partita.types.times import in_utc

from .tokens import subwords_of, tokens_of

MAX_TERMS = 32
"""The number of terms of a query that are used."""

MAX_PHRASE = 64
"""The number of tokens of a phrase that are used."""

MIN_PREFIX = 2
ITEM = re.compile(r"""(?P<without>-?)(?:["“”](?P<phrase>[^"“”]*)["“”]?|(?P<word>[^\s"“”]+))""")

NEWEST = 2**62
"""Larger than the key of any row."""

KEYS_OF_THREAD = (
    "SELECT min(messages.key) AS first, max(messages.key) AS last FROM threads"
    " JOIN messages ON messages.owner = threads.owner AND messages.thread_id = threads.id"
    " WHERE threads.id = ?"
)


class Phrase(NamedTuple):
    """Tokens that follow each other; the last one may be a prefix."""

    tokens: tuple[str, ...]
    prefix: bool = False


class Term(NamedTuple):
    """One term of a query, in one of several spellings."""

    phrases: tuple[Phrase, ...]

    @property
    def is_single_token(self) -> bool:
        """Whether every spelling is a single token."""
        return all(len(phrase.tokens) == 1 for phrase in self.phrases)


class Query(NamedTuple):
    """The terms that must be found, and those that must not."""

    required: tuple[Term, ...]
    excluded: tuple[Term, ...]


def parse(text: str) -> Query:
    """The query of a text. Without a required term it finds nothing."""
    required: list[Term] = []
    excluded: list[Term] = []
    items = list(ITEM.finditer(text))
    for number, item in enumerate(items[:MAX_TERMS]):
        word: str | None = item["word"]
        is_option = word is not None and word.startswith("-")  # --dry-run is not an exclusion
        last = number == len(items) - 1
        if item["without"] and not is_option:
            excluded.extend(_terms(word, item["phrase"], last=False))
        else:
            required.extend(_terms(word, item["phrase"], last=last))
    return Query(tuple(required), tuple(excluded))


def _terms(word: str | None, phrase: str | None, *, last: bool) -> list[Term]:
    """The term of a word or a phrase; none if it is only punctuation."""
    text = word or phrase or ""
    starred = word is not None and word.endswith("*")
    spellings = dict.fromkeys((tuple(tokens_of(text)), tuple(subwords_of(text))))
    phrases = [
        Phrase(tokens[:MAX_PHRASE], starred or (last and word is not None and _can_be_prefix(tokens)))
        for tokens in spellings
        if tokens
    ]
    return [Term(tuple(phrases))] if phrases else []


def _can_be_prefix(tokens: Sequence[str]) -> bool:
    return len(tokens) <= MAX_PHRASE and len(tokens[-1]) >= MIN_PREFIX


class Match(NamedTuple):
    """A message or a title that matches: the key of its row, its owner, and its score."""

    key: int
    owner: str
    thread_id: str
    score: float


class Conditions:
    """The conditions of a WHERE clause, and the values of their parameters."""

    def __init__(self, text: str, *values: Any) -> None:
        self._texts = [text]
        self.values = list(values)

    def add(self, text: str, *values: Any) -> None:
        """Add a condition."""
        self._texts.append(text)
        self.values.extend(values)

    def __str__(self) -> str:
        return " AND ".join(self._texts)


def message_fields(filter: SearchFilter) -> tuple[SearchField, ...]:
    """The fields of messages that a filter selects."""
    return tuple(name for name in MESSAGE_FIELDS if not filter.fields or name in filter.fields)


def includes_titles(filter: SearchFilter) -> bool:
    """Whether titles can match: they have no role and call no tool."""
    return not filter.roles and filter.tool is None and (not filter.fields or "title" in filter.fields)


def needs_thread(filter: SearchFilter) -> bool:
    """Whether the condition reads the row of the thread."""
    return filter.agent is not None or filter.project is not None


def add_filter(tx: Transaction, filter: SearchFilter, conditions: Conditions, *, titles: bool) -> None:
    """Add the conditions of a filter and of the owner on the rows of `messages` and `threads`."""
    table, thread_id = ("threads", "threads.id") if titles else ("messages", "messages.thread_id")
    if tx.owner is not None:
        conditions.add(f"{table}.owner = ?", tx.owner)
    if filter.thread_id is not None:
        conditions.add(f"{thread_id} = ?", filter.thread_id)
    if filter.since is not None:
        conditions.add(f"{table}.created_at >= ?", tx.instant(in_utc(filter.since, "since")))
    if filter.until is not None:
        conditions.add(f"{table}.created_at < ?", tx.instant(in_utc(filter.until, "until")))
        conditions.add(f"{table}.created_at > ?", tx.instant(NEVER))
    if filter.agent is not None:
        conditions.add("threads.agent = ?", filter.agent)
    if filter.project is not None:
        condition, value = project_condition(tx, "threads.project", filter.project)
        conditions.add(condition, value)
    if filter.roles:
        conditions.add(f"messages.role IN ({', '.join('?' * len(filter.roles))})", *filter.roles)
    if filter.tool is not None:
        conditions.add(
            "EXISTS (SELECT 1 FROM parts WHERE parts.owner = messages.owner"
            " AND parts.message = messages.key AND parts.tool_name = ?)",
            filter.tool,
        )


def keys_of_thread(tx: Transaction, thread_id: str) -> tuple[int, int]:
    """The first and the last key of a thread's messages, which bound a search in the index."""
    if tx.owner is None:
        row = tx.sql(KEYS_OF_THREAD, (thread_id,)).one()
    else:
        row = tx.sql(f"{KEYS_OF_THREAD} AND threads.owner = ?", (thread_id, tx.owner)).one()
    return (NEWEST, NEWEST) if row.first is None else (row.first, row.last)
