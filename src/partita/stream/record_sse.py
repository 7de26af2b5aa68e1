"""Server-sent events as model providers really send them.

Beside what the HTML standard says: the last record may lack its blank line, and bare JSON may stand where
a field should: a whole answer, an array of records, an error behind the last record.
"""

import re
from typing import Final

from msgspec import UNSET, UnsetType

from partita.types.json import Json

from .record import BYTE_ORDER_MARK, Record, value_of
from .record_json import JsonCutter, State

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_DONE: Final = b"[DONE]"
_BARE_STARTS: Final = b"{["
_SILENT_FIELDS: Final = frozenset({b"", b"event", b"id", b"retry"})  # "" is the name of a comment


class SseReader:
    """Bytes of an event stream in, a record for each event out."""

    def __init__(self) -> None:
        self._raw: list[bytes] = []  # lines of the record so far, and blank ones before it
        self._line: list[bytes] = []  # pieces of the line so far: one huge line may come in tiny slices
        self._after_cr = False  # that line has ended, unless LF comes next
        self._is_first = True
        self._begin_record()
        self._bare: JsonCutter | None = None

    def feed(self, data: bytes) -> list[Record]:
        """The records that these bytes complete."""
        records: list[Record] = []
        at = 0
        while at < len(data):
            if self._bare is not None:
                at = self._feed_bare(self._bare, data, at, records)
            elif self._after_cr:
                at += self._take_lf(data[at : at + 1])
                records += self._end_line()
            elif not self._line and data[at] in _BARE_STARTS:
                records += self._close() if self._has_lines else []
                self._bare = JsonCutter(self._take_raw())
            else:
                at = self._feed_line(data, at, records)
        return records

    def finish(self) -> list[Record]:
        """What is left when the bytes end."""
        if self._bare is not None:
            return self._bare.finish()
        records = self._end_line() if self._line else []
        return [*records, *self._close()] if self._raw else records

    def _feed_bare(self, bare: JsonCutter, data: bytes, at: int, records: list[Record]) -> int:
        found, end = bare.feed(data, at)
        records += found
        if bare.state is State.OVER:
            self._bare = None
            rest = bare.take_rest()
            self._raw = [rest] if rest else []
        return end

    def _feed_line(self, data: bytes, at: int, records: list[Record]) -> int:
        found = _LINE_END.search(data, at)
        end = len(data) if found is None else found.end()
        self._line.append(data[at:end])
        if found is not None:
            self._after_cr = found[0] == b"\r" and end == len(data)
            if not self._after_cr:
                records += self._end_line()
        return end

    def _take_lf(self, byte: bytes) -> int:
        self._after_cr = False
        if byte != b"\n":
            return 0
        self._line.append(byte)
        return 1

    def _end_line(self) -> list[Record]:
        line = b"".join(self._line)
        self._line = []
        self._raw.append(line)
        content = line.rstrip(b"\r\n")
        if self._is_first:
            content = content.removeprefix(BYTE_ORDER_MARK)
            self._is_first = False
        if content:
            self._take_field(content)
        elif self._has_lines:
            return self._close()
        return []

    def _take_field(self, line: bytes) -> None:
        self._has_lines = True
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif name not in _SILENT_FIELDS:
            self._strange.append(line)

    def _close(self) -> list[Record]:
        event = self._event()
        self._begin_record()
        return [Record(self._take_raw(), event)]

    def _event(self) -> Json | UnsetType:
        data = b"\n".join(self._data)
        if data.strip() == _DONE:
            return UNSET
        return value_of(data if self._data else b"\n".join(self._strange))

    def _begin_record(self) -> None:
        self._has_lines = False
        self._data: list[bytes] = []
        self._strange: list[bytes] = []  # lines that are no field; they speak when there is no data

    def _take_raw(self) -> bytes:
        raw = b"".join(self._raw)
        self._raw = []
        return raw
