"""The state of the application, which all requests share."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, Final

from partita.errors import NotFoundError, PartitaError, StoreError, UnavailableError
from partita.runtime.background_task import BackgroundTask
from partita.runtime.rebuild.provenance import ProvenanceCache
from partita.runtime.service import AgentService
from partita.runtime.session.session import Session
from partita.store.logs import maintenance
from partita.store.store import Store

from .access import EVERYTHING, Group
from .feed import Feed, ImportProgress
from .log_import import LogImport
from .metrics import Metrics
from .problems import Problem
from .settings import Settings
from .worker_pool import WorkerPool

# Readiness: a probe reads and writes the store at most once a second.

PROBE_TIMEOUT: Final = 1.0
"""Seconds within which the store must respond."""

PROBE_CACHE_SECONDS: Final = 1.0
"""Seconds for which a result is reused."""


class Readiness:
    """Probes a store. Concurrent checks share one probe."""

    def __init__(
        self, store: Store, *, timeout: float = PROBE_TIMEOUT, cache_seconds: float = PROBE_CACHE_SECONDS
    ) -> None:
        self._store = store
        self._timeout = timeout
        self._cache_seconds = cache_seconds
        self._probe: asyncio.Task[bool] | None = None
        self._until = 0.0

    async def check(self) -> bool:
        """Whether the store can be read and written, or could within the last second."""
        if self._probe is None or (self._probe.done() and monotonic() >= self._until):
            # It is shared: it must not run in the context of the first request.
            self._probe = asyncio.create_task(self._run(), name="probe the store", context=Context())
        return await asyncio.shield(self._probe)

    async def _run(self) -> bool:
        try:
            await asyncio.wait_for(self._store.probe(), self._timeout)
        except (StoreError, OSError, TimeoutError):
            return False
        finally:
            self._until = monotonic() + self._cache_seconds
        return True


class Agents:
    """The agents by name. The first is the default."""

    def __init__(self, agents: dict[str, AgentService]) -> None:
        self.by_name = agents

    def get(self, name: str | None = None) -> AgentService:
        """The agent of that name; without a name, the default."""
        if not self.by_name:
            raise Problem(501, "this server has no agent", hint="start the server with one")
        if name is None:
            return next(iter(self.by_name.values()))
        if name not in self.by_name:
            raise NotFoundError(f"no agent {name!r}", hint=f"use one of {', '.join(self.by_name)}")
        return self.by_name[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppState:
    """What is open while the application runs: store, session, agents and so on."""

    store: Store
    session: Session
    agents: Agents
    settings: Settings
    metrics: Metrics
    feed: Feed
    readiness: Readiness
    workers: WorkerPool
    published: frozenset[Group] = EVERYTHING
    """The groups of routes that the application publishes."""
    progress: ImportProgress
    log_import: LogImport
    provenances: ProvenanceCache = field(default_factory=ProvenanceCache)


# Seals the logs of ended runs in the background, while the server is open.

BATCH_SIZE: Final = 100
"""How many runs are searched for and sealed at a time."""

MIN_INTERVAL: Final = 0.05
MAX_INTERVAL: Final = 60.0
"""The largest number of seconds between two searches for runs to seal; `MIN_INTERVAL` is the smallest."""

PAUSE: Final = 0.02
"""Seconds between two runs: sealing uses the store's only writer, and chats have priority."""


class LogSealer(BackgroundTask):
    """Use it as an async context manager. Several processes may seal the same store: a run is sealed once."""

    def __init__(self, store: Store, after: float | None) -> None:
        """Runs are sealed that ended at least `after` seconds ago; none if it is `None`."""
        self._store = store
        self._after = after
        self._failed: set[tuple[str, str]] = set()  # `partita doctor` reports why

    def _work(self) -> Coroutine[Any, Any, None] | None:
        return None if self._after is None else self._run(self._after)

    async def _run(self, after: float) -> None:
        while True:
            await asyncio.sleep(min(max(after, MIN_INTERVAL), MAX_INTERVAL))
            with suppress(StoreError):  # the store may be unavailable for a while
                while await self._seal(datetime.now(UTC) - timedelta(seconds=after)) == BATCH_SIZE:
                    pass

    async def _seal(self, ended_before: datetime) -> int:
        """Seal some runs, and return how many there were to seal."""
        limit = BATCH_SIZE + len(self._failed)
        found = await self._store.read(maintenance.owned_runs_to_seal, limit, ended_before)
        waiting = [run for run in found if run not in self._failed]
        for run in waiting:
            try:
                await self._store.write(maintenance.seal_owned_run, *run)
            except UnavailableError:
                raise
            except PartitaError:
                self._failed.add(run)
            await asyncio.sleep(PAUSE)
        return len(waiting)
