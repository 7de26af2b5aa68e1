"""Poll the store for changed threads and runs.

Changed threads are found by `changed_at`: `updated_at` is the time of the last message, which may be years
ago in an imported thread. A transaction may be committed after a later one, so every poll also looks at the
last seconds again. New threads are found by their keys, since a long import is committed much later.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import Row, func, select

from partita.types.threads import RunStatus

from .runs.rows import ACTIVE
from .schema import runs, threads
from .sql.transaction import Transaction

MAX_THREADS: Final = 500
"""The number of threads that one poll returns; the next poll returns the others."""

OVERLAP: Final = timedelta(seconds=3)
"""The time before the last poll that is looked at again."""


class ThreadChange(NamedTuple):
    """A thread that is new or has changed."""

    owner: str
    id: str
    updated_at: datetime | None  # the time of its last message, if it is known


class RunChange(NamedTuple):
    """A run that was started, has changed or has ended. Without a status it was deleted."""

    owner: str
    id: str
    thread_id: str
    status: RunStatus | None


class Changes(NamedTuple):
    """The result of one poll."""

    threads: Sequence[ThreadChange]
    runs: Sequence[RunChange]
    has_more: bool = False
    """Whether the next poll returns more, even if nothing else changes."""


@dataclass(slots=True)
class PollState:
    """What earlier polls have returned."""

    since: datetime
    last_key: int
    threads: dict[tuple[str, str], datetime] = field(default_factory=dict[tuple[str, str], datetime])
    runs: dict[tuple[str, str], RunChange] = field(default_factory=dict[tuple[str, str], RunChange])


def start_polling(tx: Transaction) -> PollState:
    """The state from which on changes are returned. The first poll also returns the active runs."""
    last = tx.run(select(func.max(threads.c.key)).where(tx.owned(threads))).scalar() or 0
    state = PollState(tx.now - OVERLAP, last)
    _changed_threads(tx, state)  # recent changes are not returned again
    return state


def poll(tx: Transaction, state: PollState) -> Changes:
    """The changes since the last poll. They are added to the state."""
    changed, has_more = _changed_threads(tx, state)
    return Changes(changed, _changed_runs(tx, state), has_more)


def _changed_threads(tx: Transaction, state: PollState) -> tuple[list[ThreadChange], bool]:
    """The threads that are new or have changed, and whether there are more of them."""
    at = threads.c.changed_at
    columns = (threads.c.owner, threads.c.id, threads.c.key, threads.c.updated_at, at)
    query = select(*columns).where(tx.owned(threads))
    changed = tx.rows(query.where(at >= state.since).order_by(at).limit(MAX_THREADS))
    added = tx.rows(query.where(threads.c.key > state.last_key).order_by(threads.c.key).limit(MAX_THREADS))
    state.last_key = added[-1].key if added else state.last_key
    found = {(row.owner, row.id): row for row in (*changed, *added)}
    changes = [_thread(row) for key, row in found.items() if state.threads.get(key) != row.changed_at]
    is_complete = len(changed) < MAX_THREADS
    state.since = tx.now - OVERLAP if is_complete else max(state.since, changed[-1].changed_at)
    state.threads = {key: row.changed_at for key, row in found.items() if row.changed_at >= state.since}
    return changes, not is_complete or len(added) == MAX_THREADS


def _thread(row: Row[Any]) -> ThreadChange:
    return ThreadChange(row.owner, row.id, row.updated_at)


def _changed_runs(tx: Transaction, state: PollState) -> list[RunChange]:
    query = select(runs.c.owner, runs.c.id, runs.c.thread_id, runs.c.status).where(tx.owned(runs))
    active = _by_key(tx.rows(query.where(runs.c.finished_at.is_(None), runs.c.status.in_(ACTIVE))))
    gone = [run for key, run in state.runs.items() if key not in active]
    ended = _by_key(tx.rows(query.where(tx.among(runs.c.id, [run.id for run in gone])))) if gone else {}
    changes = [run for key, run in active.items() if state.runs.get(key) != run]
    changes += [ended.get((run.owner, run.id), run._replace(status=None)) for run in gone]
    state.runs = active
    return changes


def _by_key(rows: Sequence[Row[Any]]) -> dict[tuple[str, str], RunChange]:
    return {(row.owner, row.id): RunChange(row.owner, row.id, row.thread_id, row.status) for row in rows}
