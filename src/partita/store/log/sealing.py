"""Making small blocks of what a run that has ended left in its log."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, select, text, update

from partita.errors import ConflictError, StoreError
from partita.store import blobs
from partita.store.endings import with_timings
from partita.store.runs import AT_WORK, find
from partita.store.tables import run_log, runs
from partita.store.transaction import Transaction

from . import blocks, tail
from .blocks import Stored
from .pictures import take_out
from .run_log import stored_entries, whole

HOLDS = "INSERT INTO run_blobs (owner, run_id, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealReport:
    """What sealing did. No blocks: there was nothing to do."""

    run_id: str
    entries: int = 0
    blocks: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


def seal_run(tx: Transaction, run_id: str) -> SealReport:
    """Rewrite the log of a run that has ended as blocks, each compared with what it replaces."""
    run = find(tx, run_id, lock=True)
    if run.status in AT_WORK:
        raise ConflictError(f"run {run_id!r} is {run.status}", hint="seal it once it has ended")
    if run.sealed or run.log_dropped_at is not None:
        return SealReport(run_id=run_id)
    if tx.lite:
        tail.settle(tx, (run.owner, run_id))
    mine = (run_log.c.owner == run.owner, run_log.c.run_id == run_id)
    before = tx.run(select(func.sum(func.length(run_log.c.data))).where(*mine)).scalar() or 0
    first, count, after = 1, 0, 0
    for entries in blocks.blocks(entry for _, entry in stored_entries(tx, run_id)):
        last = first + len(entries) - 1
        encoding, data = _sealed(tx, run, first, entries)
        # What is behind the last entry of a row that ends later is in memory: it opens the next block.
        tx.run(delete(run_log).where(*mine, run_log.c.first_seq.between(first, last)))
        tx.insert(run_log, [(run.owner, run_id, first, last, encoding, data)])
        first, count, after = last + 1, count + 1, after + len(data)
    tx.run(update(runs).where(runs.c.owner == run.owner, runs.c.id == run_id).values(sealed=True))
    return SealReport(
        run_id=run_id, entries=run.last_seq, blocks=count, bytes_before=int(before), bytes_after=after
    )


def _sealed(tx: Transaction, run: Row[Any], first: int, entries: list[Stored]) -> tuple[str, bytes]:
    """A block of entries, compared with them; pictures in it are kept as blobs."""
    stripped = [take_out(entry.raw or b"") for entry in entries]
    pictures = {digest: data for one in stripped for digest, data in one.pictures.items()}
    lean = [
        entry._replace(raw=one.rest, cuts=one.cuts) if one.cuts else entry
        for entry, one in zip(entries, stripped, strict=True)
    ]
    encoding, data = blocks.seal(lean)
    if whole(blocks.unpack(encoding, data), pictures) != entries:
        raise StoreError(
            "a sealed block does not give back its entries", where=f"run {run.id}, entry {first}"
        )
    _keep(tx, run, pictures)
    return encoding, data


def _keep(tx: Transaction, run: Row[Any], pictures: dict[str, bytes]) -> None:
    """Keep pictures as blobs, and note that the run's log holds them."""
    if not pictures:
        return
    blobs.write(tx, run.owner, [(digest, data, None) for digest, data in pictures.items()])
    tx.many(HOLDS, [(run.owner, run.id, digest) for digest in sorted(pictures)])


def runs_to_seal(tx: Transaction, limit: int = 100) -> list[str]:
    """Runs that have ended and are not sealed, the oldest first."""
    return [run_id for _, run_id in owned_runs_to_seal(tx, limit)]


def owned_runs_to_seal(
    tx: Transaction, limit: int = 100, ended_before: datetime | None = None
) -> list[tuple[str, str]]:
    """The same, each with its owner: runs of several owners may have one id."""
    query = (
        select(runs.c.owner, runs.c.id)
        .where(
            tx.mine(runs),
            text("NOT runs.sealed"),  # as the index says it
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
