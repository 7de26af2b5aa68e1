"""A file that an agent logs to: whose it is, what it holds, and what the file system says of it."""

import os
import stat
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from partita.errors import PartitaError

Kind: TypeAlias = Literal["session", "subagent", "document", "database", "storage-session", "stream"]
"""What a file holds. A stream is what an agent printed and somebody kept; the rest is its own."""


SIDECAR = ".meta.json"
"""How the name of the file ends that says what a sub-agent is for."""

WRITE_AHEAD = "-wal"
"""How the name of the file ends where SQLite keeps what is not in the database yet."""


class Shape(NamedTuple):
    """What the path of a file tells. `session` of a sub-agent is the session that it works for."""

    agent: str
    kind: Kind
    session: str | None = None


class LogFile(NamedTuple):
    """A log on disk. `identity` stays the same when the file is renamed or grows.

    `size` and `mtime_ns` of a database count what SQLite keeps beside it too.
    """

    path: Path
    agent: str
    kind: Kind
    session: str | None
    size: int
    mtime_ns: int
    identity: str


def log_file(path: Path, shape: Shape, entry: os.DirEntry[str] | None = None) -> LogFile | None:
    """The log at `path`; `None` when there is no regular file, or none any more."""
    try:
        # Asking the entry saves half of the time; on Windows it does not know which file it is.
        found = entry.stat() if entry and os.name != "nt" else path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    size, mtime_ns = found.st_size, found.st_mtime_ns
    if shape.kind == "database":
        ahead_size, ahead_mtime_ns = _ahead(path)
        size, mtime_ns = size + ahead_size, max(mtime_ns, ahead_mtime_ns)
    return LogFile(path, *shape, size, mtime_ns, f"{found.st_dev}:{found.st_ino}")


def _ahead(path: Path) -> tuple[int, int]:
    """Size and time of what SQLite has not put into the database yet; a database may change only there."""
    try:
        found = path.with_name(path.name + WRITE_AHEAD).stat()
    except OSError:
        return 0, 0
    return (found.st_size, found.st_mtime_ns) if found.st_size else (0, 0)  # readers leave it empty


def sidecar_of(path: Path) -> Path | None:
    """The file beside the log of a sub-agent that says what it is for, if there is one."""
    if not path.name.startswith("agent-"):
        return None
    sidecar = path.with_name(path.name.partition(".jsonl")[0] + SIDECAR)
    return sidecar if sidecar.is_file() else None


def is_uuid(text: str) -> bool:
    """Whether `text` looks like a UUID, as sessions are named."""
    return len(text) == 36 and text.count("-") == 4 and text.replace("-", "").isalnum()


def unreadable(path: str, error: OSError) -> PartitaError:
    """The problem of a path that the system will not let us see."""
    why = (error.strerror or type(error).__name__).lower()
    return PartitaError(f"cannot be read: {why}", where=path, hint="check who may read it, then try again")
