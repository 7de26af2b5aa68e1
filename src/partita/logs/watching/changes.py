"""What the watcher uses: an index of files, events of the operating system, and types of file systems."""

import os
import stat
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

# An index of files

Change: TypeAlias = Literal["created", "modified", "removed"]


class Stamp(NamedTuple):
    """Differs if a file was written to, or replaced."""

    size: int
    mtime_ns: int
    inode: int


class FileIndex:
    """The files at and below some roots. A root may be a file, and may not exist yet."""

    def __init__(self, roots: Iterable[str]) -> None:
        self.roots = tuple(roots)
        self._files: dict[str, Stamp] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def rescan(self) -> dict[str, Change]:
        """Scan everything; returns what has changed since the last scan."""
        found: dict[str, Stamp] = {}
        for root in self.roots:
            _scan(root, found)
        before, self._files = self._files, found
        return _differences(before, found)

    def scan(self, paths: Iterable[str]) -> dict[str, Change]:
        """Scan some files, and everything in some folders; returns what has changed since the last scan."""
        changes: dict[str, Change] = {}
        for path in _outermost(paths):
            found: dict[str, Stamp] = {}
            _scan(path, found)
            before = {known: self._files[known] for known in self._known(path, is_file=path in found)}
            for removed in before.keys() - found.keys():
                del self._files[removed]
            self._files |= found
            changes |= _differences(before, found)
        return changes

    def _known(self, path: str, *, is_file: bool) -> list[str]:
        """The known files at a path and below it."""
        if path in self._files:
            return [path]
        inside = path + os.sep
        return [] if is_file else [known for known in self._files if known.startswith(inside)]


def _outermost(paths: Iterable[str]) -> list[str]:
    """The paths that are not below another of them."""
    kept: list[str] = []
    for path in sorted(paths, key=lambda path: path.replace(os.sep, "\0")):
        if not kept or (path != kept[-1] and not path.startswith(kept[-1] + os.sep)):
            kept.append(path)
    return kept


def _differences(before: dict[str, Stamp], after: dict[str, Stamp]) -> dict[str, Change]:
    changes: dict[str, Change] = dict.fromkeys(before.keys() - after.keys(), "removed")
    for path, stamp in after.items():
        known = before.get(path)
        if known != stamp:
            changes[path] = "modified" if known else "created"
    return changes


def _scan(top: str, found: dict[str, Stamp]) -> None:
    """Add the files at and below a path, except those that cannot be read or are removed meanwhile."""
    entered: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        path = waiting.pop()
        try:
            status = os.stat(path)  # noqa: PTH116 # text paths throughout: there are many
            if not stat.S_ISDIR(status.st_mode):
                _add(path, status, found)
                continue
            if (status.st_dev, status.st_ino) in entered:
                continue  # a link that leads back up
            entered.add((status.st_dev, status.st_ino))
            with os.scandir(path) as entries:
                waiting.extend(entry.path for entry in entries)
        except OSError:
            continue


def _add(path: str, status: os.stat_result, found: dict[str, Stamp]) -> None:
    """Add a file, unless SQLite changes it whenever a program reads the database."""
    is_noise = path.endswith("-shm") or (path.endswith("-wal") and not status.st_size)
    if stat.S_ISREG(status.st_mode) and not is_noise:
        found[path] = Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


# Events of the operating system

QUIET: Final = 50
"""How many milliseconds without a change end a burst."""

MAX_BURST: Final = 200
"""After how many milliseconds a burst is reported although it continues."""

START: Final = 100
"""After how many milliseconds events are certain to be reported."""

START_SECONDS: Final = 10.0
"""How long to wait for that at most; trees with very many folders take long."""


class Events(NamedTuple):
    """Paths that events were about, and those of them that were removed."""

    paths: frozenset[str]
    removed: frozenset[str]


class EventListener:
    """Collects events about folders and everything below, in a thread, until it is closed."""

    def __init__(self, folders: Iterable[str], wake: Callable[[], None]) -> None:
        """`wake` is called when there are events, and when listening fails."""
        self.failure: str | None = None
        self._folders = {os.path.realpath(folder): folder for folder in folders}
        self._wake = wake
        self._paths: set[str] = set()
        self._removed: set[str] = set()
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="partita-listener", daemon=True)
        self._thread.start()
        self._ready.wait(START_SECONDS)

    def take(self) -> Events:
        """The events since the last call."""
        with self._lock:
            events = Events(frozenset(self._paths), frozenset(self._removed))
            self._paths.clear()
            self._removed.clear()
        return events

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        self._stop.set()
        self._thread.join()

    def _listen(self) -> None:
        try:
            from watchfiles import watch

            for changes in watch(
                *self._folders,
                watch_filter=None,
                debounce=MAX_BURST,
                step=QUIET,
                stop_event=self._stop,
                rust_timeout=START,
                yield_on_timeout=True,
                force_polling=False,
                ignore_permission_denied=True,
            ):
                self._add((change.name == "deleted", path) for change, path in changes)
        except (ImportError, OSError, RuntimeError) as error:  # RuntimeError: what watchfiles itself raises
            self.failure = str(error) or type(error).__name__
            self._wake()
        finally:
            self._ready.set()

    def _add(self, changes: Iterable[tuple[bool, str]]) -> None:
        self._ready.set()
        with self._lock:
            for is_removed, path in changes:
                self._paths.add(self._as_given(path))
                if is_removed:
                    self._removed.add(self._as_given(path))
            has_events = bool(self._paths)
        if has_events:
            self._wake()

    def _as_given(self, path: str) -> str:
        """A path below the folder as it was given, not below what it links to."""
        for real, given in self._folders.items():
            if path == real or path.startswith(real + os.sep):
                return given + path[len(real) :]
        return path


# File systems without events

MOUNTS = Path("/proc/self/mountinfo")

SILENT: Final = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "drvfs",
        "fakeowner",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
    }
    | {
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.grpcfuse",
        "fuse.osxfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
    }
)
"""File systems that other machines can write to, without an event on this one."""


def silent_file_system(folder: str, mounts: str | None = None) -> str | None:
    """The type of the file system of a folder, if it changes without events."""
    type_ = _type_of(os.path.realpath(folder), _mounts() if mounts is None else mounts)
    return type_ if type_ in SILENT else None


def _mounts() -> str:
    try:
        return MOUNTS.read_text(errors="replace")
    except OSError:
        return ""  # only Linux has it


def _type_of(path: str, mounts: str) -> str:
    """The type of the innermost mount that contains a path. A later mount covers an earlier one."""
    deepest, type_ = -1, ""
    for line in mounts.splitlines():
        fields, _, system = line.partition(" - ")
        point = _unescaped(fields.split(" ")[4]).rstrip("/") if fields.count(" ") > 4 else None
        if point is not None and len(point) >= deepest and f"{path}/".startswith(f"{point}/"):
            deepest, type_ = len(point), system.partition(" ")[0]
    return type_


def _unescaped(text: str) -> str:
    """A path without escapes: the kernel writes white space and backslashes in octal."""
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        text = text.replace(code, character)
    return text
