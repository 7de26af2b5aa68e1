"""JSON that stands bare in a stream: where a value ends, and what to do when it never will.

A value is one record; of an array, each element is. Every byte is looked at once.
"""

import re
from enum import Enum, auto
from typing import Final, NamedTuple

from msgspec import UNSET

from .record import Record, value_of

_NEXT_VALUE: Final = re.compile(rb"[^ \t\r\n,]")
_IN_STRING: Final = re.compile(rb'["\\\r\n]')
# Brackets, quotes, commas and line ends matter; so does what cannot stand outside a JSON string.
_OUTSIDE: Final = re.compile(rb'["{}\[\],\r\n]|[^ \t0-9:.+\-eEtrufalsn]')
_LINE_END: Final = re.compile(rb"[\r\n]")
_FIELD_STARTS: Final = b"deir"  # of data, event, id, retry: no line of a JSON value begins like that


class State(Enum):
    """Where in the JSON we are."""

    OPENING = auto()
    BETWEEN = auto()
    """Between the elements of an array."""
    VALUE = auto()
    STRING = auto()
    ESCAPE = auto()
    SPOILT = auto()
    """In a line that is no JSON any more."""
    OVER = auto()


class Step(NamedTuple):
    """The records that some bytes complete, and how far those bytes were read."""

    records: list[Record]
    end: int


class JsonCutter:
    """Bytes from a first `{` or `[` on in, records out, until the value or the array is over."""

    def __init__(self, lead: bytes) -> None:
        """`lead` are bytes before the value that belong to the first record."""
        self.state = State.OPENING
        self._pieces = [lead]  # of the record so far
        self._size = len(lead)
        self._value_at: int | None = None  # where the value begins in them
        self._depth = 0
        self._floor = 0  # the depth at which a value is whole: 1 between the brackets of an array
        self._last = b""  # the byte before those at hand

    def feed(self, data: bytes, start: int) -> Step:
        """Read `data` from `start` on."""
        records: list[Record] = []
        position = mark = start
        while position < len(data) and self.state is not State.OVER:
            if self.state is State.VALUE and self._value_at is None:
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
        """The bytes that belong to no record: what closed an array."""
        rest = b"".join(self._pieces)
        self._pieces = []
        return rest

    def finish(self) -> list[Record]:
        """What is left of a value that never ended."""
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
        """Go on from `at`: the next place, and whether a value ends there."""
        match self.state:
            case State.OPENING:
                return self._open(data, at)
            case State.BETWEEN:
                return self._seek(data, at)
            case State.VALUE:
                return self._scan(data, at)
            case State.STRING:
                return self._scan_string(data, at)
            case State.ESCAPE:
                is_cut = data[at] in b"\r\n"
                self.state = State.SPOILT if is_cut else State.STRING
                return (at if is_cut else at + 1), False
            case State.SPOILT | State.OVER:
                found = _LINE_END.search(data, at)
                if found is None:
                    return len(data), False
                self.state = State.OVER
                return found.end(), True

    def _open(self, data: bytes, at: int) -> tuple[int, bool]:
        if data[at] != ord("["):
            self.state = State.VALUE
            return at, False
        self.state = State.BETWEEN
        self._depth = self._floor = 1
        return at + 1, False

    def _seek(self, data: bytes, at: int) -> tuple[int, bool]:
        found = _NEXT_VALUE.search(data, at)
        if found is None:
            return len(data), False
        if found[0] == b"]":
            self.state = State.OVER
            return found.end(), False
        self.state = State.VALUE
        return found.start(), False

    def _scan(self, data: bytes, at: int) -> tuple[int, bool]:
        before = data[at - 1 : at] if at else self._last
        if before in (b"\r", b"\n") and data[at] in _FIELD_STARTS:
            self.state = State.OVER  # server-sent events go on where this value should
            return at, True
        found = _OUTSIDE.search(data, at)
        if found is None:
            return len(data), False
        match found[0]:
            case b'"':
                self.state = State.STRING
            case b"{" | b"[":
                self._depth += 1
            case b"}" | b"]" if self._depth > self._floor:
                return found.end(), self._close()
            case b"," | b"]" if self._depth == self._floor:
                self.state = State.BETWEEN  # a number, a string or a word of an array ends before it
                return found.start(), True
            case b"," | b"\r" | b"\n":
                pass
            case _:
                self.state = State.SPOILT
        return found.end(), False

    def _close(self) -> bool:
        self._depth -= 1
        if self._depth > self._floor:
            return False
        self.state = State.BETWEEN if self._floor else State.OVER
        return True

    def _scan_string(self, data: bytes, at: int) -> tuple[int, bool]:
        found = _IN_STRING.search(data, at)
        if found is None:
            return len(data), False
        match found[0]:
            case b'"':
                self.state = State.VALUE
            case b"\\":
                self.state = State.ESCAPE
            case _:
                self.state = State.SPOILT  # JSON escapes line ends, so this string was cut
                return found.start(), False
        return found.end(), False
