"""The store's blobs and sources, and its upkeep."""

from collections.abc import Callable

from sqlalchemy import Connection, text

from partita.store import blobs, rebuild, sources
from partita.store.transaction import Transaction
from partita.store.values import Blob, Source

from .facade import Facade

REBUILT_AT_ONCE = 200


class ArchiveStore(Facade):
    """Blobs, sources, and what keeps the archive in order."""

    async def put_blob(
        self, data: bytes, *, media_type: str | None = None, resource_id: str | None = None
    ) -> Blob:
        """Keep bytes under their hash; the `blob:` url may then stand in messages."""
        return await self.write(blobs.put, data, media_type, resource_id)

    async def get_blob(self, url: str) -> bytes:
        """The bytes of a `blob:` url."""
        return await self.read(blobs.read, url)

    async def describe_blob(self, url: str) -> Blob:
        """The size and type of a `blob:` url, without its bytes."""
        return await self.read(blobs.describe, url)

    async def save_source(self, source: Source, *, resource_id: str | None = None) -> Source:
        """Write how far a file has been read."""
        return await self.write(sources.save, source, resource_id)

    async def get_source(self, path: str) -> Source | None:
        """The source of a path, or `None`."""
        return await self.read(sources.get, path)

    async def list_sources(self, *, agent: str | None = None) -> tuple[Source, ...]:
        """All sources, or those of an agent, by path."""
        return await self.read(sources.list_all, agent)

    async def forget_source(self, path: str) -> bool:
        """Forget a source; its messages stay."""
        return await self.write(sources.forget, path)

    async def rebuild(self) -> int:
        """Derive flags, part rows, branches, counters, index and ledger anew; gives how many messages."""
        messages = await self._one_after_another(rebuild.rebuild_messages)
        await self._one_after_another(rebuild.rebuild_threads)
        return messages

    async def _one_after_another(self, work: Callable[[Transaction, int, int], tuple[int, int]]) -> int:
        """Do work on all rows, some at a time, so that others can write in between."""
        total, key = 0, 0
        while True:
            count, key = await self.write(work, key, REBUILT_AT_ONCE)
            total += count
            if count < REBUILT_AT_ONCE:
                return total

    async def compact(self) -> None:
        """Give the space of what was deleted back to the disk."""
        await self.engine.alone(_vacuum)


def _vacuum(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.execute(text("VACUUM"))
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    else:
        connection.execute(text("VACUUM (ANALYZE)"))
