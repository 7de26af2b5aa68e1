"""The store without `await`, for scripts and notebooks: an event loop in a thread runs each call."""

import os
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any

from .connection import open_store
from .context import Namespace
from .portal import Portal
from .store import Store


class _Blocking:
    """An object whose methods wait for their results."""

    def __init__(self, portal: Portal, target: Any) -> None:
        self._portal, self._target = portal, target

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if isinstance(value, Namespace):
            return _Blocking(self._portal, value)
        return self._waiting(value) if callable(value) else value

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._target) if not name.startswith("_")]

    def _waiting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method, updated=())  # not its `__signature__`, which is that of an unbound method
        def call(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            if isinstance(result, Coroutine):
                return self._portal.wait(result)
            if isinstance(result, AsyncIterator):
                return self._portal.iterate(result)
            return SyncStore(self._portal, result) if isinstance(result, Store) else result

        return call


class SyncStore(_Blocking):
    """`Store` without `await`: `store.threads.create(…)` returns the thread. `open_store_sync` makes it."""

    def __enter__(self) -> "SyncStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write pending entries of logs, and close the connections."""
        self._portal.wait(self._target.close())
        self._portal.close()


def open_store_sync(
    url: str | os.PathLike[str] | None = None,
    *,
    create: bool = True,
    pool_size: int = 10,
    patience: float = 30.0,
) -> SyncStore:
    """The store of a URL, as `open_store` takes it, for code without an event loop."""
    portal = Portal()
    try:
        opening = open_store(url, create=create, pool_size=pool_size, patience=patience)
        return SyncStore(portal, portal.wait(_opened(opening)))
    except BaseException:
        portal.close()
        raise


async def _opened(opening: open_store) -> Store:
    return await opening
