"""What can be read of a line that is not one JSON value, and of lines that are one value together.

    {"a":1}{"b":2}            records glued together: each is returned
    {"a":"cu{"b":2}           a cut record before a whole one: both are returned, the first without a value
    {                         a value over several lines: they are returned as one
    NULs before a record      skipped
    "\\ud83d", invalid UTF-8   replaced by U+FFFD
    control characters        accepted
    NaN, Infinity, 1e999      returned as text, since JSON has no such numbers

Nothing is dropped: the pieces of a line, one after the other, are the line.
"""

import json
import re
from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from partita.types.json import Json, has_surrogates

from .line import (
    BESIDE,
    CONTROLS,
    CUT,
    GLUED,
    HALVES,
    JOINED,
    NO_NUMBER,
    NOT_JSON,
    NOT_UTF8,
    PADDED,
    TOO_DEEP,
    TOO_LARGE,
    UNFINISHED,
    Line,
    with_problem,
)
from .scan import Scan, State

DECODE_ERRORS: Final = (msgspec.MsgspecError, UnicodeError, RecursionError)
"""What decoding raises if a line is not one JSON value, or one that is nested too deeply."""

PADDING: Final = b" \t\r\n\0\xef\xbb\xbf"
"""White space, NULs, a byte order mark: what may be around a value; no value starts or ends with them."""

_DECODER: Final = msgspec.json.Decoder()
_PADDED = re.compile(b"[" + PADDING + b"]*+")
_RECORD_START: Final = b'{"'


# The pieces of one line


class Piece(NamedTuple):
    """A piece of a line: its start in the line, its bytes, and its value or `UNSET`."""

    start: int
    raw: bytes
    value: Json | msgspec.UnsetType
    problem: str | None
    open: bool = False  # whether the next lines may complete a value


def recover(raw: bytes) -> list[Piece]:
    """The pieces of a line, each with its problem; none for a blank line."""
    if is_blank(raw):
        return []
    pieces = _pieces(raw)
    if len(pieces) == 1:
        return pieces
    problem = GLUED if all(map(_has_value, pieces)) else BESIDE
    return [
        piece._replace(problem=with_problem(problem, piece.problem)) if _has_value(piece) else piece
        for piece in pieces
    ]


def is_blank(raw: bytes) -> bool:
    """Whether a line has nothing but white space."""
    return not raw or raw.isspace()


def is_record(raw: bytes) -> bool:
    """Whether a line looks like a record, and is one object from its first byte to its last."""
    if not raw.startswith(_RECORD_START) or not raw.rstrip().endswith(b"}"):
        return False
    try:
        _DECODER.decode(raw)
    except DECODE_ERRORS:
        scan = Scan()
        end = scan.feed(raw)
        return scan.state is State.WHOLE and not raw[end:].strip(PADDING)
    return True


def _has_value(piece: Piece) -> bool:
    return piece.value is not msgspec.UNSET


def _pieces(raw: bytes) -> list[Piece]:
    pieces: list[Piece] = []
    position = 0
    while (start := _after_padding(raw, position)) < len(raw):
        scan = Scan()
        end = scan.feed(raw, start)
        record = raw.startswith(b"{", start)
        if scan.state is State.OPEN and (record or (not pieces and raw.startswith(b"[", start))):
            return [*pieces, Piece(position, raw[position:], msgspec.UNSET, CUT, open=True)]
        after = _after_padding(raw, end)
        if scan.state is State.WHOLE and (record or (not pieces and after == len(raw))):
            end = end if after < len(raw) else after
            pieces.append(_read_piece(raw, position, end))
        else:  # bare words and numbers next to something else are noise
            end = _next_record(raw, start, end)
            problem = CUT if record and end < len(raw) else NOT_JSON
            pieces.append(Piece(position, raw[position:end], msgspec.UNSET, problem))
        position = end
    return pieces or [Piece(0, raw, msgspec.UNSET, NOT_JSON)]


def _next_record(raw: bytes, start: int, broken: int) -> int:
    """Where the first whole record starts that another one or the end of the line follows; else the end.

    Inside a value an object is followed by a comma or a bracket, so no part of a record is taken for one.
    If a record was cut inside a string, that string ends in the `{"` of the next: two bytes before the break.
    """
    at = raw.find(_RECORD_START, max(start + 1, broken - 2))
    while at >= 0:
        scan = Scan()
        end = scan.feed(raw, at)
        if scan.state is State.OPEN:
            break
        if scan.state is State.WHOLE:
            after = _after_padding(raw, end)
            if after == len(raw) or raw.startswith(b"{", after):
                return at
        at = raw.find(_RECORD_START, max(at + 1, end - 2))
    return len(raw)


def _after_padding(raw: bytes, position: int) -> int:
    match = _PADDED.match(raw, position)
    assert match is not None  # it may be empty
    return match.end()


def _read_piece(raw: bytes, start: int, end: int) -> Piece:
    """A piece that should be one value."""
    piece = raw[start:end]
    text = piece.strip(PADDING)
    reader = _LenientReader()
    value = reader.read(text)
    if len(text) < len(piece.strip()):
        reader.problems[PADDED] = None
    return Piece(start, piece, value, "; ".join(reader.problems) or None)


class _LenientReader:
    """Reads one value, as leniently as needed."""

    def __init__(self) -> None:
        self.problems: dict[str, None] = {}  # a set that keeps its order

    def read(self, text: bytes) -> Json | msgspec.UnsetType:
        """The value, or `UNSET` if it cannot be read."""
        try:
            return _DECODER.decode(text)
        except DECODE_ERRORS:
            pass
        try:
            return self._without_halves(self._loads(self._decoded(text)))
        except RecursionError:
            self.problems[TOO_DEEP] = None
        except ValueError:
            self.problems[NOT_JSON] = None
        return msgspec.UNSET

    def _decoded(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            self.problems[NOT_UTF8] = None
            return text.decode(errors="replace")

    def _loads(self, text: str) -> Json:
        try:
            return self._decoder(strict=True).decode(text)
        except json.JSONDecodeError:
            value = self._decoder(strict=False).decode(text)
            self.problems[CONTROLS] = None
            return value

    def _decoder(self, *, strict: bool) -> json.JSONDecoder:
        return json.JSONDecoder(
            strict=strict,
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._integer,
        )

    def _constant(self, name: str) -> str:
        self.problems[NO_NUMBER] = None
        return name

    def _float(self, text: str) -> float | str:
        number = float(text)
        if number not in (float("inf"), float("-inf")):
            return number
        self.problems[TOO_LARGE] = None
        return text

    def _integer(self, text: str) -> int | str:
        try:
            return int(text)
        except ValueError:  # thousands of digits: Python refuses them because they take too long
            self.problems[TOO_LARGE] = None
            return text

    def _without_halves(self, value: Json) -> Json:
        """The value without lone surrogates: UTF-8 cannot encode them."""
        text = json.dumps(value, ensure_ascii=False)
        if not has_surrogates(text):
            return value
        self.problems[HALVES] = None
        return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


# Several lines: pretty-printed JSON, or a string with a line feed in it

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_LINES: Final = 100_000

MAX_RETRIED: Final = 16
"""The lines after one that did not start a value are tried again, unless there are more of them: otherwise
each line of a large file could be read as often as there are lines before it.
"""


class PendingValue:
    """The start of a value, to which lines are added.

    A cut record looks the same as the start of a value, and must not swallow the lines after it: so a line
    that is a record by itself is never a part of another one.
    """

    def __init__(self, number: int, offset: int, first: bytes) -> None:
        self.number = number  # of the first line
        self.offset = offset
        self.lines = [first]
        self._bytes = len(first)
        self._scan = Scan()
        self._scan.feed(first, len(first) - len(first.lstrip(PADDING)))

    @property
    def raw(self) -> bytes:
        """The bytes so far."""
        return b"\n".join(self.lines)

    def add(self, line: bytes) -> tuple[State, int]:
        """Add a line up to the end of the value, unless it does not fit; returns where that end is."""
        self._bytes += len(line) + 1
        if self._bytes > MAX_BYTES or len(self.lines) >= MAX_LINES or is_record(line):
            return State.BROKEN, 0
        end = self._scan.feed(line)
        if self._scan.state is not State.BROKEN:
            self.lines.append(line[:end])
        return self._scan.state, end


class _Raw(NamedTuple):
    """A line that was not read yet, or the unread end of one."""

    number: int
    offset: int
    raw: bytes


class LineRecovery:
    """Damaged lines in; lines with values and problems out, as soon as it is known what they are."""

    def __init__(self) -> None:
        self.pending: PendingValue | None = None
        """The lines that wait for more."""

    def feed(self, number: int, offset: int, raw: bytes) -> list[Line]:
        """The lines that are complete with this one."""
        return self._read([_Raw(number, offset, raw)])

    def give_up(self) -> list[Line]:
        """The waiting lines, one by one, because the next line does not fit."""
        lines: list[Line] = []
        while self.pending is not None:
            read, remaining = self._give_up(self.pending)
            lines += read
            lines += self._read(remaining)
        return lines

    def finish(self) -> list[Line]:
        """The waiting lines, as a value without its end."""
        pending, self.pending = self.pending, None
        if pending is None:
            return []
        return [Line(pending.number, pending.offset, pending.raw, msgspec.UNSET, UNFINISHED)]

    def _read(self, raws: Iterable[_Raw]) -> list[Line]:
        lines: list[Line] = []
        waiting = deque(raws)
        while waiting:
            at = waiting.popleft()
            if self.pending is None:
                lines += self._start(at)
                continue
            state, end = self.pending.add(at.raw)
            if state is State.BROKEN:
                read, remaining = self._give_up(self.pending)
                lines += read
                waiting.extendleft((at, *reversed(remaining)))
            elif state is State.WHOLE:
                after = end if at.raw[end:].strip(PADDING) else len(at.raw)
                lines.append(self._joined(self.pending, at.raw[end:after]))
                if after < len(at.raw):
                    waiting.appendleft(_Raw(at.number, at.offset + after, at.raw[after:]))
        return lines

    def _start(self, at: _Raw) -> list[Line]:
        """The pieces of a line, except a last one that waits for more."""
        pieces = recover(at.raw)
        if pieces and pieces[-1].open:
            last = pieces.pop()
            self.pending = PendingValue(at.number, at.offset + last.start, last.raw)
        return _lines(at, pieces)

    def _joined(self, value: PendingValue, padding: bytes) -> Line:
        self.pending = None
        raw = value.raw + padding
        piece = recover(raw)[0]
        return Line(value.number, value.offset, raw, piece.value, with_problem(JOINED, piece.problem))

    def _give_up(self, value: PendingValue) -> tuple[list[Line], list[_Raw]]:
        """The first line by itself, and the others, to be read again."""
        self.pending = None
        raws: list[_Raw] = []
        offset = value.offset
        for number, raw in enumerate(value.lines, value.number):
            raws.append(_Raw(number, offset, raw))
            offset += len(raw) + 1
        known = 1 if len(raws) <= MAX_RETRIED else len(raws)
        return [line for at in raws[:known] for line in _lines(at, recover(at.raw))], raws[known:]


def _lines(at: _Raw, pieces: list[Piece]) -> list[Line]:
    return [
        Line(at.number, at.offset + piece.start, piece.raw, piece.value, piece.problem) for piece in pieces
    ]
