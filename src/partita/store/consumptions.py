"""The ledger: what every response of a model consumed, written once for each thread it stands in.

Forked and resumed sessions tell the same response again, under the same key. All of them have a row, so that
every thread knows what it took; one of them is `counted`, and totals over threads add those alone. That is
the one with the most output tokens, for a copy may have been cut off; then the earliest, for a copy may bear
the time of its copying; then the one that was there first.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.types.json import dumps

from .owners import owner_of
from .tables import consumptions
from .tables import threads as thread_table
from .texts import required, storable
from .transaction import Transaction, insert_arrays_text, insert_text
from .values import ConsumptionRecord

LOCK = 1_281
"""The class of the advisory locks (by owner) under which PostgreSQL settles who is counted."""

COUNTS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)

_KEPT = ("owner", "thread_id", "key", "counted")
_CHANGES = ", ".join(f"{c.name} = excluded.{c.name}" for c in consumptions.columns if c.name not in _KEPT)
AGAIN = (
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
SETTLE = """
WITH ranked AS ({ranked} WHERE owner = ? AND key IN ({keys}))
UPDATE consumptions SET counted = ranked.best FROM ranked
WHERE consumptions.owner = ranked.owner AND consumptions.thread_id = ranked.thread_id
    AND consumptions.key = ranked.key AND ranked.best = {best} AND consumptions.counted <> ranked.best
"""
COPY = f"""
INSERT INTO consumptions ({", ".join(c.name for c in consumptions.columns)})
SELECT {{columns}} FROM consumptions WHERE owner = ? AND thread_id = ?
"""


def record(tx: Transaction, records: Sequence[ConsumptionRecord], resource_id: str | None = None) -> None:
    """Write what responses consumed. Of two words on one in a thread the fuller counts, else the later."""
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
    """Whose the threads are. They are held, so that nobody deletes them meanwhile."""
    table = thread_table.c
    wanted = [required(thread_id, "thread id") for thread_id in thread_ids]
    query = select(table.id, table.owner).where(tx.mine(thread_table), tx.among(table.id, wanted))
    if resource_id is not None:
        query = query.where(table.owner == owner_of(tx, resource_id))
    if not tx.lite:
        query = query.order_by(table.id).with_for_update(read=True, key_share=True)
    owners: dict[str, str] = {}
    for row in tx.rows(query):
        if row.id in owners:
            raise ConflictError(
                f"several owners have a thread {row.id!r}", hint="ask the store of one: store.scoped(owner)"
            )
        owners[row.id] = row.owner
    for thread_id in wanted:
        if thread_id not in owners:
            raise NotFoundError(f"no thread {thread_id!r}", hint="save the thread before what it consumed")
    return owners


def _write(tx: Transaction, owner: str, records: Sequence[ConsumptionRecord]) -> None:
    lock(tx, owner)
    seen = Counter(one.key for one in records)
    counted = _counted(tx, owner, list(seen))
    contested = {key for key, times in seen.items() if times > 1} | counted
    rows: list[tuple[Any, ...]] = []
    for one in records:
        rows.append(_row(tx, owner, one, one.key not in counted))
        counted.add(one.key)
    if tx.lite:
        tx.many(insert_text(consumptions) + AGAIN, rows)
    else:
        tx.sql(insert_arrays_text(consumptions) + AGAIN, tuple(map(list, zip(*rows, strict=True))))
    settle(tx, owner, contested)


def _counted(tx: Transaction, owner: str, keys: Sequence[str]) -> set[str]:
    """Those of the responses that have a counted row."""
    query = f"SELECT key FROM consumptions WHERE owner = ? AND counted AND key IN ({KEYS[tx.lite]})"
    return {row[0] for row in tx.sql(query, (owner, _list(tx, keys)))}


def _list(tx: Transaction, keys: Sequence[str]) -> Any:
    return dumps(list(keys)).decode() if tx.lite else list(keys)


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
        raise StoreError(f"{name} is {count}", where=f"response {one.key}", hint="0 when it is not known")
    return count


def _cost(one: ConsumptionRecord) -> float | None:
    if one.cost is not None and not (math.isfinite(one.cost) and one.cost >= 0):
        raise StoreError(
            f"the cost is {one.cost}", where=f"response {one.key}", hint="None when it is not known"
        )
    return one.cost


def lock(tx: Transaction, owner: str) -> None:
    """Let nobody else settle an owner's responses until this is committed. SQLite has one writer anyhow.

    Whoever holds a thread may wait for this; whoever holds this must not wait for a thread.
    """
    if not tx.lite:
        tx.sql("SELECT pg_advisory_xact_lock(?::int, hashtext(?))", (LOCK, owner))


def settle(tx: Transaction, owner: str, keys: Iterable[str]) -> None:
    """Let the best row of each response be the counted one."""
    wanted = sorted(keys)
    if not wanted:
        return
    for best in ("false", "true"):  # first the one that counts no more: never two at a time
        statement = SETTLE.format(ranked=ranked(tx), keys=KEYS[tx.lite], best=best)
        tx.sql(statement, (owner, _list(tx, wanted)))


def ranked(tx: Transaction) -> str:
    """The rows, each with whether it is the best of its response."""
    return RANKED.format(binary="BINARY" if tx.lite else '"C"')


def settle_thread(tx: Transaction, owner: str, thread_id: str) -> None:
    """Settle anew who is counted, for all responses of a thread."""
    lock(tx, owner)
    mine = (consumptions.c.owner == owner, consumptions.c.thread_id == thread_id)
    settle(tx, owner, [row.key for row in tx.rows(select(consumptions.c.key).where(*mine))])


def counted_in(tx: Transaction, owner: str, thread_id: str) -> list[str]:
    """The responses that are counted in a thread. Nobody else settles them until this is committed."""
    lock(tx, owner)
    mine = (consumptions.c.owner == owner, consumptions.c.thread_id == thread_id)
    return [row.key for row in tx.rows(select(consumptions.c.key).where(*mine, consumptions.c.counted))]


def copy(tx: Transaction, source: Row[Any], thread_id: str, message_ids: Sequence[str] | None) -> None:
    """Give a copy of a thread the rows of the messages it got (`None`: all rows). They are not counted.

    A copy consumes nothing; it tells what its messages took, and when its source is deleted, it counts.
    """
    lock(tx, source.owner)
    told = {"thread_id": "CAST(? AS TEXT)", "counted": "false"}
    columns = ", ".join(told.get(column.name, column.name) for column in consumptions.columns)
    statement, values = COPY.format(columns=columns), (thread_id, source.owner, source.id)
    if message_ids is None:
        tx.sql(statement, values)
    else:
        some = f"{statement} AND message_id IN ({KEYS[tx.lite]})"
        tx.sql(some, (*values, _list(tx, message_ids)))
