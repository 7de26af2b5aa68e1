"""Bytes of a log → its lines, each with its JSON value, its exact bytes and its position.

A line ends at a line feed and nowhere else. Any JSON value is accepted; lines that are not one are passed to
`recovery`.
"""

from collections import deque
from collections.abc import Generator, Iterator
from typing import Final

import msgspec

from .line import TOO_LONG, UNFINISHED, Line
from .recovery import DECODE_ERRORS, LineRecovery, is_blank

__all__ = ["MAX_LENGTH", "TOO_LONG", "UNFINISHED", "Line", "LineReader"]

MAX_LENGTH: Final = 512 * 1024 * 1024

_DECODER: Final = msgspec.json.Decoder()


class LineReader:
    """Bytes in, lines out. The bytes may be cut anywhere.

    To continue later, create a reader with the `offset` and `number` of this one, and feed it the bytes from
    `offset` on. It holds only the current block and a line without its end; or the lines that may be one
    value, within limits. A line longer than `longest` is returned in pieces of that length, without a value.
    """

    def __init__(self, offset: int = 0, number: int = 0, *, longest: int = MAX_LENGTH) -> None:
        self._offset = offset  # of the current line
        self._number = number  # line feeds before it
        self._longest = longest
        self._blocks: deque[bytes] = deque()  # not read yet
        self._block = b""
        self._start = 0  # of the current line in the block
        self._held: list[bytes] = []  # a line without its end; adding up its pieces would be quadratic
        self._held_bytes = 0
        self._in_long_line = False
        self._recovery = LineRecovery()
        self._ready: deque[Line] = deque()
        self._reading = self._read()

    @property
    def offset(self) -> int:
        """Where the first line starts that was not returned yet."""
        if self._ready:
            return self._ready[0].offset
        return self._offset if self._recovery.pending is None else self._recovery.pending.offset

    @property
    def number(self) -> int:
        """How many line feeds are before `offset`."""
        if self._ready:
            return self._ready[0].number - 1
        return self._number if self._recovery.pending is None else self._recovery.pending.number - 1

    def feed(self, data: bytes) -> Iterator[Line]:
        """The lines that `data` completes, read lazily.

        Those that were not consumed are returned by the next call, which ends the iterator of this one.
        """
        self._blocks.append(data)
        self._reading.close()
        self._reading = self._read()
        return self._reading

    def finish(self) -> list[Line]:
        """The last line. If it is not a whole value it is `UNFINISHED`, and `offset` stays before it."""
        self._reading.close()
        lines = list(self._read())
        remaining = b"".join(self._held)
        self._held.clear()
        if self._in_long_line:
            return [*lines, Line(self._number + 1, self._offset, remaining, msgspec.UNSET, UNFINISHED)]
        last = (
            self._recovery.feed(self._number + 1, self._offset, remaining) if not is_blank(remaining) else []
        )
        if self._recovery.pending is not None:
            self._offset, self._number = self.offset, self.number
            last += self._recovery.finish()
        elif last and last[-1].value is msgspec.UNSET:
            last[-1] = msgspec.structs.replace(last[-1], problem=UNFINISHED)
            self._offset = last[-1].offset
        elif last:
            self._offset += len(remaining)
        return lines + last

    def _read(self) -> Generator[Line, None, None]:
        decode, longest, recovery = _DECODER.decode, self._longest, self._recovery
        while True:
            while self._ready:
                yield self._ready.popleft()
            find = self._block.find  # `split` is slower: it does not look for line feeds with memchr
            while (end := find(b"\n", self._start)) >= 0:
                raw = self._block[self._start : end]
                self._start = end + 1
                if self._held:
                    raw = self._release(raw)
                offset = self._offset
                self._offset = offset + len(raw) + 1
                self._number += 1
                if recovery.pending is None and not self._in_long_line and len(raw) <= longest:
                    try:
                        value = decode(raw)
                    except DECODE_ERRORS:
                        if is_blank(raw):
                            continue
                    else:
                        yield Line(self._number, offset, raw, value)
                        continue
                self._read_damaged(offset, raw)
                break
            else:
                if not self._next_block() and not self._ready:
                    return

    def _read_damaged(self, offset: int, raw: bytes) -> None:
        if self._in_long_line or len(raw) > self._longest:
            self._split(self._number, offset, raw)
            self._in_long_line = False
        else:
            self._ready += self._recovery.feed(self._number, offset, raw)

    def _next_block(self) -> bool:
        """Continue with the next block, if there is one; hold the unfinished line of this one."""
        if self._start < len(self._block):
            self._hold(self._block[self._start :])
        more = bool(self._blocks)
        self._block, self._start = self._blocks.popleft() if more else b"", 0
        return more

    def _hold(self, data: bytes) -> None:
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > self._longest:
            raw = self._release()
            known = (len(raw) - 1) // self._longest * self._longest
            self._split(self._number + 1, self._offset, raw[:known])
            self._in_long_line = True
            self._offset += known
            self._held.append(raw[known:])
            self._held_bytes = len(raw) - known

    def _release(self, data: bytes = b"") -> bytes:
        held = b"".join([*self._held, data])
        self._held.clear()
        self._held_bytes = 0
        return held

    def _split(self, number: int, offset: int, raw: bytes) -> None:
        """Return a line that is too long, as far as it was read, in pieces."""
        self._ready += self._recovery.give_up()
        for start in range(0, len(raw), self._longest):
            piece = raw[start : start + self._longest]
            self._ready.append(Line(number, offset + start, piece, msgspec.UNSET, TOO_LONG))
