"""The search index of SQLite: FTS5, with one row for each message or title.

The tokenizer is `ascii`: it splits at spaces, and leaves the tokens of `tokens.py` as they are.
"""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b

from partita.store.sql.transaction import Transaction
from partita.store.values import MESSAGE_FIELDS, SearchField

from .conditions import NEWEST, Conditions, Key, Lookup, Match, add_bounds, add_conditions, count_in_threads
from .fields import IndexedFields, SearchEntry, index_fields
from .query import Phrase, Term
from .tokens import index_text

INSERT = (
    "INSERT INTO search (rowid, owner, title, text, reasoning, tool_input, tool_output)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
DELETE = "DELETE FROM search WHERE rowid = ? AND owner = ?"

COLUMNS: dict[SearchField, str] = {
    "title": "title",
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
NEWEST_MESSAGES = (
    "SELECT messages.key AS key, messages.owner AS owner, messages.thread_id AS thread_id, 0.0 AS score"
    " FROM messages {threads} WHERE {conditions} ORDER BY messages.created_at DESC, messages.key DESC LIMIT ?"
)
TITLES = (
    "SELECT -search.rowid AS key, threads.owner AS owner, threads.id AS thread_id, {score} AS score"
    " FROM search CROSS JOIN threads ON threads.key = -search.rowid"
    " WHERE {conditions} ORDER BY search.rowid LIMIT ?"
)
JOIN_THREADS = "CROSS JOIN threads ON threads.owner = messages.owner AND threads.id = messages.thread_id"
THREADS = "SELECT owner, thread_id FROM ({matches}) GROUP BY owner, thread_id ORDER BY max(key) DESC LIMIT ?"
CONTAINS = "{key} IN (SELECT rowid FROM search WHERE search MATCH ?)"
BM25 = "-bm25(search, 0.0, 4.0, 4.0, 1.6, 1.0, 0.8)"  # in the order of the columns

# For the first letter of a word, the index joins the entries of all words that begin with it, which takes a
# second in a large store. If the letter is common, it is faster to read entries until there are enough.
SAMPLE = (
    "SELECT sum({contains})"
    " FROM (SELECT * FROM search WHERE rowid > 0 ORDER BY rowid DESC LIMIT 1000) AS search"
)
COMMON = 100
"""A letter is common if it begins a word in so many of the newest 1000 messages."""

ENTRY_CONTAINS = "EXISTS (SELECT 1 FROM search WHERE search.rowid = messages.key AND {contains})"


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


def matches(tx: Transaction, found: Lookup, *, newest: int = NEWEST, limit: int) -> list[Match]:
    """The newest messages, or titles, that match, with their scores."""
    text, values = _select(tx, found, newest=newest, score=BM25)
    rows = tx.sql(text, (*values, limit))
    return [Match(row.key, row.owner, row.thread_id, row.score / (1.0 + row.score)) for row in rows]


def threads_of_matches(tx: Transaction, found: Lookup, *, limit: int, within: int) -> list[Key]:
    """The threads of the newest messages, or titles, that match."""
    text, values = _select(tx, found, newest=NEWEST, score="0")
    rows = tx.sql(THREADS.format(matches=text), (*values, within, limit))
    return [(row.owner, row.thread_id) for row in rows]


def counts(tx: Transaction, found: Lookup, threads: Sequence[str], *, newest: int) -> dict[Key, int]:
    """The number of messages that match in each of some threads."""
    conditions = _title_conditions(found)
    if found.required:
        words, letters = _without_letters(tx, found)
        if words.required or words.excluded:
            # The + keeps SQLite from starting with the matches, which are many.
            conditions.add(CONTAINS.format(key="+messages.key"), expression(words, tx.owner))
        for term in letters:
            contains, values = _begins_with(term, found.fields)
            conditions.add(ENTRY_CONTAINS.format(contains=contains), *values)
    else:
        _add_without_words(found, conditions)
    return count_in_threads(tx, found, conditions, threads, newest)


def _select(tx: Transaction, found: Lookup, *, newest: int, score: str) -> tuple[str, list[object]]:
    conditions = _title_conditions(found)
    if found.required:
        text, key = (TITLES if found.titles else MESSAGES), "search.rowid"
        words, letters = _without_letters(tx, found)
        if words.required or tx.owner is not None:
            conditions.add("search MATCH ?", expression(words, tx.owner))
        for term in letters:
            contains, values = _begins_with(term, found.fields)
            conditions.add(contains, *values)
        score = score if words.required else "0.0"
    else:
        _add_without_words(found, conditions)
        text, key = NEWEST_MESSAGES, "messages.key"
    add_bounds(tx, found, key, newest, conditions)
    add_conditions(tx, found, conditions)
    text = text.format(score=score, threads=JOIN_THREADS if found.needs_thread else "", conditions=conditions)
    return text, conditions.values


def _title_conditions(found: Lookup) -> Conditions:
    """The conditions on the titles of the threads of messages."""
    conditions = Conditions()
    for terms, negation in ((found.in_title, ""), (found.not_in_title, "NOT ")):
        for term in terms:
            contains = CONTAINS.format(key="-threads.key")
            conditions.add(f"{negation}{contains}", _term(term, found.fields))
    return conditions


def _add_without_words(found: Lookup, conditions: Conditions) -> None:
    """Add the conditions on messages that need not contain anything."""
    conditions.add("NOT messages.internal")
    if found.excluded:
        contains = CONTAINS.format(key="messages.key")
        conditions.add(f"NOT {contains}", _any_of(found.excluded, found.fields))


def _without_letters(tx: Transaction, found: Lookup) -> tuple[Lookup, tuple[Term, ...]]:
    """The lookup without the terms that are common first letters of words, and these terms."""
    letters = tuple(term for term in found.required if _is_common_letter(tx, term))
    words = found._replace(required=tuple(term for term in found.required if term not in letters))
    # The index cannot find what does not contain a word, except for one owner.
    return (found, ()) if found.excluded and not words.required and tx.owner is None else (words, letters)


def _is_common_letter(tx: Transaction, term: Term) -> bool:
    if not term.is_letter:
        return False
    contains, values = _begins_with(term, MESSAGE_FIELDS)
    return (tx.sql(SAMPLE.format(contains=contains), tuple(values)).scalar_one() or 0) >= COMMON


def _begins_with(term: Term, fields: Sequence[SearchField]) -> tuple[str, list[str]]:
    """The condition that a word of an entry begins with a letter, and its parameters."""
    columns = [COLUMNS[name] for name in (fields if term.field is None else (term.field,))]
    letters = [phrase.tokens[0] for phrase in term.phrases]
    tests = [f"instr(' ' || search.{column}, ?) > 0" for _ in letters for column in columns]
    return f"({' OR '.join(tests)})", [f" {letter}" for letter in letters for _ in columns]


def expression(found: Lookup, owner: str | None) -> str:
    """The terms in the syntax of FTS5. Tokens are letters and digits, so nothing needs escaping."""
    terms = [_term(term, found.fields) for term in found.required]
    text = " AND ".join(terms if owner is None else [f'owner : "{owner_token(owner)}"', *terms])
    return f"({text}) NOT ({_any_of(found.excluded, found.fields)})" if found.excluded else text


def _any_of(terms: Sequence[Term], fields: Sequence[SearchField]) -> str:
    return " OR ".join(_term(term, fields) for term in terms)


def _term(term: Term, fields: Sequence[SearchField]) -> str:
    text = f"({' OR '.join(map(_phrase, term.phrases))})"
    names = fields if term.field is None else (term.field,)
    every = len(names) == len(MESSAGE_FIELDS)  # a message has no title
    return text if every else f"{{{' '.join(COLUMNS[name] for name in names)}}} : {text}"


def _phrase(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.tokens)}"{" *" if phrase.prefix else ""}'
