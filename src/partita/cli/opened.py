"""A store for a command: opened, asked without `await`, and closed at the end."""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from partita.cli.ending.interrupting import forget, heeding

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.store.facade.store import Store

T = TypeVar("T")


class Wait(Protocol):
    """Gives what a coroutine gives."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """Wait for it."""
        ...


@contextmanager
def opened(url: str | None, resource: str | None = None) -> "Generator[tuple[Store, Wait]]":
    """The store of a URL, all of it or one owner's, and a way to wait for its answers."""
    with asyncio.Runner() as runner:

        def wait(work: Coroutine[Any, Any, T], /) -> T:
            try:
                return runner.run(heeding(work))
            finally:
                forget(work)

        store = wait(_opened(url))
        try:
            yield (store if resource is None else store.scoped(resource)), wait
        finally:
            runner.run(store.close())


async def _opened(url: str | None) -> "Store":
    from partita.store.opening import open_store

    return await open_store(url)
