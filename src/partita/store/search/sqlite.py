"""The search index of SQLite: FTS5, one row a message or title.

The tokenizer is `ascii`: it splits at spaces and takes everything else as `words` made it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b

from partita.store.transaction import Transaction

from .fields import IndexedFields, index_fields
from .filter import NEWEST, Conditions, Field, Match, SearchFilter, keys_of_thread, narrow
from .query import Phrase, Query, Term
from .text import SearchEntry, SearchFields
from .words import indexed

INSERT = (
    "INSERT INTO search (rowid, owner, title, text, reasoning, tool_input, tool_output)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
DELETE = "DELETE FROM search WHERE rowid = ? AND owner = ?"

COLUMNS: dict[Field, str] = {
    "text": "text",
    "reasoning": "reasoning",
    "tool-input": "tool_input",
    "tool-output": "tool_output",
}

# The order of joins is ours: from the index, newest first, until there are enough.
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
    """What adds entries to the index. A thread beside this one would only fight it for the interpreter."""
    return partial(_insert, tx, entries)


def _insert(tx: Transaction, entries: Sequence[SearchEntry]) -> None:
    tx.many(
        INSERT,
        [
            (entry.key, owner_word(entry.owner), indexed(entry.title), *_words(entry.fields))
            for entry in entries
        ],
    )


def _words(fields: SearchFields) -> SearchFields:
    return fields if type(fields) is IndexedFields else index_fields(fields)


def delete(tx: Transaction, keys: Sequence[tuple[str, int]]) -> None:
    """Remove entries from the index."""
    tx.many(DELETE, [(key, owner_word(owner)) for owner, key in keys])


def owner_word(owner: str) -> str:
    """A word that stands for an owner: the index can then skip what belongs to others.

    It begins with a character of private use, which no word of a text does. Two owners may share a word.
    """
    return "\ue000" + blake2b(owner.encode(), digest_size=8).hexdigest()


def matches(
    tx: Transaction, query: Query, wanted: SearchFilter, *, titles: bool, newest: int = NEWEST, limit: int
) -> list[Match]:
    """The newest messages, or titles, that match, with their scores."""
    text, values = _select(tx, query, wanted, titles=titles, newest=newest, score=BM25)
    rows = tx.sql(text, (*values, limit))
    return [Match(row.key, row.owner, row.thread_id, row.score / (1.0 + row.score)) for row in rows]


def threads_of_matches(
    tx: Transaction, query: Query, wanted: SearchFilter, *, titles: bool, limit: int, within: int
) -> list[tuple[str, str]]:
    """Owners and ids of the threads whose messages, or titles, match; of the newest matches only."""
    text, values = _select(tx, query, wanted, titles=titles, newest=NEWEST, score="0")
    rows = tx.sql(THREADS.format(matches=text), (*values, within, limit))
    return [(row.owner, row.thread_id) for row in rows]


def _select(
    tx: Transaction, query: Query, wanted: SearchFilter, *, titles: bool, newest: int, score: str
) -> tuple[str, list[object]]:
    columns = ("title",) if titles else tuple(COLUMNS[name] for name in wanted.columns)
    conditions = Conditions("search MATCH ?", expression(query, columns, tx.owner))
    if titles:
        conditions.add("search.rowid BETWEEN ? AND -1", -newest)
    elif wanted.thread_id is not None:
        first, last = keys_of_thread(tx, wanted.thread_id)
        conditions.add("search.rowid BETWEEN ? AND ?", first, min(last, newest))
    else:
        conditions.add("search.rowid BETWEEN 1 AND ?", newest)
    narrow(tx, wanted, conditions, titles=titles)
    text = (TITLES if titles else MESSAGES).format(
        score=score, threads=JOIN_THREADS if wanted.of_thread else "", conditions=conditions
    )
    return text, conditions.values


def expression(query: Query, columns: Sequence[str], owner: str | None) -> str:
    """A query in the language of FTS5. Words hold letters and digits only, so nothing needs escaping."""
    text = " AND ".join(map(_term, query.wanted))
    if query.unwanted:
        text = f"({text}) NOT ({' OR '.join(map(_term, query.unwanted))})"
    if len(columns) < len(COLUMNS):
        text = f"{{{' '.join(columns)}}} : ({text})"
    return text if owner is None else f'owner : "{owner_word(owner)}" AND ({text})'


def _term(term: Term) -> str:
    return f"({' OR '.join(map(_phrase, term.phrases))})"


def _phrase(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.words)}"{" *" if phrase.prefix else ""}'
