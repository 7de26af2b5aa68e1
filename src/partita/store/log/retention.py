"""Dropping the logs of runs that ended long ago; messages, runs and the times of calls stay."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, delete, func, select, update

from partita.store import blobs
from partita.store.runs import AT_WORK
from partita.store.tables import run_blobs, run_log, runs
from partita.store.transaction import Transaction

from . import tail
from .run_log import every_row
from .timings import record_timings


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How old a log may become after its run has ended, and how many bytes all logs may take."""

    max_age: timedelta | None = None
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionReport:
    """Which logs were dropped, or would be, and what that freed. `more`: ask again, the limit was reached."""

    run_ids: tuple[str, ...] = ()
    entries: int = 0
    bytes: int = 0
    more: bool = False


def drop_logs(
    tx: Transaction, policy: Retention, *, dry_run: bool = False, limit: int = 100
) -> RetentionReport:
    """Drop the logs that a policy does not keep, the oldest first, at most `limit` of them."""
    if policy.max_age is None and policy.max_bytes is None:
        return RetentionReport()
    candidates = _oldest(tx, limit + 1)
    doomed = _doomed(tx, policy, candidates)
    if not dry_run:
        for row in doomed[:limit]:
            _drop(Transaction(tx.connection, row.owner, tx.now), row.owner, row.id)
    return RetentionReport(
        run_ids=tuple(row.id for row in doomed[:limit]),
        entries=sum(row.last_seq for row in doomed[:limit]),
        bytes=sum(int(row.size) for row in doomed[:limit]),
        more=len(doomed) > limit,
    )


def _oldest(tx: Transaction, limit: int) -> list[Row[Any]]:
    """Runs that have ended and still have a log, with its size."""
    logs = every_row(tx)
    query = (
        select(
            runs.c.owner,
            runs.c.id,
            runs.c.last_seq,
            runs.c.finished_at,
            func.sum(func.length(logs.c.data)).label("size"),
        )
        .join(logs, (logs.c.owner == runs.c.owner) & (logs.c.run_id == runs.c.id))
        .where(tx.mine(runs), runs.c.status.not_in(AT_WORK), runs.c.log_dropped_at.is_(None))
        .group_by(runs.c.owner, runs.c.id)
        .order_by(runs.c.finished_at, runs.c.id)
        .limit(limit)
    )
    return list(tx.rows(query))


def _doomed(tx: Transaction, policy: Retention, candidates: list[Row[Any]]) -> list[Row[Any]]:
    too_much = 0
    if policy.max_bytes is not None:
        total = tx.run(select(func.sum(func.length(every_row(tx).c.data)))).scalar() or 0
        too_much = int(total) - policy.max_bytes
    doomed: list[Row[Any]] = []
    for row in candidates:
        too_old = policy.max_age is not None and row.finished_at < tx.now - policy.max_age
        if not too_old and too_much <= 0:
            break  # the others are younger
        doomed.append(row)
        too_much -= int(row.size)
    return doomed


def _drop(tx: Transaction, owner: str, run_id: str) -> None:
    record_timings(tx, run_id)
    if tx.lite:
        tail.forget(tx, (owner, run_id))
    tx.run(delete(run_log).where(tx.mine(run_log), run_log.c.run_id == run_id))
    held = (run_blobs.c.owner == owner, run_blobs.c.run_id == run_id)
    pictures = [row.hash for row in tx.rows(select(run_blobs.c.hash).where(*held))]
    tx.run(delete(run_blobs).where(*held))
    blobs.drop_unreferred(tx, owner, pictures)
    tx.run(update(runs).where(tx.mine(runs), runs.c.id == run_id).values(log_dropped_at=tx.now))
