"""A task that runs in the background while a context is open."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self


class BackgroundTask(ABC):
    """Use it as an async context manager: the task starts when it is entered, and is cancelled at the end."""

    _task: asyncio.Task[None] | None = None

    @abstractmethod
    def _work(self) -> Coroutine[Any, Any, None] | None:
        """The coroutine to run; `None` if there is nothing to do."""

    async def __aenter__(self) -> Self:
        work = self._work()
        if work is not None:
            self._task = asyncio.create_task(work, name=type(self).__name__)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
