"""The search index of PostgreSQL: a `tsvector` in core, without any parser or dictionary of the server.

The vectors are written out here, word by word, so that the server finds what `words` made and nothing
else. A vector keeps 256 places of a word at most. So a message that is long gets several rows: row 0 says
which words it has in which field, the rows that follow hold pieces of it, for phrases and for the score.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TypeAlias

from partita.store.transaction import Transaction

from .filter import NEWEST, Conditions, Field, Match, SearchFilter, keys_of_thread, narrow
from .query import LONGEST_PHRASE, Phrase, Query, Term
from .text import SearchEntry
from .words import indexed

INSERT = (
    "INSERT INTO search (owner, key, number, words) SELECT owner, key, number, words::tsvector"
    " FROM unnest(?::text[], ?::bigint[], ?::integer[], ?::text[]) AS given (owner, key, number, words)"
)
DELETE = "DELETE FROM search WHERE owner = ? AND key = ?"

# A title is a row of its own, so that four weights are enough for five fields.
WEIGHTS: dict[Field, str] = {"text": "A", "reasoning": "B", "tool-input": "C", "tool-output": "D"}

LONG = 3500
"""How many words one vector takes: of the longest there may be, they stay under its limit of 1 MB."""

MANY = 50
"""How many entries are worth a thread."""

BESIDE = ThreadPoolExecutor(1, thread_name_prefix="partita-words")
Row: TypeAlias = tuple[str, int, int, str]

REPEATED = 250
OVERLAP = LONGEST_PHRASE - 1  # no phrase falls between two pieces
HEAD_BYTES = 1_000_000
OF_LONG = "\ue001"
"""A word in row 0 of long messages. It is of private use: no word of a text is like it."""

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
IN_PIECES = (
    "SELECT 1 FROM search AS piece WHERE piece.owner = search.owner AND piece.key = search.key"
    " AND piece.number > 0 AND piece.words @@ ?::text::tsquery"
)
# A plan for any query would be wrong for most: some words are in every message, some in one, and of prefixes
# the server has no idea. So it is first asked for the keys of rare words, by the index of words and no other
# way; with these the rest is easy. Of common words it finds enough from the newest message backwards.
PLAN = (
    "SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),"
    " set_config('enable_seqscan', ?, true), set_config('enable_indexscan', ?, true)"
)
RARE = 2000
KEYS = f"SELECT key FROM search WHERE number = 0 AND words @@ ?::text::tsquery LIMIT {RARE + 1}"


def prepare(tx: Transaction, entries: Sequence[SearchEntry]) -> Callable[[], None]:
    """What adds entries to the index. The vectors of many are made while the server does other work."""
    if len(entries) < MANY:
        return partial(_insert, tx, _rows(entries))
    rows = BESIDE.submit(_rows, entries)
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
    fields = [(weight, indexed(text).split()) for weight, text in texts if text]
    if not any(words for _, words in fields):
        return []
    if _fits([word for _, words in fields for word in words]):
        return [_vector(fields)]
    pieces = [_vector([(weight, piece)]) for weight, words in fields for piece in _pieces(words)]
    return [_head(fields), *pieces]


def _fits(words: Sequence[str]) -> bool:
    """Whether a vector can hold every place of every word."""
    return len(words) <= REPEATED or (len(words) <= LONG and max(Counter(words).values()) <= REPEATED)


def _pieces(words: list[str]) -> Iterator[list[str]]:
    """The words in pieces that fit, each one beginning with the end of the one before."""
    if _fits(words):
        yield words
        return
    half = len(words) // 2
    yield from _pieces(words[: half + OVERLAP])
    yield from _pieces(words[half:])


def _vector(fields: Sequence[tuple[str, list[str]]]) -> str:
    """The vector of fields, as text: every word once, for the server takes twice as long to join them."""
    places: dict[str, str] = {}
    start = 0
    for weight, words in fields:
        for word, place in zip(words, _places(weight)[start : start + len(words)], strict=True):
            known = places.get(word)
            places[word] = place if known is None else f"{known},{place}"
        start += len(words) + 1  # a gap, so that no phrase runs from one field into the next
    return " ".join([f"{word}:{where}" for word, where in places.items()])


@cache
def _places(weight: str) -> list[str]:
    return [f"{place}{weight}" for place in range(1, LONG + len(WEIGHTS) + 1)]


def _head(fields: Sequence[tuple[str, list[str]]]) -> str:
    """Every word of a long message with the fields that it is in; the places mean nothing."""
    weights: dict[str, list[str]] = {}
    for place, (weight, words) in enumerate(fields, 1):
        for word in dict.fromkeys(words):
            weights.setdefault(word, []).append(f"{place}{weight}")
    pieces: list[str] = [OF_LONG]
    room = HEAD_BYTES
    for word, where in weights.items():
        room -= len(word.encode()) + 2 * len(where) + 4
        if room < 0:  # only random text has so many different words
            break
        pieces.append(f"{word}:{','.join(where)}")
    return " ".join(pieces)


def matches(
    tx: Transaction, query: Query, wanted: SearchFilter, *, titles: bool, newest: int = NEWEST, limit: int
) -> list[Match]:
    """The newest messages, or titles, that match, with their scores."""
    text, values = _select(tx, query, wanted, titles=titles, newest=newest)
    rank = _all_of(query.wanted, "", " <-> ")
    rows = tx.sql(MATCHES.format(matches=text), (rank, rank, *values, limit))
    return [Match(row.key, row.owner, row.thread_id, row.score) for row in rows]


def threads_of_matches(
    tx: Transaction, query: Query, wanted: SearchFilter, *, titles: bool, limit: int, within: int
) -> list[tuple[str, str]]:
    """Owners and ids of the threads whose messages, or titles, match; of the newest matches only."""
    text, values = _select(tx, query, wanted, titles=titles, newest=NEWEST)
    rows = tx.sql(THREADS.format(matches=text), (*values, within, limit))
    return [(row.owner, row.thread_id) for row in rows]


def _select(
    tx: Transaction, query: Query, wanted: SearchFilter, *, titles: bool, newest: int
) -> tuple[str, list[object]]:
    every = titles or len(wanted.columns) == len(WEIGHTS)
    weights = "" if every else "".join(WEIGHTS[name] for name in wanted.columns)
    conditions = Conditions(
        "search.number = 0 AND search.words @@ ?::text::tsquery", expression(query, weights)
    )
    rare = _keys_of_rare_words(tx, expression(query, weights))
    if rare is not None:
        conditions.add("search.key = ANY(?::bigint[])", rare)
    if titles:
        conditions.add("search.key BETWEEN ? AND -1", -newest)
    elif wanted.thread_id is not None:
        first, last = keys_of_thread(tx, wanted.thread_id)
        conditions.add("search.key BETWEEN ? AND ?", first, min(last, newest))
    else:
        conditions.add("search.key BETWEEN 1 AND ?", newest)
    if tx.owner is not None:
        conditions.add("search.owner = ?", tx.owner)
    _look_into_pieces(query, weights, conditions)
    narrow(tx, wanted, conditions, titles=titles)
    text = (TITLES if titles else MESSAGES).format(
        threads=JOIN_THREADS if wanted.of_thread else "", conditions=conditions
    )
    return text, conditions.values


def _keys_of_rare_words(tx: Transaction, wanted: str) -> list[int] | None:
    """The keys of all that match, unless they are many."""
    tx.sql(PLAN, ("off", "off"))
    keys = [row.key for row in tx.sql(KEYS, (wanted,))]
    tx.sql(PLAN, ("on", "on"))
    return keys if len(keys) <= RARE else None


def expression(query: Query, weights: str) -> str:
    """A query in the language of `tsquery`. Words hold letters and digits only: nothing needs escaping."""
    exact = _all_of(query.wanted, weights, " <-> ") + _none_of(query.unwanted, weights)
    if all(term.one_word for term in (*query.wanted, *query.unwanted)):
        return exact
    single = [term for term in query.unwanted if term.one_word]
    loose = _all_of(query.wanted, weights, " & ") + _none_of(single, weights)
    return f"(!'{OF_LONG}' & {exact}) | ('{OF_LONG}' & {loose})"


def _look_into_pieces(query: Query, weights: str, conditions: Conditions) -> None:
    """Of long messages row 0 tells nothing of phrases: ask the pieces for them."""
    wanted = [_term(term, weights, " <-> ") for term in query.wanted if not term.one_word]
    unwanted = [_term(term, weights, " <-> ") for term in query.unwanted if not term.one_word]
    if wanted or unwanted:
        asked = [f"EXISTS ({IN_PIECES})"] * len(wanted) + [f"NOT EXISTS ({IN_PIECES})"] * len(unwanted)
        long = f"search.words @@ '''{OF_LONG}'''::tsquery"
        conditions.add(f"(NOT {long} OR ({' AND '.join(asked)}))", *wanted, *unwanted)


def _all_of(terms: Sequence[Term], weights: str, between: str) -> str:
    return " & ".join(_term(term, weights, between) for term in terms)


def _none_of(terms: Sequence[Term], weights: str) -> str:
    return "".join(f" & !{_term(term, weights, ' <-> ')}" for term in terms)


def _term(term: Term, weights: str, between: str) -> str:
    return f"({' | '.join(_phrase(phrase, weights, between) for phrase in term.phrases)})"


def _phrase(phrase: Phrase, weights: str, between: str) -> str:
    last = len(phrase.words) - 1
    words = [_word(word, weights, prefix=phrase.prefix and n == last) for n, word in enumerate(phrase.words)]
    return f"({between.join(words)})"


def _word(word: str, weights: str, *, prefix: bool) -> str:
    flags = f"*{weights}" if prefix else weights
    return f"'{word}':{flags}" if flags else f"'{word}'"
