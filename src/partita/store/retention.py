"""Remove the threads and logs that a policy does not keep."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import exists, not_, select

from .context import StoreContext
from .logs.maintenance import Retention, RetentionReport, drop_logs, is_expired
from .runs.rows import ACTIVE
from .schema import runs, threads
from .sql.transaction import Transaction
from .threads.filter import is_pinned
from .threads.rows import delete_expired

BATCH = 50
"""How many threads, or logs, are removed in one transaction."""

ALL = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredThread:
    """A thread that was removed, or would be."""

    id: str
    resource_id: str | None
    title: str | None
    message_count: int
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalReport:
    """The threads and logs that were removed, or would be. Logs of removed threads are not counted again."""

    threads: Sequence[ExpiredThread] = ()
    logs: RetentionReport = field(default_factory=RetentionReport)


async def apply_retention(store: StoreContext, policy: Retention, *, dry_run: bool = False) -> RemovalReport:
    """Remove the threads and logs that a policy does not keep; with `dry_run`, only find them."""
    if dry_run:
        found = await store.read(expired_threads, policy, ALL)
        return RemovalReport(threads=found, logs=await store.read(drop_logs, policy, dry_run=True, limit=ALL))
    removed: list[ExpiredThread] = []
    while batch := await store.write(_remove_threads, policy):
        removed += batch
    logs = RetentionReport(more=True)
    while logs.more:
        dropped = await store.write(drop_logs, policy, limit=BATCH)
        logs = RetentionReport(
            run_ids=(*logs.run_ids, *dropped.run_ids),
            entries=logs.entries + dropped.entries,
            bytes=logs.bytes + dropped.bytes,
            more=dropped.more,
        )
    return RemovalReport(threads=removed, logs=logs)


def expired_threads(tx: Transaction, policy: Retention, limit: int) -> list[ExpiredThread]:
    """The threads that a policy does not keep, the oldest first."""
    if policy.thread_age is None:
        return []
    is_active = exists().where(
        runs.c.owner == threads.c.owner, runs.c.thread_id == threads.c.id, runs.c.status.in_(ACTIVE)
    )
    query = (
        select(threads)
        .where(tx.owned(threads), is_expired(tx, policy), not_(is_pinned(tx)), not_(is_active))
        .order_by(threads.c.updated_at, threads.c.id)
        .limit(limit)
    )
    return [
        ExpiredThread(
            id=row.id,
            resource_id=row.owner or None,
            title=row.title,
            message_count=row.message_count,
            updated_at=row.updated_at,
        )
        for row in tx.rows(query)
    ]


def _remove_threads(tx: Transaction, policy: Retention) -> list[ExpiredThread]:
    found = expired_threads(tx, policy, BATCH)
    for thread in found:
        delete_expired(Transaction(tx.connection, thread.resource_id or "", tx.now), thread.id)
    return found
