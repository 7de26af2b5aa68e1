"""What both databases have in common: the interface, notifications, and the health that they report."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from types import TracebackType
from typing import Final, Protocol, TypeVar

from sqlalchemy import Connection

from partita.errors import UnavailableError

T = TypeVar("T")

LOG: Final = logging.getLogger("partita.store")

CHANNEL: Final = "partita"
"""The PostgreSQL channel for notifications; the payload is the topic."""


class Engine(Protocol):
    """SQLite or PostgreSQL. Work is a function of a connection."""

    @property
    def where(self) -> str:
        """The path or the URL of the store, without the password."""
        ...

    @property
    def health(self) -> "EngineHealth":
        """Whether the database can be used."""
        ...

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run work in a read-only transaction with one consistent view, and return its result."""
        ...

    async def write(self, work: Callable[[Connection], T], *, urgent: bool = False) -> T:
        """Run work in a transaction and return its result once it is durable. All or nothing is written.

        The work may be run again after a lost connection or a conflict: it must have no other effects. Urgent
        work does not wait for other work.
        """
        ...

    async def write_statement(self, work: Callable[[Connection], T]) -> T:
        """Run urgent work that writes with one statement: SQLite needs no `BEGIN` and `COMMIT` for it."""
        ...

    async def change_schema(self, work: Callable[[Connection], None]) -> None:
        """Run work that creates or changes tables, in one transaction."""
        ...

    async def autocommit(self, work: Callable[[Connection], T]) -> T:
        """Run statements that are not allowed in a transaction, and return the result."""
        ...

    def listen(self, topic: str) -> AbstractContextManager["Listener"]:
        """Receive the notifications of a topic, from this process and others. There may be too many."""
        ...

    def notify(self, topic: str) -> None:
        """Notify the listeners of a topic in this process."""
        ...

    def change_mark(self) -> object | None:
        """A value that differs after every commit of any process, found without a query; `None`: unknown.

        A caller that saw the same mark before need not read the store again. The mark may also differ though
        nothing was committed.
        """
        ...

    async def close(self) -> None:
        """Finish the work that was started, and close the database."""
        ...


# Notifications


class Listener:
    """Whether a topic was notified. Clear it, read the store, wait: then no change is missed.

    It has one waiter. Thousands of streams wait for their next chunk, so it is a bare future: with an event
    and a timeout of asyncio, a chunk would cost a sixth more.
    """

    __slots__ = ("_is_notified", "_waiter")

    def __init__(self) -> None:
        self._is_notified = False
        self._waiter: asyncio.Future[None] | None = None

    def notify(self) -> None:
        """Wake the waiter, now or when it waits."""
        self._is_notified = True
        _wake(self._waiter)

    def clear(self) -> None:
        """Forget the notifications so far."""
        self._is_notified = False

    async def next(self) -> None:
        """Wait for a notification without a limit: for topics that only this process notifies."""
        if not self._is_notified:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter

    async def wait(self, seconds: float) -> bool:
        """Wait for a notification; returns whether there was one in this time."""
        if not self._is_notified:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            timer = loop.call_later(seconds, _wake, self._waiter)
            try:
                await self._waiter
            finally:
                timer.cancel()
        return self._is_notified


def _wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


class Listeners:
    """The listeners of every topic, in one event loop."""

    def __init__(self) -> None:
        self._by_topic: defaultdict[str, set[Listener]] = defaultdict(set)

    def __bool__(self) -> bool:
        return bool(self._by_topic)

    def count(self, topic: str) -> int:
        """The number of listeners of a topic."""
        return len(self._by_topic.get(topic, ()))

    @contextmanager
    def listen(self, topic: str) -> Generator[Listener, None, None]:
        """A listener of a topic, for the time of the block."""
        listener = Listener()
        self._by_topic[topic].add(listener)
        try:
            yield listener
        finally:
            self._by_topic[topic].discard(listener)
            if not self._by_topic[topic]:
                del self._by_topic[topic]

    def notify(self, topic: str) -> None:
        """Notify the listeners of a topic."""
        for listener in self._by_topic.get(topic, ()):
            listener.notify()

    def notify_all(self) -> None:
        """Notify the listeners of all topics."""
        for topic in self._by_topic:
            self.notify(topic)


# Health


class Availability:
    """Counts and logs the outages of one kind of work: `with availability:` around each call.

    An outage is logged when it begins and when it ends, not for each call.
    """

    def __init__(self, work: str, where: Callable[[], str]) -> None:
        """`work` names it in log lines: `reading`, `writing`."""
        self._work = work
        self._where = where
        self._since: float | None = None
        self.outages = 0
        """The number of outages."""
        self.failures = 0
        """The number of calls that failed because of them."""
        self.waiting = 0
        """The number of calls that have not returned yet."""

    @property
    def is_down(self) -> bool:
        """Whether the last call failed."""
        return self._since is not None

    def __enter__(self) -> None:
        self.waiting += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.waiting -= 1
        if isinstance(error, UnavailableError):
            self.failures += 1
            self.begin_outage(error)
        elif error is None and self._since is not None:
            seconds, self._since = monotonic() - self._since, None
            LOG.warning("the store is available again for %s, after %.1f s", self._work, seconds)

    def begin_outage(self, error: UnavailableError) -> None:
        """The database cannot be used. The next call that succeeds ends the outage."""
        if self._since is not None:
            return
        self._since = monotonic()
        self.outages += 1
        where = error.where or self._where()
        LOG.error("the store is not available for %s: %s (%s)", self._work, error.what, where, exc_info=error)


class EngineHealth:
    """What an engine reports for metrics."""

    def __init__(self, where: Callable[[], str]) -> None:
        self.reading = Availability("reading", where)
        self.writing = Availability("writing", where)
        self.retries = 0
        """The number of times that work was repeated after a lost connection or a conflict."""
