"""How often somebody may ask: a bucket of tokens for each, which fills again by the minute."""

import math
import time
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final, NamedTuple

from partita.server.problems import Problem

MOST: Final = 10_000
"""How many buckets there are at once; those that were used longest ago go."""


class Bucket(NamedTuple):
    """How many requests were left, and when that was."""

    left: float
    at: float


class Rates:
    """Counts the requests of each."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self.buckets: dict[str, Bucket] = {}  # in the order in which they were used

    def take(self, who: str) -> None:
        """Count one request; an error when there were too many."""
        now = self._clock()
        bucket = self.buckets.pop(who, None)
        left = self._most
        if bucket is not None:
            left = min(self._most, bucket.left + (now - bucket.at) * self._per_second)
        while len(self.buckets) >= MOST:
            del self.buckets[next(iter(self.buckets))]
        self.buckets[who] = Bucket(left - 1 if left >= 1 else left, now)
        if left < 1:
            seconds = math.ceil((1 - left) / self._per_second) if self._per_second else 60
            raise Problem(
                429,
                "too many requests",
                hint=f"at most {self._most:.0f} a minute",
                headers={"retry-after": str(max(seconds, 1))},
            )


def place_of(address: str) -> str:
    """An address as it is counted: of IPv6 the network, since everybody has a whole one of them."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Network((found, 64), strict=False).network_address)
    return address
