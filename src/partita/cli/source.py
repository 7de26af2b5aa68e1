"""Reading a file or pipe: JSON, JSON lines, server-sent events, lines of a v4 data stream, or ChatML.

It may be compressed with gzip or zstd: its first bytes decide that, not its name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, Literal, TypeAlias

from partita.errors import DecodeError
from partita.logs.lines.blocks import open_plain
from partita.stream.partial_json import secure_loads
from partita.stream.sse import SseDecoder
from partita.types.json import Json, is_array, loads

Shape: TypeAlias = Literal["document", "lines", "events", "data-stream-v4", "text"]

BLOCK = 1 << 16
CHATML_MARK = b"<|im_start|>"
_V4_LINE = re.compile(rb"[0-9a-k]:[\[{\"]")
_EVENT_LINE = re.compile(rb"(data|event|id|retry)?:")


@dataclass(frozen=True, slots=True)
class Source:
    """The items of an input, which are read on demand, and its shape."""

    shape: Shape
    items: Iterator[Json]
    is_one: bool = False
    """Whether the input is a single value rather than a list."""

    def payload(self) -> Json:
        """Return the whole input: a single value as it is, several as a list."""
        items = list(self.items)
        is_one = self.is_one or (self.shape == "lines" and len(items) == 1)
        return items[0] if is_one else items


def open_source(file: BinaryIO) -> Source:
    """Detect the shape of an input by its first line."""
    file = open_plain(file)
    first = _first_line(file)
    if not first:
        raise DecodeError("the input is empty", hint="give a file, or pipe something in")
    if _EVENT_LINE.match(first):
        return Source("events", _events(chain([first], _blocks(file))))
    if _V4_LINE.match(first):
        return Source("data-stream-v4", _raw_lines(chain([first], file)))
    if first.lstrip().startswith(b"{") and _is_whole(first):
        return Source("lines", _lines(chain([first], file)))
    if first.lstrip().startswith(CHATML_MARK):
        text = (first + file.read()).decode(errors="surrogateescape")
        return Source("text", iter([text]), is_one=True)
    document = _document(first + file.read())
    return (
        Source("document", iter(document))
        if is_array(document)
        else Source("document", iter([document]), is_one=True)
    )


def _first_line(file: BinaryIO) -> bytes:
    """Return the first line that is not blank, without a byte order mark."""
    first = True
    for line in file:
        line = line.removeprefix(b"\xef\xbb\xbf") if first else line  # noqa: PLW2901 # only the mark is removed
        first = False
        if line.strip():
            return line
    return b""


def _is_whole(line: bytes) -> bool:
    try:
        loads(line)
    except DecodeError:
        return False
    return True


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block


def _events(blocks: Iterator[bytes]) -> Iterator[Json]:
    decoder = SseDecoder()
    number = 0
    for block in blocks:
        for payload in decoder.feed(block):
            yield _parsed(payload, f"event {number}")
            number += 1
    for payload in decoder.finish():
        yield _parsed(payload, f"event {number}")
        number += 1


def _lines(lines: Iterator[bytes]) -> Iterator[Json]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _parsed(line, f"line {number}")


def _raw_lines(lines: Iterator[bytes]) -> Iterator[Json]:
    for line in lines:
        if line.strip():
            yield line.rstrip(b"\r\n").decode(errors="surrogateescape")


def _parsed(text: str | bytes, where: str) -> Json:
    try:
        return secure_loads(text) if isinstance(text, str) else loads(text)
    except DecodeError as error:
        inside = error.where.removeprefix("line 1, ")  # the item is a single line; `where` names its line
        error.where = f"{where}, {inside}" if inside else where
        raise


def _document(text: bytes) -> Json:
    try:
        return loads(text)
    except DecodeError as error:
        error.where = error.where or "the JSON document"
        raise
