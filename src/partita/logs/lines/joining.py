"""Lines that may be one value together: pretty-printed JSON, or a string with a line feed in it."""

from typing import Final

from .recovery import PADDING, is_record
from .scan import Scan, State

MOST_BYTES: Final = 64 * 1024 * 1024
MOST_LINES: Final = 100_000


class Join:
    """The beginning of a value, growing line by line.

    A cut record looks the same as the beginning of a value, and must not swallow what follows it: so a line
    that is a record by itself is never a part of another.
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
        """What there is of the value."""
        return b"\n".join(self.lines)

    def take(self, line: bytes) -> tuple[State, int]:
        """Add it up to the end of the value, and say where that is. One that does not fit is not added."""
        self._bytes += len(line) + 1
        if self._bytes > MOST_BYTES or len(self.lines) >= MOST_LINES or is_record(line):
            return State.BROKEN, 0
        end = self._scan.feed(line)
        if self._scan.state is not State.BROKEN:
            self.lines.append(line[:end])
        return self._scan.state, end
