"""Appending to the logs of all runs of a process: many small appends become few transactions.

While one group is written, the next one gathers; nothing waits for a clock. So a lone append is as fast as
the database, and a thousand at once cost little more.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from typing import TypeAlias

from sqlalchemy import Connection

from partita.errors import StoreError, UnavailableError
from partita.store.engines.engine import Engine
from partita.store.microseconds import EPOCH
from partita.store.texts import storable
from partita.store.transaction import Transaction

from . import quick, tail
from .blocks import Addition, End
from .quick import Tails
from .run_log import Appended, Batch, LogEntry, append_many, encode_entries

MOST_WAITING = 64 * 1024 * 1024
"""How many bytes may wait to be written; whoever brings more waits himself."""

LARGEST = 256 * 1024 * 1024
"""How many bytes one append may bring: what both engines take in one value, with room to spare."""

SELDOM = 256
"""After so many groups the tail is looked at."""

RunKey: TypeAlias = tuple[str | None, str]


class _Group:
    """What is written together."""

    __slots__ = ("ends", "failure", "futures", "refused", "runs", "size", "waiters")

    def __init__(self) -> None:
        self.runs: dict[RunKey, Addition] = {}
        self.size = 0
        self.waiters: list[tuple[asyncio.Future[int], RunKey, int]] = []
        self.futures: dict[RunKey, asyncio.Future[int]] = {}
        self.ends: dict[RunKey, int] = {}
        self.refused: dict[RunKey, StoreError] = {}
        self.failure: BaseException = StoreError("the log was not written")

    def batch(self, key: RunKey) -> Batch:
        """What one run gets."""
        addition = self.runs[key]
        return Batch(*key, addition.count, b"".join(addition.pieces))

    def settle(self) -> None:
        """Tell those who wait the number of their last entry, or what went wrong."""
        for waiter, key, place in self.waiters:
            self._tell(waiter, key, place)
        for key, future in self.futures.items():
            self._tell(future, key, self.runs[key].count)

    def _tell(self, waiter: asyncio.Future[int], key: RunKey, place: int) -> None:
        if waiter.done():
            return
        end = self.ends.get(key)
        if end is None:
            waiter.set_exception(copy(self.refused.get(key, self.failure)))  # a copy: others raise it too
        else:
            waiter.set_result(end - self.runs[key].count + place)


class Appender:
    """Takes entries for any run, and says when they are durable. One for each engine, in one event loop."""

    def __init__(self, engine: Engine, *, most_waiting: int = MOST_WAITING) -> None:
        self._engine = engine
        self._most_waiting = most_waiting
        self._gathering = _Group()
        self._tails: Tails[RunKey] = Tails()
        self._quick = 0  # how many groups were written the quick way since the tail was looked at
        self._new = 0  # and how many runs have begun: each leaves something in the tail
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

    def expect(self, owner: str | None, run_id: str, key: int) -> None:
        """A run has begun, and its log is empty: that need not be found out."""
        self._tails.learn((owner, run_id), End(0, key), Addition())
        self._new += 1

    def forget(self, owner: str | None, run_id: str) -> None:
        """A run has ended: nothing more will come for it."""
        self._tails.forget([(owner, run_id), (None, run_id)])

    def _add(self, owner: str | None, run_id: str, count: int, data: bytearray) -> tuple[_Group, RunKey, int]:
        if self._closed:
            raise StoreError("the log is closed", where=self._engine.where, hint="open the store again")
        group = self._gathering
        key = (owner, run_id)
        addition = group.runs.get(key)
        if addition is None:
            storable(owner, "the owner")
            storable(run_id, "the run id")
            addition = group.runs[key] = Addition()
        addition.add(count, data)
        group.size += len(data)
        self.waiting += len(data)
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return group, key, addition.count

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
                # Those who were waiting bring what comes next: let it join the others.
                await asyncio.sleep(0)
                await self._tidy()
        finally:
            self._flushing = None

    async def _write(self, group: _Group) -> None:
        try:
            await self._write_quick(group)
            await self._write_rest(group)
        except asyncio.CancelledError:
            group.failure = StoreError(
                "the log was closed while it was written",
                where=self._engine.where,
                hint="open the store again, and append it once more",
            )
            raise
        except Exception as error:  # told to everybody whose entries were in the group
            group.failure = error
        finally:
            self.waiting -= group.size
            self._room.set()
            group.settle()
            for _, run_id in group.runs:
                self._engine.tell(run_id)

    async def _write_quick(self, group: _Group) -> None:
        """Write what can be written with one statement."""
        plan = self._tails.plan(group.runs)
        if not plan:
            return
        if await self._engine.alone(partial(quick.append, plan=plan)):
            group.ends = plan.done()
            self._quick += 1
        else:
            self._tails.forget(plan)

    async def _write_rest(self, group: _Group) -> None:
        """Write what is left, and learn where the logs end."""
        keys = [key for key in group.runs if key not in group.ends]
        if not keys:
            return
        results = await self._engine.write(partial(_append, batches=[group.batch(key) for key in keys]))
        for key, result in zip(keys, results, strict=True):
            if not isinstance(result, Appended):
                group.refused[key] = result
                continue
            group.ends[key] = result.last_seq
            if result.end.run:
                self._tails.learn(key, result.end, group.runs[key])

    async def _tidy(self) -> None:
        """Look now and then whether runs that rest keep the tail long."""
        if self._quick >= SELDOM:
            new, self._new, self._quick = self._new, 0, 0
            with suppress(StoreError):  # whatever is wrong meets the next append too, and is told there
                await self._engine.write(partial(_tidy, new=new))

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


def _tidy(connection: Connection, *, new: int) -> None:
    tail.tidy(Transaction(connection, None, EPOCH), new)
