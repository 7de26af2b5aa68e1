"""The provenance of sessions that somebody asked about lately, so that a second question costs no reading."""

import asyncio
from collections import OrderedDict
from typing import Any, Final, TypeAlias

from sqlalchemy import func, select

from partita.errors import PartitaError, UnavailableError
from partita.store import sources
from partita.store.facade.store import Store
from partita.store.tables import runs
from partita.store.transaction import Transaction

from .kept_session import Skipped, kept_session
from .provenance import Provenance, trace

MOST: Final = 8
"""How many sessions are remembered."""

Mark: TypeAlias = tuple[Any, ...]
"""What changes when more of a session was read, or lines of it are dropped."""


Key: TypeAlias = tuple[str | None, str]


class Provenances:
    """Reads sessions when they are asked for, one at a time, and remembers the last ones."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[Key, tuple[Mark, Provenance | None]] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def get(self, store: Store, thread_id: str) -> Provenance | None:
        """The provenance of the session that a thread was read from; `None` if it cannot be read anew."""
        key = store.owner, thread_id
        mark = await store.read(_mark, thread_id)
        if not self._knows(key, mark):
            async with self._one_at_a_time:
                if not self._knows(key, mark):  # nor did anybody ask the same meanwhile
                    self._known[key] = mark, await _read(store, thread_id)
        self._known.move_to_end(key)
        found = self._known[key][1]
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return found

    def _knows(self, key: Key, mark: Mark) -> bool:
        known = self._known.get(key)
        return known is not None and known[0] == mark


async def _read(store: Store, thread_id: str) -> Provenance | None:
    try:
        files = await store.read(sources.list_of_thread, thread_id)
        session = await kept_session(store, thread_id, files, lines_only=True)
        return await asyncio.to_thread(trace, session)
    except UnavailableError:
        raise
    except (Skipped, PartitaError):
        return None


def _mark(tx: Transaction, thread_id: str) -> Mark:
    counted = func.count(), func.sum(runs.c.last_seq), func.count(runs.c.log_dropped_at)
    mine = select(runs.c.status, *counted).where(tx.mine(runs), runs.c.thread_id == thread_id)
    return tuple(tuple(row) for row in tx.rows(mine.group_by(runs.c.status).order_by(runs.c.status)))
