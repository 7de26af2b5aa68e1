"""What the system tells of changes in folders, gathered by a thread."""

import os
import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple

QUIET = 50
"""How many milliseconds without a change end a burst."""

BURST = 200
"""After how many milliseconds a burst is told even though it goes on."""

READY = 100
"""After how many milliseconds it is sure that changes are told from now on."""

PATIENCE = 10.0
"""How many seconds to wait for that; setting up takes long on trees with very many folders."""


class Told(NamedTuple):
    """Paths that something happened to, and those of them that were removed."""

    paths: frozenset[str]
    removed: frozenset[str]


class Listener:
    """Listens to folders and all that is below, from when it is made until it is closed."""

    def __init__(self, folders: Iterable[str], wake: Callable[[], None]) -> None:
        self.failure: str | None = None
        self._given = {os.path.realpath(folder): folder for folder in folders}
        self._wake = wake
        self._paths: set[str] = set()
        self._removed: set[str] = set()
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="partita-listener", daemon=True)
        self._thread.start()
        self._ready.wait(PATIENCE)

    def take(self) -> Told:
        """What was told since this was asked last."""
        with self._lock:
            told = Told(frozenset(self._paths), frozenset(self._removed))
            self._paths.clear()
            self._removed.clear()
        return told

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        self._stop.set()
        self._thread.join()

    def _listen(self) -> None:
        try:
            from watchfiles import watch

            for changes in watch(
                *self._given,
                watch_filter=None,
                debounce=BURST,
                step=QUIET,
                stop_event=self._stop,
                rust_timeout=READY,
                yield_on_timeout=True,
                force_polling=False,
                ignore_permission_denied=True,
            ):
                self._note((change.name == "deleted", path) for change, path in changes)
        except (ImportError, OSError, RuntimeError) as error:  # RuntimeError: what watchfiles itself raises
            self.failure = str(error) or type(error).__name__
            self._wake()
        finally:
            self._ready.set()

    def _note(self, changes: Iterable[tuple[bool, str]]) -> None:
        self._ready.set()
        with self._lock:
            for is_removed, path in changes:
                self._paths.add(self._as_given(path))
                if is_removed:
                    self._removed.add(self._as_given(path))
            news = bool(self._paths)
        if news:
            self._wake()

    def _as_given(self, path: str) -> str:
        """A path below the folder as it was named, rather than where links lead to."""
        for real, given in self._given.items():
            if path == real or path.startswith(real + os.sep):
                return given + path[len(real) :]
        return path
