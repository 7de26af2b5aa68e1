"""Bytes of a transport → records, each with the bytes it came in. All of them in a row are what was sent."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from .record import Record, RecordReader, value_of
from .record_lines import LinesReader
from .record_sse import SseReader

__all__ = ["BodyReader", "Framing", "Record", "RecordReader", "reader_of"]

Framing: TypeAlias = Literal["sse", "lines", "body"]
"""Server-sent events, one JSON value a line, or one JSON value in all."""


class BodyReader:
    """All bytes are one record."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> list[Record]:
        """Nothing yet."""
        self._pieces.append(data)
        return []

    def finish(self) -> list[Record]:
        """The one record, unless no byte came."""
        raw = b"".join(self._pieces)
        self._pieces = []
        return [Record(raw, value_of(raw))] if raw else []


READERS: Final[Mapping[Framing, Callable[[], RecordReader]]] = {
    "sse": SseReader,
    "lines": LinesReader,
    "body": BodyReader,
}


def reader_of(framing: Framing) -> RecordReader:
    """A new reader."""
    return READERS[framing]()
