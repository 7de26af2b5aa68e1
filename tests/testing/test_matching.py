"""Where two requests differ: told path by path, in as few lines as there are changes."""

import pytest

from partita.errors import DecodeError
from partita.testing.matching import body_differences, pattern_of, renamed, without
from partita.types.json import Json
from tests.tables import each_row

SAME: dict[str, tuple[Json, Json]] = {
    "the order of members": ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    "numbers as numbers": ({"a": 1}, {"a": 1.0}),
    "what a mark stands for": (
        {"a": "key [redacted: api key 1], again [redacted: api key 1]."},
        {"a": "key sk-1\n2, again sk-1\n2."},
    ),
}
CHANGES: dict[str, tuple[Json, Json, list[str]]] = {
    "a text": ({"a": [{"b": "one"}]}, {"a": [{"b": "two"}]}, ['a[0].b: "one" → "two"']),
    "a long text, near where it parts": (
        {"a": "x" * 100 + "one" + "y" * 100},
        {"a": "x" * 100 + "two" + "y" * 100},
        [f'a: "…{"x" * 20}one{"y" * 37}…" → "…{"x" * 20}two{"y" * 37}…"'],
    ),
    "a member that is gone": ({"a": 1, "b": None}, {"a": 1}, ["b: null → (absent)"]),
    "a member that is new": ({}, {"a": {"b": [1]}}, ['a: (absent) → {"b":[1]}']),
    "another kind": ({"a": "1"}, {"a": 1}, ['a: "1" → 1']),
    "one is not true": ({"a": 1}, {"a": True}, ["a: 1 → true"]),
    "one more at the top": ([1, 2, 3], [0, 1, 2, 3], ["[0]: (absent) → 0"]),
    "one less in the middle": (
        {"a": [{"b": 1}, {"b": 2}, {"b": 3}]},
        {"a": [{"b": 1}, {"b": 3}]},
        ['a[1]: {"b":2} → (absent)'],
    ),
    "another text around a mark": (
        {"a": "key [redacted: api key 1]."},
        {"a": "keys sk-1."},
        ['a: "key [redacted: api key 1]." → "keys sk-1."'],
    ),
}


@each_row(("recorded", "made"), SAME.values(), ids=SAME)
def test_what_is_the_same(recorded: Json, made: Json) -> None:
    assert body_differences(recorded, made) == []


@each_row(("recorded", "made", "told"), CHANGES.values(), ids=CHANGES)
def test_what_differs(recorded: Json, made: Json, told: list[str]) -> None:
    assert [str(one) for one in body_differences(recorded, made)] == told


PATHS: dict[str, Json] = {
    "metadata.user": {"metadata": {"team": 1}, "list": [{"id": 1, "x": {"id": 2}}]},
    "list[*].id": {"metadata": {"team": 1, "user": 2}, "list": [{"x": {"id": 2}}]},
    "list[0]": {"metadata": {"team": 1, "user": 2}, "list": [None]},
    "**.id": {"metadata": {"team": 1, "user": 2}, "list": [{"x": {}}]},
    "metadata.*": {"metadata": {}, "list": [{"id": 1, "x": {"id": 2}}]},
    "metadata": {"list": [{"id": 1, "x": {"id": 2}}]},
}


@each_row(("path", "left"), PATHS.items(), ids=PATHS)
def test_what_a_path_leaves_out(path: str, left: Json) -> None:
    value = {"metadata": {"team": 1, "user": 2}, "list": [{"id": 1, "x": {"id": 2}}]}
    assert without(value, [pattern_of(path)]) == left


@each_row("path", ["", "messages[x].id", "a]"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(DecodeError):
        pattern_of(path)


def test_that_two_names_are_the_same_counts_and_not_how_they_are_spelled() -> None:
    patterns = [pattern_of("a[*].id"), pattern_of("a[*].of")]
    one = [{"id": "x"}, {"id": "y"}, {"of": "x", "text": "x"}]
    other = [{"id": "p"}, {"id": "q"}, {"of": "p", "text": "x"}]
    mixed = [{"id": "p"}, {"id": "q"}, {"of": "q", "text": "x"}]
    assert renamed({"a": one}, patterns) == renamed({"a": other}, patterns)
    assert renamed({"a": one}, patterns) != renamed({"a": mixed}, patterns)
