"""`import_rows`: all threads and messages of a foreign source, into the store.

Done again it changes nothing; after more rows were added it adds those, at the end of their threads. Cut off
in the middle and done again it comes to the same end. The source is never written to.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace

from partita.errors import NotFoundError, PartitaError, StoreError
from partita.formats.losses import Loss
from partita.formats.rows import Row
from partita.store.facade.store import Store
from partita.store.texts import mended, required, storable
from partita.types.codec import encode
from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.threads import Thread

from .batch_writer import write_batches
from .loading import Reading, load_rows, make_ready
from .locating import Found, locate
from .merging import Piece, pieces
from .reading import open_source
from .registry import get_system
from .report import ImportReport, Tally, failure
from .source import LARGE, Source
from .system import IMPORTED, Layout, Lookups, System, Table, origin
from .writing import Batch, compare

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many rows were read, and how many there are."""


async def import_rows(
    store: Store,
    system: str,
    source: str,
    *,
    resource_id: str | None = None,
    tables: str | None = None,
    batch_size: int = 200,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Read every thread and message that a system has in a source, and store what is not stored yet.

    `source` is a SQLite file, a `postgresql://` URL, or a dump (JSON, JSON lines, CSV, a folder of them).
    All becomes `resource_id`'s, or the owner's of a scoped store; else whose it is there. `tables` is the
    schema or the prefix of the tables, where there are several. With `dry_run` nothing is written.
    """
    if batch_size < 1:
        raise StoreError(f"batches of {batch_size}", hint="batch_size is 1 or more")
    if store.owner is not None and resource_id not in (None, store.owner):
        raise NotFoundError(
            f"this store belongs to {store.owner!r}, not to {resource_id!r}",
            hint="use the store of that owner",
        )
    known = get_system(system)
    async with open_source(source, known) as opened:
        found = locate(known, await opened.tables(), opened.where, tables)
        path = Path(opened.where)
        work = Import(store, known, resource_id, batch_size, dry_run, path if path.exists() else None)
        total = sum([await opened.count(stored) for each in found for stored in each.sources])
        work.tally.fail(opened.problems())
        for each in found:
            await work.read(opened, each, lambda done: progress(done, total) if progress else None)
        names = [str(stored) for each in found for stored in each.tables.values()]
        where = opened.where
    return work.tally.report(known.name, where, names, dry_run=dry_run)


class Import:
    """An import while it goes on."""

    def __init__(
        self,
        store: Store,
        system: System,
        resource_id: str | None,
        batch_size: int,
        dry_run: bool,
        path: Path | None = None,
    ) -> None:
        self.tally = Tally()
        self._store = store
        self._system = system
        self._owner = store.owner if resource_id is None else resource_id
        self._size = batch_size
        self._dry_run = dry_run
        self._path = path
        self._waiting: list[Batch] = []

    async def read(self, source: Source, found: Found, progress: Callable[[int], None]) -> None:
        """Read all rows of a layout."""
        lookups = await _lookups(source, found)
        reading = None
        async with aclosing(pieces(source, found, self._size)) as stream:
            async for piece in stream:
                if reading is None or piece.first:
                    reading = self._begin(piece, found.layout, lookups)
                self._take(piece, found.layout, reading)
                if self._is_enough():
                    await self._flush()
                    progress(self.tally.rows)
        await self._flush()
        progress(self.tally.rows)

    # Threads

    def _begin(self, piece: Piece, layout: Layout, lookups: Lookups) -> Reading:
        """The thread of a piece: by its row, or made for messages that have none."""
        self.tally.threads += 1
        id_ = piece.key.decode(errors="surrogateescape") or f"{self._system.name}-without-thread"
        if piece.thread is not None:
            thread = replace(layout.read_thread(Row(piece.thread, "$"), lookups), id=id_)
            return Reading(self._storable(thread, layout.threads.name), thread.updated_at is None)
        self.tally.orphans.append(id_)
        metadata = origin(self._system.name, None, {})
        return Reading(Thread(id=id_, agent=self._system.agent, metadata=metadata), True)

    def _storable(self, thread: Thread, table: str) -> Thread:
        """As much of a thread as a database can hold."""
        for field in ("title", "agent", "project"):
            text: str | None = getattr(thread, field)
            if text is not None and mended(text) != text:
                self.tally.lose(
                    [Loss(f"{table}[{thread.id}].{field}", repr(text), "no database can hold it")]
                )
                thread = replace(thread, **{field: mended(text)})
        try:
            encode(thread.metadata)
        except PartitaError as error:
            self.tally.fail([failure(table, thread.id, error)])
            return replace(thread, metadata=origin(self._system.name, None, {}))
        return thread

    # Messages

    def _take(self, piece: Piece, layout: Layout, reading: Reading) -> None:
        """Read the rows of a piece, to be written with the next batch."""
        table = layout.messages.name
        self.tally.rows += sum(map(len, piece.rows.values()))
        read = load_rows(layout, piece.rows, reading, self._path)
        reading.thread = _told_by(read.messages, reading, is_orphan=piece.thread is None)
        self.tally.fail(read.failures)
        self.tally.lose(read.losses)
        self.tally.lose(_strangers(read.messages, reading.thread, table))
        thread = reading.thread if self._owner is None else _given_to(self._owner, reading.thread)
        try:
            required(thread.id, "thread id")
            storable(thread.resource_id, "the resource id")
        except StoreError as error:
            if piece.first and piece.thread is not None:
                self.tally.fail([failure(layout.threads.name, thread.id, error)])
            self.tally.fail(failure(table, message.id, error) for message in read.messages)
            return
        ready, failures = make_ready(read.messages, table, thread.id, thread.resource_id)
        self.tally.fail(failures)
        if ready or piece.thread is not None:
            self._waiting.append(Batch(thread, ready, read.runs, read.consumptions))

    # Batches

    def _is_enough(self) -> bool:
        sizes = [len(one.content) for batch in self._waiting for one in batch.messages]
        return max(len(sizes), len(self._waiting)) >= self._size or sum(sizes) >= LARGE

    async def _flush(self) -> None:
        """Write what waits, in one transaction."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            work = (
                self._store.read(compare, waiting)
                if self._dry_run
                else self._store.write(write_batches, waiting)
            )
            self.tally.counts = self.tally.counts.plus(await work)


async def _lookups(source: Source, found: Found) -> Lookups:
    """The small tables that threads refer to, by id."""
    lookups: dict[str, dict[str, JsonObject]] = {}
    for name in found.layout.lookups:
        stored = found.tables.get(name)
        if stored is not None and stored.column("id") is not None:
            rows = source.rows(Table(name, key="id"), stored)
            lookups[name] = {str(one.row.get("id")): one.row async for batch in rows for one in batch}
    return lookups


def _told_by(messages: Sequence[Message], reading: Reading, *, is_orphan: bool) -> Thread:
    """The thread, with what only its messages tell: when it was, and whose it is if it has no row."""
    thread = reading.thread
    times = [message.created_at for message in messages if message.created_at is not None]
    if thread.created_at is None and times:
        thread = replace(thread, created_at=min(times))
    if reading.updates and times:
        thread = replace(
            thread, updated_at=max([*times, *([thread.updated_at] if thread.updated_at else [])])
        )
    if is_orphan and thread.resource_id is None:
        owners = (message.resource_id for message in messages if message.resource_id)
        thread = replace(thread, resource_id=next(owners, None))
    return thread


def _given_to(owner: str, thread: Thread) -> Thread:
    """The thread as another's; its metadata says whose it was."""
    metadata = thread.metadata or {}
    if thread.resource_id not in (None, owner):
        metadata = {**metadata, IMPORTED: {**metadata[IMPORTED], "resourceId": thread.resource_id}}
    return replace(thread, resource_id=owner or None, metadata=metadata)


def _strangers(messages: Iterable[Message], thread: Thread, table: str) -> Iterator[Loss]:
    """Messages that say they are somebody else's than their thread."""
    for message in messages:
        if message.resource_id not in (None, "", thread.resource_id):
            where = f"{table}[{message.id}].resourceId"
            yield Loss.of(where, message.resource_id, f"the thread belongs to {thread.resource_id!r}")
