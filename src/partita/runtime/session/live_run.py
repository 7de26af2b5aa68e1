"""An active run of this process: its state, its latest chunks, its readers, its approval requests."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from partita.runtime.run_fold import RunFold
from partita.runtime.service import ApprovalDecision, ApprovalRequest
from partita.store.engines.engine import Listener, Listeners
from partita.types.chunks import ChildChunk, Chunk, DataChunk
from partita.types.threads import Run, RunStatus

WINDOW: Final = 512
"""How many log entries stay in memory for readers. A reader that is further behind reads the store."""

WINDOW_BYTES: Final = 4 * 1024 * 1024
"""About how many bytes of them at most."""

BATCH_BYTES: Final = 128 * 1024
"""About how many bytes a reader receives at once: those of a client that does not read stay in memory."""

DISCONNECT_CHECKS: Final = 0.02
"""Seconds between two checks whether the readers of a run have disconnected."""

NOTES: Final = "data-partita-"
"""The prefix of the types of notes: chunks that Partita adds to a log, such as marks of calls."""


class StoredChunk(NamedTuple):
    """A chunk of a run log, as it is stored. Its JSON is encoded once, for all readers."""

    seq: int
    time: datetime
    chunk: Chunk
    json: bytes

    @property
    def is_note(self) -> bool:
        """Whether it is a note of Partita, of no use to a client."""
        chunk = self.chunk
        while isinstance(chunk, ChildChunk):
            chunk = chunk.chunk
        return is_note(chunk)


def is_note(chunk: Chunk) -> bool:
    """Whether a chunk is a note of Partita in a log."""
    return isinstance(chunk, DataChunk) and chunk.type.startswith(NOTES)


class Batch(NamedTuple):
    """Chunks, and the number of the last log entry that they cover."""

    chunks: Sequence[StoredChunk]
    last_seq: int


Entry: TypeAlias = tuple[datetime, Chunk, bytes]
"""The time, the chunk and its JSON."""

_stored_chunk: Final = StoredChunk._make  # cheaper than a call of the class


class Stop(NamedTuple):
    """The status that a stopped run ends with, and the reason."""

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
    """An active run of this process, running or queued."""

    def __init__(
        self,
        run: Run,
        fold: RunFold,
        owner: str | None = None,
        client_tools: Collection[str] = (),
    ) -> None:
        """`owner` is that of the store that started it; `None`: only the stored run knows its owner.

        `client_tools` are the names of the tools that the client runs, as far as they are known.
        """
        self.run = run
        self.fold = fold
        self.owner = owner
        self.client_tools = client_tools
        self.approvals = PendingApprovals()
        self.replied: set[str] = set()
        """The ids of approval requests and calls that received their reply."""
        self.stopped: asyncio.Future[Stop] = asyncio.get_running_loop().create_future()
        self.abandoned: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.add_chunks: Callable[[Sequence[Chunk]], Awaitable[None]] | None = None
        """Adds chunks to the log and returns once they are stored; `None` while the run is not running."""
        self.ready = asyncio.Event()
        """Set once the fold has the message that the run continues."""
        self.ended = asyncio.Event()
        """Set once the run has ended and its messages are stored."""
        self.last_seq = 0
        """The number of the last stored log entry."""
        self.unstored = 0
        """How many entries the fold has applied that are not stored yet."""
        self._window: list[StoredChunk | None] = []  # the last entries; `None` for those without a chunk
        self._window_bytes = 0
        self._readers = Listeners()
        self._background: set[asyncio.Task[None]] = set()

    # The stored chunks and their readers

    def publish(self, entries: Sequence[Entry | None], last_seq: int) -> None:
        """Show entries to the readers once they are stored; `last_seq` is the number of the last one."""
        first = last_seq - len(entries) + 1
        self._window += [
            None if entry is None else _stored_chunk((first + index, *entry))
            for index, entry in enumerate(entries)
        ]
        self.last_seq = last_seq
        self._window_bytes += sum([len(entry[2]) for entry in entries if entry])
        if len(self._window) > 2 * WINDOW or self._window_bytes > 2 * WINDOW_BYTES:
            self._shrink_window()
        self._readers.notify("")

    def _shrink_window(self) -> None:
        del self._window[:-WINDOW]
        sizes = [len(stored.json) if stored else 0 for stored in self._window]
        self._window_bytes, first = sum(sizes), 0
        while self._window_bytes > WINDOW_BYTES:
            self._window_bytes -= sizes[first]
            first += 1
        del self._window[:first]

    def chunks_after(self, seq: int) -> Batch | None:
        """The first chunks after a number; `None` if they are no longer in the window."""
        behind = self.last_seq - seq
        if behind > len(self._window):
            return None
        if behind <= 0:
            return Batch((), self.last_seq)
        chunks = [stored for stored in self._window[len(self._window) - behind :] if stored]
        size = 0
        for count, stored in enumerate(chunks, 1):
            size += len(stored.json)
            if size >= BATCH_BYTES and count < len(chunks):
                return Batch(chunks[:count], stored.seq)
        return Batch(chunks, self.last_seq)

    @contextmanager
    def listen(self) -> Generator[Listener, None, None]:
        """A listener for new chunks and for the end of the run, for the time of the block."""
        with self._readers.listen("") as listener:
            yield listener

    async def is_unread(self, within: float) -> bool:
        """Whether no client reads the run, now or within some seconds: a disconnect is noticed late."""
        deadline = asyncio.get_running_loop().time() + within
        while self._readers.count(""):
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(DISCONNECT_CHECKS)
        return True

    # The end

    def stop(self, stop: Stop) -> None:
        """Stop it, unless it is stopping already. `ended` is set once it has ended."""
        if not self.stopped.done():
            self.stopped.set_result(stop)

    def abandon(self) -> None:
        """Wait no longer for an agent that does not stop: the run ends without it."""
        if not self.abandoned.done():
            self.abandoned.set_result(None)

    async def wait_unless_stopped(self, task: "asyncio.Task[None]") -> bool:
        """Wait until a task is done or the run is stopped, which cancels the task. Whether it is done."""
        either: list[asyncio.Future[Any]] = [task, self.stopped]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        return task.done()

    def end(self) -> None:
        """Mark it as ended: no more chunks will follow."""
        self.add_chunks = None
        self.ended.set()
        self.ready.set()
        self._readers.notify("")

    def start_background(self, work: Coroutine[None, None, None]) -> None:
        """Start a task beside the run."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
