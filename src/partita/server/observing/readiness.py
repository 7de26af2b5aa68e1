"""Whether the server can do its work: the store is read and written, at most once a second."""

import asyncio
from contextvars import Context
from time import monotonic
from typing import Final

from partita.errors import StoreError
from partita.store.facade.store import Store

PATIENCE: Final = 1.0
"""Seconds that the store has to answer."""

KEPT: Final = 1.0
"""Seconds for which a result counts."""


class Readiness:
    """Probes a store. Those who ask at the same time share one probe."""

    def __init__(self, store: Store, *, patience: float = PATIENCE, kept: float = KEPT) -> None:
        self._store = store
        self._patience = patience
        self._kept = kept
        self._probe: asyncio.Task[bool] | None = None
        self._until = 0.0

    async def check(self) -> bool:
        """Whether the store could be read and written a moment ago."""
        if self._probe is None or (self._probe.done() and monotonic() >= self._until):
            # Shared, so not in the context of the request that happens to be first.
            self._probe = asyncio.create_task(self._run(), name="probe the store", context=Context())
        return await asyncio.shield(self._probe)

    async def _run(self) -> bool:
        try:
            await asyncio.wait_for(self._store.probe(), self._patience)
        except (StoreError, OSError, TimeoutError):
            return False
        finally:
            self._until = monotonic() + self._kept
        return True
