"""Making small blocks of what a run that has ended left in its log."""

from dataclasses import dataclass

from sqlalchemy import delete, func, select, text, update

from partita.errors import ConflictError, StoreError

from . import log_blocks
from .run_log import stored_entries
from .runs import AT_WORK, find
from .tables import run_log, runs
from .transaction import Transaction


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
    mine = (run_log.c.owner == run.owner, run_log.c.run_id == run_id)
    before = tx.run(select(func.sum(func.length(run_log.c.data))).where(*mine)).scalar() or 0
    first, count, after = 1, 0, 0
    for entries in log_blocks.blocks(entry for _, entry in stored_entries(tx, run_id)):
        last = first + len(entries) - 1
        encoding, data = log_blocks.seal(entries)
        if log_blocks.unpack(encoding, data) != entries:
            raise StoreError(
                "a sealed block does not give back its entries", where=f"run {run_id}, entry {first}"
            )
        # What is behind the last entry of a row that ends later is in memory: it opens the next block.
        tx.run(delete(run_log).where(*mine, run_log.c.first_seq.between(first, last)))
        tx.insert(run_log, [(run.owner, run_id, first, last, encoding, data)])
        first, count, after = last + 1, count + 1, after + len(data)
    tx.run(update(runs).where(runs.c.owner == run.owner, runs.c.id == run_id).values(sealed=True))
    return SealReport(
        run_id=run_id, entries=run.last_seq, blocks=count, bytes_before=int(before), bytes_after=after
    )


def runs_to_seal(tx: Transaction, limit: int = 100) -> list[str]:
    """Runs that have ended and are not sealed, the oldest first."""
    query = (
        select(runs.c.id)
        .where(
            tx.mine(runs),
            text("NOT runs.sealed"),  # as the index says it
            runs.c.finished_at.is_not(None),
            runs.c.log_dropped_at.is_(None),
        )
        .order_by(runs.c.finished_at, runs.c.id)
        .limit(limit)
    )
    return [row.id for row in tx.rows(query)]
