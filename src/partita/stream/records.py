"""Bytes of a transport → records, each with the bytes it came in. Joined, these bytes are what was sent."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from .record import Record, RecordReader, value_of
from .record_sse import SseReader

__all__ = ["BodyReader", "Framing", "LinesReader", "Record", "RecordReader", "reader_of"]

Framing: TypeAlias = Literal["sse", "lines", "body"]
"""Server-sent events, one JSON value a line, or one JSON value in all."""

_LINE_END: Final = b"\n"


class BodyReader:
    """All bytes are one record."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []  # of the record so far, which may come in many slices

    def feed(self, data: bytes) -> list[Record]:
        """Nothing yet."""
        self._pieces.append(data)
        return []

    def finish(self) -> list[Record]:
        """The record of the bytes that are left, if there are any."""
        raw = b"".join(self._pieces)
        self._pieces = []
        return [Record(raw, value_of(raw))] if raw else []


class LinesReader(BodyReader):
    """Each line is one record, a JSON value. A line ends in LF or CRLF; a blank line has no value."""

    def feed(self, data: bytes) -> list[Record]:
        """The records of the lines that these bytes end."""
        *ended, rest = data.split(_LINE_END)
        records: list[Record] = []
        for line in ended:
            self._pieces += (line, _LINE_END)
            records += self.finish()
        self._pieces.append(rest)
        return records


READERS: Final[Mapping[Framing, Callable[[], RecordReader]]] = {
    "sse": SseReader,
    "lines": LinesReader,
    "body": BodyReader,
}


def reader_of(framing: Framing) -> RecordReader:
    """A new reader."""
    return READERS[framing]()
