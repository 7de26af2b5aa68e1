"""Reading and writing JSON text: nothing is lost, and every error has a path."""

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import DecodeError
from partita.types.json import (
    Json,
    dumps,
    has_surrogates,
    indented,
    is_array,
    is_object,
    join_surrogates,
    kind_of,
    loads,
    walk,
)
from tests.canonical import BROKEN_STRINGS, json_values
from tests.tables import each_row

NO_JSON: dict[str, tuple[str | bytes, str, str]] = {
    "nothing": ("", "invalid JSON", "line 1, column 1"),
    "cut in an object": ('{"a": 1', "invalid JSON", "line 1, column 8"),
    "cut in a string": (b'{"a": "b', "invalid JSON", "line 1, column 7"),
    "cut on the second line": ('{\n"a"', "invalid JSON", "line 2, column 4"),
    "two values": ("1 2", "invalid JSON", "line 1, column 3"),
    "a trailing comma": ("[1,]", "invalid JSON", "line 1, column 4"),
    "bytes that are not UTF-8": (b'"a\xff"', "not UTF-8", "byte 2"),
    "an incomplete character": (b'"\xe2\x82"', "not UTF-8", "byte 1"),
    "a constant that is not JSON": ("[NaN]", "NaN is not JSON", ""),
    "a number outside the range of doubles": ("[1e999]", "1e999 is out of range", ""),
    "a number too long to read": ("9" * 5000, "invalid JSON", ""),
    "10,000 arrays": ("[" * 10_000, "too deep", ""),
    "10,000 objects after a lone surrogate": (
        '["\\ud83d",' + '{"a":' * 10_000 + "1" + "}" * 10_000 + "]",
        "too deep",
        "",
    ),
}


@each_row(("text", "what", "where"), NO_JSON.values(), ids=NO_JSON)
def test_invalid_json_is_refused_with_its_position(text: str | bytes, what: str, where: str) -> None:
    with pytest.raises(DecodeError) as caught:
        loads(text)
    assert what in caught.value.what
    assert caught.value.where == where
    assert caught.value.hint


WRITTEN: dict[str, tuple[Json, bytes]] = {
    "compact": ({"a": [1, 2.5, None, True]}, b'{"a":[1,2.5,null,true]}'),
    "text stays text": ("é😀", '"é😀"'.encode()),
    "NaN becomes null": ([math.nan, math.inf, -math.inf], b"[null,null,null]"),
    "NaN next to a lone surrogate becomes null": ({"\udc00": [math.nan]}, b'{"\\udc00":[null]}'),
    "a lone surrogate is escaped": ("a\ud83d", b'"a\\ud83d"'),
    "long integers are exact": (2**80, str(2**80).encode()),
}


@each_row(("value", "text"), WRITTEN.values(), ids=WRITTEN)
def test_values_are_written_as_in_javascript(value: Json, text: bytes) -> None:
    assert dumps(value) == text


@given(json_values(BROKEN_STRINGS))
def test_written_values_are_read_back(value: Json) -> None:
    assert loads(dumps(value)) == value
    assert loads(dumps(value).decode()) == value


@each_row("leaf", [1, "\ud83d"], ids=["plain", "lone surrogate"])
def test_a_value_nested_too_deeply_is_not_written(leaf: Json) -> None:
    with pytest.raises(DecodeError, match="too deep"):
        dumps(_nested(leaf, 10_000))


@each_row("share", [0.3, 0.5, 0.9, 1.1])
def test_values_near_the_depth_limit_are_written_or_refused(share: float) -> None:
    """The slow path uses Python frames and must handle their limit."""
    value = _nested("\ud83d", int(sys.getrecursionlimit() * share))
    try:
        text = dumps(value)
    except DecodeError as error:
        assert "too deep" in error.what  # noqa: PT017 # both results are valid
    else:
        assert text.count(b"[") == int(sys.getrecursionlimit() * share)


JOINED: dict[str, tuple[str, str]] = {
    "no surrogates": ("abc", "abc"),
    "complete characters stay": ("é😀", "é😀"),
    "two adjacent surrogates": ("\ud83d\ude00", "😀"),
    "a lone surrogate stays": ("a\ud83d", "a\ud83d"),
    "surrogates in the wrong order stay": ("\ude00\ud83d", "\ude00\ud83d"),
    "only adjacent surrogates are joined": ("\ud83d\ud83d\ude00\ude00", "\ud83d😀\ude00"),
}


@each_row(("text", "joined"), JOINED.values(), ids=JOINED)
def test_adjacent_surrogates_are_joined(text: str, joined: str) -> None:
    assert join_surrogates(text) == joined


@given(st.text())
def test_text_split_between_any_two_utf_16_units_is_joined(text: str) -> None:
    units = text.encode("utf-16-le")
    halves = "".join(chr(int.from_bytes(units[i : i + 2], "little")) for i in range(0, len(units), 2))
    assert join_surrogates(halves) == text
    assert has_surrogates(halves) == any(ord(character) > 0xFFFF for character in text)


KINDS: list[tuple[object, str]] = [
    (None, "null"),
    (False, "boolean"),
    (0, "number"),
    (0.5, "number"),
    ("", "string"),
    ([], "array"),
    ((), "array"),
    ({}, "object"),
    (b"", "bytes"),
]


@each_row(("value", "kind"), KINDS)
def test_kinds_have_their_json_names(value: object, kind: str) -> None:
    assert kind_of(value) == kind
    assert is_object(value) == (kind == "object")
    assert is_array(value) == isinstance(value, list)


WALKS: dict[str, tuple[Json, list[tuple[str, Json]]]] = {
    "a leaf": (1, [("$", 1)]),
    "in order": (
        {"a": [1, {"b": None}], "c": "x"},
        [("$.a[0]", 1), ("$.a[1].b", None), ("$.c", "x")],
    ),
    "empty containers are leaves": ({"a": {}, "b": []}, [("$.a", {}), ("$.b", [])]),
}


@each_row(("value", "leaves"), WALKS.values(), ids=WALKS)
def test_walk_gives_every_leaf_with_its_path(value: Json, leaves: list[tuple[str, Json]]) -> None:
    assert list(walk(value)) == leaves


def test_walk_has_no_depth_limit() -> None:
    assert [leaf for _, leaf in walk(_nested("end", 10_000))] == ["end"]


def _nested(value: Json, depth: int) -> Json:
    for _ in range(depth):
        value = [value]
    return value


def test_a_lone_surrogate_is_printed_readably() -> None:
    assert indented({"a": "Hello\ud83d"}) == b'{\n  "a": "Hello\\ud83d"\n}'
    assert indented({"a": [1]}) == b'{\n  "a": [\n    1\n  ]\n}'
