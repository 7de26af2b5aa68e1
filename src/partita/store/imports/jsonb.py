"""SQLite's binary JSON (sqlite.org/jsonb.html), which older SQLite libraries cannot read themselves.

LibSQL keeps the metadata of Mastra's threads in it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from partita.errors import DecodeError
from partita.types.json import Json, heal

SIZES: Final[Mapping[int, int]] = {12: 1, 13: 2, 14: 4, 15: 8}
"""By the upper half of the first byte: how many bytes the size takes. Other halves are the size itself."""

ARRAY: Final = 11
OBJECT: Final = 12

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_MEANINGS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_JOINED_LINES = ("\r\n", "\n", "\r", "\u2028", "\u2029")


class Open(NamedTuple):
    """An array or object that is being read, and where it ends."""

    kind: int
    items: list[Json]
    end: int

    @property
    def value(self) -> Json:
        """What it amounts to."""
        if self.kind == ARRAY:
            return self.items
        return dict(zip(self.items[::2], self.items[1::2], strict=True))


def decode_jsonb(data: bytes) -> Json:
    """The value of binary JSON; a `DecodeError` if it is none."""
    try:
        (value,) = _decoded(data)
    except (IndexError, ValueError, KeyError, TypeError) as error:
        raise DecodeError(f"invalid binary JSON: {error}", hint="is it JSONB of SQLite?") from None
    return value


def _decoded(data: bytes) -> list[Json]:
    """The values that the data holds, one after another; nested as deeply as they may be."""
    stack = [Open(ARRAY, [], len(data))]
    place = 0
    while len(stack) > 1 or place < len(data):
        inner = stack[-1]
        if place == inner.end:
            stack.pop()
            stack[-1].items.append(inner.value)
            continue
        kind, place, end = _head(data, place)
        if end > inner.end:
            raise ValueError("it breaks off")
        if kind in (ARRAY, OBJECT):
            stack.append(Open(kind, [], end))
        else:
            inner.items.append(SCALARS[kind](data[place:end].decode()))
            place = end
    return stack[0].items


def _head(data: bytes, place: int) -> tuple[int, int, int]:
    """The type of what stands at a place, where it begins and where it ends."""
    kind, size, start = data[place] & 15, data[place] >> 4, place + 1
    if size in SIZES:
        width = SIZES[size]
        size, start = int.from_bytes(data[start : start + width], "big"), start + width
    return kind, start, start + size


def _unescaped(text: str) -> str:
    """Text without the escapes of JSON and JSON5."""
    return heal(_ESCAPE.sub(_meant, text))


def _meant(match: re.Match[str]) -> str:
    what = match[1]
    if len(what) > 1 and what[0] in "ux":
        return chr(int(what[1:], 16))
    return "" if what in _JOINED_LINES else _MEANINGS.get(what, what)


SCALARS: Final[Mapping[int, Callable[[str], Json]]] = {
    0: lambda _: None,
    1: lambda _: True,
    2: lambda _: False,
    3: int,
    4: lambda text: int(text, 0),
    5: float,
    6: float,
    7: str,
    8: _unescaped,
    9: _unescaped,
    10: str,
}
"""By type: null, true, false, integers, floats, texts; of numbers and texts also as JSON5 writes them."""
