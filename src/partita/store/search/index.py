"""The search index: adding and deleting entries, and finding the rows that match."""

from collections import Counter
from collections.abc import Callable, Sequence

from partita.store.sql.transaction import Transaction

from . import postgres, sqlite
from .conditions import Key, Match, lookup
from .fields import SearchEntry
from .query import Query, parse

CANDIDATES = 1000
"""The number of the newest matching messages, and of the newest matching titles, that are ranked."""

THREAD_CANDIDATES = 20_000
"""The number of the newest matching messages whose threads are found."""


def add(tx: Transaction, entries: Sequence[SearchEntry]) -> None:
    """Add entries: messages by their keys, titles by the negative keys of their threads."""
    prepare(tx, entries)()


def prepare(tx: Transaction, entries: Sequence[SearchEntry]) -> Callable[[], None]:
    """Prepare entries, perhaps while the server does other work; the returned function adds them."""
    return sqlite.prepare(tx, entries) if tx.is_sqlite else postgres.prepare(tx, entries)


def delete(tx: Transaction, keys: Sequence[tuple[str, int]]) -> None:
    """Delete entries by owner and key. Those of other owners stay."""
    owned = [(owner, key) for owner, key in keys if tx.owner in (None, owner)]
    (sqlite if tx.is_sqlite else postgres).delete(tx, owned)


def ranked(tx: Transaction, query: Query, *, titles: bool, newest: int) -> list[Match]:
    """The messages, or titles, that match, the best first. Only the newest matches are ranked.

    Without a word to rank them by, the newest messages come first.
    """
    found = lookup(query, titles=titles)
    if found is None:
        return []
    engine = sqlite if tx.is_sqlite else postgres
    matches = engine.matches(tx, found, newest=newest, limit=CANDIDATES)
    if found.required:
        matches.sort(key=lambda match: (-match.score, -match.key))
    if not found.required or (tx.is_sqlite and tx.owner is not None):
        # FTS5 weighs tokens by how rare they are for all owners, so one owner may only see the order.
        return [match._replace(score=1 / (2 + rank)) for rank, match in enumerate(matches)]
    return matches


def newest_keys(tx: Transaction, query: Query, limit: int) -> list[int]:
    """The keys of the newest messages that match."""
    found = lookup(query, titles=False)
    engine = sqlite if tx.is_sqlite else postgres
    return [] if found is None else [match.key for match in engine.matches(tx, found, limit=limit)]


def counted(
    tx: Transaction, query: Query, found: Sequence[Match], threads: Sequence[str], *, newest: int
) -> dict[Key, int]:
    """The number of matching messages of some threads. `found` are the messages that were ranked."""
    looked_up = lookup(query, titles=False)
    if looked_up is None or len(found) < CANDIDATES:  # these are all
        return Counter((match.owner, match.thread_id) for match in found)
    return (sqlite if tx.is_sqlite else postgres).counts(tx, looked_up, threads, newest=newest)


def thread_ids_matching(tx: Transaction, query: str, limit: int = 1000) -> list[Key]:
    """Owners and ids of the threads that match a query by title or by a message, the latest first."""
    parsed = parse(query)
    engine = sqlite if tx.is_sqlite else postgres
    found = [
        key
        for titles in (True, False)
        if (looked_up := lookup(parsed, titles=titles)) is not None
        for key in engine.threads_of_matches(tx, looked_up, limit=limit, within=THREAD_CANDIDATES)
    ]
    return list(dict.fromkeys(found))[:limit]
