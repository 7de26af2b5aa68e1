"""`import_rows`: import all threads and messages of another system's database or dump.

Importing again changes nothing, or adds the new rows at the end of their threads. An import that was
interrupted can be repeated. The source is never written to.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from partita.errors import NotFoundError, PartitaError, StoreError
from partita.extras import needs
from partita.formats.losses import Loss
from partita.formats.rows import Row
from partita.logs.sqlite import MAGIC
from partita.store.bulk.rows import ThreadRows
from partita.store.bulk.writer import compare_threads, sum_counts, write_threads
from partita.store.engines.location import locate
from partita.store.sql.texts import required, sanitized, storable
from partita.store.store import Store
from partita.types.codec import encode
from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.threads import Thread

from .dump_source import ENDINGS, DumpSource, looks_like_json
from .report import Failure, ImportReport, Tally
from .source import BATCH_CHARACTERS, FoundLayout, Source, find_layouts
from .sqlite_source import SqliteSource
from .system import IMPORTED, Layout, Lookups, System, Table, get_system, import_metadata
from .thread_rows import Piece, ThreadState, load_rows, prepare_messages, read_pieces

OnProgress: TypeAlias = Callable[[int, int], None]
"""Called with the number of rows read so far, and of all rows."""


async def import_rows(
    store: Store,
    system: str,
    source: str,
    *,
    resource_id: str | None = None,
    tables: str | None = None,
    batch_size: int = 200,
    dry_run: bool = False,
    progress: OnProgress | None = None,
) -> ImportReport:
    """Import every thread and message of a system that is not stored yet.

    `source` is a SQLite file, a `postgresql://` URL, or a dump (JSON, JSON lines, CSV, a folder of them).
    The threads get the owner `resource_id`, or that of a scoped store; otherwise they keep the owner they
    have in the source. `tables` is the schema or prefix of the tables, if there are several. With `dry_run`
    nothing is written.
    """
    if batch_size < 1:
        raise StoreError(f"batches of {batch_size}", hint="batch_size is 1 or more")
    if store.owner is not None and resource_id not in (None, store.owner):
        raise NotFoundError(
            f"this store belongs to {store.owner!r}, not to {resource_id!r}",
            hint="use the store of that owner",
        )
    known = get_system(system)
    async with _open_source(source, known) as opened:
        found = find_layouts(known, await opened.tables(), opened.where, tables)
        path = Path(opened.where)
        importer = _Importer(store, known, resource_id, batch_size, dry_run, path if path.exists() else None)
        total = sum([await opened.count(stored) for each in found for stored in each.message_tables])
        importer.tally.add_failures(opened.problems())
        for each in found:
            await importer.read(opened, each, lambda done: progress(done, total) if progress else None)
        names = [str(stored) for each in found for stored in each.tables.values()]
        where = opened.where
    return importer.tally.report(known.name, where, names, dry_run=dry_run)


class _Importer:
    """A running import: reads pieces of threads and writes them in batches."""

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
        self._pending: list[ThreadRows] = []

    async def read(self, source: Source, found: FoundLayout, progress: Callable[[int], None]) -> None:
        """Read all rows of a layout."""
        lookups = await _read_lookups(source, found)
        state = None
        async with aclosing(read_pieces(source, found, self._size)) as pieces:
            async for piece in pieces:
                if state is None or piece.first:
                    state = self._start_thread(piece, found.layout, lookups)
                self._add(piece, found.layout, state)
                if self._is_batch_full():
                    await self._flush()
                    progress(self.tally.rows)
        await self._flush()
        progress(self.tally.rows)

    # Threads

    def _start_thread(self, piece: Piece, layout: Layout, lookups: Lookups) -> ThreadState:
        """The thread of a piece: from its row, or created for messages without one."""
        self.tally.threads += 1
        id_ = piece.key.decode(errors="surrogateescape") or f"{self._system.name}-without-thread"
        if piece.thread is not None:
            thread = replace(layout.read_thread(Row(piece.thread, "$"), lookups), id=id_)
            return ThreadState(self._storable(thread, layout.threads.name), thread.updated_at is None)
        self.tally.orphans.append(id_)
        metadata = import_metadata(self._system.name, None, {})
        return ThreadState(Thread(id=id_, agent=self._system.agent, metadata=metadata), True)

    def _storable(self, thread: Thread, table: str) -> Thread:
        """The thread without what a database cannot store."""
        for field in ("title", "agent", "project"):
            text: str | None = getattr(thread, field)
            if text is not None and sanitized(text) != text:
                path = f"{table}[{thread.id}].{field}"
                self.tally.add_losses([Loss(path, repr(text), "no database can hold it")])
                thread = replace(thread, **{field: sanitized(text)})
        try:
            encode(thread.metadata)
        except PartitaError as error:
            self.tally.add_failures([Failure.of(table, thread.id, error)])
            return replace(thread, metadata=import_metadata(self._system.name, None, {}))
        return thread

    # Messages

    def _add(self, piece: Piece, layout: Layout, state: ThreadState) -> None:
        """Load the rows of a piece, to be written with the next batch."""
        table = layout.messages.name
        self.tally.rows += sum(map(len, piece.rows.values()))
        content = load_rows(layout, piece.rows, state, self._path)
        state.thread = _completed(state, content.messages, is_orphan=piece.thread is None)
        self.tally.add_failures(content.failures)
        self.tally.add_losses(content.losses)
        self.tally.add_losses(_other_owners(content.messages, state.thread, table))
        thread = state.thread if self._owner is None else _given_to(self._owner, state.thread)
        try:
            required(thread.id, "thread id")
            storable(thread.resource_id, "the resource id")
        except StoreError as error:
            if piece.first and piece.thread is not None:
                self.tally.add_failures([Failure.of(layout.threads.name, thread.id, error)])
            self.tally.add_failures(Failure.of(table, message.id, error) for message in content.messages)
            return
        prepared, failures = prepare_messages(content.messages, table, thread.id, thread.resource_id)
        self.tally.add_failures(failures)
        if prepared or piece.thread is not None:
            self._pending.append(ThreadRows(thread, prepared, content.runs, content.consumptions))

    # Batches

    def _is_batch_full(self) -> bool:
        sizes = [len(one.content) for rows in self._pending for one in rows.messages]
        return max(len(sizes), len(self._pending)) >= self._size or sum(sizes) >= BATCH_CHARACTERS

    async def _flush(self) -> None:
        """Write the pending rows in one transaction; in a dry run, only compare them."""
        pending, self._pending = self._pending, []
        if pending:
            work = (
                self._store.read(compare_threads, pending)
                if self._dry_run
                else self._store.write(write_threads, pending)
            )
            self.tally.counts = self.tally.counts.plus(sum_counts(await work))


async def _read_lookups(source: Source, found: FoundLayout) -> Lookups:
    """The small tables that threads refer to, by id."""
    lookups: dict[str, dict[str, JsonObject]] = {}
    for name in found.layout.lookups:
        stored = found.tables.get(name)
        if stored is not None and stored.column("id") is not None:
            rows = source.rows(Table(name, key="id"), stored)
            lookups[name] = {str(one.row.get("id")): one.row async for batch in rows for one in batch}
    return lookups


def _completed(state: ThreadState, messages: Sequence[Message], *, is_orphan: bool) -> Thread:
    """The thread with the times of its messages where it has none, and their owner if it has no row."""
    thread = state.thread
    times = [message.created_at for message in messages if message.created_at is not None]
    if thread.created_at is None and times:
        thread = replace(thread, created_at=min(times))
    if state.updates and times:
        thread = replace(
            thread, updated_at=max([*times, *([thread.updated_at] if thread.updated_at else [])])
        )
    if is_orphan and thread.resource_id is None:
        owners = (message.resource_id for message in messages if message.resource_id)
        thread = replace(thread, resource_id=next(owners, None))
    return thread


def _given_to(owner: str, thread: Thread) -> Thread:
    """The thread with another owner; the original one is stored in its metadata."""
    metadata = thread.metadata or {}
    if thread.resource_id not in (None, owner):
        metadata = {**metadata, IMPORTED: {**metadata[IMPORTED], "resourceId": thread.resource_id}}
    return replace(thread, resource_id=owner or None, metadata=metadata)


def _other_owners(messages: Iterable[Message], thread: Thread, table: str) -> Iterator[Loss]:
    """A loss for each message that names another owner than its thread."""
    for message in messages:
        if message.resource_id not in (None, "", thread.resource_id):
            where = f"{table}[{message.id}].resourceId"
            yield Loss.of(where, message.resource_id, f"the thread belongs to {thread.resource_id!r}")


# Opening a source

SOURCE_HINT: Final = (
    "give a SQLite file, a postgresql:// URL, or a dump: .json, .jsonl, .csv, or a folder of them"
)


@asynccontextmanager
async def _open_source(name: str, system: System) -> AsyncGenerator[Source, None]:
    """Open a SQLite file, a PostgreSQL URL, a dump or a folder of dumps for reading."""
    source = _source(name, system)
    try:
        yield source
    except BaseException:
        with suppress(StoreError):  # the first error is the one to report
            await source.close()
        raise
    await source.close()


def _source(name: str, system: System) -> Source:
    location = locate(name) if name else None
    if location is None or (location.engine == "sqlite" and location.path is None):
        raise StoreError("no source given", where=name, hint=SOURCE_HINT)
    if location.engine == "postgresql":
        with needs("partita[postgres]", "PostgreSQL", StoreError):
            from .postgres_source import PostgresSource

            return PostgresSource(location)
    assert location.path is not None, "a file"
    return _file_source(location.path, system)


def _file_source(path: Path, system: System) -> Source:
    if path.is_dir():
        return DumpSource(path, system)
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise StoreError(f"cannot be read: {what}", where=str(path), hint=SOURCE_HINT) from None
    if start == MAGIC:
        return SqliteSource(path)
    if start.strip() and (looks_like_json(path) or path.suffix.lower() in ENDINGS):
        return DumpSource(path, system)
    raise StoreError(
        "neither a SQLite database nor a dump" if start else "an empty file",
        where=str(path),
        hint=SOURCE_HINT,
    )
