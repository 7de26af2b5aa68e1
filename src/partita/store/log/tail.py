"""The tail of all logs in SQLite: what runs at work add, before it takes its place in `run_log`.

There every run has a page of the index to itself, and a commit of a hundred runs would write a hundred pages.
So entries go to the end of one heap, the rows of a run linked backwards; when a run has many there, they are
folded into one row of `run_log`. What was folded is swept once all before it was: side by side, not here and
there, for the same reason.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row

from partita.store.transaction import Transaction
from partita.types.json import dumps

from .blocks import OPEN, Addition, End, Key, Piece

MANY = 64
"""How many rows of a run are worth folding."""

TOO_MANY = 96
"""How many are folded at last: other runs with many rows go with it, so that it happens seldom."""

LARGE = 4096
"""What fills a page of its own gains nothing here: it goes to `run_log` at once, with what is before it."""

SWEPT = 2 * TOO_MANY
"""How many rows are swept for each run that was folded: more than come meanwhile."""

TIDIED = 8
"""How many runs are folded together because they rest, besides as many as have begun meanwhile."""

FAR = 16_384
"""How far the oldest row may be behind the newest: a run that rests must not keep others from being swept."""


class _Added(NamedTuple):
    """Where the log of every run ends, and how it is with the tail now."""

    ends: dict[Key, End]
    before: int = 0  # the newest row before those that were added
    spread: int = 0  # how far the oldest row is behind the newest
    longest: int = 0  # how many rows a run has that was added to


_OWNERS = msgspec.json.Decoder(dict[str, str])
_ENDS = msgspec.json.Decoder(list[tuple[str, str, End]])

# Few statements, and none that gives more than one row: at every step the driver lets go of the interpreter
# and must get it back from a busy event loop. All data comes as one blob, and each row takes its piece of it.
ADD = """
INSERT INTO log_tail (previous, run, first_seq, last_seq, data)
SELECT runs.tail, runs.key, runs.last_seq + 1, runs.last_seq + json_extract(value, '$[2]'),
    substr(?, json_extract(value, '$[3]'), json_extract(value, '$[4]'))
FROM json_each(?) CROSS JOIN runs
WHERE runs.owner = json_extract(value, '$[0]') AND runs.id = json_extract(value, '$[1]')
    AND runs.status IN ('pending', 'running')
"""
MOVE = """
UPDATE runs SET last_seq = added.last_seq, tail = added.key,
    tail_seq = coalesce(runs.tail_seq, added.first_seq), tail_rows = coalesce(runs.tail_rows, 0) + 1
FROM log_tail AS added
WHERE added.key > ? AND runs.key = added.run
"""
ENDS = """
SELECT json_group_array(
        json_array(
            runs.owner, runs.id, json_array(runs.last_seq, runs.key, runs.tail_rows, runs.tail_seq)
        )
    ) AS ends,
    max(runs.tail_rows) AS longest, (SELECT min(key) FROM log_tail) AS oldest
FROM log_tail CROSS JOIN runs ON runs.key = log_tail.run
WHERE log_tail.key > ?
"""
OWNERS = """
SELECT json_group_object(runs.id, runs.owner) FROM json_each(?) CROSS JOIN runs
WHERE runs.id = json_each.value AND runs.owner = coalesce(?, runs.owner)
"""


def owners(tx: Transaction, ids: Collection[str]) -> dict[str, str]:
    """The owners of runs, as far as they may be seen."""
    found: str = tx.sql(OWNERS, (dumps(list(ids)).decode(), tx.owner)).scalar_one()
    return _OWNERS.decode(found)


def append(tx: Transaction, additions: Mapping[Key, Addition]) -> dict[Key, End]:
    """Add to the logs of runs at work; where each ends now."""
    large = {key: addition for key, addition in additions.items() if addition.size >= LARGE}
    small = {key: addition for key, addition in additions.items() if key not in large} if large else additions
    added = _add(tx, small)
    if added.longest >= TOO_MANY or added.spread > FAR:
        _fold_some(tx, added)
    if not large:
        return added.ends
    ends = added.ends | _add_large(tx, large)
    # Where a link is broken, nothing can be folded, and nothing can go past it.
    return ends | _add(tx, {key: addition for key, addition in large.items() if key not in ends}).ends


def _add(tx: Transaction, additions: Mapping[Key, Addition]) -> _Added:
    """Put rows at the end of the tail."""
    if not additions:
        return _Added({})
    data, given = _given(additions)
    result = tx.sql(ADD, (data, given))
    if result.rowcount == 0:
        return _Added({})
    newest = result.lastrowid
    before = newest - result.rowcount
    tx.sql(MOVE, (before,))
    row = tx.sql(ENDS, (before,)).one()
    return _Added(_ends(row.ends), before, newest - row.oldest, row.longest)


def _given(additions: Mapping[Key, Addition]) -> tuple[bytes, str]:
    """All data as one blob; and in JSON the runs, how many entries each gets, and which piece of the blob."""
    rows: list[tuple[str, str, int, int, int]] = []
    start = 1
    for key, addition in additions.items():
        rows.append((*key, addition.count, start, addition.size))
        start += addition.size
    data = b"".join([piece for addition in additions.values() for piece in addition.pieces])
    return data, dumps(rows).decode()


def _ends(text: str) -> dict[Key, End]:
    return {(owner, run_id): end for owner, run_id, end in _ENDS.decode(text)}


ADD_LARGE = f"""
INSERT INTO run_log (owner, run_id, first_seq, last_seq, encoding, data)
SELECT runs.owner, runs.id, runs.last_seq + 1, runs.last_seq + json_extract(value, '$[2]'), '{OPEN}',
    substr(?, json_extract(value, '$[3]'), json_extract(value, '$[4]'))
FROM json_each(?) CROSS JOIN runs
WHERE runs.owner = json_extract(value, '$[0]') AND runs.id = json_extract(value, '$[1]')
    AND runs.status IN ('pending', 'running') AND runs.tail IS NULL
"""
MOVE_LARGE = """
UPDATE runs SET last_seq = runs.last_seq + json_extract(given.value, '$[2]')
FROM json_each(?) AS given
WHERE runs.owner = json_extract(given.value, '$[0]') AND runs.id = json_extract(given.value, '$[1]')
    AND runs.status IN ('pending', 'running') AND runs.tail IS NULL
"""
GIVEN = """
FROM json_each(?) CROSS JOIN runs
WHERE runs.owner = json_extract(value, '$[0]') AND runs.id = json_extract(value, '$[1]')
"""
ENDS_LARGE = f"""
SELECT json_group_array(json_array(runs.owner, runs.id, json_array(runs.last_seq, runs.key, 0))) {GIVEN}
    AND runs.status IN ('pending', 'running') AND runs.tail IS NULL
"""


def _add_large(tx: Transaction, additions: Mapping[Key, Addition]) -> dict[Key, End]:
    """Put rows into `run_log`, behind what their runs have in the tail."""
    data, given = _given(additions)
    _fold(tx, tx.sql(f"SELECT json_group_array(runs.key) {GIVEN}", (given,)).scalar_one())
    tx.sql(ADD_LARGE, (data, given))
    tx.sql(MOVE_LARGE, (given,))
    return _ends(tx.sql(ENDS_LARGE, (given,)).scalar_one())


LONG = """
SELECT json_group_array(key) FROM (
    SELECT runs.key FROM log_tail CROSS JOIN runs ON runs.key = log_tail.run
    WHERE log_tail.key > ? AND runs.tail_rows >= ?
    ORDER BY runs.tail_rows DESC LIMIT ?
)
"""
OLDEST = """
SELECT json_group_array(DISTINCT runs.key) FROM log_tail CROSS JOIN runs ON runs.key = log_tail.run
WHERE log_tail.key < (SELECT min(key) + ? FROM log_tail) AND log_tail.first_seq >= runs.tail_seq
"""
SWEEP = """
WITH old AS (SELECT min(key) + ? AS bound FROM log_tail)
DELETE FROM log_tail WHERE key < coalesce(
    (
        SELECT log_tail.key FROM log_tail CROSS JOIN runs ON runs.key = log_tail.run
        WHERE log_tail.key < (SELECT bound FROM old) AND log_tail.first_seq >= runs.tail_seq
        ORDER BY log_tail.key LIMIT 1
    ),
    (SELECT bound FROM old)
)
"""


def _fold_some(tx: Transaction, added: _Added) -> None:
    """Fold the runs with the most rows or the oldest: few at once, but more than come to it meanwhile."""
    most = 1 + len(added.ends) // 64
    if added.longest >= TOO_MANY:
        _fold(tx, tx.sql(LONG, (added.before, MANY, most)).scalar_one())
    if added.spread > FAR:
        _fold(tx, tx.sql(OLDEST, (most,)).scalar_one())
    tx.sql(SWEEP, (len(added.ends) + SWEPT * most,))


# Two searches, not one: SQLite finds an end of the table at once, but both ends only by reading it all.
SPREAD = "SELECT coalesce((SELECT max(key) FROM log_tail) - (SELECT min(key) FROM log_tail), 0)"


def tidy(tx: Transaction, new: int = 0) -> None:
    """When the oldest rows lie far behind, fold their runs, and sweep."""
    if tx.sql(SPREAD).scalar_one() > FAR:
        _fold(tx, tx.sql(OLDEST, (TIDIED + new,)).scalar_one())
        tx.sql(SWEEP, (SWEPT * (TIDIED + new),))


# Text that is no text: SQLite joins nothing else, and changes no byte of it on the way.
FOLD = f"""
WITH folded AS MATERIALIZED (
    SELECT owner, id, tail_seq, last_seq, (
        WITH RECURSIVE walk (key, previous) AS (
            SELECT key, previous FROM log_tail WHERE key = runs.tail
            UNION ALL
            SELECT row.key, row.previous
            FROM walk CROSS JOIN log_tail AS row ON row.key = walk.previous AND row.key < walk.key
        )
        SELECT CASE WHEN count = runs.last_seq + 1 - runs.tail_seq AND size = length(joined) THEN joined END
        FROM (
            SELECT sum(last_seq + 1 - first_seq) AS count, sum(length(data)) AS size,
                CAST(group_concat(CAST(data AS TEXT), '') AS BLOB) AS joined
            FROM (
                SELECT first_seq, last_seq, data FROM log_tail
                WHERE key IN (SELECT key FROM walk) ORDER BY key
            )
        )
    ) AS data
    FROM runs WHERE key IN (SELECT value FROM json_each(?))
)
INSERT INTO run_log (owner, run_id, first_seq, last_seq, encoding, data)
SELECT owner, id, tail_seq, last_seq, '{OPEN}', data FROM folded WHERE data IS NOT NULL
"""
# What was not folded is looked at again when as many rows have come once more.
LEFT = """
NOT EXISTS (
    SELECT 1 FROM run_log
    WHERE run_log.owner = runs.owner AND run_log.run_id = runs.id AND run_log.first_seq = runs.tail_seq
)
"""
LEAVE = f"""
UPDATE runs SET tail = iif({LEFT}, tail, NULL), tail_seq = iif({LEFT}, tail_seq, NULL), tail_rows = NULL
WHERE key IN (SELECT value FROM json_each(?))
"""


def _fold(tx: Transaction, keys: str) -> None:
    """Make one row of what each of some runs has in the tail; where a link is broken, all stays as it is."""
    if keys != "[]":
        tx.sql(FOLD, (keys,))
        tx.sql(LEAVE, (keys,))


def settle(tx: Transaction, key: Key) -> None:
    """Bring what a run has in the tail to its place, unless part of it is missing."""
    run = tx.sql("SELECT json_array(key) AS keys FROM runs WHERE owner = ? AND id = ?", key).one()
    _fold(tx, run.keys)
    whole = "SELECT tail IS NULL FROM runs WHERE owner = ? AND id = ?"
    if tx.sql(whole, key).scalar_one():
        forget(tx, key)


def forget(tx: Transaction, key: Key) -> None:
    """Remove everything of a run from the tail: it is short enough to look at all of it."""
    tx.sql("DELETE FROM log_tail WHERE run = (SELECT key FROM runs WHERE owner = ? AND id = ?)", key)
    tx.sql("UPDATE runs SET tail = NULL, tail_seq = NULL, tail_rows = NULL WHERE owner = ? AND id = ?", key)


WALK = """
WITH RECURSIVE walk (key, previous, first_seq, last_seq, data) AS (
    SELECT key, previous, first_seq, last_seq, data FROM log_tail WHERE key = ?
    UNION ALL
    SELECT row.key, row.previous, row.first_seq, row.last_seq, row.data
    FROM walk CROSS JOIN log_tail AS row ON row.key = walk.previous AND row.key < walk.key
    WHERE walk.first_seq > ?
)
SELECT first_seq, last_seq, data FROM walk WHERE first_seq <= ? ORDER BY first_seq
"""
SCAN = """
SELECT first_seq, last_seq, data FROM log_tail
WHERE run = (SELECT key FROM runs WHERE owner = ? AND id = ?)
    AND first_seq >= ? AND last_seq >= ? AND first_seq <= ?
ORDER BY first_seq
"""


def rows(tx: Transaction, run: Row[Any], start: int, end: int) -> list[Piece]:
    """The rows of a run's tail that hold entries from `start` to `end`."""
    found = [_piece(row) for row in tx.sql(WALK, (run.tail, start, end))]
    if found and found[0].first_seq <= max(start, run.tail_seq):
        return found
    # A link is broken: what is there is found all the same.
    return [_piece(row) for row in tx.sql(SCAN, (run.owner, run.id, run.tail_seq, start, end))]


def _piece(row: Row[Any]) -> Piece:
    return Piece(row.first_seq, row.last_seq, OPEN, row.data)


EVERY_ROW = f"""
SELECT owner, run_id, first_seq, last_seq, encoding, data FROM run_log
UNION ALL
SELECT runs.owner, runs.id, log_tail.first_seq, log_tail.last_seq, '{OPEN}', log_tail.data
FROM log_tail CROSS JOIN runs ON runs.key = log_tail.run
WHERE log_tail.first_seq >= runs.tail_seq
"""
"""All rows of all logs; what was folded and not swept yet does not count."""
