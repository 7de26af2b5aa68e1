"""An event loop in a thread of its own, for code that has none."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class Portal:
    """Runs coroutines in an event loop of another thread, and waits for their results."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="partita-loop", daemon=True)
        self._thread.start()

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine. An interrupt (Ctrl-C) cancels it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def iterate(self, values: AsyncIterator[T]) -> Iterator[T]:
        """The values of an asynchronous iterator."""
        try:
            while True:
                try:
                    yield self.wait(_next(values))
                except StopAsyncIteration:
                    return
        finally:
            with suppress(RuntimeError):  # the loop is closed already
                self.wait(_close(values))

    def close(self) -> None:
        """Stop the loop and its thread."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _next(values: AsyncIterator[T]) -> T:
    return await anext(values)


async def _close(values: AsyncIterator[Any]) -> None:
    close = getattr(values, "aclose", None)
    if close is not None:
        await close()
