"""Rate limits: requests per minute of each caller, in all processes that share the store."""

import math
import time
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final, NamedTuple

from partita.errors import StoreError
from partita.server.problems import Problem
from partita.store import counters
from partita.store.counters import RateLimit, RateLimitGrant
from partita.store.store import Store

MAX_CALLERS: Final = 10_000
"""How many callers are tracked at once; the one that called longest ago is dropped first."""

MAX_BATCH_SHARE: Final = 0.05
"""The largest part of the limit that a process takes at once."""

BATCH_SECONDS: Final = 10.0
"""Seconds for which a process keeps requests that it has taken and not used."""


class Batch(NamedTuple):
    """Requests that this process has taken for a caller: how many remain, of how many, since when."""

    remaining: int
    size: int
    at: float


class Rates:
    """Counts the requests of each caller.

    A process takes requests from the shared limit in batches, so that most requests need no transaction. The
    first batch is one request; batches grow while they are used up within a second. Requests that are taken
    and not used are lost to the caller: at most `MAX_BATCH_SHARE` of the limit for each process. Without a
    store, the process counts alone.
    """

    def __init__(
        self,
        per_minute: int,
        store: Callable[[], Store] | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._limit = RateLimit(per_minute)
        self._largest = max(1, int(per_minute * MAX_BATCH_SHARE))
        self._store = store
        self._clock = clock
        self._states: dict[str, float] = {}  # the counters, if there is no store
        self.batches: dict[str, Batch] = {}  # by caller, in the order in which they called

    async def take(self, caller: str) -> None:
        """Count one request; raise if there were too many."""
        now = self._clock()
        batch = self.batches.pop(caller, None)
        if batch is None or not batch.remaining or now - batch.at > BATCH_SECONDS:
            size = 1
            if batch is not None and not batch.remaining and now - batch.at < 1:
                size = min(batch.size * 2, self._largest)
            taken = await self._take(caller, size, now)
            batch = Batch(taken.count, size, now)
            if not taken.count:
                raise Problem(
                    429,
                    "too many requests",
                    hint=f"at most {self._limit.per_minute} a minute",
                    headers={"retry-after": str(max(math.ceil(taken.wait), 1))},
                )
        while len(self.batches) >= MAX_CALLERS:
            del self.batches[next(iter(self.batches))]
        self.batches[caller] = batch._replace(remaining=batch.remaining - 1)

    async def _take(self, caller: str, count: int, now: float) -> RateLimitGrant:
        if self._store is not None:
            try:
                return await self._store().write(counters.take, f"rate {caller}", self._limit, count)
            except StoreError:  # the store is unavailable: count alone meanwhile
                pass
        state, taken = self._limit.take(self._states.pop(caller, None), now, count)
        while len(self._states) >= MAX_CALLERS:
            del self._states[next(iter(self._states))]
        self._states[caller] = state
        return taken


def counted_address(address: str) -> str:
    """An address as it is counted: of IPv6 the network, because one caller has a whole network."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Network((found, 64), strict=False).network_address)
    return address
