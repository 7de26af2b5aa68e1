"""The search index of PostgreSQL: `tsvector` columns, without a parser or dictionary of the server.

The vectors are written here, token by token, so that the server finds the tokens of `tokens.py` and nothing
else. A vector holds at most 256 positions of a token. So a long message has several rows: row 0 says which
tokens are in which field, the rows after it hold parts of the message, for phrases and for the score.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TypeAlias

from partita.store.sql.transaction import Transaction
from partita.store.values import MESSAGE_FIELDS, SearchField

from .conditions import NEWEST, Conditions, Key, Lookup, Match, add_bounds, add_conditions, count_in_threads
from .fields import SearchEntry
from .query import MAX_PHRASE, Phrase, Term
from .tokens import index_text

INSERT = (
    "INSERT INTO search (owner, key, number, words) SELECT owner, key, number, words::tsvector"
    " FROM unnest(?::text[], ?::bigint[], ?::integer[], ?::text[]) AS entries (owner, key, number, words)"
)
DELETE = "DELETE FROM search WHERE owner = ? AND key = ?"

# A title is a row of its own, so that four weights are enough for five fields.
WEIGHTS: dict[SearchField, str] = {"text": "A", "reasoning": "B", "tool-input": "C", "tool-output": "D"}

MAX_TOKENS = 3500
"""The number of tokens in one vector: even with the longest tokens it stays below the limit of 1 MB."""

MANY = 50
"""The number of entries from which on their vectors are made in a second thread."""

VECTOR_THREAD = ThreadPoolExecutor(1, thread_name_prefix="partita-search")
Row: TypeAlias = tuple[str, int, int, str]

MAX_POSITIONS = 250
OVERLAP = MAX_PHRASE - 1  # a phrase is not split between two parts
HEAD_BYTES = 1_000_000
LONG_MESSAGE = "\ue001"
"""A token in row 0 of long messages. It is a private-use character, which no token of a text contains."""

RANK = "ts_rank_cd(ARRAY[0.2, 0.25, 0.4, 1]::real[], {words}, ?::text::tsquery, 33)"  # 33: by length, below 1
SCORE = (
    f"coalesce((SELECT max({RANK.format(words='piece.words')}) FROM search AS piece"
    " WHERE piece.owner = found.owner AND piece.key = found.key AND piece.number > 0),"
    f" {RANK.format(words='found.words')})"
)
MESSAGES = (
    "SELECT search.key, search.owner, messages.thread_id, search.words"
    " FROM search JOIN messages ON messages.owner = search.owner AND messages.key = search.key {threads}"
    " WHERE {conditions} ORDER BY search.key DESC LIMIT ?"
)
NEWEST_MESSAGES = (
    "SELECT messages.key, messages.owner, messages.thread_id"
    " FROM messages {threads} WHERE {conditions} ORDER BY messages.created_at DESC, messages.key DESC LIMIT ?"
)
TITLES = (
    "SELECT -search.key AS key, search.owner, threads.id AS thread_id, search.words"
    " FROM search JOIN threads ON threads.owner = search.owner AND threads.key = -search.key"
    " WHERE {conditions} ORDER BY search.key LIMIT ?"
)
JOIN_THREADS = "JOIN threads ON threads.owner = messages.owner AND threads.id = messages.thread_id"
MATCHES = f"SELECT key, owner, thread_id, {SCORE} AS score FROM ({{matches}}) AS found"
THREADS = (
    "SELECT owner, thread_id FROM ({matches}) AS found"
    " GROUP BY owner, thread_id ORDER BY max(key) DESC LIMIT ?"
)
CONTAINS = (
    "EXISTS (SELECT 1 FROM search WHERE search.owner = {table}.owner AND search.key = {key} AND {conditions})"
)
IN_PARTS = (
    "SELECT 1 FROM search AS piece WHERE piece.owner = search.owner AND piece.key = search.key"
    " AND piece.number > 0 AND piece.words @@ ?::text::tsquery"
)
# One plan for all queries would be wrong for most: some tokens are in every message, some in one, and the
# server has no statistics of prefixes. So the keys of rare tokens are read first, through the index of tokens
# only; the rest is then easy. For common tokens it finds enough from the newest message backwards.
PLAN = (
    "SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),"
    " set_config('enable_seqscan', ?, true), set_config('enable_indexscan', ?, true)"
)
RARE = 2000
KEYS = f"SELECT key FROM search WHERE number = 0 AND words @@ ?::text::tsquery LIMIT {RARE + 1}"


def prepare(tx: Transaction, entries: Sequence[SearchEntry]) -> Callable[[], None]:
    """A function that adds entries to the index. Many vectors are made while the server does other work."""
    if len(entries) < MANY:
        return partial(_insert, tx, _rows(entries))
    rows = VECTOR_THREAD.submit(_rows, entries)
    return lambda: _insert(tx, rows.result())


def _insert(tx: Transaction, rows: Sequence[Row]) -> None:
    if rows:
        tx.sql(INSERT, tuple(map(list, zip(*rows, strict=True))))


def _rows(entries: Sequence[SearchEntry]) -> list[Row]:
    return [
        (entry.owner, entry.key, number, vector)
        for entry in entries
        for number, vector in enumerate(vectors(entry))
    ]


def delete(tx: Transaction, keys: Sequence[tuple[str, int]]) -> None:
    """Remove entries from the index."""
    tx.many(DELETE, keys)


def vectors(entry: SearchEntry) -> list[str]:
    """The vectors of an entry, as text."""
    texts = [("A", entry.title), *zip(WEIGHTS.values(), entry.fields, strict=True)]
    fields = [(weight, index_text(text).split()) for weight, text in texts if text]
    if not any(tokens for _, tokens in fields):
        return []
    if _fits([token for _, tokens in fields for token in tokens]):
        return [_vector(fields)]
    parts = [_vector([(weight, part)]) for weight, tokens in fields for part in _parts(tokens)]
    return [_head(fields), *parts]


def _fits(tokens: Sequence[str]) -> bool:
    """Whether a vector can hold every position of every token."""
    if len(tokens) <= MAX_POSITIONS:
        return True
    return len(tokens) <= MAX_TOKENS and max(Counter(tokens).values()) <= MAX_POSITIONS


def _parts(tokens: list[str]) -> Iterator[list[str]]:
    """The tokens in parts that fit into a vector, each starting with the end of the one before."""
    if _fits(tokens):
        yield tokens
        return
    half = len(tokens) // 2
    yield from _parts(tokens[: half + OVERLAP])
    yield from _parts(tokens[half:])


def _vector(fields: Sequence[tuple[str, list[str]]]) -> str:
    """The vector of fields, as text. Every token occurs once: the server takes twice as long to join them."""
    positions: dict[str, str] = {}
    start = 0
    for weight, tokens in fields:
        for token, position in zip(tokens, _positions(weight)[start : start + len(tokens)], strict=True):
            known = positions.get(token)
            positions[token] = position if known is None else f"{known},{position}"
        start += len(tokens) + 1  # a gap, so that a phrase does not continue in the next field
    return " ".join([f"{token}:{found}" for token, found in positions.items()])


@cache
def _positions(weight: str) -> list[str]:
    return [f"{position}{weight}" for position in range(1, MAX_TOKENS + len(WEIGHTS) + 1)]


def _head(fields: Sequence[tuple[str, list[str]]]) -> str:
    """Every token of a long message with its fields; the positions have no meaning."""
    weights: dict[str, list[str]] = {}
    for position, (weight, tokens) in enumerate(fields, 1):
        for token in dict.fromkeys(tokens):
            weights.setdefault(token, []).append(f"{position}{weight}")
    entries: list[str] = [LONG_MESSAGE]
    remaining = HEAD_BYTES
    for token, found in weights.items():
        remaining -= len(token.encode()) + 2 * len(found) + 4
        if remaining < 0:  # only random text has so many different tokens
            break
        entries.append(f"{token}:{','.join(found)}")
    return " ".join(entries)


def matches(tx: Transaction, found: Lookup, *, newest: int = NEWEST, limit: int) -> list[Match]:
    """The newest messages, or titles, that match, with their scores."""
    text, values = _select(tx, found, newest=newest)
    ranking = [term for term in found.required if not term.is_letter]
    if not ranking:
        rows = tx.sql(f"SELECT key, owner, thread_id FROM ({text}) AS found", (*values, limit))
        return [Match(row.key, row.owner, row.thread_id, 0.0) for row in rows]
    rank = _all_of(ranking, "", " <-> ")
    rows = tx.sql(MATCHES.format(matches=text), (rank, rank, *values, limit))
    return [Match(row.key, row.owner, row.thread_id, row.score) for row in rows]


def threads_of_matches(tx: Transaction, found: Lookup, *, limit: int, within: int) -> list[Key]:
    """The threads of the newest messages, or titles, that match."""
    text, values = _select(tx, found, newest=NEWEST)
    rows = tx.sql(THREADS.format(matches=text), (*values, within, limit))
    return [(row.owner, row.thread_id) for row in rows]


def counts(tx: Transaction, found: Lookup, threads: Sequence[str], *, newest: int) -> dict[Key, int]:
    """The number of messages that match in each of some threads."""
    conditions = _title_conditions(found)
    if found.required:
        contents = _contents(found.required, found.excluded, _weights(found.fields))
        _add_contains(conditions, contents, "messages", "messages.key")
    else:
        _add_without_words(found, conditions)
    return count_in_threads(tx, found, conditions, threads, newest)


def _select(tx: Transaction, found: Lookup, *, newest: int) -> tuple[str, list[object]]:
    weights = _weights(found.fields)
    conditions = _title_conditions(found)
    if found.required:
        contents = _contents(found.required, found.excluded, weights)
        conditions.add(str(contents), *contents.values)
        rare = _keys_of_rare_tokens(tx, expression(found.required, found.excluded, weights))
        if rare is not None:
            conditions.add("search.key = ANY(?::bigint[])", rare)
        if tx.owner is not None:
            conditions.add("search.owner = ?", tx.owner)
        text, key = (TITLES if found.titles else MESSAGES), "search.key"
    else:
        _add_without_words(found, conditions)
        text, key = NEWEST_MESSAGES, "messages.key"
    add_bounds(tx, found, key, newest, conditions)
    add_conditions(tx, found, conditions)
    text = text.format(threads=JOIN_THREADS if found.needs_thread else "", conditions=conditions)
    return text, conditions.values


def _weights(fields: Sequence[SearchField]) -> str:
    """The weights of some fields; empty if they are all. A title is alone in its row."""
    every = "title" in fields or len(fields) == len(MESSAGE_FIELDS)
    return "" if every else "".join(WEIGHTS[name] for name in fields)


def _contents(required: Sequence[Term], excluded: Sequence[Term], weights: str) -> Conditions:
    """The conditions that an entry has all required terms and no excluded one."""
    words = expression(required, excluded, weights)
    conditions = Conditions("search.number = 0 AND search.words @@ ?::text::tsquery", words)
    _add_phrases_of_long_messages(required, excluded, weights, conditions)
    return conditions


def _title_conditions(found: Lookup) -> Conditions:
    """The conditions on the titles of the threads of messages."""
    conditions = Conditions()
    for terms, negation in ((found.in_title, ""), (found.not_in_title, "NOT ")):
        for term in terms:
            _add_contains(conditions, _contents((term,), (), ""), "threads", "-threads.key", negation)
    return conditions


def _add_without_words(found: Lookup, conditions: Conditions) -> None:
    """Add the conditions on messages that need not contain anything."""
    conditions.add("NOT messages.internal")
    for term in found.excluded:
        contents = _contents((term,), (), _weights(found.fields))
        _add_contains(conditions, contents, "messages", "messages.key", "NOT ")


def _add_contains(
    conditions: Conditions, contents: Conditions, table: str, key: str, negation: str = ""
) -> None:
    contains = CONTAINS.format(table=table, key=key, conditions=contents)
    conditions.add(f"{negation}{contains}", *contents.values)


def _keys_of_rare_tokens(tx: Transaction, words: str) -> list[int] | None:
    """The keys of all matches; `None` if there are many."""
    tx.sql(PLAN, ("off", "off"))
    keys = [row.key for row in tx.sql(KEYS, (words,))]
    tx.sql(PLAN, ("on", "on"))
    return keys if len(keys) <= RARE else None


def expression(required: Sequence[Term], excluded: Sequence[Term], weights: str) -> str:
    """Terms in the syntax of `tsquery`. Tokens are letters and digits, so nothing needs escaping."""
    exact = _all_of(required, weights, " <-> ") + _none_of(excluded, weights)
    if all(term.is_single_token for term in (*required, *excluded)):
        return exact
    single = [term for term in excluded if term.is_single_token]
    loose = _all_of(required, weights, " & ") + _none_of(single, weights)
    return f"(!'{LONG_MESSAGE}' & {exact}) | ('{LONG_MESSAGE}' & {loose})"


def _add_phrases_of_long_messages(
    required: Sequence[Term], excluded: Sequence[Term], weights: str, conditions: Conditions
) -> None:
    """Row 0 of a long message has no phrases: they are searched in its other rows."""
    found = [_term(term, weights, " <-> ") for term in required if not term.is_single_token]
    absent = [_term(term, weights, " <-> ") for term in excluded if not term.is_single_token]
    if found or absent:
        checks = [f"EXISTS ({IN_PARTS})"] * len(found) + [f"NOT EXISTS ({IN_PARTS})"] * len(absent)
        is_long = f"search.words @@ '''{LONG_MESSAGE}'''::tsquery"
        conditions.add(f"(NOT {is_long} OR ({' AND '.join(checks)}))", *found, *absent)


def _all_of(terms: Sequence[Term], weights: str, between: str) -> str:
    return " & ".join(_term(term, weights, between) for term in terms)


def _none_of(terms: Sequence[Term], weights: str) -> str:
    return "".join(f" & !{_term(term, weights, ' <-> ')}" for term in terms)


def _term(term: Term, weights: str, between: str) -> str:
    if term.field is not None:
        weights = _weights((term.field,))
    return f"({' | '.join(_phrase(phrase, weights, between) for phrase in term.phrases)})"


def _phrase(phrase: Phrase, weights: str, between: str) -> str:
    last = len(phrase.tokens) - 1
    tokens = [
        _token(token, weights, prefix=phrase.prefix and n == last) for n, token in enumerate(phrase.tokens)
    ]
    return f"({between.join(tokens)})"


def _token(token: str, weights: str, *, prefix: bool) -> str:
    flags = f"*{weights}" if prefix else weights
    return f"'{token}':{flags}" if flags else f"'{token}'"
