"""What a process does for runs beside the work itself: hold its own, hear others, end the orphaned."""

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

from .recovery import Suspects, recover_runs

LOG: Final = get_logger("partita.run")

BREATH: Final = 0.05
"""How long it rests at least: where another process writes all the time, there is always news."""


class Keeper:
    """Renews leases, hands out signals, and ends runs that others left behind, as long as it runs."""

    def __init__(
        self,
        store: Store,
        owner: str,
        *,
        lease: float,
        beat: float,
        hear: Callable[[Signal], None],
        is_at_work: Callable[[], bool],
        recover: bool,
        counts: RunCounts,
    ) -> None:
        self._store = store
        self._owner = owner
        self._lease = lease
        self._beat = beat
        self._hear = hear
        self._is_at_work = is_at_work
        self._recover = recover
        self._counts = counts
        self._confirm = min(2 * beat, lease)
        self._suspects = Suspects(self._confirm)
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._awake = asyncio.Event()
        self._recovered: float | None = None

    def start(self) -> None:
        """Begin, unless it has."""
        if self._task is None:
            # Not in the context of the request that happened to come first: its log lines are not of that.
            self._task = asyncio.create_task(self._keep(), name="keeper of runs", context=Context())

    def wake(self) -> None:
        """There is a run to hold: listen to what others say of it."""
        self._awake.set()

    async def close(self) -> None:
        """Stop keeping."""
        self._closed = True
        self.wake()
        if self._task is not None:
            self._store.engine.notify(self._owner)
            await self._task
            self._task = None

    async def _keep(self) -> None:
        while not self._closed:
            self._awake.clear()
            if self._is_at_work():
                await self._hold()
                continue
            await self._recover_runs()
            if not self._closed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._awake.wait(), self._recover_every if self._recover else None)

    async def _hold(self) -> None:
        """Hold the runs at work, until there has been none for a while.

        The store is watched for signals only here: without runs, other processes send none to this one.
        """
        loop = asyncio.get_running_loop()
        beaten = worked = loop.time()  # a run begins with a lease
        with self._store.engine.listen(self._owner) as news:
            while not self._closed and loop.time() - worked < self._beat:
                news.clear()
                is_at_work = self._is_at_work()
                with suppress(StoreError):  # the database may be back before the lease is over
                    if is_at_work and (loop.time() - beaten >= self._beat or await self._is_wanted()):
                        beaten = loop.time()
                        for signal in await self._store.runs.renew_leases(self._owner, self._lease):
                            self._hear(signal)
                    await self._recover_runs()
                worked = loop.time() if is_at_work else worked
                if not self._closed:
                    await asyncio.sleep(BREATH)
                    rest = (beaten if is_at_work else worked) + self._beat - loop.time()
                    await news.wait(max(0.0, rest))

    @property
    def _recover_every(self) -> float:
        """Seconds between two looks for runs that were left behind: fewer while some may have been."""
        return self._confirm if self._suspects else self._lease / 2

    async def _recover_runs(self) -> None:
        """End runs that other processes left behind, if it is time to look for them."""
        now = asyncio.get_running_loop().time()
        if self._recover and (self._recovered is None or now - self._recovered >= self._recover_every):
            self._recovered = now
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

    async def _is_wanted(self) -> bool:
        """Whether the news is for us: others write all the time, and must not make us write too."""
        return await self._store.runs.has_signals(self._owner)
