"""The threads behind a number of the statistics: gathered by their keys, told by their ids."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from partita.types.json import dumps

from .transaction import Transaction

MOST_IDS = 100
"""A row with more threads does not name them: a link to so many would be too long."""

AMONG = {True: "SELECT value FROM json_each(?)", False: "SELECT unnest(?::bigint[])"}


def distinct(tx: Transaction, key: str) -> str:
    """The expression that gathers the different keys of a group."""
    return f"group_concat(DISTINCT {key})" if tx.lite else f"array_agg(DISTINCT {key})"


def keys_in(gathered: Any) -> Iterable[int]:
    """The keys that were gathered: SQLite tells them as a text, PostgreSQL as a list with a gap."""
    if gathered is None:
        return ()
    if isinstance(gathered, str):
        return map(int, gathered.split(","))
    return (key for key in gathered if key is not None)


def ids_of(tx: Transaction, groups: Iterable[Collection[int]]) -> Mapping[frozenset[int], tuple[str, ...]]:
    """The ids of the threads of each group that is small enough, in the order of the threads' keys."""
    small = {frozenset(keys) for keys in groups if len(keys) <= MOST_IDS}
    names = _names(tx, sorted({key for keys in small for key in keys}))
    return {keys: tuple(names[key] for key in sorted(keys)) for keys in small}


def _names(tx: Transaction, keys: Sequence[int]) -> dict[int, str]:
    listed = dumps(list(keys)).decode() if tx.lite else list(keys)
    query = f"SELECT key, id FROM threads WHERE key IN ({AMONG[tx.lite]})"
    return {row.key: row.id for row in tx.sql(query, (listed,))}
