"""Runs whose owner is gone: what their logs hold becomes their messages, and they end as interrupted."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from partita.errors import ConflictError, StreamError
from partita.runtime.folding import RunFold
from partita.store.facade.store import Store
from partita.store.log.run_log import LogRecord
from partita.store.turns import Ending
from partita.types.messages import AssistantMessage, Message
from partita.types.runs import Run

LOST: Final = "the process that worked on it went away"


async def recover_runs(store: Store, *, limit: int = 100) -> list[Run]:
    """End the runs that nobody holds any more. Several processes may do so at once: each run ends once."""
    ended: list[Run] = []
    for run in await store.abandoned_runs(limit=limit):
        with suppress(ConflictError):  # its owner is back, or somebody else was faster
            ended.append(await store.recover_run(run.id, fold_log, Ending("interrupted", LOST)))
    return ended


def fold_log(run: Run, seed: AssistantMessage | None, records: Sequence[LogRecord]) -> Sequence[Message]:
    """The messages of a run that broke off, as far as its log goes."""
    return folded(run, seed, records).finish("interrupted", LOST)


def folded(run: Run, seed: AssistantMessage | None, records: Sequence[LogRecord]) -> RunFold:
    """A log, folded as the live run was. The store refuses what does not fit, so nothing here should not."""
    fold = RunFold(run.message_id or f"{run.id}-message", run_id=run.id, seed=seed)
    for record in records:
        if record.chunk is not None:
            with suppress(StreamError):  # a log that others wrote: what fits is folded
                fold.feed(record.chunk)
    return fold
