"""Those who wait for news, by topic, in one event loop."""

import asyncio
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager, suppress


class News:
    """Whether there was news since one last looked. Clear it, look, wait: nothing is missed between."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def tell(self) -> None:
        """There is news."""
        self._event.set()

    def clear(self) -> None:
        """From here on, only what comes later is news."""
        self._event.clear()

    async def next(self) -> None:
        """Return when there is news, however long it takes: for what is told in this process alone."""
        await self._event.wait()

    async def wait(self, seconds: float) -> bool:
        """Return when there is news, or when time is up; whether there is news."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        return self._event.is_set()


class Listeners:
    """Who listens to which topic."""

    def __init__(self) -> None:
        self._by_topic: defaultdict[str, set[News]] = defaultdict(set)

    def __bool__(self) -> bool:
        return bool(self._by_topic)

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
