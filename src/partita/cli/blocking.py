"""Running coroutines and using a store from commands, which are synchronous.

Another process may lock the store for half a minute. Ctrl-C does not wait for it: work that was not committed
is rolled back anyway, so the process may end at once.
"""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from inspect import CORO_CREATED, getcoroutinestate
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .exit_codes import exit_soon

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.store import Store

T = TypeVar("T")


class Wait(Protocol):
    """A function that runs a coroutine and returns its result."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """Run the coroutine."""
        ...


@contextmanager
def opened_store(url: str | None, resource: str | None = None) -> "Generator[tuple[Store, Wait]]":
    """Open a store, or one owner's part of it; yields the store and a function that runs its coroutines.

    A store that does not exist is an error: only commands that import or serve create one.
    """
    with asyncio.Runner() as runner:

        def wait(work: Coroutine[Any, Any, T], /) -> T:
            try:
                return runner.run(_interruptible(work))
            finally:
                _close_unstarted(work)

        store = wait(_open(url))
        try:
            yield (store if resource is None else store.scoped(resource)), wait
        finally:
            runner.run(store.close())


async def _open(url: str | None) -> "Store":
    from partita.store.connection import open_store

    return await open_store(url, create=False)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result. Ctrl-C cancels it, and ends the process if it does not stop."""
    try:
        return asyncio.run(_interruptible(work))
    finally:
        _close_unstarted(work)


async def _interruptible(work: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine. After a cancellation, the process ends soon even if the coroutine does not."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        exit_soon()
        task.cancel()
        return await task


def _close_unstarted(work: Coroutine[Any, Any, Any]) -> None:
    """Close a coroutine that Ctrl-C prevented from starting: Python would warn about it."""
    if getcoroutinestate(work) == CORO_CREATED:
        work.close()
