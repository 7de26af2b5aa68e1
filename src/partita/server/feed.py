"""Changes of the store, as events for clients: one task polls the store once a second for all of them.

It reads the database only if something was written since.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from typing import Final, Literal, TypeAlias

import msgspec

from partita.errors import PartitaError
from partita.store.changes import Changes, PollState, poll, start_polling
from partita.store.store import Store
from partita.types.json import Json, JsonObject, dumps

# Progress of the log import that runs while the server does

ImportState: TypeAlias = Literal["idle", "reading", "done", "failed"]


class ImportStatus(msgspec.Struct, frozen=True, rename="camel"):
    """Progress of an import."""

    state: ImportState = "idle"
    files: int = 0
    """Files that are done."""
    all_files: int = 0
    """All files."""
    sessions: int = 0
    """New sessions."""
    messages: int = 0
    """New messages."""


class ImportProgress:
    """The current status of an import, and listeners that are called when it changes."""

    def __init__(self) -> None:
        self.status = ImportStatus()
        self._listeners: set[Callable[[], None]] = set()

    def update(
        self,
        state: ImportState,
        *,
        files: int = 0,
        all_files: int = 0,
        sessions: int = 0,
        messages: int = 0,
    ) -> None:
        """Set the status. Call it in the thread of the server."""
        self.status = ImportStatus(state, files, all_files, sessions, messages)
        for listener in tuple(self._listeners):
            listener()

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Generator[None, None, None]:
        """Call the listener whenever the status changes, while the block runs."""
        self._listeners.add(listener)
        try:
            yield
        finally:
            self._listeners.discard(listener)


INTERVAL: Final = 1.0
"""Seconds between two polls of the store."""


class Listener:
    """The pending events of one client: only the last one of each thread and run, so it stays small."""

    def __init__(self, owner: str | None) -> None:
        self.owner = owner
        self.news = asyncio.Event()
        self.closed = False
        self._threads: dict[str, JsonObject] = {}
        self._runs: dict[str, JsonObject] = {}
        self._deleted: dict[str, None] = {}

    def may_see(self, owner: str | None) -> bool:
        """Whether it may see the data of an owner."""
        return self.owner is None or self.owner == owner

    def add(self, changes: Changes) -> None:
        """Add the changes that it may see."""
        for thread in changes.threads:
            if self.may_see(thread.owner):
                updated = None if thread.updated_at is None else thread.updated_at.isoformat()
                self._threads[thread.id] = {"id": thread.id, "updatedAt": updated}
        for run in changes.runs:
            if self.may_see(run.owner):
                self._runs[run.id] = {"id": run.id, "threadId": run.thread_id, "status": run.status}
        if self._threads or self._runs:
            self.news.set()

    def add_deleted(self, thread_id: str) -> None:
        """Add the deletion of a thread."""
        self._threads.pop(thread_id, None)
        self._deleted[thread_id] = None
        self.news.set()

    def drain(self) -> bytes:
        """The pending events, which are removed."""
        self.news.clear()
        events_by_name: dict[str, Json] = {
            "threads": list(self._threads.values()),
            "runs": list(self._runs.values()),
            "deleted": list(self._deleted),
        }
        self._threads, self._runs, self._deleted = {}, {}, {}
        return b"".join(
            [event(name, dumps({"items": items})) for name, items in events_by_name.items() if items]
        )

    def close(self) -> None:
        """End the stream of the client."""
        self.closed = True
        self.news.set()


class Feed:
    """Polls the store while there are listeners, and adds to each the changes that it may see."""

    def __init__(self, store: Store, *, interval: float = INTERVAL) -> None:
        self._store = store
        self._interval = interval
        self._listeners: set[Listener] = set()
        self._watching: asyncio.Task[None] | None = None
        self._closed = False
        self.polls = 0
        """How often the store was polled."""

    @contextmanager
    def listening(self, owner: str | None) -> Generator[Listener, None, None]:
        """A listener for the data of an owner, or for all data, while the block runs."""
        listener = Listener(owner)
        self._listeners.add(listener)
        if self._closed:
            listener.close()
        elif self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="poll the store for changes")
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            if not self._listeners and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    def report_deleted(self, owner: str | None, thread_id: str) -> None:
        """Report that a thread was deleted."""
        for listener in self._listeners:
            if listener.may_see(owner):
                listener.add_deleted(thread_id)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for listener in self._listeners:
            listener.close()

    async def _watch(self) -> None:
        state: PollState | None = None
        mark: object | None = None
        while True:
            before, mark = mark, self._store.engine.change_mark()  # before the poll: later writes change it
            if mark is None or mark != before:
                state, is_complete = await self._poll(state)
                mark = mark if is_complete else None
            await asyncio.sleep(self._interval)

    async def _poll(self, state: PollState | None) -> tuple[PollState | None, bool]:
        """Report changes; returns the new state, and whether those are all changes."""
        try:
            if state is None:
                state = await self._store.read(start_polling)
            changes = await self._store.read(poll, state)
        except PartitaError:  # the store is busy or unavailable: the next poll finds them
            return state, False
        finally:
            self.polls += 1
        for listener in self._listeners:
            listener.add(changes)
        return state, not changes.has_more


def event(name: str, data: bytes) -> bytes:
    """A server-sent event with JSON data."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)


async def events(
    feed: Feed, progress: ImportProgress, owner: str | None, *, keep_alive: float, seconds: float | None
) -> AsyncGenerator[bytes, None]:
    """Changes as server-sent events, after the status of the import; for so many `seconds`, if given."""
    loop = asyncio.get_running_loop()
    deadline = None if seconds is None else loop.time() + seconds
    with feed.listening(owner) as listener, progress.listening(listener.news.set):
        sent = progress.status
        yield event("import", msgspec.json.encode(sent))
        while not listener.closed:
            timeout = keep_alive if deadline is None else min(keep_alive, deadline - loop.time())
            if timeout <= 0:
                return
            try:
                await asyncio.wait_for(listener.news.wait(), timeout)
            except TimeoutError:
                yield b": alive\n\n"
                continue
            data = listener.drain()
            if progress.status != sent:
                sent = progress.status
                data += event("import", msgspec.json.encode(sent))
            if data:
                yield data
