"""Seals the logs of ended runs in the background, while the server is open."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Final, Self

from partita.errors import PartitaError, StoreError, UnavailableError
from partita.store.facade.store import Store
from partita.store.log import sealing

AT_ONCE: Final = 100
SHORTEST: Final = 0.05
LONGEST: Final = 60.0
"""Seconds between two looks for runs to seal."""

BREATH: Final = 0.02
"""Seconds between two runs: sealing needs the store's only writer, and chats go first."""


class LogSealer:
    """Use it as an async context manager. Several processes may seal the same store: a run is sealed once."""

    def __init__(self, store: Store, after: float | None) -> None:
        """`after` is how many seconds a run has to have ended; `None` seals nothing."""
        self._store = store
        self._after = after
        self._failed: set[tuple[str, str]] = set()  # `partita doctor` reports what is wrong with them
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._after is not None:
            self._task = asyncio.create_task(self._run(self._after), name="seal logs")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, after: float) -> None:
        while True:
            await asyncio.sleep(min(max(after, SHORTEST), LONGEST))
            with suppress(StoreError):  # the store may be unavailable for a while
                while await self._seal(datetime.now(UTC) - timedelta(seconds=after)) == AT_ONCE:
                    pass

    async def _seal(self, ended_before: datetime) -> int:
        """Seal some runs; how many there were to seal."""
        limit = AT_ONCE + len(self._failed)
        found = await self._store.read(sealing.owned_runs_to_seal, limit, ended_before)
        waiting = [run for run in found if run not in self._failed]
        for run in waiting:
            try:
                await self._store.write(sealing.seal_owned_run, *run)
            except UnavailableError:
                raise
            except PartitaError:
                self._failed.add(run)
            await asyncio.sleep(BREATH)
        return len(waiting)
