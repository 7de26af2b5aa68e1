"""Differences between two requests are listed by path, one line for each change."""

import pytest

from partita.errors import DecodeError
from partita.testing.request_matcher import body_differences, number_ids, path_pattern, remove_paths
from partita.types.json import Json
from tests.tables import each_row

SAME: dict[str, tuple[Json, Json]] = {
    "the order of members": ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    "an integer and an equal float": ({"a": 1}, {"a": 1.0}),
    "any text in place of a redacted secret": (
        {"a": "key [redacted: api key 1], again [redacted: api key 1]."},
        {"a": "key sk-1\n2, again sk-1\n2."},
    ),
}
CHANGES: dict[str, tuple[Json, Json, list[str]]] = {
    "a text": ({"a": [{"b": "one"}]}, {"a": [{"b": "two"}]}, ['a[0].b: "one" → "two"']),
    "a long text is shown near its first difference": (
        {"a": "x" * 100 + "one" + "y" * 100},
        {"a": "x" * 100 + "two" + "y" * 100},
        [f'a: "…{"x" * 20}one{"y" * 37}…" → "…{"x" * 20}two{"y" * 37}…"'],
    ),
    "a missing member": ({"a": 1, "b": None}, {"a": 1}, ["b: null → (absent)"]),
    "a new member": ({}, {"a": {"b": [1]}}, ['a: (absent) → {"b":[1]}']),
    "another type": ({"a": "1"}, {"a": 1}, ['a: "1" → 1']),
    "1 is not equal to true": ({"a": 1}, {"a": True}, ["a: 1 → true"]),
    "a new first item": ([1, 2, 3], [0, 1, 2, 3], ["[0]: (absent) → 0"]),
    "a missing item in the middle": (
        {"a": [{"b": 1}, {"b": 2}, {"b": 3}]},
        {"a": [{"b": 1}, {"b": 3}]},
        ['a[1]: {"b":2} → (absent)'],
    ),
    "another text around a redacted secret": (
        {"a": "key [redacted: api key 1]."},
        {"a": "keys sk-1."},
        ['a: "key [redacted: api key 1]." → "keys sk-1."'],
    ),
}


@each_row(("recorded", "actual"), SAME.values(), ids=SAME)
def test_equivalent_bodies_have_no_differences(recorded: Json, actual: Json) -> None:
    assert body_differences(recorded, actual) == []


@each_row(("recorded", "actual", "lines"), CHANGES.values(), ids=CHANGES)
def test_differences_show_path_and_both_values(recorded: Json, actual: Json, lines: list[str]) -> None:
    assert [str(difference) for difference in body_differences(recorded, actual)] == lines


PATHS: dict[str, Json] = {
    "metadata.user": {"metadata": {"team": 1}, "list": [{"id": 1, "x": {"id": 2}}]},
    "list[*].id": {"metadata": {"team": 1, "user": 2}, "list": [{"x": {"id": 2}}]},
    "list[0]": {"metadata": {"team": 1, "user": 2}, "list": [None]},
    "**.id": {"metadata": {"team": 1, "user": 2}, "list": [{"x": {}}]},
    "metadata.*": {"metadata": {}, "list": [{"id": 1, "x": {"id": 2}}]},
    "metadata": {"list": [{"id": 1, "x": {"id": 2}}]},
}


@each_row(("path", "kept"), PATHS.items(), ids=PATHS)
def test_remove_paths_removes_what_a_path_matches(path: str, kept: Json) -> None:
    value = {"metadata": {"team": 1, "user": 2}, "list": [{"id": 1, "x": {"id": 2}}]}
    assert remove_paths(value, [path_pattern(path)]) == kept


@each_row("path", ["", "messages[x].id", "a]"])
def test_an_invalid_path_is_rejected(path: str) -> None:
    with pytest.raises(DecodeError):
        path_pattern(path)


def test_number_ids_keeps_which_ids_are_equal_but_not_their_values() -> None:
    patterns = [path_pattern("a[*].id"), path_pattern("a[*].of")]
    one = [{"id": "x"}, {"id": "y"}, {"of": "x", "text": "x"}]
    other = [{"id": "p"}, {"id": "q"}, {"of": "p", "text": "x"}]
    mixed = [{"id": "p"}, {"id": "q"}, {"of": "q", "text": "x"}]
    assert number_ids({"a": one}, patterns) == number_ids({"a": other}, patterns)
    assert number_ids({"a": one}, patterns) != number_ids({"a": mixed}, patterns)
