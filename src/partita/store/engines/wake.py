"""Those who wait for news, by topic, in one event loop."""

import asyncio
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager


class News:
    """Whether there was news since one last looked. Clear it, look, wait: nothing is missed between.

    One listener waits for it. Thousands of streams wait for their next word, so it is a bare future: with
    an event and a timeout of asyncio, a word would cost a sixth more.
    """

    __slots__ = ("_told", "_waiting")

    def __init__(self) -> None:
        self._told = False
        self._waiting: asyncio.Future[None] | None = None

    def tell(self) -> None:
        """There is news."""
        self._told = True
        _wake(self._waiting)

    def clear(self) -> None:
        """From here on, only what comes later is news."""
        self._told = False

    async def next(self) -> None:
        """Return when there is news, however long it takes: for what is told in this process alone."""
        if not self._told:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting

    async def wait(self, seconds: float) -> bool:
        """Return when there is news, or when time is up; whether there is news."""
        if not self._told:
            loop = asyncio.get_running_loop()
            self._waiting = loop.create_future()
            alarm = loop.call_later(seconds, _wake, self._waiting)
            try:
                await self._waiting
            finally:
                alarm.cancel()
        return self._told


def _wake(waiting: "asyncio.Future[None] | None") -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


class Listeners:
    """Who listens to which topic."""

    def __init__(self) -> None:
        self._by_topic: defaultdict[str, set[News]] = defaultdict(set)

    def __bool__(self) -> bool:
        return bool(self._by_topic)

    def count(self, topic: str) -> int:
        """How many listen to a topic."""
        return len(self._by_topic.get(topic, ()))

    @contextmanager
    def listen(self, topic: str) -> Generator[News, None, None]:
        """News of a topic, for as long as the block lasts."""
        news = News()
        self._by_topic[topic].add(news)
        try:
            yield news
        finally:
            self._by_topic[topic].discard(news)
            if not self._by_topic[topic]:
                del self._by_topic[topic]

    def tell(self, topic: str) -> None:
        """Wake those who listen to a topic."""
        for news in self._by_topic.get(topic, ()):
            news.tell()

    def tell_all(self) -> None:
        """Wake everybody."""
        for topic in self._by_topic:
            self.tell(topic)
