"""The store: every message, run, chunk and raw event, kept. One class over two engines."""

from types import TracebackType

from sqlalchemy import Connection

from .analytics import AnalyticsStore
from .archive import ArchiveStore
from .facade import View
from .keys import KeyStore
from .messages import MessageStore
from .runs import RunStore
from .threads import ThreadStore
from .turns import TurnStore


class Store(ThreadStore, MessageStore, RunStore, TurnStore, ArchiveStore, AnalyticsStore, KeyStore):
    """Threads, messages, runs and their logs, blobs, search, statistics, keys. Made by `open_store`."""

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Write what waits, and let go of the database."""
        await self.appender.close()
        await self.engine.close()

    async def probe(self) -> None:
        """Read and write next to nothing. Raises when the database cannot be read or written."""
        await self.engine.read(_read_probe)
        await self.engine.write(_write_probe, urgent=True)

    def scoped(self, resource_id: str) -> "Store":
        """The same store, for one owner: others' rows cannot be seen or touched through it."""
        return Store(self.engine, clock=self.clock, owner=resource_id, appender=self.appender, view=self.view)

    def viewed(self, view: View) -> "Store":
        """The same store, with a view that every result passes through."""
        return Store(self.engine, clock=self.clock, owner=self.owner, appender=self.appender, view=view)


def _read_probe(connection: Connection) -> None:
    connection.exec_driver_sql("SELECT version_num FROM alembic_version").first()


def _write_probe(connection: Connection) -> None:
    # The value stays the same, but a row is written and committed: a full disk is noticed.
    connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
