"""What is in neither the result nor the losses of a conversion is found."""

from collections.abc import Sequence

import pytest

from partita.formats.checking.held import Held
from partita.formats.converting import convert
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.types.json import Json
from partita.types.messages import Message, UserMessage
from partita.types.parts import DataPart, TextPart
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


def write_texts(messages: Sequence[Message]) -> Dumped:
    return Dumped({"text": "".join(part.text for part in messages[0].parts if isinstance(part, TextPart))})


def test_losses_of_a_format_that_reports_none_are_found_by_comparison() -> None:
    format_ = Format("forgetful", "reads and writes the text alone", forgetful, write_texts)
    assert format_.load is not None
    assert format_.dump is not None
    loaded = format_.load({"text": "How tall?", "mood": "curious"})
    assert [(loss.path, loss.what) for loss in loaded.losses] == [("$.mood", '"curious"')]
    message = UserMessage(id="m", content=[TextPart("How tall?"), DataPart("mood", "curious")], run_id="r")
    assert [loss.path for loss in format_.dump([message]).losses] == ["$[0].runId", "$[0].content.parts[1]"]
