"""Whatever is in neither the result nor the losses of a conversion is told."""

from typing import Any

import pytest

from partita.formats.checking.check import unaccounted
from partita.formats.checking.held import Held
from partita.formats.converting import convert
from partita.formats.format import Format, Loaded
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.types.json import Json
from partita.types.messages import UserMessage
from tests.tables import each_row

HELD: dict[str, tuple[str, Json, Json]] = {
    "a text": ("a", "tower", {"b": "tower"}),
    "a piece of a text": ("a", "tow", {"b": "the tower"}),
    "a number that says something": ("a", 39, {"b": 39}),
    "a small number under its name": ("input_tokens", 3, {"inputTokens": 3}),
    "a flag under its name": ("is_error", True, {"isError": True}),
    "what is empty": ("a", "", {}),
    "what is null": ("a", None, {}),
    "a moment, spelt otherwise": ("a", "2026-01-02T03:04:05Z", {"b": "2026-01-02T04:04:05+01:00"}),
    "a moment as a number": ("a", 1767323045, {"b": "2026-01-02T03:04:05+00:00"}),
    "a moment as milliseconds": ("a", "2026-01-02T03:04:05Z", {"b": 1767323045000}),
    "a value in a text of JSON": ("metres", 3, {"arguments": '{"metres": 3}'}),
    "a piece of an input, as it was written": ("delta", '{"met', {"input": {"metres": 3}}),
    "a small number that became a text": ("id", 3, {"id": "3"}),
    "a small number that is all there is": ("result", 3, {"output": {"value": 3}}),
    "words that an address holds": ("text", "tower", {"url": "data:text/plain;base64,dG93ZXI="}),
    "an address that holds words": ("url", "data:text/plain;base64,dG93ZXI=", {"text": "tower"}),
    "an address that holds its data": ("a", "data:image/png;base64,AAAA", {"b": "image/png", "c": "AAAA"}),
}
NOT_HELD: dict[str, tuple[str, Json, Json]] = {
    "another text": ("a", "tower", {"b": "towel"}),
    "a small number under another name": ("a", 3, {"b": 3}),
    "a number that is a flag": ("a", 1, {"a": True}),
    "a flag that is a number": ("a", True, {"a": 1}),
    "a flag of the other kind": ("a", True, {"a": False}),
    "an address whose data is not there": ("a", "data:image/png;base64,AAAA", {"b": "image/png"}),
    "two texts as one": ("a", "towerlamp", {"b": "tower", "c": "lamp"}),
}


@each_row(("name", "leaf", "value"), HELD.values(), ids=HELD)
def test_a_leaf_is_found(name: str, leaf: Json, value: Json) -> None:
    assert Held([value]).has(name, leaf)


@each_row(("name", "leaf", "value"), NOT_HELD.values(), ids=NOT_HELD)
def test_a_leaf_is_not_found(name: str, leaf: Json, value: Json) -> None:
    assert not Held([value]).has(name, leaf)


def test_pieces_are_found_in_any_order() -> None:
    held = Held([["one two three"]])
    assert all(held.has("", piece) for piece in ("three", "one", "two", "two thr"))


def told(value: Json, held: Json, losses: tuple[Loss, ...] = (), **implied: Any) -> list[tuple[str, str]]:
    sets = {name: frozenset(values) for name, values in implied.items()}
    found = unaccounted(value, Held([held]), losses, sets, "gone", counted=True)
    return [(loss.path, loss.what) for loss in found]


def test_what_is_missing_is_told_with_its_path() -> None:
    assert told({"a": "tower", "b": [{"c": "lamp", "d": "tower"}]}, ["tower"]) == [("$.b[0].c", '"lamp"')]


def test_what_is_missing_as_a_whole_is_told_as_one() -> None:
    assert told({"a": {"b": "lamp", "c": "horn"}, "d": "tower"}, ["tower"]) == [
        ("$.a", '{"b":"lamp","c":"horn"}')
    ]


def test_what_a_loss_shows_is_not_told_twice() -> None:
    value = {"a": {"b": "lamp" * 100, "c": "horn"}, "d": "tower"}
    assert told(value, ["tower"], (Loss.of("$.elsewhere", value["a"], "no place"),)) == []


def test_words_that_are_understood_are_not_told() -> None:
    assert told([{"kind": "lamp"}, {"kind": "horn"}], [], kind={"lamp"}) == [("$[1].kind", '"horn"')]


def test_a_text_of_json_is_looked_into() -> None:
    assert told({"arguments": '{ "metres": 3, "kind": "lamp" }'}, {"metres": 3}, kind={"lamp"}) == []
    assert told({"arguments": '{ "metres": 4 }'}, {"metres": 3}) == [("$.arguments", '"{ \\"metres\\": 4 }"')]


def test_flags_that_stand_more_often_than_they_are_held_are_told() -> None:
    value = [{"lit": True, "n": "a"}, {"lit": True, "n": "b"}]
    assert told(value, [{"lit": True}, "a", "b"]) == [("$[*].lit", "1 of 2 times true")]


def test_of_flags_those_are_missing_that_are_not_where_they_were() -> None:
    value = [{"lit": True, "n": "a"}, {"lit": True, "n": "b"}]
    again = [{"lit": True, "n": "a"}, {"n": "b"}]
    found = unaccounted(value, Held([again]), (), {}, "gone", counted=True, again=again)
    assert [(loss.path, loss.what) for loss in found] == [("$[1].lit", "true")]


def test_many_of_a_kind_are_reported_one_by_one() -> None:
    events: list[dict[str, Json]] = [{"n": f"lamp {index}", "kept": "tower"} for index in range(9)]
    assert told(events, ["tower"]) == [(f"$[{index}].n", f'"lamp {index}"') for index in range(9)]


def test_a_loss_holds_the_whole_value_and_shows_the_beginning() -> None:
    loss = Loss.of("$[0].text", "lamp " * 200, "no place")
    assert loss.what == f'"{"lamp " * 200}"'
    assert str(loss) == f"$[0].text: {loss.what[:500]}… (1002 characters) (no place)"


def forgetful(payload: Json) -> Loaded:
    return Loaded((UserMessage(id="m", content=payload["text"]),))


def test_a_reader_that_forgets_something_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    format_ = Format("forgetful", "reads the text alone", forgetful)

    def found(name: str) -> Format:
        return format_ if name == "forgetful" else get_format(name)

    monkeypatch.setattr("partita.formats.converting.get_format", found)
    result = convert({"text": "How tall?", "mood": "curious"}, "forgetful", "ui")
    assert [(loss.path, loss.what) for loss in result.losses] == [("$.mood", '"curious"')]
