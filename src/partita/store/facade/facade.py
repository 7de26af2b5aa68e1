"""What all parts of the store share: an engine, an owner, a clock, and work in one transaction."""

from collections.abc import Callable
from datetime import datetime
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from partita.errors import StoreError
from partita.store.engines.engine import Engine
from partita.store.log.appender import Appender
from partita.store.transaction import Transaction, utc_now

T = TypeVar("T")
P = ParamSpec("P")


class View(Protocol):
    """Makes another version of a value, of the same type."""

    def __call__(self, value: T, /) -> T:
        """The value as it may be seen."""
        ...


class Facade:
    """An engine, and whose rows may be seen and touched through it."""

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Callable[[], datetime],
        owner: str | None = None,
        appender: Appender | None = None,
        view: View | None = None,
    ) -> None:
        self.engine = engine
        self.view = view
        """Applied to every result: what a caller of a server may not see is replaced. Work inside of a
        transaction is not affected, and neither are logs."""
        self.owner = owner
        self.clock = clock
        self.appender = appender or Appender(engine)

    async def read(
        self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """What a function gives in a transaction that only reads."""
        result = await self.engine.read(self._in_transaction(work, *args, **options))
        return result if self.view is None else self.view(result)

    async def write(
        self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """What a function gives in a transaction, once it is durable. It may be called more than once."""
        result = await self.engine.write(self._in_transaction(work, *args, **options))
        return result if self.view is None else self.view(result)

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
