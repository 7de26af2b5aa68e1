"""Append to the logs of all runs of a process: many small appends become few transactions.

While one group is written, the next one is collected; no timer is involved. So a single append is as fast as
the database, and a thousand at once cost little more.
"""

import asyncio
from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TypeAlias

from sqlalchemy import Connection

from partita.errors import ConflictError, StoreError, UnavailableError
from partita.store.engines.engine import CHANNEL, Engine
from partita.store.runs.rows import find
from partita.store.schema import EPOCH
from partita.store.sql.texts import storable
from partita.store.sql.transaction import Transaction
from partita.types.json import dumps, loads

from .run_log import LogEntry, encode_entries

MAX_WAITING = 64 * 1024 * 1024
"""The number of bytes that may wait to be written. `append` waits until there is room."""

MAX_APPEND = 256 * 1024 * 1024
"""The number of bytes of one append: well below the limit of a value in both engines."""

RunName: TypeAlias = tuple[str | None, str]
"""The owner of a run, or `None` if any owner will do, and its id."""


class Batch:
    """Encoded entries for one run."""

    __slots__ = ("count", "pieces", "size")

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        self.pieces: list[bytearray] = []

    def add(self, count: int, data: bytearray) -> None:
        """Add encoded entries at the end."""
        self.count += count
        self.size += len(data)
        self.pieces.append(data)


class _Group:
    """What is written in one transaction."""

    __slots__ = ("batches", "shared", "size", "waiters")

    def __init__(self) -> None:
        self.batches: dict[RunName, Batch] = {}
        self.size = 0
        self.waiters: list[tuple[asyncio.Future[int], RunName, int]] = []
        self.shared: dict[RunName, asyncio.Future[int]] = {}

    def resolve(self, results: Mapping[RunName, int | BaseException]) -> None:
        """Give every future the number of its last entry, or the error."""
        for waiter, run, position in self.waiters:
            self._resolve(waiter, results[run], position - self.batches[run].count)
        for run, future in self.shared.items():
            self._resolve(future, results[run], 0)

    def _resolve(self, waiter: asyncio.Future[int], result: int | BaseException, offset: int) -> None:
        if waiter.done():  # cancelled
            return
        if isinstance(result, BaseException):
            waiter.set_exception(copy(result))  # a copy, because each raise adds to the traceback
        else:
            waiter.set_result(result + offset)


class Appender:
    """Takes entries for any run and reports when they are durable: one for an engine, in one event loop."""

    def __init__(self, engine: Engine, *, max_waiting: int = MAX_WAITING) -> None:
        self._engine = engine
        self._max_waiting = max_waiting
        self._group = _Group()
        self.waiting = 0
        """The number of bytes that are not durable yet."""
        self._writing: asyncio.Task[None] | None = None
        self._queue = asyncio.Lock()  # callers that wait for room are served in order
        self._room = asyncio.Event()
        self._closed = False

    async def append(self, owner: str | None, run_id: str, entries: Sequence[LogEntry]) -> int:
        """Append entries and return the number of the last one, once all are durable.

        If the caller is cancelled while it waits, the entries are written all the same.
        """
        data = _encode(entries)
        if self._queue.locked() or not self._has_room(len(data)):
            await self._wait_for_room(len(data))
        group, run = self._add(owner, run_id, len(entries), data)
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        group.waiters.append((waiter, run, group.batches[run].count))
        return await waiter

    def submit(self, owner: str | None, run_id: str, entries: Sequence[LogEntry]) -> asyncio.Future[int]:
        """Append entries without waiting; the future is done when they are durable.

        For streams that continue while their chunks are written. The future has the number of the last entry
        that the run adds to the current transaction. Several calls may return the same one: shield it before
        you await it. If too many entries wait, it is an error.
        """
        data = _encode(entries)
        if self._queue.locked() or not self._has_room(len(data)):
            raise UnavailableError(
                "too many log entries wait to be written",
                where=self._engine.where,
                hint="await append() instead",
            )
        group, run = self._add(owner, run_id, len(entries), data)
        future = group.shared.get(run)
        if future is None:
            future = group.shared[run] = asyncio.get_running_loop().create_future()
        return future

    def _add(self, owner: str | None, run_id: str, count: int, data: bytearray) -> tuple[_Group, RunName]:
        if self._closed:
            raise StoreError("the log is closed", where=self._engine.where, hint="open the store again")
        group = self._group
        run = (owner, run_id)
        batch = group.batches.get(run)
        if batch is None:
            storable(owner, "the owner")
            storable(run_id, "the run id")
            batch = group.batches[run] = Batch()
        batch.add(count, data)
        group.size += len(data)
        self.waiting += len(data)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_groups())
        return group, run

    def _has_room(self, size: int) -> bool:
        return self.waiting == 0 or self.waiting + size <= self._max_waiting

    async def _wait_for_room(self, size: int) -> None:
        async with self._queue:
            while not self._has_room(size):
                self._room.clear()
                await self._room.wait()

    async def _write_groups(self) -> None:
        """Write group after group until nothing waits."""
        try:
            while self._group.batches:
                group, self._group = self._group, _Group()
                await self._write(group)
                # Callers that were waiting append again: their entries join the next group.
                await asyncio.sleep(0)
        finally:
            self._writing = None

    async def _write(self, group: _Group) -> None:
        closed = StoreError(
            "the log was closed while it was written",
            where=self._engine.where,
            hint="open the store again, and append the entries again",
        )
        results: dict[RunName, int | BaseException] = dict.fromkeys(group.batches, closed)
        try:
            results |= await self._engine.write_statement(partial(append, batches=group.batches))
            refused = [run for run in group.batches if results[run] is closed]
            if refused:
                results |= await self._engine.read(partial(_refusals, runs=refused))
        except Exception as error:
            results |= {run: error for run, result in results.items() if result is closed}
        finally:
            self.waiting -= group.size
            self._room.set()
            group.resolve(results)
            for _, run_id in group.batches:
                self._engine.notify(run_id)

    async def close(self) -> None:
        """Write what waits, and accept no more entries."""
        self._closed = True
        while self._writing is not None:
            await asyncio.wait([self._writing])


def _encode(entries: Sequence[LogEntry]) -> bytearray:
    if not entries:
        raise StoreError("no entries to append", hint="append at least one")
    data = encode_entries(entries)
    if len(data) > MAX_APPEND:
        raise StoreError(
            f"{len(data)} bytes are too many for one append",
            hint=f"append at most {MAX_APPEND}, or store them in a file",
        )
    return data


def append(connection: Connection, *, batches: Mapping[RunName, Batch]) -> dict[RunName, int]:
    """Append to the logs of runs with one statement.

    Returns the number of the last entry of each batch. It is missing for a run that does not exist or has
    ended; the others are not affected.
    """
    tx = Transaction(connection, None, EPOCH)
    runs = list(batches)
    ends: dict[RunName, int] = {}
    next_ends: dict[Hashable, int] = {}
    for number, key, last_seq in sorted(_execute(tx, batches), reverse=True):
        run = runs[number]
        # A run may have two batches, one with its owner and one without: the later one ends at `last_seq`.
        ends[run] = next_ends.get(key, last_seq)
        next_ends[key] = ends[run] - batches[run].count
    return ends


# See `schema.SQLITE_LOG`. One row is returned, since the interpreter lock is released for each.
APPEND_SQLITE = """
INSERT INTO log_append (data, batches) VALUES (?, ?)
RETURNING (
    SELECT json_group_array(json_array(batch.key, runs.key, runs.last_seq))
    FROM json_each(batches) AS batch CROSS JOIN runs
    WHERE runs.status IN ('pending', 'running') AND runs.key = (
        SELECT CASE count(*) WHEN 1 THEN min(named.key) END FROM runs AS named
        WHERE named.id = json_extract(batch.value, '$[1]')
            AND named.owner = coalesce(json_extract(batch.value, '$[0]'), named.owner)
    )
)
"""

# Rows are locked in order before they are changed, so that two writers cannot deadlock.
APPEND_POSTGRES = f"""
WITH requested AS (
    SELECT number - 1 AS number, id, count, data, (
        SELECT CASE count(*) WHEN 1 THEN min(runs.owner) END FROM runs
        WHERE runs.id = requested.id AND runs.owner = coalesce(requested.owner, runs.owner)
    ) AS owner
    FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bytea[])
        WITH ORDINALITY AS requested (owner, id, count, data, number)
), batches AS (
    SELECT owner, id, sum(count)::bigint AS count, string_agg(data, ''::bytea ORDER BY number) AS data
    FROM requested WHERE owner IS NOT NULL GROUP BY owner, id
), locked AS MATERIALIZED (
    SELECT runs.owner, runs.id FROM runs JOIN batches USING (owner, id)
    ORDER BY runs.owner, runs.id FOR NO KEY UPDATE OF runs
), changed AS (
    UPDATE runs SET last_seq = runs.last_seq + batches.count
    FROM batches JOIN locked USING (owner, id)
    WHERE runs.owner = batches.owner AND runs.id = batches.id AND runs.status IN ('pending', 'running')
    RETURNING runs.owner, runs.id, runs.last_seq, batches.count, batches.data
), added AS (
    INSERT INTO run_log (owner, run_id, first_seq, last_seq, encoding, data)
    SELECT owner, id, last_seq - count + 1, last_seq, 'open', data FROM changed
)
SELECT requested.number, owner, id, changed.last_seq, pg_notify('{CHANNEL}', id)
FROM requested JOIN changed USING (owner, id)
"""


def _execute(tx: Transaction, batches: Mapping[RunName, Batch]) -> Iterator[tuple[int, Hashable, int]]:
    """Append; returns the numbers of the batches, their runs, and the numbers of the last entries."""
    if tx.driver is None:
        columns = (
            [owner for owner, _ in batches],
            [run_id for _, run_id in batches],
            [batch.count for batch in batches.values()],
            [b"".join(batch.pieces) for batch in batches.values()],
        )
        for row in tx.sql(APPEND_POSTGRES, columns):
            yield row.number, (row.owner, row.id), row.last_seq
        return
    arrays: list[tuple[str | None, str, int, int, int]] = []
    start = 1
    for (owner, run_id), batch in batches.items():
        arrays.append((owner, run_id, batch.count, start, batch.size))
        start += batch.size
    data = b"".join([piece for batch in batches.values() for piece in batch.pieces])
    ((appended,),) = tx.driver.execute(APPEND_SQLITE, (data, dumps(arrays).decode())).fetchall()
    yield from loads(appended)


def _refusals(connection: Connection, *, runs: Sequence[RunName]) -> dict[RunName, StoreError]:
    """The reasons why runs took no entries."""
    errors: dict[RunName, StoreError] = {}
    for owner, run_id in runs:
        try:
            row = find(Transaction(connection, owner, EPOCH), run_id)
            errors[owner, run_id] = ConflictError(
                f"run {run_id!r} has ended: {row.status}", hint="open a new run to continue"
            )
        except StoreError as error:  # no run, or several
            errors[owner, run_id] = error
    return errors
