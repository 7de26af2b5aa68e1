"""The search index: adding and deleting entries, and finding the rows that match."""

from collections.abc import Callable, Sequence

from partita.store.sql.transaction import Transaction
from partita.store.values import SearchFilter

from . import postgres, sqlite
from .fields import SearchEntry
from .query import Match, Query, includes_titles, message_fields, parse

CANDIDATES = 1000
"""The number of the newest matching messages, and of the newest matching titles, that are ranked."""

THREAD_CANDIDATES = 20_000
"""The number of the newest matching messages whose threads are found."""

EVERYTHING = SearchFilter()


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


def ranked(tx: Transaction, query: Query, filter: SearchFilter, *, titles: bool, newest: int) -> list[Match]:
    """The messages, or titles, that match, the best first. Only the newest matches are ranked."""
    if not (includes_titles(filter) if titles else message_fields(filter)):
        return []
    engine = sqlite if tx.is_sqlite else postgres
    matches = engine.matches(tx, query, filter, titles=titles, newest=newest, limit=CANDIDATES)
    best_first = sorted(matches, key=lambda match: (-match.score, -match.key))
    if tx.is_sqlite and tx.owner is not None:
        # FTS5 weighs tokens by how rare they are for all owners, so one owner may only see the order.
        return [match._replace(score=1 / (2 + rank)) for rank, match in enumerate(best_first)]
    return best_first


def thread_ids_matching(tx: Transaction, query: str, limit: int = 1000) -> list[tuple[str, str]]:
    """Owners and ids of the threads that match a query by title or by a message, the latest first."""
    parsed = parse(query)
    if not parsed.required:
        return []
    engine = sqlite if tx.is_sqlite else postgres
    found = [
        pair
        for titles in (True, False)
        for pair in engine.threads_of_matches(
            tx, parsed, EVERYTHING, titles=titles, limit=limit, within=THREAD_CANDIDATES
        )
    ]
    return list(dict.fromkeys(found))[:limit]
