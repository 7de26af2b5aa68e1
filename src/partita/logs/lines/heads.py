"""The first JSON values of a file, without reading much of it."""

import gzip
import json
import sys
import zlib
from pathlib import Path

from partita.errors import PartitaError
from partita.logs.places.log_file import unreadable
from partita.stream.partial_json import parse_partial_json
from partita.types.json import Json

from .recovery import is_blank

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

WINDOW = 1 << 16
"""How many bytes are looked at."""

LIMIT = 20
"""How many values are enough to tell a format."""

ATTEMPTS = 500
"""How often to try to read a value: brackets that never close take long, each."""

_BLANK = " \t\r\n\0\ufeff"  # runs of NUL stand before records that were written around a crash
_DECODER = json.JSONDecoder(strict=False)


def first_values(path: Path) -> list[Json]:
    """The first values of a file of JSON lines, or its one document; what is no JSON is passed by.

    Compressed files are looked into. A `PartitaError` when the file cannot be read.
    """
    data = head_of(path)
    return values_of(data.decode(errors="replace"), cut=len(data) == WINDOW)


def is_empty(path: Path) -> bool:
    """Whether a file holds nothing, or nothing but blanks."""
    return is_blank(head_of(path))


def head_of(path: Path) -> bytes:
    """The first bytes of a file, decompressed. A `PartitaError` when it cannot be read."""
    try:
        return _head(path)
    except OSError as error:
        raise unreadable(str(path), error) from None
    except (EOFError, zlib.error, zstd.ZstdError):
        raise PartitaError(
            "cannot be decompressed", where=str(path), hint="it may be cut: copy it again"
        ) from None


def values_of(text: str, *, cut: bool = False) -> list[Json]:
    """The first JSON values of a text. `cut` says that the text goes on where this one ends."""
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


def _head(path: Path) -> bytes:
    match path.suffix:
        case ".gz":
            with gzip.open(path) as packed:
                return packed.read(WINDOW)
        case ".zst":
            with zstd.open(path) as frames:
                return frames.read(WINDOW)
        case _:
            with path.open("rb") as plain:
                return plain.read(WINDOW)


def has_whole_line(text: str) -> bool:
    """Whether the first line is a record, rather than the first of a record over many lines."""
    start = len(text) - len(text.lstrip(_BLANK))
    end = text.find("\n", start)
    return end >= 0 and not text[start:end].rstrip().endswith(("{", "[", ","))


def _next_start(text: str, at: int) -> int:
    """Where the next value may start: at a bracket that is the first thing on its line, or after a value."""
    while at < len(text):
        if text[at] in "{[":
            return at
        at = at + 1 if text[at] in _BLANK else _line_end(text, at)
    return at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1
