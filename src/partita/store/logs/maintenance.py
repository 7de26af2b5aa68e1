"""The logs of ended runs: sealed into compressed blocks, and dropped once they are old."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, false, func, not_, select, text, update

from partita.errors import ConflictError, StoreError
from partita.store.blobs import blobs
from partita.store.runs.rows import ACTIVE, find
from partita.store.schema import run_blobs, run_log, runs, threads
from partita.store.sql.transaction import Transaction
from partita.store.threads.filter import is_pinned

from . import blocks
from .blocks import StoredEntry
from .run_log import every_row, stored_entries
from .timings import record_timings, with_timings


@dataclass(frozen=True, slots=True, kw_only=True)
class SealReport:
    """What sealing did. Without blocks, there was nothing to do."""

    run_id: str
    entries: int = 0
    blocks: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long a log is kept after the end of its run, and how many bytes all logs may take.

    Pinned threads and their logs are always kept.
    """

    max_age: timedelta | None = None
    max_bytes: int | None = None
    thread_age: timedelta | None = None
    """How long a thread is kept after its last message."""

    @property
    def keeps_everything(self) -> bool:
        """Whether nothing is ever removed."""
        return self == Retention()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionReport:
    """The logs that were dropped, or would be, and their size."""

    run_ids: tuple[str, ...] = ()
    entries: int = 0
    bytes: int = 0
    more: bool = False
    """Whether the limit was reached, so that more logs can be dropped."""


# Sealing


def seal_run(tx: Transaction, run_id: str) -> SealReport:
    """Replace the rows of the log of an ended run by blocks, each compared with the entries it replaces."""
    run = find(tx, run_id, lock=True)
    if run.status in ACTIVE:
        raise ConflictError(f"run {run_id!r} is {run.status}", hint="seal it after its end")
    if run.sealed or run.log_dropped_at is not None:
        return SealReport(run_id=run_id)
    if tx.is_sqlite:
        _fold(tx, run.owner, run_id)
    of_run = (run_log.c.owner == run.owner, run_log.c.run_id == run_id)
    before = tx.run(select(func.sum(func.length(run_log.c.data))).where(*of_run)).scalar() or 0
    first, count, after = 1, 0, 0
    for entries in blocks.split_blocks(entry for _, entry in stored_entries(tx, run_id)):
        last = first + len(entries) - 1
        encoding, data = _encode_block(tx, run, first, entries)
        # The entries after `last` of a row that ends later are in memory: they begin the next block.
        tx.run(delete(run_log).where(*of_run, run_log.c.first_seq.between(first, last)))
        tx.insert(run_log, [(run.owner, run_id, first, last, encoding, data)])
        first, count, after = last + 1, count + 1, after + len(data)
    tx.run(update(runs).where(runs.c.owner == run.owner, runs.c.id == run_id).values(sealed=True))
    return SealReport(
        run_id=run_id, entries=run.last_seq, blocks=count, bytes_before=int(before), bytes_after=after
    )


def _fold(tx: Transaction, owner: str, run_id: str) -> None:
    """Move the rows that SQLite has in `log_tail` to `run_log`."""
    key = "SELECT key FROM runs WHERE owner = ? AND id = ?"
    tx.sql(f"INSERT INTO log_fold (run) {key}", (owner, run_id))
    tx.sql(f"DELETE FROM log_tail WHERE run = ({key})", (owner, run_id))


def _encode_block(
    tx: Transaction, run: Row[Any], first: int, entries: list[StoredEntry]
) -> tuple[str, bytes]:
    """The encoding and the data of a block. Files in raw lines become blobs."""
    extracted = [blocks.extract_files(entry.raw or b"") for entry in entries]
    files = {digest: data for one in extracted for digest, data in one.files.items()}
    lean = [
        entry._replace(raw=one.rest, cuts=one.cuts) if one.cuts else entry
        for entry, one in zip(entries, extracted, strict=True)
    ]
    encoding, data = blocks.encode_block(lean)
    if blocks.restore_files(blocks.decode(encoding, data, len(lean)), files) != entries:
        raise StoreError("a sealed block differs from its entries", where=f"run {run.id}, entry {first}")
    if files:
        blobs.write(tx, run.owner, [(digest, data, None) for digest, data in files.items()])
        refer_to_blobs(tx, [(run.owner, run.id, digest) for digest in sorted(files)])
    return encoding, data


def refer_to_blobs(tx: Transaction, references: Iterable[tuple[str, str, str]]) -> None:
    """Write which logs refer to which blobs: owner, run id, hash."""
    tx.many(
        "INSERT INTO run_blobs (owner, run_id, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        list(references),
    )


def runs_to_seal(tx: Transaction, limit: int = 100) -> list[str]:
    """The ids of ended runs whose logs are not sealed, the oldest first."""
    return [run_id for _, run_id in owned_runs_to_seal(tx, limit)]


def owned_runs_to_seal(
    tx: Transaction, limit: int = 100, ended_before: datetime | None = None
) -> list[tuple[str, str]]:
    """The same with owners: runs of several owners may have the same id."""
    query = (
        select(runs.c.owner, runs.c.id)
        .where(
            tx.owned(runs),
            text("NOT runs.sealed"),  # the condition of the index
            runs.c.finished_at.is_not(None),
            runs.c.log_dropped_at.is_(None),
            *([] if ended_before is None else [runs.c.finished_at < ended_before]),
        )
        .order_by(runs.c.finished_at, runs.c.id)
        .limit(limit)
    )
    return [(row.owner, row.id) for row in tx.rows(query)]


def seal_owned_run(tx: Transaction, owner: str, run_id: str) -> SealReport:
    """Seal the log of a run of an owner, and write the times of its calls."""
    return with_timings(Transaction(tx.connection, owner, tx.now), seal_run, run_id)


# Dropping


def drop_logs(
    tx: Transaction, policy: Retention, *, dry_run: bool = False, limit: int = 100
) -> RetentionReport:
    """Drop the logs that a policy does not keep, the oldest first. Messages, runs and call times stay."""
    if policy.max_age is None and policy.max_bytes is None:
        return RetentionReport()
    expired = _expired(tx, policy, _ended_logs(tx, policy, limit + 1))
    dropped = expired[:limit]
    if not dry_run:
        for row in dropped:
            _drop(Transaction(tx.connection, row.owner, tx.now), row.owner, row.id)
    return RetentionReport(
        run_ids=tuple(row.id for row in dropped),
        entries=sum(row.last_seq for row in dropped),
        bytes=sum(int(row.size) for row in dropped),
        more=len(expired) > limit,
    )


def _ended_logs(tx: Transaction, policy: Retention, limit: int) -> list[Row[Any]]:
    """Ended runs that still have a log, with its size, the oldest first.

    Without those of pinned threads, and of threads that the policy does not keep.
    """
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
        .join(threads, (threads.c.owner == runs.c.owner) & (threads.c.id == runs.c.thread_id))
        .where(tx.owned(runs), runs.c.status.not_in(ACTIVE), runs.c.log_dropped_at.is_(None))
        .where(not_(is_pinned(tx)), not_(is_expired(tx, policy)))
        .group_by(runs.c.owner, runs.c.id)
        .order_by(runs.c.finished_at, runs.c.id)
        .limit(limit)
    )
    return list(tx.rows(query))


def is_expired(tx: Transaction, policy: Retention) -> ColumnElement[bool]:
    """Whether a thread is older than a policy allows, pinned or not."""
    return false() if policy.thread_age is None else threads.c.updated_at < tx.now - policy.thread_age


def _expired(tx: Transaction, policy: Retention, candidates: list[Row[Any]]) -> list[Row[Any]]:
    excess = 0
    if policy.max_bytes is not None:
        total = tx.run(select(func.sum(func.length(every_row(tx).c.data)))).scalar() or 0
        excess = int(total) - policy.max_bytes
    expired: list[Row[Any]] = []
    for row in candidates:
        is_old = policy.max_age is not None and row.finished_at < tx.now - policy.max_age
        if not is_old and excess <= 0:
            break  # the others are younger
        expired.append(row)
        excess -= int(row.size)
    return expired


def _drop(tx: Transaction, owner: str, run_id: str) -> None:
    record_timings(tx, run_id)
    of_run = (runs.c.owner == owner, runs.c.id == run_id)
    if tx.is_sqlite:
        key = "SELECT key FROM runs WHERE owner = ? AND id = ?"
        tx.sql(f"DELETE FROM log_tail WHERE run = ({key})", (owner, run_id))
    tx.run(delete(run_log).where(run_log.c.owner == owner, run_log.c.run_id == run_id))
    references = (run_blobs.c.owner == owner, run_blobs.c.run_id == run_id)
    files = [row.hash for row in tx.rows(select(run_blobs.c.hash).where(*references))]
    tx.run(delete(run_blobs).where(*references))
    blobs.drop_unreferred(tx, owner, files)
    tx.run(update(runs).where(*of_run).values(log_dropped_at=tx.now, tail_seq=None))
