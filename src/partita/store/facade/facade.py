"""What all parts of the store share: an engine, an owner, a clock, and work in one transaction."""

from collections.abc import Callable
from datetime import datetime
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from partita.errors import StoreError
from partita.store.engines.engine import Engine
from partita.store.log.appender import Appender
from partita.store.transaction import Transaction, utc_now

T = TypeVar("T")
P = ParamSpec("P")


class Facade:
    """An engine, and whose rows may be seen and touched through it."""

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Callable[[], datetime],
        owner: str | None = None,
        appender: Appender | None = None,
    ) -> None:
        self.engine = engine
        self.owner = owner
        self.clock = clock
        self.appender = appender or Appender(engine)

    async def read(
        self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """What a function gives in a transaction that only reads."""
        return await self.engine.read(self._in_transaction(work, *args, **options))

    async def write(
        self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """What a function gives in a transaction, once it is durable. It may be called more than once."""
        return await self.engine.write(self._in_transaction(work, *args, **options))

    def _in_transaction(
        self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **options: P.kwargs
    ) -> Callable[[Connection], T]:
        now, owner, by_system_clock = self.clock(), self.owner, self.clock is utc_now
        return lambda connection: work(Transaction(connection, owner, now, by_system_clock), *args, **options)


def at_least_one(limit: int) -> int:
    """A limit that makes sense."""
    if limit < 1:
        raise StoreError(f"a page of {limit}", hint="limit is 1 or more")
    return limit
