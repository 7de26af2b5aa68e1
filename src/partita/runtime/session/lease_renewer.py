"""A background task of a session: renews leases, receives signals, and recovers runs of dead processes."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from time import monotonic
from typing import Final

from partita.errors import StoreError
from partita.runtime.failures import RunCounts
from partita.runtime.log_context import get_logger
from partita.store.runs.turns import Signal
from partita.store.store import Store
from partita.types.threads import Run

from .recovery import ExpiredLeases, recover_runs

LOG: Final = get_logger("partita.run")

PAUSE: Final = 0.05
"""Seconds between two rounds at least: another process that writes all the time notifies all the time."""


class LeaseRenewer:
    """Renews the leases of a process while it has runs, and recovers runs that other processes left."""

    def __init__(
        self,
        store: Store,
        owner: str,
        *,
        lease: float,
        heartbeat: float,
        on_signal: Callable[[Signal], None],
        has_runs: Callable[[], bool],
        recover: bool,
        counts: RunCounts,
    ) -> None:
        """A lease lasts `lease` seconds and is renewed every `heartbeat` seconds."""
        self._store = store
        self._owner = owner
        self._lease = lease
        self._heartbeat = heartbeat
        self._on_signal = on_signal
        self._has_runs = has_runs
        self._recover = recover
        self._counts = counts
        self._confirm = min(2 * heartbeat, lease)
        self._suspects = ExpiredLeases(self._confirm)
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._awake = asyncio.Event()
        self._recovered_at: float | None = None

    def start(self) -> None:
        """Start the task, unless it runs."""
        if self._task is None:
            # Not in the context of the request that happens to be the first: log lines would have its fields.
            self._task = asyncio.create_task(self._run(), name="lease renewer", context=Context())

    def wake(self) -> None:
        """Start to renew leases: there is a run."""
        self._awake.set()

    async def close(self) -> None:
        """Stop the task."""
        self._is_closed = True
        self.wake()
        if self._task is not None:
            self._store.engine.notify(self._owner)
            await self._task
            self._task = None

    async def _run(self) -> None:
        while not self._is_closed:
            self._awake.clear()
            if self._has_runs():
                await self._renew()
                continue
            await self._recover_runs()
            if not self._is_closed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._awake.wait(), self._recover_every if self._recover else None)

    async def _renew(self) -> None:
        """Renew the leases until there has been no run for the time of a heartbeat.

        The store notifies of signals only here: without runs, other processes send none to this one.
        """
        loop = asyncio.get_running_loop()
        renewed = active = loop.time()  # a run starts with a lease
        with self._store.engine.listen(self._owner) as news:
            while not self._is_closed and loop.time() - active < self._heartbeat:
                news.clear()
                has_runs = self._has_runs()
                with suppress(StoreError):  # the database may be back before the leases expire
                    if has_runs and (loop.time() - renewed >= self._heartbeat or await self._has_signals()):
                        renewed = loop.time()
                        for signal in await self._store.runs.renew_leases(self._owner, self._lease):
                            self._on_signal(signal)
                    await self._recover_runs()
                active = loop.time() if has_runs else active
                if not self._is_closed:
                    await asyncio.sleep(PAUSE)
                    rest = (renewed if has_runs else active) + self._heartbeat - loop.time()
                    await news.wait(max(0.0, rest))

    async def _has_signals(self) -> bool:
        """Whether there are signals for this process: other processes notify without any."""
        return await self._store.runs.has_signals(self._owner)

    @property
    def _recover_every(self) -> float:
        """Seconds between two recoveries: fewer while a lease has expired."""
        return self._confirm if self._suspects else self._lease / 2

    async def _recover_runs(self) -> None:
        """Recover runs that other processes left, if it is time for that."""
        now = asyncio.get_running_loop().time()
        if self._recover and (self._recovered_at is None or now - self._recovered_at >= self._recover_every):
            self._recovered_at = now
            self._suspects.forget(monotonic() - 4 * self._confirm)
            with suppress(StoreError):
                self._report(await recover_runs(self._store, owner=self._owner, suspects=self._suspects))

    def _report(self, recovered: Sequence[Run]) -> None:
        self._counts.recovered += len(recovered)
        for run in recovered:
            LOG.warning(
                "run %s was left behind by another process, and is ended as interrupted",
                run.id,
                extra={"run_id": run.id, "thread_id": run.thread_id},
            )
