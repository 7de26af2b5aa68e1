"""A run that this process works on: what came last, who watches, who is asked."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from partita.errors import ConflictError, StoreError, StreamError, UnavailableError
from partita.runtime.failures import error_description
from partita.runtime.log_context import get_logger
from partita.runtime.run_fold import RunFold
from partita.runtime.service import ApprovalDecision, ApprovalRequest
from partita.store.engines.engine import Listener, Listeners
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.chunks import ChildChunk, Chunk, DataChunk
from partita.types.codec import encode, to_json
from partita.types.threads import Run, RunStatus

WINDOW: Final = 512
"""How many entries are kept at hand for those who watch; who is further behind reads the store."""

WINDOW_BYTES: Final = 4 * 1024 * 1024
"""And about how many bytes of them at most."""

DISCONNECTS: Final = 0.02
"""Seconds between two checks whether the readers of a run have disconnected."""
BATCH_BYTES: Final = 128 * 1024
"""About how many bytes one who watches is given at once: a client that does not read keeps them in memory."""

NOTES: Final = "data-partita-"
"""How the names of our own notes in a log begin: marks of calls, decisions, failures."""


class StoredChunk(NamedTuple):
    """A chunk of a run log, as it is stored. Its JSON is made once, for all readers."""

    seq: int
    time: datetime
    chunk: Chunk
    json: bytes

    @property
    def is_note(self) -> bool:
        """Whether it is a note of ours in the log, of no use to a client."""
        chunk = self.chunk
        while isinstance(chunk, ChildChunk):
            chunk = chunk.chunk
        return isinstance(chunk, DataChunk) and chunk.type.startswith(NOTES)


class Batch(NamedTuple):
    """Chunks to be shown, and the number up to which that is everything."""

    seen: Sequence[StoredChunk]
    through: int


_seen: Final = StoredChunk._make  # cheaper than to call the class


class Stop(NamedTuple):
    """How a run that is stopped will be said to have ended, and why."""

    status: RunStatus
    reason: str | None = None


class PendingApprovals:
    """The approval requests of an active run. A decision may arrive before its request does."""

    def __init__(self) -> None:
        self._requests: dict[str, ApprovalRequest] = {}
        self._decisions: dict[str, asyncio.Future[ApprovalDecision]] = {}

    async def request(self, request: ApprovalRequest) -> ApprovalDecision:
        """Wait for the decision, however long it takes."""
        self._requests[request.approval_id] = request
        try:
            return await self._decision(request.approval_id)
        finally:
            self._requests.pop(request.approval_id, None)
            self._decisions.pop(request.approval_id, None)

    @property
    def is_waiting(self) -> bool:
        """Whether a request is pending."""
        return bool(self._requests)

    def get(self, approval_id: str) -> ApprovalRequest | None:
        """The pending request with that id."""
        return self._requests.get(approval_id)

    def decide(self, approval_id: str, decision: ApprovalDecision) -> None:
        """Decide a request, unless it is decided already."""
        future = self._decision(approval_id)
        if not future.done():
            future.set_result(decision)

    def _decision(self, approval_id: str) -> "asyncio.Future[ApprovalDecision]":
        return self._decisions.setdefault(approval_id, asyncio.get_running_loop().create_future())


class LiveRun:
    """A run at work in this process."""

    def __init__(
        self,
        run: Run,
        fold: RunFold,
        owner: str | None = None,
        client_tools: Collection[str] = (),
    ) -> None:
        """`owner` is who it was started for; whose it is, without one, the store knows.

        `client_tools` are the tools that the client runs, as far as they are known by name.
        """
        self.run = run
        self.fold = fold
        self.owner = owner
        self.client_tools = client_tools
        self.approvals = PendingApprovals()
        self.replied: set[str] = set()
        """Which questions and calls have had their reply."""
        self.stopped: asyncio.Future[Stop] = asyncio.get_running_loop().create_future()
        self.abandoned: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.say: Callable[[Sequence[Chunk]], Awaitable[None]] | None = None
        """Adds chunks of ours to the log, while the run is at work; returns once they are stored."""
        self.ready = asyncio.Event()
        """Set once the fold holds what the run goes on with."""
        self._background: set[asyncio.Task[None]] = set()
        self.over = asyncio.Event()
        """Set once the run has ended and its messages are stored."""
        self.last_seq = 0
        self.unstored = 0
        """How many entries the fold has taken that are not stored yet."""
        self._window: list[StoredChunk | None] = []  # the last entries; those without a chunk hold a place
        self._bytes = 0  # of what is in the window
        self._watchers = Listeners()

    def publish(self, entries: Sequence[tuple[datetime, Chunk, bytes] | None], last_seq: int) -> None:
        """Show entries that are stored now, the last of them with that number."""
        first = last_seq - len(entries) + 1
        self._window += [
            None if entry is None else _seen((first + place, *entry)) for place, entry in enumerate(entries)
        ]
        self.last_seq = last_seq
        self._bytes += sum([len(entry[2]) for entry in entries if entry])
        if len(self._window) > 2 * WINDOW or self._bytes > 2 * WINDOW_BYTES:
            self._forget()
        self._watchers.notify("")

    def _forget(self) -> None:
        """Let go of what is furthest behind."""
        del self._window[:-WINDOW]
        sizes = [len(seen.json) if seen else 0 for seen in self._window]
        self._bytes, first = sum(sizes), 0
        while self._bytes > WINDOW_BYTES:
            self._bytes -= sizes[first]
            first += 1
        del self._window[:first]

    def after(self, seq: int) -> "Batch | None":
        """What came after a number, the first bytes of it; `None` when it is no longer in the window."""
        behind = self.last_seq - seq
        if behind > len(self._window):
            return None
        if behind <= 0:
            return Batch((), self.last_seq)
        shown = [seen for seen in self._window[len(self._window) - behind :] if seen]
        size = 0
        for place, seen in enumerate(shown, 1):
            size += len(seen.json)
            if size >= BATCH_BYTES and place < len(shown):
                return Batch(shown[:place], seen.seq)
        return Batch(shown, self.last_seq)

    def stop(self, stop: Stop) -> None:
        """Stop it, unless it is stopping already. `over` is set once it has ended."""
        if not self.stopped.done():
            self.stopped.set_result(stop)

    def abandon(self) -> None:
        """Wait no longer for an agent that does not stop: the run ends without it."""
        if not self.abandoned.done():
            self.abandoned.set_result(None)

    async def is_unread(self, within: float) -> bool:
        """Whether no client reads the run, now or `within` some seconds: a disconnect is noticed late."""
        deadline = asyncio.get_running_loop().time() + within
        while self._watchers.count(""):
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(DISCONNECTS)
        return True

    async def unless_stopped(self, work: "asyncio.Task[None]") -> bool:
        """Wait for a task, or for the stop; whether the task is done. Otherwise it is cancelled."""
        either: list[asyncio.Future[Any]] = [work, self.stopped]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
        return work.done()

    def background(self, work: Coroutine[None, None, None]) -> None:
        """Do something beside the run."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def end(self) -> None:
        """Nothing more will come."""
        self.say = None
        self.over.set()
        self.ready.set()
        self._watchers.notify("")

    @contextmanager
    def watch(self) -> Generator[Listener, None, None]:
        """News of this run, for as long as the block lasts."""
        with self._watchers.listen("") as news:
            yield news


# The way of a run's events into its log, and from there to those who watch: stored first, then shown.

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
            future = self._store.logs.submit(run_id, log)
        except UnavailableError:  # too much waits to be written: it waits in line, and so does what follows
            future = asyncio.ensure_future(self._store.logs.append(run_id, log))
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
            self._live.stop(Stop("failed", error_description(self.failure)))


async def _done(future: "asyncio.Future[int]") -> None:
    await asyncio.wait([future])
    await asyncio.sleep(0)  # its callbacks come first


def refused_chunk(chunk: Chunk, error: StreamError) -> DataChunk:
    """What stands in a stream for a chunk that its message cannot take."""
    return DataChunk(REFUSED, {"chunk": to_json(chunk), "why": str(error)}, transient=True)
