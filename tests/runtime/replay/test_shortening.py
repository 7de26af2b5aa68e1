"""Values cut to what can be shown."""

from hypothesis import given

from partita.runtime.replay.shortening import DEEPEST, LONGEST_TEXT, MOST_ITEMS, Shortener
from partita.types.json import Json
from tests.strategies_json import json_values
from tests.tables import each_row


def nested(depth: int, core: Json = "core") -> Json:
    value = core
    for _ in range(depth):
        value = [value]
    return value


CASES: dict[str, tuple[int, Json, Json]] = {
    "a long text": (10**6, "x" * (LONGEST_TEXT + 1), "x" * LONGEST_TEXT + "…"),
    "many items": (10**6, [1] * (MOST_ITEMS + 1), [*([1] * MOST_ITEMS), "…"]),
    "a deep nest": (10**6, nested(DEEPEST + 1), nested(DEEPEST, "…")),
    "no room left": (4, ["abc", "def", 1], ["abc", "d…", 1]),
}


@each_row(("room", "value", "short"), CASES.values(), ids=CASES)
def test_what_is_too_large_is_cut(room: int, value: Json, short: Json) -> None:
    assert Shortener(room)(value) == short


def test_a_nest_of_any_depth_is_no_trouble() -> None:
    assert Shortener(100)(nested(100_000)) == Shortener(100)(nested(DEEPEST + 1))


@given(json_values())
def test_what_is_small_stays(value: Json) -> None:
    assert Shortener(10**6)(value) == value
