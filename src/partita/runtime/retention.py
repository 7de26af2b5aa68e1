"""Apply a retention policy once a day, while a server or a watcher runs."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

from partita.errors import StoreError
from partita.store.logs.maintenance import Retention
from partita.store.store import Store

from .background_task import BackgroundTask

LOG: Final = logging.getLogger("partita.retention")

DAY: Final = 86_400.0


class DailyRetention(BackgroundTask):
    """Use it as an async context manager. Several processes may apply a policy to the same store."""

    def __init__(self, store: Store, policy: Retention | None, *, interval: float = DAY) -> None:
        """Without a policy, nothing is done. `interval`: the seconds between two applications."""
        self._store = store
        self._policy = policy
        self._interval = interval

    def _work(self) -> Coroutine[Any, Any, None] | None:
        if self._policy is None or self._policy.keeps_everything:
            return None
        return self._run(self._policy)

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
