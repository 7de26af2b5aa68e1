"""Bytes of a log → its lines, each with its JSON value, its exact bytes and its place.

A line ends at a line feed and nowhere else. One that is a JSON value is decoded and given, and what kind of
value it is does not matter here; only one that is no value is looked at more closely.
"""

from collections import deque
from collections.abc import Generator, Iterator
from typing import Final

import msgspec

from .line import TOO_LONG, UNFINISHED, Line
from .mending import Mender
from .recovery import REFUSALS, is_blank

__all__ = ["LONGEST", "TOO_LONG", "UNFINISHED", "Line", "LineReader"]

LONGEST: Final = 512 * 1024 * 1024

_DECODER: Final = msgspec.json.Decoder()


class LineReader:
    """Bytes in, lines out. The bytes may be cut anywhere.

    To go on later, give a new reader the `offset` and `number` of this one, and the bytes from `offset` on.
    No more is held than the block at hand and the line whose end has not come; or the lines that may be one
    value, within limits. A line longer than `longest` is given in pieces of that length, without a value.
    """

    def __init__(self, offset: int = 0, number: int = 0, *, longest: int = LONGEST) -> None:
        self._offset = offset  # where the line at hand begins
        self._number = number  # line feeds before it
        self._longest = longest
        self._blocks: deque[bytes] = deque()  # fed, not looked at yet
        self._block = b""
        self._start = 0  # how much of the block was read
        self._held: list[bytes] = []  # a line whose end has not come; adding the pieces up would be quadratic
        self._held_bytes = 0
        self._in_long_line = False
        self._mender = Mender()
        self._ready: deque[Line] = deque()
        self._reading = self._read()

    @property
    def offset(self) -> int:
        """Where the first line begins that was not given yet."""
        if self._ready:
            return self._ready[0].offset
        return self._offset if self._mender.join is None else self._mender.join.offset

    @property
    def number(self) -> int:
        """How many line feeds stand before `offset`."""
        if self._ready:
            return self._ready[0].number - 1
        return self._number if self._mender.join is None else self._mender.join.number - 1

    def feed(self, data: bytes) -> Iterator[Line]:
        """The lines that `data` completes, read when they are asked for.

        Those that nobody asked for come with the next call, which ends the iterator of this one.
        """
        self._blocks.append(data)
        self._reading.close()
        self._reading = self._read()
        return self._reading

    def finish(self) -> list[Line]:
        """What is left. If it is no whole value it is `UNFINISHED`, and `offset` stays before it."""
        self._reading.close()
        lines = list(self._read())
        rest = b"".join(self._held)
        self._held.clear()
        if self._in_long_line:
            return [*lines, Line(self._number + 1, self._offset, rest, msgspec.UNSET, UNFINISHED)]
        last = self._mender.take(self._number + 1, self._offset, rest) if not is_blank(rest) else []
        if self._mender.join is not None:
            self._offset, self._number = self.offset, self.number
            last += self._mender.finish()
        elif last and last[-1].value is msgspec.UNSET:
            last[-1] = msgspec.structs.replace(last[-1], problem=UNFINISHED)
            self._offset = last[-1].offset
        elif last:
            self._offset += len(rest)
        return lines + last

    def _read(self) -> Generator[Line, None, None]:
        decode, longest, mender = _DECODER.decode, self._longest, self._mender
        while True:
            while self._ready:
                yield self._ready.popleft()
            find = self._block.find  # `split` is slower: it does not look for line feeds with memchr
            while (end := find(b"\n", self._start)) >= 0:
                raw = self._block[self._start : end]
                self._start = end + 1
                if self._held:
                    raw = self._released(raw)
                offset = self._offset
                self._offset = offset + len(raw) + 1
                self._number += 1
                if mender.join is None and not self._in_long_line and len(raw) <= longest:
                    try:
                        value = decode(raw)
                    except REFUSALS:
                        if is_blank(raw):
                            continue
                    else:
                        yield Line(self._number, offset, raw, value)
                        continue
                self._take_with_care(offset, raw)
                break
            else:
                if not self._turn() and not self._ready:
                    return

    def _take_with_care(self, offset: int, raw: bytes) -> None:
        if self._in_long_line or len(raw) > self._longest:
            self._chop(self._number, offset, raw)
            self._in_long_line = False
        else:
            self._ready += self._mender.take(self._number, offset, raw)

    def _turn(self) -> bool:
        """Go to the next block, if there is one; hold what this one has of a line."""
        if self._start < len(self._block):
            self._hold(self._block[self._start :])
        more = bool(self._blocks)
        self._block, self._start = self._blocks.popleft() if more else b"", 0
        return more

    def _hold(self, data: bytes) -> None:
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > self._longest:
            raw = self._released()
            known = (len(raw) - 1) // self._longest * self._longest
            self._chop(self._number + 1, self._offset, raw[:known])
            self._in_long_line = True
            self._offset += known
            self._held.append(raw[known:])
            self._held_bytes = len(raw) - known

    def _released(self, data: bytes = b"") -> bytes:
        held = b"".join([*self._held, data])
        self._held.clear()
        self._held_bytes = 0
        return held

    def _chop(self, number: int, offset: int, raw: bytes) -> None:
        """Give what is known of a line that is too long."""
        self._ready += self._mender.give_up()
        for start in range(0, len(raw), self._longest):
            piece = raw[start : start + self._longest]
            self._ready.append(Line(number, offset + start, piece, msgspec.UNSET, TOO_LONG))
