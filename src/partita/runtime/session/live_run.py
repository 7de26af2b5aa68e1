"""A run that this process works on: what came last, who watches, who is asked."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple

from partita.runtime.folding import RunFold
from partita.runtime.service import Decision, Question
from partita.store.engines.wake import Listeners, News
from partita.types.chunks import ChildChunk, Chunk, DataChunk
from partita.types.runs import Run, RunStatus

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


class Seen(NamedTuple):
    """A chunk that may be shown: it is stored. Its JSON is made once, for all who watch."""

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

    seen: Sequence[Seen]
    through: int


_seen: Final = Seen._make  # cheaper than to call the class


class Stop(NamedTuple):
    """How a run that is stopped will be said to have ended, and why."""

    status: RunStatus
    reason: str | None = None


class WaitingRoom:
    """Questions of an agent at work. An answer may come before its question: it was seen in the log."""

    def __init__(self) -> None:
        self._questions: dict[str, Question] = {}
        self._decisions: dict[str, asyncio.Future[Decision]] = {}

    async def ask(self, question: Question) -> Decision:
        """The decision, however long it takes."""
        self._questions[question.approval_id] = question
        try:
            return await self._decision(question.approval_id)
        finally:
            self._questions.pop(question.approval_id, None)
            self._decisions.pop(question.approval_id, None)

    @property
    def is_asked(self) -> bool:
        """Whether a question waits."""
        return bool(self._questions)

    def question(self, approval_id: str) -> Question | None:
        """The question of that id, if it waits."""
        return self._questions.get(approval_id)

    def answer(self, approval_id: str, decision: Decision) -> None:
        """Answer a question, unless it is answered."""
        future = self._decision(approval_id)
        if not future.done():
            future.set_result(decision)

    def _decision(self, approval_id: str) -> "asyncio.Future[Decision]":
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
        self.desk = WaitingRoom()
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
        self._window: list[Seen | None] = []  # the last entries; those without a chunk hold a place
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
        self._watchers.tell("")

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
        self._watchers.tell("")

    @contextmanager
    def watch(self) -> Generator[News, None, None]:
        """News of this run, for as long as the block lasts."""
        with self._watchers.listen("") as news:
            yield news
