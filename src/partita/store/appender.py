"""Appending to the logs of all runs of a process: many small appends become few transactions.

While one group is written, the next one gathers; nothing waits for a clock. So a lone append is as fast as
the database, and a thousand at once cost little more.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import TypeAlias

from sqlalchemy import Connection

from partita.errors import StoreError, UnavailableError

from .engine import Engine
from .run_log import Appended, Batch, LogEntry, append_many, encode_entries
from .tables import EPOCH
from .texts import storable
from .transaction import Transaction

MOST_WAITING = 64 * 1024 * 1024
"""How many bytes may wait to be written; whoever brings more waits himself."""

LARGEST = 256 * 1024 * 1024
"""How many bytes one append may bring: what both engines take in one value, with room to spare."""

RunKey: TypeAlias = tuple[str | None, str]


class _Waiting:
    """The entries of one run in a group."""

    __slots__ = ("count", "data")

    def __init__(self) -> None:
        self.count = 0
        self.data = bytearray()


class _Group:
    """What is written together."""

    __slots__ = ("failure", "futures", "results", "runs", "size", "waiters")

    def __init__(self) -> None:
        self.runs: defaultdict[RunKey, _Waiting] = defaultdict(_Waiting)
        self.size = 0
        self.waiters: list[tuple[asyncio.Future[int], RunKey, int]] = []
        self.futures: dict[RunKey, asyncio.Future[int]] = {}
        self.results: dict[RunKey, Appended | StoreError] = {}
        self.failure: BaseException | None = None

    def add(self, key: RunKey, count: int, data: bytearray) -> int:
        """Put entries behind those of the same run; how many there are now."""
        waiting = self.runs[key]
        waiting.count += count
        waiting.data += data
        self.size += len(data)
        return waiting.count

    def settle(self) -> None:
        """Tell those who wait the number of their last entry, or what went wrong."""
        for waiter, key, place in self.waiters:
            self._tell(waiter, key, place)
        for key, future in self.futures.items():
            self._tell(future, key, self.runs[key].count)

    def _tell(self, waiter: asyncio.Future[int], key: RunKey, place: int) -> None:
        if waiter.done():
            return
        result = self.failure or self.results[key]
        if isinstance(result, Appended):
            waiter.set_result(result.last_seq - self.runs[key].count + place)
        else:
            waiter.set_exception(copy(result))  # a copy: others raise it too


class Appender:
    """Takes entries for any run, and says when they are durable. One for each engine, in one event loop."""

    def __init__(self, engine: Engine, *, most_waiting: int = MOST_WAITING) -> None:
        self._engine = engine
        self._most_waiting = most_waiting
        self._gathering = _Group()
        self.waiting = 0
        """How many bytes are not durable yet."""
        self._flushing: asyncio.Task[None] | None = None
        self._door = asyncio.Lock()  # who found no room waits in line
        self._room = asyncio.Event()
        self._closed = False

    async def append(self, owner: str | None, run_id: str, entries: Sequence[LogEntry]) -> int:
        """Add entries to the log of a run; the number of the last one, once all of them are durable.

        Who is cancelled while waiting does not take back what he brought.
        """
        data = _encoded(entries)
        if self._door.locked() or not self._has_room(len(data)):
            await self._wait_for_room(len(data))
        group, key, place = self._add(owner, run_id, len(entries), data)
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        group.waiters.append((waiter, key, place))
        return await waiter

    def submit(self, owner: str | None, run_id: str, entries: Sequence[LogEntry]) -> asyncio.Future[int]:
        """Add entries at once, without waiting for those before them; the future tells when they are durable.

        For streams that go on while their chunks are written. All that a run adds to one group shares one
        future, which gives the number of the last entry: shield it before you await it. Too much waiting is
        an error: slow down.
        """
        data = _encoded(entries)
        if self._door.locked() or not self._has_room(len(data)):
            raise UnavailableError(
                "too much waits to be written", where=self._engine.where, hint="await append() instead"
            )
        group, key, _ = self._add(owner, run_id, len(entries), data)
        future = group.futures.get(key)
        if future is None:
            future = group.futures[key] = asyncio.get_running_loop().create_future()
        return future

    def _add(self, owner: str | None, run_id: str, count: int, data: bytearray) -> tuple[_Group, RunKey, int]:
        if self._closed:
            raise StoreError("the log is closed", where=self._engine.where, hint="open the store again")
        group = self._gathering
        key = (owner, run_id)
        if key not in group.runs:
            storable(owner, "the owner")
            storable(run_id, "the run id")
        place = group.add(key, count, data)
        self.waiting += len(data)
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return group, key, place

    def _has_room(self, size: int) -> bool:
        return self.waiting == 0 or self.waiting + size <= self._most_waiting

    async def _wait_for_room(self, size: int) -> None:
        async with self._door:
            while not self._has_room(size):
                self._room.clear()
                await self._room.wait()

    async def _flush(self) -> None:
        """Write group after group until nothing waits."""
        try:
            while self._gathering.runs:
                group, self._gathering = self._gathering, _Group()
                await self._write(group)
                await asyncio.sleep(
                    0
                )  # let those who were waiting bring what comes next: it joins the others
        finally:
            self._flushing = None

    async def _write(self, group: _Group) -> None:
        batches = [Batch(*key, waiting.count, waiting.data) for key, waiting in group.runs.items()]
        try:
            results = await self._engine.write(partial(_append, batches=batches))
            group.results = dict(zip(group.runs, results, strict=True))
        except asyncio.CancelledError:
            group.failure = StoreError("the log was closed while it was written", where=self._engine.where)
            raise
        except Exception as error:  # told to everybody whose entries were in the group
            group.failure = error
        finally:
            self.waiting -= group.size
            self._room.set()
            group.settle()
            for batch in batches:
                self._engine.tell(batch.run_id)

    async def close(self) -> None:
        """Write what waits, and take no more."""
        self._closed = True
        while self._flushing is not None:
            await asyncio.wait([self._flushing])


def _encoded(entries: Sequence[LogEntry]) -> bytearray:
    if not entries:
        raise StoreError("no entries to append", hint="append at least one")
    data = encode_entries(entries)
    if len(data) > LARGEST:
        raise StoreError(
            f"{len(data)} bytes are too much for one append", hint=f"append at most {LARGEST}, or keep a file"
        )
    return data


def _append(connection: Connection, *, batches: Sequence[Batch]) -> list[Appended | StoreError]:
    return append_many(Transaction(connection, None, EPOCH), batches)  # nothing there asks what time it is
