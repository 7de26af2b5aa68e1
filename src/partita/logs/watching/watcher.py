"""Watching files for changes, with the events of the operating system or by polling.

Events say where to scan; what changed is always found by scanning. So a lost event delays a change and never
hides it: everything is scanned again from time to time, and at short intervals where there are no events.
"""

import asyncio
import contextlib
import os
import stat
import threading
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from .changes import Change, EventListener, Events, FileIndex, silent_file_system

POLL_INTERVAL: Final = 0.5
RESCAN_INTERVAL: Final = 30.0

WITH_EVENTS: Final = 10
"""How many times as long the watcher waits between two scans where events wake it."""

DUTY: Final = 4
"""How many times as long as a scan takes must pass before the next, so that very many files cost little."""


class WatchMethod(NamedTuple):
    """How changes are found; for polling, `why`."""

    name: Literal["events", "polling"]
    why: str = ""


async def watch(
    roots: Sequence[Path],
    *,
    poll_interval: float = POLL_INTERVAL,
    rescan_interval: float = RESCAN_INTERVAL,
    force_polling: bool = False,
    stop: asyncio.Event | None = None,
    on_method: Callable[[WatchMethod], None] | None = None,
) -> AsyncGenerator[frozenset[Path], None]:
    """The files at and below the roots that were created, changed or removed.

    The first set is empty: all changes after it are reported. A root may be a folder or a file, and may be
    created later. Ends when `stop` is set. `on_method` is called with the method, and when it changes.
    """
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(changed.set)

    watcher = Watcher(
        [os.fspath(root) for root in roots],
        rescan_interval=rescan_interval,
        force_polling=force_polling,
        wake=wake,
    )
    reported: WatchMethod | None = None

    def report_method() -> None:
        nonlocal reported
        if on_method and watcher.method != reported:
            reported = watcher.method
            on_method(reported)

    stopping = asyncio.create_task(_set_after(stop, changed)) if stop else None
    try:
        await asyncio.to_thread(watcher.start)
        report_method()
        yield frozenset()
        pause = poll_interval
        while not (stop and stop.is_set()):
            await _wait(pause, changed)
            started = time.monotonic()
            changes = await asyncio.to_thread(watcher.scan)
            interval = poll_interval * (WITH_EVENTS if watcher.waits_for_events else 1)
            pause = max(interval, DUTY * (time.monotonic() - started))
            report_method()
            if changes:
                yield frozenset(map(Path, changes))
    finally:
        if stopping:
            stopping.cancel()
        await asyncio.to_thread(watcher.close)


async def _set_after(stop: asyncio.Event, changed: asyncio.Event) -> None:
    await stop.wait()
    changed.set()


async def _wait(seconds: float, changed: asyncio.Event) -> None:
    """Wait for an event, but not longer than that."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await changed.wait()
    changed.clear()


YOUNG: Final = 1.0
"""After how many seconds a new folder is scanned again: files in it may be older than its events."""

GRACE: Final = 2.0
"""How many seconds late an event may be."""

Changes: TypeAlias = dict[str, Change]
NO_EVENTS: Final = Events(frozenset(), frozenset())


class Watcher:
    """Scans the roots where events say so. Each method may be called from another thread."""

    def __init__(
        self, roots: Sequence[str], *, rescan_interval: float, force_polling: bool, wake: Callable[[], None]
    ) -> None:
        self.method = WatchMethod("polling", "requested") if force_polling else WatchMethod("events")
        self._rescan_interval = rescan_interval
        self._wake = wake
        self._index = FileIndex(roots)
        self._listener: EventListener | None = None
        self._folders: dict[str, tuple[int, int]] = {}  # with events
        self._young: dict[str, float] = {}  # new folders, and when to scan them again
        self._expected: dict[str, float] = {}  # changes found without an event, and until when one may come
        self._rescan_at = 0.0
        self._closed = False
        self._lock = threading.Lock()

    def start(self) -> None:
        """Listen for events, then scan everything: all later changes are found."""
        with self._lock:
            self._listen()
            self._rescan()

    def scan(self) -> Changes:
        """What has changed since the last scan."""
        with self._lock:
            if self._closed:
                return {}
            if self.method.name == "polling":
                return self._index.rescan()
            return self._scan_by_events()

    @property
    def waits_for_events(self) -> bool:
        """Whether events report all changes, as long as the roots stay where they are."""
        with self._lock:
            return self._listener is not None and not (
                self._young or self._expected or self._files_without_events()
            )

    def close(self) -> None:
        """Stop. No changes are found after this."""
        with self._lock:
            self._closed = True
            self._stop_listening()

    def _scan_by_events(self) -> Changes:
        now = time.monotonic()
        events = self._listener.take() if self._listener else NO_EVENTS
        changes = self._index.scan([*events.paths, *self._due_folders(now), *self._files_without_events()])
        self._young |= {path: now + YOUNG for path in events.paths if os.path.isdir(path)}  # noqa: PTH112 # text
        self._check_events(events, now)
        if self._must_listen_again(events):
            self._listen()
            changes |= self._rescan()
        elif now >= self._rescan_at:
            unexpected = self._rescan()
            self._expected |= {path: now + GRACE for path, how in unexpected.items() if how == "modified"}
            changes |= unexpected
        return changes

    def _rescan(self) -> Changes:
        self._rescan_at = time.monotonic() + self._rescan_interval
        return self._index.rescan()

    def _due_folders(self, now: float) -> list[str]:
        """The new folders to scan again now."""
        due = [path for path, when in self._young.items() if when <= now]
        for path in due:
            del self._young[path]
        return due

    def _files_without_events(self) -> list[str]:
        """Roots that are files. They are few, and may be replaced, so they are scanned every time."""
        return [
            root
            for root in self._index.roots
            if root not in self._folders and (root in self._index or os.path.isfile(root))  # noqa: PTH113 # text
        ]

    def _must_listen_again(self, events: Events) -> bool:
        """Whether the folders to listen to have changed: some were created, removed or replaced."""
        if self.method.name == "polling":
            return False
        lost = self._listener is not None and self._listener.failure is not None
        return lost or not events.removed.isdisjoint(self._folders) or self._find_folders() != self._folders

    def _find_folders(self) -> dict[str, tuple[int, int]]:
        """The roots that are folders now, and their identities."""
        folders: dict[str, tuple[int, int]] = {}
        for root in self._index.roots:
            try:
                status = os.stat(root)  # noqa: PTH116 # text
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                folders[root] = (status.st_dev, status.st_ino)
        return folders

    def _listen(self) -> None:
        """Listen to the folders that exist; poll if that is not possible."""
        self._stop_listening()
        if self.method.name == "polling":
            return
        self._folders = self._find_folders()
        silent = {folder: type_ for folder in self._folders if (type_ := silent_file_system(folder))}
        for folder, type_ in silent.items():
            self._poll(f"{folder} is on {type_}, which does not report changes")
        if self._folders and not silent:
            self._listener = EventListener(self._folders, self._wake)
            # If a folder was removed meanwhile, the next scan listens again. A limit that is reached looks
            # like a missing file too: https://github.com/samuelcolvin/watchfiles/issues/207
            if self._listener.failure and self._find_folders() == self._folders:
                self._poll(self._listener.failure)

    def _check_events(self, events: Events, now: float) -> None:
        """Poll from now on, if a change was found and no event came for it."""
        self._expected = {path: until for path, until in self._expected.items() if not _covers(events, path)}
        overdue = [path for path, until in self._expected.items() if until <= now]
        if overdue:
            self._poll(f"no event for a change of {overdue[0]}")

    def _poll(self, why: str) -> None:
        self.method = WatchMethod("polling", why)
        self._stop_listening()

    def _stop_listening(self) -> None:
        if self._listener:
            self._listener.close()
        self._listener = None


def _covers(events: Events, path: str) -> bool:
    """Whether an event was about a file or a folder above it."""
    return any(path == each or path.startswith(each + os.sep) for each in events.paths)
