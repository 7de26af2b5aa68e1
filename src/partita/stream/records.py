"""Bytes of a transport → records with their bytes. Joined, the bytes of all records are what was received."""

import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.types.json import Json, loads

# Records

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
WHITE: Final = b" \t\r\n"


class Record(NamedTuple):
    """One record: its bytes with their framing, and its value; `UNSET` for comments and `[DONE]`.

    The value of a record that is not JSON is its text.
    """

    raw: bytes
    event: Json | UnsetType


class RecordReader(Protocol):
    """Splits bytes, which may be cut anywhere, into records."""

    def feed(self, data: bytes) -> list[Record]:
        """The records that these bytes complete."""
        ...

    def finish(self) -> list[Record]:
        """The last record, when the bytes end."""
        ...


def value_of(data: bytes) -> Json | UnsetType:
    """The JSON value of some bytes, or their text if they are not JSON; `UNSET` for white space.

    Bytes that are not UTF-8 become replacement characters.
    """
    bare = data.removeprefix(BYTE_ORDER_MARK).strip(WHITE)
    if not bare:
        return UNSET
    text = bare.decode(errors="replace")
    try:
        return loads(text)
    except DecodeError:
        return text


# JSON without framing: a value is one record; of an array, each element is. Every byte is scanned once.

_NEXT_VALUE: Final = re.compile(rb"[^ \t\r\n,]")
_IN_STRING: Final = re.compile(rb'["\\\r\n]')
# Brackets, quotes, commas, line ends, and characters that cannot occur outside JSON strings.
_OUTSIDE: Final = re.compile(rb'["{}\[\],\r\n]|[^ \t0-9:.+\-eEtrufalsn]')
_LINE_BREAK: Final = re.compile(rb"[\r\n]")
_FIELD_STARTS: Final = b"deir"  # of data, event, id, retry: no line of a JSON value starts with these


class JsonState(Enum):
    """The position in the JSON."""

    OPENING = auto()
    BETWEEN = auto()
    """Between the elements of an array."""
    VALUE = auto()
    STRING = auto()
    ESCAPE = auto()
    SPOILT = auto()
    """In a line that is not JSON any more."""
    OVER = auto()


class Step(NamedTuple):
    """The records that some bytes complete, and how many of the bytes were read."""

    records: list[Record]
    end: int


class JsonCutter:
    """Splits bytes that start with `{` or `[` into records, until the value or the array ends."""

    def __init__(self, lead: bytes) -> None:
        """`lead` are bytes before the value that belong to the first record."""
        self.state = JsonState.OPENING
        self._pieces = [lead]  # of the record so far
        self._size = len(lead)
        self._value_at: int | None = None  # the start of the value in them
        self._depth = 0
        self._floor = 0  # the depth at which a value is complete: 1 between the brackets of an array
        self._last = b""  # the byte before the current ones

    def feed(self, data: bytes, start: int) -> Step:
        """Read `data` from `start`."""
        records: list[Record] = []
        position = mark = start
        while position < len(data) and self.state is not JsonState.OVER:
            if self.state is JsonState.VALUE and self._value_at is None:
                self._value_at = self._size + position - mark
            position, is_whole = self._move(data, position)
            if is_whole:
                self._gather(data[mark:position])
                records.append(self._record())
                mark = position
        self._gather(data[mark:position])
        self._last = data[position - 1 : position]
        return Step(records, position)

    def take_rest(self) -> bytes:
        """The bytes that belong to no record: the end of an array."""
        rest = b"".join(self._pieces)
        self._pieces = []
        return rest

    def finish(self) -> list[Record]:
        """The remaining bytes of a value that did not end."""
        return [self._record()] if self._size else []

    def _gather(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)

    def _record(self) -> Record:
        raw = b"".join(self._pieces)
        event = UNSET if self._value_at is None else value_of(raw[self._value_at :])
        self._pieces, self._size, self._value_at = [], 0, None
        return Record(raw, event)

    def _move(self, data: bytes, at: int) -> tuple[int, bool]:
        """Scan from `at`: the next position, and whether a value ends there."""
        match self.state:
            case JsonState.OPENING:
                return self._open(data, at)
            case JsonState.BETWEEN:
                return self._seek(data, at)
            case JsonState.VALUE:
                return self._scan(data, at)
            case JsonState.STRING:
                return self._scan_string(data, at)
            case JsonState.ESCAPE:
                is_cut = data[at] in b"\r\n"
                self.state = JsonState.SPOILT if is_cut else JsonState.STRING
                return (at if is_cut else at + 1), False
            case JsonState.SPOILT | JsonState.OVER:
                found = _LINE_BREAK.search(data, at)
                if found is None:
                    return len(data), False
                self.state = JsonState.OVER
                return found.end(), True

    def _open(self, data: bytes, at: int) -> tuple[int, bool]:
        if data[at] != ord("["):
            self.state = JsonState.VALUE
            return at, False
        self.state = JsonState.BETWEEN
        self._depth = self._floor = 1
        return at + 1, False

    def _seek(self, data: bytes, at: int) -> tuple[int, bool]:
        found = _NEXT_VALUE.search(data, at)
        if found is None:
            return len(data), False
        if found[0] == b"]":
            self.state = JsonState.OVER
            return found.end(), False
        self.state = JsonState.VALUE
        return found.start(), False

    def _scan(self, data: bytes, at: int) -> tuple[int, bool]:
        before = data[at - 1 : at] if at else self._last
        if before in (b"\r", b"\n") and data[at] in _FIELD_STARTS:
            self.state = JsonState.OVER  # server-sent events follow instead of the rest of this value
            return at, True
        found = _OUTSIDE.search(data, at)
        if found is None:
            return len(data), False
        match found[0]:
            case b'"':
                self.state = JsonState.STRING
            case b"{" | b"[":
                self._depth += 1
            case b"}" | b"]" if self._depth > self._floor:
                return found.end(), self._close()
            case b"," | b"]" if self._depth == self._floor:
                self.state = JsonState.BETWEEN  # a number, a string or a literal of an array ends before it
                return found.start(), True
            case b"," | b"\r" | b"\n":
                pass
            case _:
                self.state = JsonState.SPOILT
        return found.end(), False

    def _close(self) -> bool:
        self._depth -= 1
        if self._depth > self._floor:
            return False
        self.state = JsonState.BETWEEN if self._floor else JsonState.OVER
        return True

    def _scan_string(self, data: bytes, at: int) -> tuple[int, bool]:
        found = _IN_STRING.search(data, at)
        if found is None:
            return len(data), False
        match found[0]:
            case b'"':
                self.state = JsonState.VALUE
            case b"\\":
                self.state = JsonState.ESCAPE
            case _:
                self.state = JsonState.SPOILT  # JSON escapes line ends, so this string was truncated
                return found.start(), False
        return found.end(), False


# Server-sent events as model providers really send them.
#
# Beyond the HTML standard, the last event may lack its blank line, and JSON without a field name may occur: a
# whole response, an array of records, an error after the last event.

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_DONE: Final = b"[DONE]"
_BARE_STARTS: Final = b"{["
_SILENT_FIELDS: Final = frozenset({b"", b"event", b"id", b"retry"})  # "" is the name of a comment


class SseReader:
    """Splits the bytes of an event stream into one record per event."""

    def __init__(self) -> None:
        self._raw: list[bytes] = []  # lines of the record so far, and blank ones before it
        self._line: list[
            bytes
        ] = []  # pieces of the current line, which may be huge and arrive in small slices
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
        """The last record, when the bytes end."""
        if self._bare is not None:
            return self._bare.finish()
        records = self._end_line() if self._line else []
        return [*records, *self._close()] if self._raw else records

    def _feed_bare(self, bare: JsonCutter, data: bytes, at: int, records: list[Record]) -> int:
        found, end = bare.feed(data, at)
        records += found
        if bare.state is JsonState.OVER:
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
            self._other_lines.append(line)

    def _close(self) -> list[Record]:
        event = self._event()
        self._begin_record()
        return [Record(self._take_raw(), event)]

    def _event(self) -> Json | UnsetType:
        data = b"\n".join(self._data)
        if data.strip() == _DONE:
            return UNSET
        return value_of(data if self._data else b"\n".join(self._other_lines))

    def _begin_record(self) -> None:
        self._has_lines = False
        self._data: list[bytes] = []
        self._other_lines: list[bytes] = []  # lines that are not fields; used as the text if there is no data

    def _take_raw(self) -> bytes:
        raw = b"".join(self._raw)
        self._raw = []
        return raw


Framing: TypeAlias = Literal["sse", "lines", "body"]
"""Server-sent events, one JSON value a line, or one JSON value in all."""

_LF: Final = b"\n"


class BodyReader:
    """All bytes are one record."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []  # of the current record, which may arrive in many slices

    def feed(self, data: bytes) -> list[Record]:
        """Return nothing until the bytes end."""
        self._pieces.append(data)
        return []

    def finish(self) -> list[Record]:
        """The record of the remaining bytes, if there are any."""
        raw = b"".join(self._pieces)
        self._pieces = []
        return [Record(raw, value_of(raw))] if raw else []


class LinesReader(BodyReader):
    """Each line is one record, a JSON value. A line ends in LF or CRLF; a blank line has no value."""

    def feed(self, data: bytes) -> list[Record]:
        """The records of the lines that these bytes end."""
        *ended, rest = data.split(_LF)
        records: list[Record] = []
        for line in ended:
            self._pieces += (line, _LF)
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
