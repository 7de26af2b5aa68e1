"""Whether a file has anything new, and from where on to read it.

A file is known by its path and its identity, and what was read of it by its first and its last bytes. One
that was renamed is followed; one that was rewritten or cut is read again, and what was read before stays.
"""

from hashlib import sha256
from pathlib import Path
from time import time_ns
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.logs.places.log_file import LogFile
from partita.store.values import Source
from partita.types.json import JsonObject, is_object

HEAD: Final = 4096
"""How many bytes at each end of what was read tell that it is still the same."""

RECENT: Final = 5 * 60 * 10**9
"""For so many nanoseconds after its last word an agent may be at work."""

What: TypeAlias = Literal["nothing", "more", "again", "rewritten", "new"]


class Plan(NamedTuple):
    """What is to be done about a file; `source` is what is known of it."""

    what: What
    source: Source | None = None

    @property
    def state(self) -> JsonObject:
        """What was kept of the last reading."""
        state = None if self.source is None else self.source.state
        return state if is_object(state) else {}


def plan_for(file: LogFile, source: Source | None, *, finished: bool = False) -> Plan:
    """What is new in a file that was read before, or not; `finished`: its agent is done."""
    if source is None or not is_object(source.state):
        return Plan("new")
    state = source.state
    if file.kind == "storage-session":  # its messages are other files: only a look inside tells
        return Plan("again", source)
    settles = bool(state.get("running")) and (finished or not is_recent(file))
    if state.get("size") == file.size and state.get("mtime") == file.mtime_ns and not settles:
        return Plan("nothing", source)
    if file.path.suffix in (".gz", ".zst") or state.get("packed"):
        return Plan("again", source)
    if file.size < source.offset or digest(file.path, source.offset) != source.hash:
        return Plan("rewritten", source)
    if file.size == state.get("size") and file.size == source.offset and not settles:
        return Plan("nothing", source)
    return Plan("more" if state.get("checkpoint") is not None else "again", source)


def is_recent(file: LogFile) -> bool:
    """Whether a file was written to so lately that its agent may be at work."""
    return time_ns() - file.mtime_ns < RECENT


def digest(path: Path, offset: int) -> str:
    """What tells the first `offset` bytes of a file from others: both their ends."""
    try:
        with path.open("rb") as file:
            head = file.read(min(HEAD, offset))
            file.seek(max(0, offset - HEAD))
            tail = file.read(min(HEAD, offset))
    except OSError:
        return ""
    return fingerprint(head, tail)


def fingerprint(head: bytes, tail: bytes) -> str:
    """What tells bytes from others, by as many of them at each end as `HEAD` says."""
    return sha256(head + b"\n" + tail).hexdigest()
