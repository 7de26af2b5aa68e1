"""Values of other databases: binary JSON, bytes, times."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import DecodeError
from partita.importers.databases.values import decode_jsonb, format_time, parse_time, to_json
from partita.types.json import Json, dumps, is_array, is_object
from tests.tables import each_row

# Written by hand from the description of the format.
BINARY: dict[str, tuple[bytes, Json]] = {
    "null": (b"\x00", None),
    "true": (b"\x01", True),
    "false": (b"\x02", False),
    "an integer": (b"\x33-12", -12),
    "a hexadecimal integer": (b"\x440x1F", 31),
    "a float": (b"\x351.5", 1.5),
    "a text": (b"\x27hi", "hi"),
    "a text with escapes": (b"\x98a\\n\\u00e9", "a\né"),
    "a pair of escapes": (b"\xc8\x0c\\ud83d\\ude00", "😀"),
    "a text with escapes of JSON5": (b"\xb9\\x41\\v\\'\\\n\"", "A\v'\""),
    "a raw text": (b'\x3aa"b', 'a"b'),
    "an array": (b"\x5b\x131\x01\x17a", [1, True, "a"]),
    "an object": (b"\x7c\x17a\x131\x17b\x00", {"a": 1, "b": None}),
    "nothing inside": (b"\x2b\x0b\x0c", [[], {}]),
    "a size of one byte": (b"\xc7\x03abc", "abc"),
    "a size of two bytes": (b"\xd7\x00\x03abc", "abc"),
    "a size of four bytes": (b"\xe7\x00\x00\x00\x03abc", "abc"),
    "a size of eight bytes": (b"\xf7" + b"\x00" * 7 + b"\x03abc", "abc"),
}


@each_row(("data", "value"), BINARY.values(), ids=BINARY)
def test_binary_json_is_read(data: bytes, value: Json) -> None:
    assert decode_jsonb(data) == value


BROKEN = {
    "nothing": b"",
    "a size beyond the end": b"\x77hi",
    "a size that breaks off": b"\xd7\x00",
    "bytes behind it": b"\x00\x00",
    "an object with half a member": b"\x2c\x17a",
    "an element that sticks out": b"\x1b\x27hi",
    "a type that is none": b"\x0d",
    "no number": b"\x13a",
    "no UTF-8": b"\x17\xff",
    "a list for a name": b"\x2c\x0b\x00",
}


@each_row("data", BROKEN.values(), ids=BROKEN)
def test_broken_binary_json_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_jsonb(data)


@given(st.binary(max_size=64))
def test_any_bytes_are_binary_json_or_refused(data: bytes) -> None:
    with suppress(DecodeError):
        decode_jsonb(data)


def test_deep_nesting_is_not_an_error() -> None:
    depth = 5000
    data = b"".join(b"\xeb" + (5 * inside).to_bytes(4, "big") for inside in reversed(range(depth)))
    value = decode_jsonb(data)
    for _ in range(depth - 1):
        (value,) = value
    assert value == []


def encoded(value: Json) -> bytes:
    """Binary JSON, as SQLite would write it if it always took four bytes for the size."""
    if is_object(value):
        kind, body = 12, b"".join(encoded(item) for pair in value.items() for item in pair)
    elif is_array(value):
        kind, body = 11, b"".join(map(encoded, value))
    elif isinstance(value, str):
        kind, body = 10, value.encode()
    elif isinstance(value, bool) or value is None:
        kind, body = {None: 0, True: 1, False: 2}[value], b""
    else:
        kind, body = 3, str(value).encode()
    return bytes([0xE0 | kind]) + len(body).to_bytes(4, "big") + body


TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_as_binary_json_is_read_back(value: Json) -> None:
    assert decode_jsonb(encoded(value)) == value


BYTES: dict[str, tuple[bytes, Json]] = {
    "JSON as text": (b'{"a": 1}', '{"a": 1}'),
    "binary JSON": (encoded({"a": 1}), {"a": 1}),
    "text": ("grüß".encode(), "grüß"),
    "neither": (b"\xff\xfe\x00", {"base64": "//4A"}),
}


@each_row(("data", "value"), BYTES.values(), ids=BYTES)
def test_bytes_become_their_content(data: bytes, value: Json) -> None:
    assert to_json(data) == value


@given(st.binary(max_size=200))
def test_bytes_always_become_json(data: bytes) -> None:
    assert dumps(to_json(data))


SECOND = 1_000_000
MOMENTS: dict[str, tuple[Json, int | None]] = {
    "ISO": ("1970-01-01T00:00:01.000Z", SECOND),
    "ISO with a blank, in UTC": ("1970-01-01 00:00:01", SECOND),
    "as PostgreSQL writes it": ("1970-01-01 02:00:01+02", SECOND),
    "as bytes": (b"1970-01-01T00:00:01Z", SECOND),
    "milliseconds": (1_772_000_000_000, 1_772_000_000 * SECOND),
    "milliseconds as text": ("1772000000000", 1_772_000_000 * SECOND),
    "seconds": (1_772_000_000, 1_772_000_000 * SECOND),
    "nothing": (None, None),
    "a word": ("yesterday", None),
    "bytes that are not text": (b"\xe9", None),
    "a number without end": ("9" * 400, None),
}


@each_row(("value", "wanted"), MOMENTS.values(), ids=MOMENTS)
def test_moments_are_compared_as_numbers(value: Json, wanted: int | None) -> None:
    assert parse_time(value) == wanted


SPELLINGS: dict[str, tuple[Json, Json]] = {
    "to the second": ("2026-03-01 08:00:00+00", "2026-03-01T08:00:00.000Z"),
    "to the millisecond, without a zone": ("2026-03-01 08:00:00.25", "2026-03-01T08:00:00.250Z"),
    "finer than JavaScript has it": ("2026-03-01 08:00:00.000001+00", "2026-03-01 08:00:00.000001+00"),
    "no moment": ("infinity", "infinity"),
    "nothing": (None, None),
}


@each_row(("value", "wanted"), SPELLINGS.values(), ids=SPELLINGS)
def test_moments_have_one_spelling(value: Json, wanted: Json) -> None:
    assert format_time(value) == wanted
