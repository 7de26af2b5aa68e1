"""Writes the chunks and raw bytes of a run to its log. Readers see an entry only once it is stored."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from partita.errors import ConflictError, StoreError, StreamError, UnavailableError
from partita.runtime.failures import error_description
from partita.runtime.log_context import get_logger
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.chunks import Chunk, DataChunk
from partita.types.codec import encode, to_json

from .live_run import Entry, LiveRun, Stop

LOG: Final = get_logger("partita.run")

MAX_UNSTORED: Final = 1024
"""How many entries may be waiting to be stored before the agent has to wait."""

REFUSED: Final = "data-partita-refused"
"""The note that replaces a chunk that does not fit the message: it is reported but not applied."""

_log_entry: Final = LogEntry._make  # cheaper than a call of the class


class LogWriter:
    """Writes the log of one run, in order, and applies each chunk to the messages of the run.

    Entries that are added within one turn of the event loop are stored together, with the same time.
    """

    def __init__(self, store: Store, live: LiveRun, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._live = live
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._entries: list[Entry | None] = []  # added and not yet submitted
        self._log_entries: list[LogEntry] = []  # the same, as they are stored
        self._now = clock()
        self._batches: deque[tuple[asyncio.Future[int], list[Entry | None]]] = deque()
        self._lock = asyncio.Lock()  # log and message must agree on the order of entries
        self._is_closed = False
        self.failure: StoreError | None = None
        """The error after which the store accepted no more, if there was one."""

    def try_add(self, chunk: Chunk, raw: bytes | None) -> bool:
        """Add an entry if that is possible without waiting. Returns whether it was added."""
        if self._is_full or self._lock.locked():
            return False
        self._add_open(chunk, raw)
        return True

    async def add(self, chunk: Chunk | None, raw: bytes | None = None) -> None:
        """Add an entry. Returns before it is stored, unless too many are not stored yet."""
        if self._lock.locked() or self._is_full:
            async with self._lock:
                await self._wait_for_room()
                self._add_open(chunk, raw)
        else:
            self._add_open(chunk, raw)  # without a lock: no other task can run in between

    async def add_stored(self, chunks: Sequence[Chunk]) -> None:
        """Add chunks and return once they are stored."""
        for chunk in chunks:
            await self.add(chunk)
        self._submit()
        if self._batches:
            await _stored(self._batches[-1][0])
        self._raise_failure()

    async def finish(self, last: Sequence[Chunk]) -> None:
        """Add the last chunks and refuse any others. Returns once everything is stored."""
        self._is_closed = True
        async with self._lock:
            for chunk in last:
                await self._wait_for_room()
                self._add(chunk, None)
            self._submit()
            while self._batches:
                await _stored(self._batches[0][0])
        self._raise_failure()

    @property
    def _is_full(self) -> bool:
        """Whether the next entry has to wait: too many are not stored, or the store accepts no more now."""
        return self._live.unstored >= MAX_UNSTORED or (
            bool(self._batches) and isinstance(self._batches[-1][0], asyncio.Task)
        )

    async def _wait_for_room(self) -> None:
        while self._is_full:
            self._submit()
            await _stored(self._batches[0][0])

    def _add_open(self, chunk: Chunk | None, raw: bytes | None) -> None:
        if self._is_closed:
            raise ConflictError(f"run {self._live.run.id!r} has ended", hint="start another one")
        self._add(chunk, raw)

    def _add(self, chunk: Chunk | None, raw: bytes | None) -> None:
        if self.failure is not None:
            raise self.failure
        if not self._entries:
            self._now = self._clock()
            self._loop.call_soon(self._submit)
        if chunk is None:
            self._entries.append(None)
            self._log_entries.append(_log_entry((self._now, None, raw)))
        else:
            chunk, json = self._apply(chunk)
            self._entries.append((self._now, chunk, json))
            self._log_entries.append(_log_entry((self._now, json, raw)))
        self._live.unstored += 1

    def _apply(self, chunk: Chunk) -> tuple[Chunk, bytes]:
        """Apply a chunk to the message. Returns it with its JSON, or the note that replaces it."""
        json = encode(chunk)  # first: a chunk that cannot be encoded must not be applied
        try:
            self._live.fold.feed(chunk)
        except StreamError as error:
            refused = refused_chunk(chunk, error)
            return refused, encode(refused)
        return chunk, json

    def _submit(self) -> None:
        """Submit the added entries to the store."""
        if not self._entries or self.failure is not None:
            return
        entries, self._entries = self._entries, []
        log_entries, self._log_entries = self._log_entries, []
        run_id = self._live.run.id
        try:
            future = self._store.logs.submit(run_id, log_entries)
        except UnavailableError:  # the queue of the store is full: wait in a task, and so do later entries
            future = asyncio.ensure_future(self._store.logs.append(run_id, log_entries))
        except StoreError as error:  # the entries are applied but will not be in the log, which counts
            self._fail(error)
            return
        if self._batches and self._batches[-1][0] is future:
            self._batches[-1][1].extend(entries)
        else:
            self._batches.append((future, entries))
            future.add_done_callback(self._publish)

    def _publish(self, future: "asyncio.Future[int]") -> None:
        """Publish a batch that was stored."""
        _, entries = self._batches.popleft()
        self._live.unstored -= len(entries)
        error = (
            UnavailableError("the log was closed", hint="open the store again")
            if future.cancelled()
            else future.exception()
        )
        if error is not None:
            self._fail(error)
        elif self.failure is None:  # readers must see no entry after a missing one
            self._live.publish(entries, future.result())

    def _fail(self, error: BaseException) -> None:
        """Keep the error and stop the agent: nothing more that it emits can be stored."""
        if self.failure is None:
            if not isinstance(error, StoreError):
                LOG.error("the log of run %s failed", self._live.run.id, exc_info=error)
                error = StoreError("the log of the run failed")
            self.failure = error
            self._live.stop(Stop("failed", error_description(self.failure)))

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure


async def _stored(future: "asyncio.Future[int]") -> None:
    """Wait for a batch, and for its callbacks."""
    await asyncio.wait([future])
    await asyncio.sleep(0)


def refused_chunk(chunk: Chunk, error: StreamError) -> DataChunk:
    """The note that replaces a chunk that its message cannot accept."""
    return DataChunk(REFUSED, {"chunk": to_json(chunk), "why": str(error)}, transient=True)
