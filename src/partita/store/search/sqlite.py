"""The search index of SQLite: FTS5, with one row for each message or title.

The tokenizer is `ascii`: it splits at spaces, and leaves the tokens of `tokens.py` as they are.
"""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b

from partita.store.sql.transaction import Transaction
from partita.store.values import SearchField, SearchFilter

from .fields import IndexedFields, SearchEntry, index_fields
from .query import (
    NEWEST,
    Conditions,
    Match,
    Phrase,
    Query,
    Term,
    add_filter,
    keys_of_thread,
    message_fields,
    needs_thread,
)
from .tokens import index_text

INSERT = (
    "INSERT INTO search (rowid, owner, title, text, reasoning, tool_input, tool_output)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
DELETE = "DELETE FROM search WHERE rowid = ? AND owner = ?"

COLUMNS: dict[SearchField, str] = {
    "text": "text",
    "reasoning": "reasoning",
    "tool-input": "tool_input",
    "tool-output": "tool_output",
}

# CROSS JOIN fixes the order of joins: from the index, newest first, until there are enough.
MESSAGES = (
    "SELECT search.rowid AS key, messages.owner AS owner, messages.thread_id AS thread_id, {score} AS score"
    " FROM search CROSS JOIN messages ON messages.key = search.rowid {threads}"
    " WHERE {conditions} ORDER BY search.rowid DESC LIMIT ?"
)
TITLES = (
    "SELECT -search.rowid AS key, threads.owner AS owner, threads.id AS thread_id, {score} AS score"
    " FROM search CROSS JOIN threads ON threads.key = -search.rowid"
    " WHERE {conditions} ORDER BY search.rowid LIMIT ?"
)
JOIN_THREADS = "CROSS JOIN threads ON threads.owner = messages.owner AND threads.id = messages.thread_id"
THREADS = "SELECT owner, thread_id FROM ({matches}) GROUP BY owner, thread_id ORDER BY max(key) DESC LIMIT ?"
BM25 = "-bm25(search, 0.0, 4.0, 4.0, 1.6, 1.0, 0.8)"  # in the order of the columns


def prepare(tx: Transaction, entries: Sequence[SearchEntry]) -> Callable[[], None]:
    """A function that adds entries to the index. A second thread would only compete for the interpreter."""
    return partial(_insert, tx, entries)


def _insert(tx: Transaction, entries: Sequence[SearchEntry]) -> None:
    tx.many(INSERT, [_row(entry) for entry in entries])


def _row(entry: SearchEntry) -> tuple[object, ...]:
    fields = entry.fields if type(entry.fields) is IndexedFields else index_fields(entry.fields)
    return (entry.key, owner_token(entry.owner), index_text(entry.title), *fields)


def delete(tx: Transaction, keys: Sequence[tuple[str, int]]) -> None:
    """Remove entries from the index."""
    tx.many(DELETE, [(key, owner_token(owner)) for owner, key in keys])


def owner_token(owner: str) -> str:
    """A token for an owner, by which the index skips the rows of others. Two owners may share a token.

    It begins with a private-use character, which no token of a text contains.
    """
    return "\ue000" + blake2b(owner.encode(), digest_size=8).hexdigest()


def matches(
    tx: Transaction, query: Query, filter: SearchFilter, *, titles: bool, newest: int = NEWEST, limit: int
) -> list[Match]:
    """The newest messages, or titles, that match, with their scores."""
    text, values = _select(tx, query, filter, titles=titles, newest=newest, score=BM25)
    rows = tx.sql(text, (*values, limit))
    return [Match(row.key, row.owner, row.thread_id, row.score / (1.0 + row.score)) for row in rows]


def threads_of_matches(
    tx: Transaction, query: Query, filter: SearchFilter, *, titles: bool, limit: int, within: int
) -> list[tuple[str, str]]:
    """Owners and ids of the threads of the newest messages, or titles, that match."""
    text, values = _select(tx, query, filter, titles=titles, newest=NEWEST, score="0")
    rows = tx.sql(THREADS.format(matches=text), (*values, within, limit))
    return [(row.owner, row.thread_id) for row in rows]


def _select(
    tx: Transaction, query: Query, filter: SearchFilter, *, titles: bool, newest: int, score: str
) -> tuple[str, list[object]]:
    columns = ("title",) if titles else tuple(COLUMNS[name] for name in message_fields(filter))
    conditions = Conditions("search MATCH ?", expression(query, columns, tx.owner))
    if titles:
        conditions.add("search.rowid BETWEEN ? AND -1", -newest)
    elif filter.thread_id is not None:
        first, last = keys_of_thread(tx, filter.thread_id)
        conditions.add("search.rowid BETWEEN ? AND ?", first, min(last, newest))
    else:
        conditions.add("search.rowid BETWEEN 1 AND ?", newest)
    add_filter(tx, filter, conditions, titles=titles)
    text = (TITLES if titles else MESSAGES).format(
        score=score, threads=JOIN_THREADS if needs_thread(filter) else "", conditions=conditions
    )
    return text, conditions.values


def expression(query: Query, columns: Sequence[str], owner: str | None) -> str:
    """The query in the syntax of FTS5. Tokens are letters and digits, so nothing needs escaping."""
    text = " AND ".join(map(_term, query.required))
    if query.excluded:
        text = f"({text}) NOT ({' OR '.join(map(_term, query.excluded))})"
    if len(columns) < len(COLUMNS):
        text = f"{{{' '.join(columns)}}} : ({text})"
    return text if owner is None else f'owner : "{owner_token(owner)}" AND ({text})'


def _term(term: Term) -> str:
    return f"({' OR '.join(map(_phrase, term.phrases))})"


def _phrase(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.tokens)}"{" *" if phrase.prefix else ""}'
