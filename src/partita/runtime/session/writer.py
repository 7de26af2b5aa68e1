"""The way of a run's events into its log, and from there to those who watch: stored first, then shown."""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeAlias

from partita.errors import StreamError, UnavailableError
from partita.store.facade.store import Store
from partita.store.log.run_log import LogEntry
from partita.types.chunks import Chunk, DataChunk
from partita.types.codec import encode, to_json

from .live_run import LiveRun

AHEAD: Final = 256
"""How many entries may be on their way to the store before the agent waits for it."""

REFUSED: Final = "data-partita-refused"
"""A chunk that does not fit the message so far: told, not followed."""

Entry: TypeAlias = tuple[datetime, Chunk, bytes]


class Writer:
    """Takes the chunks and raw bytes of one run, in order."""

    def __init__(self, store: Store, live: LiveRun, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._live = live
        self._clock = clock
        self._groups: deque[tuple[asyncio.Future[int], list[Entry | None]]] = deque()
        self._ahead = 0
        self.failure: BaseException | None = None
        """Why the store took no more, if so."""

    async def put(self, chunk: Chunk | None, raw: bytes | None = None) -> None:
        """Add an entry. Returns before it is durable, unless too many are not."""
        if self.failure is not None:
            raise self.failure
        now = self._clock()
        entry = None
        if chunk is not None:
            fitting = self._fitting(chunk)
            entry = (now, fitting, encode(fitting))
        log_entry = LogEntry(now, None if entry is None else entry[2], raw)
        try:
            self._submit(entry, log_entry)
        except UnavailableError:  # too much waits to be written: so do we
            await self.drain()
            self._live.publish([entry], await self._store.append(self._live.run.id, (log_entry,)))
        if self._ahead >= AHEAD:
            await self._wait()

    async def drain(self) -> None:
        """Wait until everything is durable."""
        while self._groups:
            await self._wait()
        if self.failure is not None:
            raise self.failure

    def _fitting(self, chunk: Chunk) -> Chunk:
        """The chunk, taken by the message; one that the message cannot take is told instead."""
        try:
            self._live.fold.feed(chunk)
        except StreamError as error:
            return DataChunk(REFUSED, {"chunk": to_json(chunk), "why": str(error)}, transient=True)
        return chunk

    def _submit(self, entry: Entry | None, log_entry: LogEntry) -> None:
        future = self._store.submit(self._live.run.id, (log_entry,))
        if self._groups and self._groups[-1][0] is future:
            self._groups[-1][1].append(entry)
        else:
            self._groups.append((future, [entry]))
            future.add_done_callback(self._settle)
        self._ahead += 1

    def _settle(self, future: "asyncio.Future[int]") -> None:
        """Show what has become durable."""
        _, entries = self._groups.popleft()
        self._ahead -= len(entries)
        error = None if future.cancelled() else future.exception()
        if future.cancelled() or error is not None:
            self.failure = error or UnavailableError("the log was closed")
        elif self.failure is None:  # nothing is shown behind a gap
            self._live.publish(entries, future.result())

    async def _wait(self) -> None:
        if self._groups:
            await asyncio.wait([self._groups[0][0]])
            await asyncio.sleep(0)  # callbacks of the future come first
