"""The way of a run's events into its log, and from there to those who watch: stored first, then shown."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from partita.errors import ConflictError, StoreError, StreamError, UnavailableError
from partita.runtime.failures import described
from partita.runtime.log_context import get_logger
from partita.store.facade.store import Store
from partita.store.log.run_log import LogEntry
from partita.types.chunks import Chunk, DataChunk
from partita.types.codec import encode, to_json

from .live_run import LiveRun, Stop

LOG: Final = get_logger("partita.run")

AHEAD: Final = 1024
"""How many entries may be on their way to the store before the agent waits for it."""

REFUSED: Final = "data-partita-refused"
"""A chunk that does not fit the message so far: told, not followed."""

Entry: TypeAlias = tuple[datetime, Chunk, bytes]

_entry: Final = LogEntry._make  # cheaper than to call the class


class Writer:
    """Takes the chunks and raw bytes of one run, in order.

    What comes within one turn of the event loop goes to the store together, and counts as one moment.
    """

    def __init__(self, store: Store, live: LiveRun, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._live = live
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._entries: list[Entry | None] = []  # taken, and not yet on their way
        self._log: list[LogEntry] = []  # the same, as the log gets them
        self._now = clock()
        self._groups: deque[tuple[asyncio.Future[int], list[Entry | None]]] = deque()
        self._door = asyncio.Lock()  # one entry at a time, so that log and message agree on their order
        self._closed = False
        self.failure: StoreError | None = None
        """Why the store took no more, if so."""

    def take(self, chunk: Chunk, raw: bytes | None) -> bool:
        """Add an entry, if there is nothing to wait for; whether it was added."""
        if self._live.unstored >= AHEAD or self._door.locked() or self._stands_in_line:
            return False
        self._put(chunk, raw)
        return True

    async def put(self, chunk: Chunk | None, raw: bytes | None = None) -> None:
        """Add an entry. Returns before it is durable, unless too many are not."""
        if self._door.locked() or self._full:
            async with self._door:
                await self._room()
                self._put(chunk, raw)
        else:
            self._put(chunk, raw)  # nothing to wait for: no lock, and nobody comes in between

    def _put(self, chunk: Chunk | None, raw: bytes | None) -> None:
        if self._closed:
            raise ConflictError(f"run {self._live.run.id!r} has ended", hint="start another one")
        self._add(chunk, raw)

    async def say(self, chunks: Sequence[Chunk]) -> None:
        """Add chunks of ours; returns once they are durable."""
        for chunk in chunks:
            await self.put(chunk)
        self._send()
        if self._groups:
            await _done(self._groups[-1][0])
        self._raise_failure()

    async def finish(self, last: Sequence[Chunk]) -> None:
        """Add the last chunks and take no more; returns once everything is durable."""
        self._closed = True
        async with self._door:
            for chunk in last:
                await self._room()
                self._add(chunk, None)
            self._send()
            while self._groups:
                await _done(self._groups[0][0])
        self._raise_failure()

    @property
    def _full(self) -> bool:
        """Whether the next entry has to wait: too many are under way, or the last is not in line yet."""
        return self._live.unstored >= AHEAD or self._stands_in_line

    @property
    def _stands_in_line(self) -> bool:
        return bool(self._groups) and isinstance(self._groups[-1][0], asyncio.Task)

    async def _room(self) -> None:
        while self._full:
            self._send()
            await _done(self._groups[0][0])

    def _add(self, chunk: Chunk | None, raw: bytes | None) -> None:
        if self.failure is not None:
            raise self.failure
        if not self._entries:
            self._now = self._clock()
            self._loop.call_soon(self._send)
        if chunk is None:
            self._entries.append(None)
            self._log.append(_entry((self._now, None, raw)))
        else:
            chunk, json = self._fitting(chunk)
            self._entries.append((self._now, chunk, json))
            self._log.append(_entry((self._now, json, raw)))
        self._live.unstored += 1

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _fitting(self, chunk: Chunk) -> tuple[Chunk, bytes]:
        """The chunk and its JSON, taken by the message; one that the message cannot take is told instead."""
        json = encode(chunk)  # first: what cannot be written must not be in the message
        try:
            self._live.fold.feed(chunk)
        except StreamError as error:
            refused = refused_chunk(chunk, error)
            return refused, encode(refused)
        return chunk, json

    def _send(self) -> None:
        """Send what was taken to the store."""
        if not self._entries or self.failure is not None:
            return
        entries, self._entries = self._entries, []
        log, self._log = self._log, []
        run_id = self._live.run.id
        try:
            future = self._store.submit(run_id, log)
        except UnavailableError:  # too much waits to be written: it waits in line, and so does what follows
            future = asyncio.ensure_future(self._store.append(run_id, log))
        except StoreError as error:  # the message has it and the log has not: the log counts
            self._fail(error)
            return
        if self._groups and self._groups[-1][0] is future:
            self._groups[-1][1].extend(entries)
        else:
            self._groups.append((future, entries))
            future.add_done_callback(self._settle)

    def _settle(self, future: "asyncio.Future[int]") -> None:
        """Show what has become durable."""
        _, entries = self._groups.popleft()
        self._live.unstored -= len(entries)
        error = (
            UnavailableError("the log was closed", hint="open the store again")
            if future.cancelled()
            else future.exception()
        )
        if error is not None:
            self._fail(error)
        elif self.failure is None:  # nothing is shown behind a gap
            self._live.publish(entries, future.result())

    def _fail(self, error: BaseException) -> None:
        """Remember why, and stop the agent: nothing that it says can be kept."""
        if self.failure is None:
            if not isinstance(error, StoreError):
                LOG.error("the log of run %s failed", self._live.run.id, exc_info=error)
                error = StoreError("the log of the run failed")
            self.failure = error
            self._live.stop(Stop("failed", described(self.failure)))


async def _done(future: "asyncio.Future[int]") -> None:
    await asyncio.wait([future])
    await asyncio.sleep(0)  # its callbacks come first


def refused_chunk(chunk: Chunk, error: StreamError) -> DataChunk:
    """What stands in a stream for a chunk that its message cannot take."""
    return DataChunk(REFUSED, {"chunk": to_json(chunk), "why": str(error)}, transient=True)
