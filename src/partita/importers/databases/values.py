"""Column values as databases return them → JSON, and times as numbers to sort by.

This includes SQLite's binary JSON (https://sqlite.org/jsonb.html): LibSQL stores the metadata of
Mastra's threads in it, and SQLite libraries before 3.45 cannot read it.
"""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from partita.errors import DecodeError
from partita.formats.core.members import parsed
from partita.formats.rows import read_moment
from partita.store.schema import to_microseconds
from partita.types.json import Json, is_array, is_object, join_surrogates
from partita.types.times import iso_text


def to_json(value: object) -> Json:
    """A column value as JSON. Bytes that are neither text nor binary JSON become base64."""
    return _from_bytes(value) if isinstance(value, bytes) else value


def format_time(value: Json) -> Json:
    """A time in JavaScript's spelling (milliseconds); other values, and more exact times, are unchanged."""
    moment = read_moment(value)
    return value if moment is None or moment.microsecond % 1000 else iso_text(moment, "milliseconds")


def _from_bytes(data: bytes) -> Json:
    """The content of a BLOB: text, SQLite's binary JSON, or other bytes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and (is_object(parsed(text)) or is_array(parsed(text))):
        return text
    try:
        return decode_jsonb(data)
    except DecodeError:
        return text if text is not None else {"base64": base64.b64encode(data).decode()}


def parse_time(value: Any) -> int | None:
    """The time in a column, in microseconds since 1970; `None` if it is not a time."""
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    moment = read_moment(value)
    return None if moment is None else to_microseconds(moment)


# SQLite's binary JSON

SIZES: Final[Mapping[int, int]] = {12: 1, 13: 2, 14: 4, 15: 8}
"""Number of bytes of the size, by the upper half of the first byte. Other halves are the size itself."""

ARRAY: Final = 11
OBJECT: Final = 12

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_LINE_CONTINUATIONS = ("\r\n", "\n", "\r", "\u2028", "\u2029")


class _Container(NamedTuple):
    """An array or object that is being read, and where it ends."""

    kind: int
    items: list[Json]
    end: int

    @property
    def value(self) -> Json:
        """The array or object."""
        if self.kind == ARRAY:
            return self.items
        return dict(zip(self.items[::2], self.items[1::2], strict=True))


def decode_jsonb(data: bytes) -> Json:
    """The value of binary JSON; anything else is a `DecodeError`."""
    try:
        (value,) = _decode_values(data)
    except (IndexError, ValueError, KeyError, TypeError) as error:
        raise DecodeError(f"invalid binary JSON: {error}", hint="is it JSONB of SQLite?") from None
    return value


def _decode_values(data: bytes) -> list[Json]:
    """All values in the data. A stack instead of recursion, because the nesting has no limit."""
    stack = [_Container(ARRAY, [], len(data))]
    position = 0
    while len(stack) > 1 or position < len(data):
        inner = stack[-1]
        if position == inner.end:
            stack.pop()
            stack[-1].items.append(inner.value)
            continue
        kind, position, end = _read_header(data, position)
        if end > inner.end:
            raise ValueError("it is cut off")
        if kind in (ARRAY, OBJECT):
            stack.append(_Container(kind, [], end))
        else:
            inner.items.append(SCALARS[kind](data[position:end].decode()))
            position = end
    return stack[0].items


def _read_header(data: bytes, position: int) -> tuple[int, int, int]:
    """The type of the element at a position, and where its content starts and ends."""
    kind, size, start = data[position] & 15, data[position] >> 4, position + 1
    if size in SIZES:
        width = SIZES[size]
        size, start = int.from_bytes(data[start : start + width], "big"), start + width
    return kind, start, start + size


def _unescape(text: str) -> str:
    """Text with the escapes of JSON and JSON5 resolved."""
    return join_surrogates(_ESCAPE.sub(_unescape_one, text))


def _unescape_one(match: re.Match[str]) -> str:
    what = match[1]
    if len(what) > 1 and what[0] in "ux":
        return chr(int(what[1:], 16))
    return "" if what in _LINE_CONTINUATIONS else _ESCAPED.get(what, what)


SCALARS: Final[Mapping[int, Callable[[str], Json]]] = {
    0: lambda _: None,
    1: lambda _: True,
    2: lambda _: False,
    3: int,
    4: lambda text: int(text, 0),
    5: float,
    6: float,
    7: str,
    8: _unescape,
    9: _unescape,
    10: str,
}
"""By type: null, true, false, integers, floats, texts; numbers and texts also in the form of JSON5."""
