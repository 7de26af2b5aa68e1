"""What changed in a store since one looked last: threads, by the time of the change and by key, and runs.

A thread that was imported, renamed or pinned keeps the time of what was last said in it, which may be years
ago: the time of its change is another one. What another process writes may be committed after something
later: so one looks back a little, each time, and a thread of a long import is known as new by its key.
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

AT_ONCE: Final = 500
"""How many threads one look tells of; the next one tells of the rest."""

BACK: Final = timedelta(seconds=3)
"""How far one looks back."""


class ThreadNews(NamedTuple):
    """A thread that is new, or has changed."""

    owner: str
    id: str
    updated_at: datetime  # when something was last said in it


class RunNews(NamedTuple):
    """A run that has begun, goes on differently, or has ended; without a status it was deleted."""

    owner: str
    id: str
    thread_id: str
    status: RunStatus | None


class News(NamedTuple):
    """All that one look found."""

    threads: Sequence[ThreadNews]
    runs: Sequence[RunNews]
    more: bool = False
    """Whether there is more to tell though nothing else changes."""


@dataclass(slots=True)
class Seen:
    """What was seen so far."""

    since: datetime
    last_key: int
    threads: dict[tuple[str, str], datetime] = field(default_factory=dict[tuple[str, str], datetime])
    runs: dict[tuple[str, str], RunNews] = field(default_factory=dict[tuple[str, str], RunNews])


def begin(tx: Transaction) -> Seen:
    """To tell from now on what changes; the runs at work are told first."""
    last = tx.run(select(func.max(threads.c.key)).where(tx.owned(threads))).scalar() or 0
    seen = Seen(tx.now - BACK, last)
    _threads(tx, seen)  # what changed just now is no news
    return seen


def look(tx: Transaction, seen: Seen) -> News:
    """What changed since. What was told is noted in `seen`."""
    news, more = _threads(tx, seen)
    return News(news, _runs(tx, seen), more)


def _threads(tx: Transaction, seen: Seen) -> tuple[list[ThreadNews], bool]:
    """The threads that are new or have changed, and whether there are more of them."""
    at = threads.c.changed_at
    columns = (threads.c.owner, threads.c.id, threads.c.key, threads.c.updated_at, at)
    query = select(*columns).where(tx.owned(threads))
    changed = tx.rows(query.where(at >= seen.since).order_by(at).limit(AT_ONCE))
    added = tx.rows(query.where(threads.c.key > seen.last_key).order_by(threads.c.key).limit(AT_ONCE))
    seen.last_key = added[-1].key if added else seen.last_key
    found = {(row.owner, row.id): row for row in (*changed, *added)}
    news = [_thread(row) for key, row in found.items() if seen.threads.get(key) != row.changed_at]
    whole = len(changed) < AT_ONCE
    seen.since = tx.now - BACK if whole else max(seen.since, changed[-1].changed_at)
    seen.threads = {key: row.changed_at for key, row in found.items() if row.changed_at >= seen.since}
    return news, not whole or len(added) == AT_ONCE


def _thread(row: Row[Any]) -> ThreadNews:
    return ThreadNews(row.owner, row.id, row.updated_at)


def _runs(tx: Transaction, seen: Seen) -> list[RunNews]:
    query = select(runs.c.owner, runs.c.id, runs.c.thread_id, runs.c.status).where(tx.owned(runs))
    at_work = _by_key(tx.rows(query.where(runs.c.finished_at.is_(None), runs.c.status.in_(ACTIVE))))
    gone = [run for key, run in seen.runs.items() if key not in at_work]
    ended = _by_key(tx.rows(query.where(tx.among(runs.c.id, [run.id for run in gone])))) if gone else {}
    news = [run for key, run in at_work.items() if seen.runs.get(key) != run]
    news += [ended.get((run.owner, run.id), run._replace(status=None)) for run in gone]
    seen.runs = at_work
    return news


def _by_key(rows: Sequence[Row[Any]]) -> dict[tuple[str, str], RunNews]:
    return {(row.owner, row.id): RunNews(row.owner, row.id, row.thread_id, row.status) for row in rows}
