"""Learning soon of files that change, wherever they are and however the system tells."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

from .watcher import Watcher, Way

POLL_INTERVAL = 0.5
RESCAN_INTERVAL = 30.0

CALM = 10
"""How many times as long a look may wait where events say when to look."""

REST = 4
"""How many times as long as a look takes must pass before the next, so that very many files cost little."""


async def watch(
    roots: Sequence[Path],
    *,
    poll_interval: float = POLL_INTERVAL,
    rescan_interval: float = RESCAN_INTERVAL,
    force_polling: bool = False,
    stop: asyncio.Event | None = None,
    on_way: Callable[[Way], None] | None = None,
) -> AsyncGenerator[frozenset[Path], None]:
    """The files at and below the roots that were created, changed or removed, soon after they were.

    The first set is empty: whatever is read after it, no later change is missed. A root may be a folder or
    a file, and may come later. Ends when `stop` is set. `on_way` is told how it works, and when that changes.
    """
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(news.set)

    watcher = Watcher(
        [os.fspath(root) for root in roots],
        rescan_interval=rescan_interval,
        force_polling=force_polling,
        wake=wake,
    )
    ending = asyncio.create_task(_wake_at(stop, news)) if stop else None
    tell = _Telling(on_way)
    try:
        await asyncio.to_thread(watcher.begin)
        tell(watcher.way)
        yield frozenset()
        pause = poll_interval
        while not (stop and stop.is_set()):
            await _within(pause, news)
            begun = time.monotonic()
            changes = await asyncio.to_thread(watcher.look)
            usual = poll_interval * (CALM if watcher.is_calm else 1)
            pause = max(usual, REST * (time.monotonic() - begun))
            tell(watcher.way)
            if changes:
                yield frozenset(map(Path, changes))
    finally:
        if ending:
            ending.cancel()
        await asyncio.to_thread(watcher.close)


class _Telling:
    """Tells how changes are learnt of, whenever that has changed."""

    def __init__(self, on_way: Callable[[Way], None] | None) -> None:
        self._on_way = on_way
        self._told: Way | None = None

    def __call__(self, way: Way) -> None:
        if self._on_way and way != self._told:
            self._on_way(way)
        self._told = way


async def _wake_at(stop: asyncio.Event, news: asyncio.Event) -> None:
    await stop.wait()
    news.set()


async def _within(seconds: float, news: asyncio.Event) -> None:
    """Wait for news, but not longer than that."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await news.wait()
    news.clear()
