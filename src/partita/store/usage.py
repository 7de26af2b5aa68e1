"""The ledger: what every response of a model consumed.

A response has a row for each thread that contains it, under the same key: forked and resumed sessions repeat
it. So every thread knows its usage; one of the rows is `counted`, and totals over threads add up only those.
The counted row is the one with the most output tokens, since a copy may be cut off; then the earliest, since
a copy may have the time of its copying; then the one that was there first.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.types.json import dumps

from .schema import consumptions
from .schema import threads as thread_table
from .sql.texts import required, storable
from .sql.transaction import Transaction, insert_arrays_text, insert_text, owner_of
from .values import ConsumptionRecord

LOCK = 1_281
"""The class of the PostgreSQL advisory locks, by owner, under which the counted rows are chosen."""

COUNTS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)
TOTALS = ", ".join(
    [
        "count(*) AS responses",
        *(f"CAST(coalesce(sum(c.{name}), 0) AS BIGINT) AS {name}" for name in COUNTS),
        "sum(c.cost) AS cost",
        "count(*) - count(c.cost) AS unpriced",
    ]
)
"""The columns of `UsageTotals`, from `consumptions c`."""

_KEPT = ("owner", "thread_id", "key", "counted")
_CHANGES = ", ".join(f"{c.name} = excluded.{c.name}" for c in consumptions.columns if c.name not in _KEPT)
ON_CONFLICT = (
    f" ON CONFLICT (owner, thread_id, key) DO UPDATE SET {_CHANGES}"
    " WHERE excluded.output_tokens >= consumptions.output_tokens"
)
KEYS = {True: "SELECT value FROM json_each(?)", False: "SELECT unnest(?::text[])"}
RANKED = """
SELECT owner, thread_id, key, counted, row_number() OVER (
    PARTITION BY owner, key ORDER BY output_tokens DESC, time, counted DESC, thread_id COLLATE {binary}
) = 1 AS best
FROM consumptions
"""
CHOOSE_COUNTED = """
WITH ranked AS ({ranked} WHERE owner = ? AND key IN ({keys}))
UPDATE consumptions SET counted = ranked.best FROM ranked
WHERE consumptions.owner = ranked.owner AND consumptions.thread_id = ranked.thread_id
    AND consumptions.key = ranked.key AND ranked.best = {best} AND consumptions.counted <> ranked.best
"""
COPY = f"""
INSERT INTO consumptions ({", ".join(c.name for c in consumptions.columns)})
SELECT {{columns}} FROM consumptions WHERE owner = ? AND thread_id = ?
"""


def record_usage(
    tx: Transaction, records: Sequence[ConsumptionRecord], *, resource_id: str | None = None
) -> None:
    """Record what responses consumed, all or none.

    If a response is recorded twice in a thread, the record with more output tokens counts, or else the
    later one. A response that several threads contain counts once in all totals.
    """
    fullest: dict[tuple[str, str], ConsumptionRecord] = {}
    for one in records:
        known = fullest.get((one.thread_id, one.key))
        if known is None or one.output_tokens >= known.output_tokens:
            fullest[one.thread_id, one.key] = one
    owners = _owners(tx, sorted({thread_id for thread_id, _ in fullest}), resource_id)
    by_owner: dict[str, list[ConsumptionRecord]] = {}
    for one in fullest.values():
        by_owner.setdefault(owners[one.thread_id], []).append(one)
    for owner in sorted(by_owner):
        _write(tx, owner, by_owner[owner])


def _owners(tx: Transaction, thread_ids: Sequence[str], resource_id: str | None) -> Mapping[str, str]:
    """The owners of threads, whose rows are locked so that they are not deleted meanwhile."""
    table = thread_table.c
    ids = [required(thread_id, "thread id") for thread_id in thread_ids]
    query = select(table.id, table.owner).where(tx.owned(thread_table), tx.among(table.id, ids))
    if resource_id is not None:
        query = query.where(table.owner == owner_of(tx, resource_id))
    if not tx.is_sqlite:
        query = query.order_by(table.id).with_for_update(read=True, key_share=True)
    owners: dict[str, str] = {}
    for row in tx.rows(query):
        if row.id in owners:
            raise ConflictError(
                f"several owners have a thread {row.id!r}", hint="use the store of one: store.scoped(owner)"
            )
        owners[row.id] = row.owner
    for thread_id in ids:
        if thread_id not in owners:
            raise NotFoundError(f"no thread {thread_id!r}", hint="save the thread before what it consumed")
    return owners


def _write(tx: Transaction, owner: str, records: Sequence[ConsumptionRecord]) -> None:
    lock_ledger(tx, owner)
    seen = Counter(one.key for one in records)
    counted = _counted(tx, owner, list(seen))
    contested = {key for key, times in seen.items() if times > 1} | counted
    rows: list[tuple[Any, ...]] = []
    for one in records:
        rows.append(_row(tx, owner, one, one.key not in counted))
        counted.add(one.key)
    if tx.is_sqlite:
        tx.many(insert_text(consumptions) + ON_CONFLICT, rows)
    else:
        tx.sql(insert_arrays_text(consumptions) + ON_CONFLICT, tuple(map(list, zip(*rows, strict=True))))
    choose_counted(tx, owner, contested)


def _counted(tx: Transaction, owner: str, keys: Sequence[str]) -> set[str]:
    """Those of the responses that have a counted row."""
    query = f"SELECT key FROM consumptions WHERE owner = ? AND counted AND key IN ({KEYS[tx.is_sqlite]})"
    return {row[0] for row in tx.sql(query, (owner, tx.list_parameter(keys)))}


def _row(tx: Transaction, owner: str, one: ConsumptionRecord, counted: bool) -> tuple[Any, ...]:
    return (
        owner,
        one.thread_id,
        required(one.key, "key of the response"),
        counted,
        storable(one.message_id, "the message id"),
        storable(one.run_id, "the run id"),
        storable(one.agent, "the agent"),
        storable(one.provider, "the provider"),
        storable(one.model, "the model"),
        tx.instant(one.time or tx.now),
        *(_count(one, name) for name in COUNTS),
        _cost(one),
        None if one.price is None else dumps(one.price).decode(),
    )


def _count(one: ConsumptionRecord, name: str) -> int:
    count: int = getattr(one, name)
    if count < 0:
        raise StoreError(f"{name} is {count}", where=f"response {one.key}", hint="use 0 if it is unknown")
    return count


def _cost(one: ConsumptionRecord) -> float | None:
    if one.cost is not None and not (math.isfinite(one.cost) and one.cost >= 0):
        raise StoreError(
            f"the cost is {one.cost}", where=f"response {one.key}", hint="use None if it is unknown"
        )
    return one.cost


def lock_ledger(tx: Transaction, owner: str) -> None:
    """Lock the ledger of an owner until the end of the transaction. SQLite has one writer anyway.

    A thread may be locked before the ledger, but never after it.
    """
    if not tx.is_sqlite:
        tx.sql("SELECT pg_advisory_xact_lock(?::int, hashtext(?))", (LOCK, owner))


def choose_counted(tx: Transaction, owner: str, keys: Iterable[str]) -> None:
    """Count the best row of each response, and no other."""
    chosen = sorted(keys)
    if not chosen:
        return
    for best in ("false", "true"):  # first the row that no longer counts: two rows never count at a time
        statement = CHOOSE_COUNTED.format(ranked=ranked_rows(tx), keys=KEYS[tx.is_sqlite], best=best)
        tx.sql(statement, (owner, tx.list_parameter(chosen)))


def ranked_rows(tx: Transaction) -> str:
    """A query of all rows, each with whether it is the best of its response."""
    return RANKED.format(binary="BINARY" if tx.is_sqlite else '"C"')


def choose_counted_of_thread(tx: Transaction, owner: str, thread_id: str) -> None:
    """Choose the counted rows of all responses of a thread."""
    lock_ledger(tx, owner)
    same = (consumptions.c.owner == owner, consumptions.c.thread_id == thread_id)
    choose_counted(tx, owner, [row.key for row in tx.rows(select(consumptions.c.key).where(*same))])


def counted_in(tx: Transaction, owner: str, thread_id: str) -> list[str]:
    """The responses whose counted row is in a thread. The ledger is locked."""
    lock_ledger(tx, owner)
    same = (consumptions.c.owner == owner, consumptions.c.thread_id == thread_id)
    return [row.key for row in tx.rows(select(consumptions.c.key).where(*same, consumptions.c.counted))]


def copy_usage(tx: Transaction, source: Row[Any], thread_id: str, message_ids: Sequence[str] | None) -> None:
    """Copy the rows of messages (`None`: all rows) for a copy of a thread. They are not counted.

    A copy consumes nothing, but it has the usage of its messages; when its source is deleted, it counts.
    """
    lock_ledger(tx, source.owner)
    changed = {"thread_id": "CAST(? AS TEXT)", "counted": "false"}
    columns = ", ".join(changed.get(column.name, column.name) for column in consumptions.columns)
    statement, values = COPY.format(columns=columns), (thread_id, source.owner, source.id)
    if message_ids is None:
        tx.sql(statement, values)
    else:
        some = f"{statement} AND message_id IN ({KEYS[tx.is_sqlite]})"
        tx.sql(some, (*values, tx.list_parameter(message_ids)))
