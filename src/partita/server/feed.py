"""What changes in the store, sent to pages that listen: one task looks for all of them, once a second.

It reads the database only if it was written to since.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from typing import Final

import msgspec

from partita.errors import PartitaError
from partita.store.changes import News, Seen, begin, look
from partita.store.facade.store import Store
from partita.types.json import Json, JsonObject, dumps

from .progress import ImportProgress

EVERY: Final = 1.0
"""So many seconds lie between two looks at the store."""


class Listener:
    """What somebody has yet to be told: of each thread and run the last word only, so it stays small."""

    def __init__(self, owner: str | None) -> None:
        self.owner = owner
        self.news = asyncio.Event()
        self.closed = False
        self._threads: dict[str, JsonObject] = {}
        self._runs: dict[str, JsonObject] = {}
        self._deleted: dict[str, None] = {}

    def hears(self, owner: str | None) -> bool:
        """Whether it may know what an owner has."""
        return self.owner is None or self.owner == owner

    def take(self, news: News) -> None:
        """Note what is to be told."""
        for thread in news.threads:
            if self.hears(thread.owner):
                self._threads[thread.id] = {"id": thread.id, "updatedAt": thread.updated_at.isoformat()}
        for run in news.runs:
            if self.hears(run.owner):
                self._runs[run.id] = {"id": run.id, "threadId": run.thread_id, "status": run.status}
        if self._threads or self._runs:
            self.news.set()

    def take_deleted(self, thread_id: str) -> None:
        """Note that a thread is gone."""
        self._threads.pop(thread_id, None)
        self._deleted[thread_id] = None
        self.news.set()

    def give(self) -> bytes:
        """All that is to be told, as events."""
        self.news.clear()
        told: dict[str, Json] = {
            "threads": list(self._threads.values()),
            "runs": list(self._runs.values()),
            "deleted": list(self._deleted),
        }
        self._threads, self._runs, self._deleted = {}, {}, {}
        return b"".join([event(name, dumps({"items": items})) for name, items in told.items() if items])

    def close(self) -> None:
        """Nothing more will come."""
        self.closed = True
        self.news.set()


class Feed:
    """Looks at the store while somebody listens, and tells each listener what it may know."""

    def __init__(self, store: Store, *, every: float = EVERY) -> None:
        self._store = store
        self._every = every
        self._listeners: set[Listener] = set()
        self._watching: asyncio.Task[None] | None = None
        self._closed = False
        self.looks = 0
        """How often the store was looked at."""

    @contextmanager
    def listening(self, owner: str | None) -> Generator[Listener, None, None]:
        """A listener, for what that owner may know, for as long as the block lasts."""
        listener = Listener(owner)
        self._listeners.add(listener)
        if self._closed:
            listener.close()
        elif self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="watch the store for pages")
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            if not self._listeners and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    def tell_deleted(self, owner: str | None, thread_id: str) -> None:
        """Say that somebody deleted a thread."""
        for listener in self._listeners:
            if listener.hears(owner):
                listener.take_deleted(thread_id)

    def close(self) -> None:
        """End all streams, and look no more."""
        self._closed = True
        for listener in self._listeners:
            listener.close()

    async def _watch(self) -> None:
        seen: Seen | None = None
        mark: object | None = None
        while True:
            before, mark = mark, self._store.engine.change_mark()  # before the look: what comes later differs
            if mark is None or mark != before:
                seen, is_complete = await self._look(seen)
                mark = mark if is_complete else None
            await asyncio.sleep(self._every)

    async def _look(self, seen: Seen | None) -> tuple[Seen | None, bool]:
        """Send what changed; returns what was seen, and whether that is all there is."""
        try:
            if seen is None:
                seen = await self._store.read(begin)
            news = await self._store.read(look, seen)
        except PartitaError:  # the store is busy or unavailable: the next look finds it
            return seen, False
        finally:
            self.looks += 1
        for listener in self._listeners:
            listener.take(news)
        return seen, not news.more


def event(name: str, data: bytes) -> bytes:
    """A server-sent event, its data as JSON."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)


async def events(
    feed: Feed, progress: ImportProgress, owner: str | None, *, keep_alive: float, seconds: float | None
) -> AsyncGenerator[bytes, None]:
    """What changes, as server-sent events, first how far an import is; until `seconds` are over, if given."""
    loop = asyncio.get_running_loop()
    ends = None if seconds is None else loop.time() + seconds
    with feed.listening(owner) as listener, progress.listening(listener.news.set):
        told = progress.status
        yield event("import", msgspec.json.encode(told))
        while not listener.closed:
            left = keep_alive if ends is None else min(keep_alive, ends - loop.time())
            if left <= 0:
                return
            try:
                await asyncio.wait_for(listener.news.wait(), left)
            except TimeoutError:
                yield b": alive\n\n"
                continue
            data = listener.give()
            if progress.status != told:
                told = progress.status
                data += event("import", msgspec.json.encode(told))
            if data:
                yield data
