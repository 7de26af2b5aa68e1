"""A thread of its own for a function that blocks."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, TypeAlias

_Job: TypeAlias = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class Worker:
    """Runs what it is given in one thread, one thing after another, with the context it was made in.

    A thread cannot be killed. One that hangs is left behind, and as a daemon it does not keep Python from
    ending; the threads of `concurrent.futures` would.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self.last: Callable[[], object] | None = None
        """What is run at the end, in the same thread. Nobody hears of its failure."""

    async def run(self, function: Callable[[], Any]) -> Any:
        """What the function returns or raises. Who is cancelled while waiting leaves it running."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="partita-tool", daemon=True)
            self._thread.start()
        future: asyncio.Future[Any] = self._loop.create_future()
        self._jobs.put((function, future))
        return await future

    def end(self) -> None:
        """Let the thread end once it has done what it was given."""
        self._jobs.put(None)

    @property
    def is_alive(self) -> bool:
        """Whether the thread is still there."""
        return self._thread is not None and self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, future = job
            try:
                result = self._context.run(function)
            except BaseException as error:  # told to whoever waits
                self._tell(_settle, future, None, error)
            else:
                self._tell(_settle, future, result, None)
            del job, function, future  # a result of many bytes is not kept until the next job
        if self.last is not None:
            with suppress(BaseException):
                self._context.run(self.last)

    def _tell(self, function: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(function, *arguments)


def _settle(future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if future.done():  # cancelled: left behind
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # which no future takes; a coroutine turns it into this too
        future.set_exception(RuntimeError("the tool raised StopIteration"))
    else:
        future.set_exception(error)
