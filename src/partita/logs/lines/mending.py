"""Lines that are no value as they are: the pieces of one, or several that are one value together."""

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from .joining import Join
from .line import JOINED, UNFINISHED, Line, with_problem
from .recovery import PADDING, Recovered, recover
from .scan import State

MOST_RETRIED: Final = 16
"""Lines of a join that came to nothing may begin another, if they are no more than that: otherwise each line
of a large file could be read as often as there are lines before it.
"""


class _Raw(NamedTuple):
    """A line that was not looked at yet, or what is left of it."""

    number: int
    offset: int
    raw: bytes


class Mender:
    """Lines in, lines with values and problems out, as soon as it is known what they are."""

    def __init__(self) -> None:
        self.join: Join | None = None
        """The lines that wait for more."""

    def take(self, number: int, offset: int, raw: bytes) -> list[Line]:
        """What the next line settles."""
        return self._settle([_Raw(number, offset, raw)])

    def give_up(self) -> list[Line]:
        """What the waiting lines are if nothing fits to them."""
        lines: list[Line] = []
        while self.join is not None:
            given, rest = self._give_up(self.join)
            lines += given
            lines += self._settle(rest)
        return lines

    def finish(self) -> list[Line]:
        """The waiting lines, as a value whose end did not come."""
        join, self.join = self.join, None
        return [] if join is None else [Line(join.number, join.offset, join.raw, msgspec.UNSET, UNFINISHED)]

    def _settle(self, raws: Iterable[_Raw]) -> list[Line]:
        lines: list[Line] = []
        waiting = deque(raws)
        while waiting:
            at = waiting.popleft()
            if self.join is None:
                lines += self._begin(at)
                continue
            state, end = self.join.take(at.raw)
            if state is State.BROKEN:
                given, rest = self._give_up(self.join)
                lines += given
                waiting.extendleft((at, *reversed(rest)))
            elif state is State.WHOLE:
                after = end if at.raw[end:].strip(PADDING) else len(at.raw)
                lines.append(self._joined(self.join, at.raw[end:after]))
                if after < len(at.raw):
                    waiting.appendleft(_Raw(at.number, at.offset + after, at.raw[after:]))
        return lines

    def _begin(self, at: _Raw) -> list[Line]:
        """The pieces of a line, but for a last one that waits for more."""
        pieces = recover(at.raw)
        if pieces and pieces[-1].open:
            last = pieces.pop()
            self.join = Join(at.number, at.offset + last.start, last.raw)
        return _lines(at, pieces)

    def _joined(self, join: Join, padding: bytes) -> Line:
        self.join = None
        raw = join.raw + padding
        piece = recover(raw)[0]
        return Line(join.number, join.offset, raw, piece.value, with_problem(JOINED, piece.problem))

    def _give_up(self, join: Join) -> tuple[list[Line], list[_Raw]]:
        """What the first line is by itself, and the others, to be looked at again."""
        self.join = None
        raws: list[_Raw] = []
        offset = join.offset
        for number, raw in enumerate(join.lines, join.number):
            raws.append(_Raw(number, offset, raw))
            offset += len(raw) + 1
        settled = 1 if len(raws) <= MOST_RETRIED else len(raws)
        return [line for at in raws[:settled] for line in _lines(at, recover(at.raw))], raws[settled:]


def _lines(at: _Raw, pieces: list[Recovered]) -> list[Line]:
    return [
        Line(at.number, at.offset + piece.start, piece.raw, piece.value, piece.problem) for piece in pieces
    ]
