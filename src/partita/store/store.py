"""The store: every message, run, chunk and raw event, on SQLite or PostgreSQL."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType

from sqlalchemy import Connection, text

from . import owners, rebuild, retention
from .blobs.blobs import Blobs
from .context import StoreContext, View
from .engines.engine import Engine
from .engines.location import copies_of, store_files
from .keys import Keys
from .logs.appender import Appender
from .logs.logs import Logs
from .logs.maintenance import Retention
from .memory import StoreMemory
from .messages.messages import Messages
from .owners import OwnerReport
from .retention import RemovalReport
from .runs.runs import Runs
from .search.find import find_in_thread
from .search.search import search
from .sources import Sources
from .sql.transaction import Transaction
from .stats.stats import Stats, UsageLedger
from .threads.threads import Threads
from .values import SearchFilter, SearchPage, ThreadMatches

BATCH = 200
"""The number of rows that are rebuilt in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactReport:
    """The size of a store before and after it was compacted, in bytes."""

    before: int
    after: int


class Store(StoreContext):
    """Threads, messages, runs and their logs, blobs, search, statistics and keys. `open_store` makes it."""

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Callable[[], datetime],
        appender: Appender,
        owner: str | None = None,
        view: View | None = None,
    ) -> None:
        super().__init__(engine, clock=clock, owner=owner, view=view)
        self.appender = appender

    @cached_property
    def threads(self) -> Threads:
        """Conversations."""
        return Threads(self)

    @cached_property
    def messages(self) -> Messages:
        """Messages and their parts."""
        return Messages(self)

    @cached_property
    def runs(self) -> Runs:
        """Runs, their leases, and the messages that they begin and end with."""
        return Runs(self)

    @cached_property
    def logs(self) -> Logs:
        """The logs of runs."""
        return Logs(self, self.appender)

    @cached_property
    def blobs(self) -> Blobs:
        """Bytes by their hash."""
        return Blobs(self)

    @cached_property
    def sources(self) -> Sources:
        """The files that messages were imported from."""
        return Sources(self)

    @cached_property
    def usage(self) -> UsageLedger:
        """What responses of models consumed."""
        return UsageLedger(self)

    @cached_property
    def stats(self) -> Stats:
        """Statistics."""
        return Stats(self)

    @cached_property
    def keys(self) -> Keys:
        """API keys."""
        return Keys(self)

    @cached_property
    def memory(self) -> StoreMemory:
        """The store as a `MemoryStore`."""
        return StoreMemory(self.threads, self.messages)

    async def search(
        self,
        query: str,
        filter: SearchFilter | None = None,
        *,
        limit: int = 20,
        cursor: str | None = None,
        per_thread: int | None = None,
    ) -> SearchPage:
        """A page of messages and titles that match a query, the best first.

        All words must be found: `word "a phrase" -without this OR that prefix* tool:Bash file:app.py
        project:app agent:codex role:user in:title before:2026-03-01 after:1w`. The last word is also a
        prefix. With `per_thread`, hits are grouped by thread: its title and at most so many messages.
        """
        return await self.read(search, query, filter, limit=limit, cursor=cursor, per_thread=per_thread)

    async def find_in_thread(self, thread_id: str, query: str, *, match_case: bool = False) -> ThreadMatches:
        """Where the words of a query occur in a thread, in the order of its messages."""
        return await self.read(find_in_thread, thread_id, query, match_case=match_case)

    def scoped(self, resource_id: str) -> "Store":
        """The same store for one owner: rows of others can be neither read nor written through it."""
        return Store(self.engine, clock=self.clock, owner=resource_id, appender=self.appender, view=self.view)

    def with_view(self, view: View) -> "Store":
        """The same store with a view that is applied to every result."""
        return Store(self.engine, clock=self.clock, owner=self.owner, appender=self.appender, view=view)

    # Maintenance

    async def rebuild(self) -> int:
        """Rebuild flags, part rows, branches, counters, index and ledger; returns the number of messages."""
        messages = await self._in_batches(rebuild.rebuild_messages)
        await self._in_batches(rebuild.rebuild_threads)
        return messages

    async def _in_batches(self, rebuild: Callable[[Transaction, int, int], tuple[int, int]]) -> int:
        """Rebuild all rows, some in each transaction, so that others can write in between."""
        total, key = 0, 0
        while True:
            count, key = await self.write(rebuild, key, BATCH)
            total += count
            if count < BATCH:
                return total

    async def apply_retention(self, policy: Retention, *, dry_run: bool = False) -> RemovalReport:
        """Remove the threads and logs that a policy does not keep; with `dry_run`, only find them."""
        return await retention.apply_retention(self, policy, dry_run=dry_run)

    async def delete_owner(self, resource_id: str) -> OwnerReport:
        """Delete the threads of an owner with all they contain, and blobs, sources, keys and counters."""
        return await self.write(owners.delete_owner, resource_id)

    async def compact(self) -> CompactReport:
        """Return the space of deleted rows to the file system. In SQLite, nothing is left of them.

        SQLite needs free disk space of the size of the store.
        """
        before = await self.size()
        await self.engine.autocommit(_vacuum)
        return CompactReport(before=before, after=await self.size())

    async def size(self) -> int:
        """The size of the store in bytes: of the files, or of the database on the server."""
        return await self.engine.read(_size)

    async def probe(self) -> None:
        """Read and write a little. Raises a `StoreError` if the database cannot be read or written."""
        await self.engine.read(_read_probe)
        await self.engine.write(_write_probe, urgent=True)

    async def close(self) -> None:
        """Write pending entries of logs, and close the connections."""
        await self.appender.close()
        await self.engine.close()

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _size(connection: Connection) -> int:
    if connection.dialect.name != "sqlite":
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
    path = next(str(row.file or "") for row in connection.execute(text("PRAGMA database_list")))
    if path:
        files = set(store_files(Path(path))).difference(copies_of(Path(path)))
        return sum(file.stat().st_size for file in files)
    pages, size = (
        connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("page_count", "page_size")
    )
    return int(pages) * int(size)


def _vacuum(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        # The index keeps the words of deleted rows until its segments are merged.
        connection.execute(text("INSERT INTO search (search) VALUES ('optimize')"))
        connection.execute(text("VACUUM"))
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    else:
        connection.execute(text("VACUUM (ANALYZE)"))


def _read_probe(connection: Connection) -> None:
    connection.exec_driver_sql("SELECT version_num FROM alembic_version").first()


def _write_probe(connection: Connection) -> None:
    # The value stays the same, but a row is written and committed, which fails on a full disk.
    connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
