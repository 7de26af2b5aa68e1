"""Writes batches of imported threads, with their runs, logs and consumptions."""

from collections.abc import Sequence

from partita.store import consumptions
from partita.store.sessions.writing import write_runs
from partita.store.transaction import Transaction

from .report import Counts
from .writing import Batch, owned, write


def write_batches(tx: Transaction, batches: Sequence[Batch]) -> Counts:
    """Write threads, messages, runs and consumptions; all or nothing."""
    counts = write(tx, batches)
    for batch in batches:
        mine = owned(tx, batch.thread)
        write_runs(mine, batch.runs, new=False)
        if batch.consumptions:
            consumptions.record(mine, batch.consumptions)
    return counts
