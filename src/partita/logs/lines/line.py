"""A line of a log, and what may be wrong with it."""

from typing import Final

import msgspec

from partita.formats.log.sink import Position
from partita.types.json import Json

GLUED: Final = "several records on one line"
BESIDE: Final = "on one line with something that is not a record"
JOINED: Final = "value over several lines"
PADDED: Final = "NUL bytes or a byte order mark around the value"
NOT_UTF8: Final = "not UTF-8; invalid bytes were replaced"
HALVES: Final = "half of a surrogate pair, replaced"
CONTROLS: Final = "control characters unescaped in a string"
NO_NUMBER: Final = "NaN or Infinity, kept as text"
TOO_LARGE: Final = "number too large, kept as text"

# With these there is no value.
CUT: Final = "record cut off"
NOT_JSON: Final = "not JSON"
TOO_DEEP: Final = "nested too deeply"
TOO_LONG: Final = "line too long"
UNFINISHED: Final = "unfinished"


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line, or a piece of one that has several values, or several lines that are one value.

    It has no nested `Position`, because creating one must cost little compared with decoding a line.
    """

    number: int  # from 1
    offset: int  # in bytes
    raw: bytes  # without the line feed
    value: Json | msgspec.UnsetType  # `UNSET` if there is none
    problem: str | None = None  # one of those above, or several with "; " between

    @property
    def position(self) -> Position:
        """Its number and offset."""
        return Position(self.number, self.offset)


def with_problem(problem: str, more: str | None) -> str:
    """Two problems as one text."""
    return f"{problem}; {more}" if more else problem
