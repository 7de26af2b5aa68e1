"""Apply a retention policy once a day, while a server or a watcher runs."""

import asyncio
import logging
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from partita.errors import StoreError
from partita.store.logs.maintenance import Retention
from partita.store.store import Store

LOG: Final = logging.getLogger("partita.retention")

DAY: Final = 86_400.0


class DailyRetention:
    """Use it as an async context manager. Several processes may apply a policy to the same store."""

    def __init__(self, store: Store, policy: Retention | None, *, interval: float = DAY) -> None:
        """Without a policy, nothing is done. `interval`: the seconds between two applications."""
        self._store = store
        self._policy = policy
        self._interval = interval
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._policy is not None and not self._policy.keeps_everything:
            self._task = asyncio.create_task(self._run(self._policy), name="apply retention")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, policy: Retention) -> None:
        while True:
            try:
                removed = await self._store.apply_retention(policy)
                LOG.info(
                    "retention: removed %d threads, %d logs", len(removed.threads), len(removed.logs.run_ids)
                )
            except StoreError as error:  # the store may be unavailable for a while
                LOG.warning("retention failed: %s", error)
            await asyncio.sleep(self._interval)
