"""Which files there are, and how each of them looked when it was looked at last."""

import os
import stat
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

Change: TypeAlias = Literal["created", "modified", "removed"]


class Stamp(NamedTuple):
    """What differs when a file was written to, or is another one."""

    size: int
    mtime_ns: int
    inode: int


class Inventory:
    """The files at and below some roots. A root may be a file, and need not be there."""

    def __init__(self, roots: Iterable[str]) -> None:
        self.roots = tuple(roots)
        self._files: dict[str, Stamp] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def rescan(self) -> dict[str, Change]:
        """Look at everything; what is not as it was."""
        found: dict[str, Stamp] = {}
        for root in self.roots:
            _gather(root, found)
        before, self._files = self._files, found
        return _differences(before, found)

    def look(self, paths: Iterable[str]) -> dict[str, Change]:
        """Look at some files, and at all that is in some folders; what is not as it was."""
        changes: dict[str, Change] = {}
        for path in _outermost(paths):
            found: dict[str, Stamp] = {}
            _gather(path, found)
            before = {known: self._files[known] for known in self._known(path, is_file=path in found)}
            for gone in before.keys() - found.keys():
                del self._files[gone]
            self._files |= found
            changes |= _differences(before, found)
        return changes

    def _known(self, path: str, *, is_file: bool) -> list[str]:
        """What is known at a path and below it."""
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


def _gather(top: str, found: dict[str, Stamp]) -> None:
    """Add the files at and below a path. What may not be read, or goes meanwhile, is not there."""
    entered: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        path = waiting.pop()
        try:
            itself = os.stat(path)  # noqa: PTH116 # text paths throughout: they are many, and asked for often
            if not stat.S_ISDIR(itself.st_mode):
                _add(path, itself, found)
                continue
            if (itself.st_dev, itself.st_ino) in entered:
                continue  # a link that leads back up
            entered.add((itself.st_dev, itself.st_ino))
            with os.scandir(path) as entries:
                waiting.extend(entry.path for entry in entries)
        except OSError:
            continue


def _add(path: str, itself: os.stat_result, found: dict[str, Stamp]) -> None:
    """Add a file, unless it is one that SQLite changes whenever somebody merely reads the database."""
    is_noise = path.endswith("-shm") or (path.endswith("-wal") and not itself.st_size)
    if stat.S_ISREG(itself.st_mode) and not is_noise:
        found[path] = Stamp(itself.st_size, itself.st_mtime_ns, itself.st_ino)
