"""Counters that all processes share: totals of a period, and the state of rate limits."""

from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from .schema import counters
from .sql.transaction import Transaction


class RateLimitGrant(NamedTuple):
    """How many requests a rate limit has granted, and after how many seconds it grants the next one."""

    count: int
    wait: float


class RateLimit(NamedTuple):
    """A rate: so many at once, and as many again within a minute, evenly."""

    per_minute: int

    def take(self, state: float | None, now: float, wanted: int) -> tuple[float, RateLimitGrant]:
        """Take up to `wanted` requests. `state` is the time at which all that were taken are due (GCRA)."""
        each = 60 / self.per_minute
        due = max(now, state or now)
        free = int((now + 60 - due) / each + 1e-6)
        count = max(0, min(free, wanted))
        due += count * each
        return due, RateLimitGrant(count, 0.0 if count else max(0.0, due + each - now - 60))


def add(tx: Transaction, amounts: Mapping[str, float], keep: timedelta) -> dict[str, float]:
    """Add to counters, and return their totals. Counters that have expired are deleted."""
    expires = tx.now + keep
    totals: dict[str, float] = {}
    for name in sorted(amounts):  # the same order everywhere: no deadlocks
        kind = sqlite.insert if tx.connection.dialect.name == "sqlite" else postgresql.insert
        made = kind(counters).values(name=name, value=amounts[name], expires_at=expires)
        added = made.on_conflict_do_update(
            index_elements=["name"], set_={"value": counters.c.value + made.excluded.value}
        ).returning(counters.c.value)
        totals[name] = tx.connection.execute(added).scalar_one()
    tx.connection.execute(delete(counters).where(counters.c.expires_at < tx.now))
    return totals


def take(tx: Transaction, name: str, limit: RateLimit, wanted: int) -> RateLimitGrant:
    """Take up to `wanted` requests from a rate limit."""
    add(tx, {name: 0.0}, timedelta(minutes=2))  # locks the row
    found = select(counters.c.value).where(counters.c.name == bindparam("of_name"))
    state: float = tx.connection.execute(found, {"of_name": name}).scalar_one()
    due, taken = limit.take(state, tx.now.timestamp(), wanted)
    tx.connection.execute(
        counters.update()
        .where(counters.c.name == name)
        .values(value=due, expires_at=tx.now + timedelta(minutes=2))
    )
    return taken
