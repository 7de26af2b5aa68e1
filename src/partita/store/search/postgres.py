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
from partita.store.values import SearchField, SearchFilter

from .fields import SearchEntry
from .query import (
    MAX_PHRASE,
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


def matches(
    tx: Transaction, query: Query, filter: SearchFilter, *, titles: bool, newest: int = NEWEST, limit: int
) -> list[Match]:
    """The newest messages, or titles, that match, with their scores."""
    text, values = _select(tx, query, filter, titles=titles, newest=newest)
    rank = _all_of(query.required, "", " <-> ")
    rows = tx.sql(MATCHES.format(matches=text), (rank, rank, *values, limit))
    return [Match(row.key, row.owner, row.thread_id, row.score) for row in rows]


def threads_of_matches(
    tx: Transaction, query: Query, filter: SearchFilter, *, titles: bool, limit: int, within: int
) -> list[tuple[str, str]]:
    """Owners and ids of the threads of the newest messages, or titles, that match."""
    text, values = _select(tx, query, filter, titles=titles, newest=NEWEST)
    rows = tx.sql(THREADS.format(matches=text), (*values, within, limit))
    return [(row.owner, row.thread_id) for row in rows]


def _select(
    tx: Transaction, query: Query, filter: SearchFilter, *, titles: bool, newest: int
) -> tuple[str, list[object]]:
    fields = message_fields(filter)
    every = titles or len(fields) == len(WEIGHTS)
    weights = "" if every else "".join(WEIGHTS[name] for name in fields)
    words = expression(query, weights)
    conditions = Conditions("search.number = 0 AND search.words @@ ?::text::tsquery", words)
    rare = _keys_of_rare_tokens(tx, words)
    if rare is not None:
        conditions.add("search.key = ANY(?::bigint[])", rare)
    if titles:
        conditions.add("search.key BETWEEN ? AND -1", -newest)
    elif filter.thread_id is not None:
        first, last = keys_of_thread(tx, filter.thread_id)
        conditions.add("search.key BETWEEN ? AND ?", first, min(last, newest))
    else:
        conditions.add("search.key BETWEEN 1 AND ?", newest)
    if tx.owner is not None:
        conditions.add("search.owner = ?", tx.owner)
    _add_phrases_of_long_messages(query, weights, conditions)
    add_filter(tx, filter, conditions, titles=titles)
    text = (TITLES if titles else MESSAGES).format(
        threads=JOIN_THREADS if needs_thread(filter) else "", conditions=conditions
    )
    return text, conditions.values


def _keys_of_rare_tokens(tx: Transaction, words: str) -> list[int] | None:
    """The keys of all matches; `None` if there are many."""
    tx.sql(PLAN, ("off", "off"))
    keys = [row.key for row in tx.sql(KEYS, (words,))]
    tx.sql(PLAN, ("on", "on"))
    return keys if len(keys) <= RARE else None


def expression(query: Query, weights: str) -> str:
    """The query in the syntax of `tsquery`. Tokens are letters and digits, so nothing needs escaping."""
    exact = _all_of(query.required, weights, " <-> ") + _none_of(query.excluded, weights)
    if all(term.is_single_token for term in (*query.required, *query.excluded)):
        return exact
    single = [term for term in query.excluded if term.is_single_token]
    loose = _all_of(query.required, weights, " & ") + _none_of(single, weights)
    return f"(!'{LONG_MESSAGE}' & {exact}) | ('{LONG_MESSAGE}' & {loose})"


def _add_phrases_of_long_messages(query: Query, weights: str, conditions: Conditions) -> None:
    """Row 0 of a long message has no phrases: they are searched in its other rows."""
    required = [_term(term, weights, " <-> ") for term in query.required if not term.is_single_token]
    excluded = [_term(term, weights, " <-> ") for term in query.excluded if not term.is_single_token]
    if required or excluded:
        checks = [f"EXISTS ({IN_PARTS})"] * len(required) + [f"NOT EXISTS ({IN_PARTS})"] * len(excluded)
        is_long = f"search.words @@ '''{LONG_MESSAGE}'''::tsquery"
        conditions.add(f"(NOT {is_long} OR ({' AND '.join(checks)}))", *required, *excluded)


def _all_of(terms: Sequence[Term], weights: str, between: str) -> str:
    return " & ".join(_term(term, weights, between) for term in terms)


def _none_of(terms: Sequence[Term], weights: str) -> str:
    return "".join(f" & !{_term(term, weights, ' <-> ')}" for term in terms)


def _term(term: Term, weights: str, between: str) -> str:
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
