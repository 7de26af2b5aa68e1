"""The first JSON values of a file, without reading much of it."""

import errno
import json
from pathlib import Path

from partita.errors import PartitaError
from partita.stream.partial_json import parse_partial_json
from partita.types.json import Json

from .blocks import read_head
from .recovery import is_blank

WINDOW = 1 << 16
"""How many bytes are read."""

LIMIT = 20
"""How many values are enough to detect a format."""

ATTEMPTS = 500
"""How many times to try to read a value: brackets that are never closed take long, each."""

UNREADABLE = {
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.ELOOP: "a link points to itself",
    errno.ENAMETOOLONG: "check the spelling",
}
"""The hints for errors of the system."""

_BLANK = " \t\r\n\0\ufeff"  # a crash leaves runs of NUL before records
_DECODER = json.JSONDecoder(strict=False)


def first_values(path: Path) -> list[Json]:
    """The first values of a file of JSON lines, or its one document. What is not JSON is skipped.

    The file may be compressed. Raises a `PartitaError` if it cannot be read.
    """
    data = head_of(path)
    return values_of(data.decode(errors="replace"), cut=len(data) == WINDOW)


def is_empty(path: Path) -> bool:
    """Whether a file has nothing but white space."""
    return is_blank(head_of(path))


def head_of(path: Path) -> bytes:
    """The first bytes of a file, decompressed. Raises a `PartitaError` if it cannot be read."""
    try:
        return read_head(path, WINDOW)
    except OSError as error:
        raise unreadable(str(path), error) from None


def values_of(text: str, *, cut: bool = False) -> list[Json]:
    """The first JSON values of a text. `cut`: the text continues after its end."""
    if cut and not has_whole_line(text):
        parsed = parse_partial_json(text.lstrip(_BLANK))
        return [] if parsed.state == "failed-parse" else [parsed.value]
    values: list[Json] = []
    at = _next_start(text, 0)
    for _ in range(ATTEMPTS):
        if at == len(text) or len(values) == LIMIT:
            break
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = _line_end(text, at)
        else:
            values.append(value)
        at = _next_start(text, at)
    return values


def unreadable(path: str, error: OSError) -> PartitaError:
    """The error for a file or folder that the system does not let us read."""
    why = (error.strerror or type(error).__name__).lower()
    hint = UNREADABLE.get(error.errno or 0, "check its disk, then try again")
    return PartitaError(f"cannot be read: {why}", where=path, hint=hint)


def has_whole_line(text: str) -> bool:
    """Whether the first line is a record, rather than the first of a record over many lines."""
    start = len(text) - len(text.lstrip(_BLANK))
    end = text.find("\n", start)
    return end >= 0 and not text[start:end].rstrip().endswith(("{", "[", ","))


def _next_start(text: str, at: int) -> int:
    """Where the next value may start: at a bracket that is first in its line, or after a value."""
    while at < len(text):
        if text[at] in "{[":
            return at
        at = at + 1 if text[at] in _BLANK else _line_end(text, at)
    return at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1
