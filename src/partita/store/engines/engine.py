"""What an engine does for the store: run work in a transaction, and say when something has changed."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from .availability import EngineHealth
from .wake import News

T = TypeVar("T")


class Engine(Protocol):
    """SQLite or PostgreSQL. Work is a function of a connection; it is run in one transaction."""

    @property
    def where(self) -> str:
        """The place of the store, as it may be shown."""
        ...

    @property
    def health(self) -> EngineHealth:
        """Whether the database can be used."""
        ...

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What the work gives, from one consistent view."""
        ...

    async def write(self, work: Callable[[Connection], T], *, urgent: bool = False) -> T:
        """What the work gives, once it is durable; if it raises, nothing of it remains.

        Work may be run again when the engine had to start over: it must have no effects of its own. What is
        urgent does not wait in line behind other work.
        """
        ...

    async def make(self, work: Callable[[Connection], None]) -> None:
        """Do work that makes or changes the tables, in one transaction."""
        ...

    async def alone(self, work: Callable[[Connection], T]) -> T:
        """What the work gives, outside any transaction: for what the engine refuses inside one."""
        ...

    def listen(self, topic: str) -> AbstractContextManager[News]:
        """News of a topic: someone, perhaps another process, may have written about it."""
        ...

    def tell(self, topic: str) -> None:
        """Wake those in this process who wait for a topic."""
        ...

    def change_mark(self) -> object | None:
        """A value that differs after every commit of any process, found without a query; `None`: unknown.

        A caller that saw the same mark before need not look at the store again. It may differ though nothing
        was committed.
        """
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of the database."""
        ...
