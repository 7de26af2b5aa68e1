"""Which log a file belongs to that was changed: the log itself, or one that it is a piece of."""

from pathlib import Path

from .layouts import shape_of
from .log_file import SIDECAR, WRITE_AHEAD, LogFile, log_file


def log_of(path: Path) -> LogFile | None:
    """The log that a changed file is, or is a piece of; `None` when it is neither, or is gone."""
    whole = _whole(path)
    shape = shape_of(whole.absolute()) if whole else None
    return log_file(whole, shape) if whole and shape else None


def _whole(path: Path) -> Path | None:
    """The path of the log; for a piece of one, that of the whole."""
    name = path.name
    if name.endswith(WRITE_AHEAD):
        return path.with_name(name.removesuffix(WRITE_AHEAD))
    if name.endswith(SIDECAR):
        return path.with_name(name.removesuffix(SIDECAR) + ".jsonl")
    storage, content, owner = path.parents[2:3], path.parent.parent.name, path.parent.name
    if not storage or storage[0].name != "storage" or content not in ("message", "part"):
        return path
    if content == "part":
        message = next(storage[0].glob(f"message/*/{owner}.json"), None)
        owner = message.parent.name if message else ""
    return next(storage[0].glob(f"session/*/{owner}.json"), None)
