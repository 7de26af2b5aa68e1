"""One look after the other at what may have changed.

The system's own events say where to look; what changed is always found by looking. So a lost event costs
time, never a change: everything is looked at again now and then, and all the time where there are no events.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from .file_systems import silent_file_system
from .inventory import Change, Inventory
from .listening import Listener, Told

YOUNG = 1.0
"""After how many seconds a folder is looked into once more: files came before the system listened to it."""

GRACE = 2.0
"""How many seconds an event may take to come."""

Changes: TypeAlias = dict[str, Change]
NOTHING = Told(frozenset(), frozenset())


class Way(NamedTuple):
    """How changes are learnt of; why by polling, if so."""

    name: Literal["events", "polling"]
    why: str = ""


class Watcher:
    """Looks at the roots when asked to, and knows where. Each method may be called from another thread."""

    def __init__(
        self, roots: Sequence[str], *, rescan_interval: float, force_polling: bool, wake: Callable[[], None]
    ) -> None:
        self.way = Way("polling", "asked for") if force_polling else Way("events")
        self._rescan_interval = rescan_interval
        self._wake = wake
        self._inventory = Inventory(roots)
        self._listener: Listener | None = None
        self._heard: dict[str, tuple[int, int]] = {}  # the folders listened to
        self._young: dict[str, float] = {}  # folders lately told of, and when to look into them once more
        self._owed: dict[str, float] = {}  # changes found without a word, and until when the word may come
        self._rescan_at = 0.0
        self._closed = False
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Listen, then look at everything: what changes from now on is found."""
        with self._lock:
            self._listen()
            self._rescan()

    def look(self) -> Changes:
        """What has changed since the last look."""
        with self._lock:
            if self._closed:
                return {}
            if self.way.name == "polling":
                return self._inventory.rescan()
            return self._look_where_told()

    @property
    def is_calm(self) -> bool:
        """Whether the system's events say when to look next, as long as the roots stay where they are."""
        with self._lock:
            return self._listener is not None and not (self._young or self._owed or self._unheard_files())

    def close(self) -> None:
        """Stop listening. Nothing is found from now on."""
        with self._lock:
            self._closed = True
            self._hush()

    def _look_where_told(self) -> Changes:
        now = time.monotonic()
        told = self._listener.take() if self._listener else NOTHING
        changes = self._inventory.look([*told.paths, *self._grown_up(now), *self._unheard_files()])
        self._young |= {path: now + YOUNG for path in told.paths if os.path.isdir(path)}  # noqa: PTH112 # text
        self._settle(told, now)
        if self._must_listen_anew(told):
            self._listen()
            changes |= self._rescan()
        elif now >= self._rescan_at:
            unforeseen = self._rescan()
            self._owed |= {path: now + GRACE for path, how in unforeseen.items() if how == "modified"}
            changes |= unforeseen
        return changes

    def _rescan(self) -> Changes:
        self._rescan_at = time.monotonic() + self._rescan_interval
        return self._inventory.rescan()

    def _grown_up(self, now: float) -> list[str]:
        """The folders to look into once more now."""
        due = [path for path, when in self._young.items() if when <= now]
        for path in due:
            del self._young[path]
        return due

    def _unheard_files(self) -> list[str]:
        """Roots that are files. They are few, and may be replaced, so they are just looked at."""
        return [
            root
            for root in self._inventory.roots
            if root not in self._heard and (root in self._inventory or os.path.isfile(root))  # noqa: PTH113 # text
        ]

    def _must_listen_anew(self, told: Told) -> bool:
        """Whether there are other folders to listen to: some came, some went, some were replaced."""
        if self.way.name == "polling":
            return False
        lost = self._listener is not None and self._listener.failure is not None
        return lost or not told.removed.isdisjoint(self._heard) or self._folders() != self._heard

    def _folders(self) -> dict[str, tuple[int, int]]:
        """The roots that are folders now, and which folders they are."""
        folders: dict[str, tuple[int, int]] = {}
        for root in self._inventory.roots:
            try:
                itself = os.stat(root)  # noqa: PTH116 # text
            except OSError:
                continue
            if stat.S_ISDIR(itself.st_mode):
                folders[root] = (itself.st_dev, itself.st_ino)
        return folders

    def _listen(self) -> None:
        """Listen to the folders that are there; poll when that cannot be done."""
        self._hush()
        if self.way.name == "polling":
            return
        self._heard = self._folders()
        silent = {folder: type_ for folder in self._heard if (type_ := silent_file_system(folder))}
        for folder, type_ in silent.items():
            self._poll(f"{folder} is on {type_}, which does not tell of changes")
        if self._heard and not silent:
            self._listener = Listener(self._heard, self._wake)
            # Should a folder have gone meanwhile, the next look listens anew. A limit that is reached looks
            # like a missing file too: https://github.com/samuelcolvin/watchfiles/issues/207
            if self._listener.failure and self._folders() == self._heard:
                self._poll(self._listener.failure)

    def _settle(self, told: Told, now: float) -> None:
        """Poll from now on, if a change was found that no event has told of even later."""
        self._owed = {path: until for path, until in self._owed.items() if not _covers(told, path)}
        overdue = [path for path, until in self._owed.items() if until <= now]
        if overdue:
            self._poll(f"no event told of a change of {overdue[0]}")

    def _poll(self, why: str) -> None:
        self.way = Way("polling", why)
        self._hush()

    def _hush(self) -> None:
        if self._listener:
            self._listener.close()
        self._listener = None


def _covers(told: Told, path: str) -> bool:
    """Whether something was told of a file or of a folder above it."""
    return any(path == each or path.startswith(each + os.sep) for each in told.paths)
