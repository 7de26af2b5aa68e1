"""What can still be read of a line that is not one JSON value.

    {"a":1}{"b":2}            records glued together: each is given
    {"a":"cu{"b":2}           a cut record with a whole one behind it: the stump is kept, the other is given
    NULs before a record      passed over
    "\\ud83d", invalid UTF-8   replaced by U+FFFD
    control characters        taken as they are
    NaN, Infinity, 1e999      given as text, since JSON has no such numbers

Nothing is dropped: the pieces of a line, laid end to end, are the line.
"""

import json
import re
from typing import Final, NamedTuple

import msgspec

from partita.types.json import Json, has_surrogates

from .line import (
    BESIDE,
    CONTROLS,
    CUT,
    GLUED,
    HALVES,
    NO_NUMBER,
    NOT_JSON,
    NOT_UTF8,
    PADDED,
    TOO_DEEP,
    TOO_LARGE,
    with_problem,
)
from .scan import Scan, State

REFUSALS: Final = (msgspec.MsgspecError, UnicodeError, RecursionError)
"""What decoding raises when a line is not one JSON value, or not one it can build."""

PADDING: Final = b" \t\r\n\0\xef\xbb\xbf"
"""White space, NULs, a byte order mark: what a line may have around a value; no value begins or ends so."""

_DECODER: Final = msgspec.json.Decoder()
_PADDED = re.compile(b"[" + PADDING + b"]*+")
_RECORD_START: Final = b'{"'


class Recovered(NamedTuple):
    """A piece of a line: where it starts in the line, its bytes, and its value or `UNSET`."""

    start: int
    raw: bytes
    value: Json | msgspec.UnsetType
    problem: str | None
    open: bool = False  # whether lines to come may make a value of it


def recover(raw: bytes) -> list[Recovered]:
    """The pieces of a line, each with what was wrong with it; none for a blank line."""
    if is_blank(raw):
        return []
    pieces = _pieces(raw)
    if len(pieces) == 1:
        return pieces
    note = GLUED if all(map(_has_value, pieces)) else BESIDE
    return [
        piece._replace(problem=with_problem(note, piece.problem)) if _has_value(piece) else piece
        for piece in pieces
    ]


def is_blank(raw: bytes) -> bool:
    """Whether a line has nothing but white space."""
    return not raw or raw.isspace()


def is_record(raw: bytes) -> bool:
    """Whether a line has the look of a record, and is one object from its first byte to its last."""
    if not raw.startswith(_RECORD_START) or not raw.rstrip().endswith(b"}"):
        return False
    try:
        _DECODER.decode(raw)
    except REFUSALS:
        scan = Scan()
        end = scan.feed(raw)
        return scan.state is State.WHOLE and not raw[end:].strip(PADDING)
    return True


def _has_value(piece: Recovered) -> bool:
    return piece.value is not msgspec.UNSET


def _pieces(raw: bytes) -> list[Recovered]:
    pieces: list[Recovered] = []
    position = 0
    while (begin := _after_padding(raw, position)) < len(raw):
        scan = Scan()
        end = scan.feed(raw, begin)
        record = raw.startswith(b"{", begin)
        if scan.state is State.OPEN and (record or (not pieces and raw.startswith(b"[", begin))):
            return [*pieces, Recovered(position, raw[position:], msgspec.UNSET, CUT, open=True)]
        after = _after_padding(raw, end)
        if scan.state is State.WHOLE and (record or (not pieces and after == len(raw))):
            end = end if after < len(raw) else after
            pieces.append(_understood(raw, position, end))
        else:  # words and numbers beside other things are no values but noise
            end = _next_record(raw, begin, end)
            problem = CUT if record and end < len(raw) else NOT_JSON
            pieces.append(Recovered(position, raw[position:end], msgspec.UNSET, problem))
        position = end
    return pieces or [Recovered(0, raw, msgspec.UNSET, NOT_JSON)]


def _next_record(raw: bytes, begin: int, broken: int) -> int:
    """Where the first whole record begins that another one or the end of the line follows; else the end.

    Inside a value an object is followed by a comma or a bracket, so no part of a record is taken for one.
    If a record was cut inside a string, that string ends in the `{"` of the next: two bytes before the break.
    """
    start = raw.find(_RECORD_START, max(begin + 1, broken - 2))
    while start >= 0:
        scan = Scan()
        end = scan.feed(raw, start)
        if scan.state is State.OPEN:
            break
        if scan.state is State.WHOLE:
            after = _after_padding(raw, end)
            if after == len(raw) or raw.startswith(b"{", after):
                return start
        start = raw.find(_RECORD_START, max(start + 1, end - 2))
    return len(raw)


def _after_padding(raw: bytes, position: int) -> int:
    match = _PADDED.match(raw, position)
    assert match is not None  # it may be empty
    return match.end()


def _understood(raw: bytes, start: int, end: int) -> Recovered:
    """A piece that should be one value."""
    piece = raw[start:end]
    text = piece.strip(PADDING)
    reading = _Reading()
    value = reading.read(text)
    if len(text) < len(piece.strip()):
        reading.notes[PADDED] = None
    return Recovered(start, piece, value, "; ".join(reading.notes) or None)


class _Reading:
    """One value, read as leniently as need be, with notes of what was lenient."""

    def __init__(self) -> None:
        self.notes: dict[str, None] = {}  # a set that keeps its order

    def read(self, text: bytes) -> Json | msgspec.UnsetType:
        """The value, or `UNSET` if there is no reading it."""
        try:
            return _DECODER.decode(text)
        except REFUSALS:
            pass
        try:
            return self._without_halves(self._loads(self._decoded(text)))
        except RecursionError:
            self.notes[TOO_DEEP] = None
        except ValueError:
            self.notes[NOT_JSON] = None
        return msgspec.UNSET

    def _decoded(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            self.notes[NOT_UTF8] = None
            return text.decode(errors="replace")

    def _loads(self, text: str) -> Json:
        try:
            return self._decoder(strict=True).decode(text)
        except json.JSONDecodeError:
            value = self._decoder(strict=False).decode(text)
            self.notes[CONTROLS] = None
            return value

    def _decoder(self, *, strict: bool) -> json.JSONDecoder:
        return json.JSONDecoder(
            strict=strict,
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._integer,
        )

    def _constant(self, name: str) -> str:
        self.notes[NO_NUMBER] = None
        return name

    def _float(self, text: str) -> float | str:
        number = float(text)
        if number not in (float("inf"), float("-inf")):
            return number
        self.notes[TOO_LARGE] = None
        return text

    def _integer(self, text: str) -> int | str:
        try:
            return int(text)
        except ValueError:  # thousands of digits; Python refuses them since they take too long
            self.notes[TOO_LARGE] = None
            return text

    def _without_halves(self, value: Json) -> Json:
        """The value without lone surrogates, wherever they are: UTF-8 cannot carry them."""
        text = json.dumps(value, ensure_ascii=False)
        if not has_surrogates(text):
            return value
        self.notes[HALVES] = None
        return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
