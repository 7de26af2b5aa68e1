"""Stored chunks → a message, and what of them it does not show."""

from hypothesis import given

from partita.formats.event_streams import fold
from partita.stream.accumulator import Accumulator
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.parts import TextPart
from tests import strategies
from tests.tables import each_row


def folded(*chunks: Json) -> tuple[tuple[object, ...], dict[str, str]]:
    """The parts, and the paths of the losses with what was lost."""
    result = fold([(str(place), read_chunk(chunk)) for place, chunk in enumerate(chunks)], "m")
    return result.message.parts, {loss.path: loss.what for loss in result.losses}


def start(id_: str, name: str = "Read", **members: Json) -> JsonObject:
    return {"type": "tool-input-start", "toolCallId": id_, "toolName": name, **members}


def available(id_: str, name: str = "Read", **members: Json) -> JsonObject:
    return {"type": "tool-input-available", "toolCallId": id_, "toolName": name, **members}


def piece(text: str) -> JsonObject:
    return {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": text}


LOSSES: dict[str, tuple[list[Json], dict[str, str]]] = {
    "none": ([start("c"), available("c", input=1)], {}),
    "a name that another replaced": ([start("c", "Write"), available("c")], {"0.toolName": '"Write"'}),
    "a name that stands on another call only": (
        [start("a", "Write"), available("a"), available("b", "Write")],
        {"0.toolName": '"Write"'},
    ),
    "all pieces of another input": (
        [start("c"), piece('{"a":'), piece("1}"), available("c", input={"a": 2})],
        {"1": '"{\\"a\\":"', "2": '"1}"'},
    ),
    "no pieces of an input with its members in another order": (
        [start("c"), piece('{"a":1,'), piece('"b":2}'), available("c", input={"b": 2, "a": 1})],
        {},
    ),
    "data that was never to be kept": (
        [{"type": "data-x", "data": 1, "transient": True}],
        {"0": '{"type":"data-x","data":1,"transient":true}'},
    ),
    "a member that chunks do not have": ([{"type": "start-step", "request": 1}], {"0.request": "1"}),
    "an end of nothing": ([{"type": "text-end", "id": "t"}], {"0": '{"type":"text-end","id":"t"}'}),
    "the id of another message": ([{"type": "start", "messageId": "x"}], {"0.messageId": '"x"'}),
}


@each_row(("chunks", "losses"), LOSSES.values(), ids=LOSSES)
def test_losses(chunks: list[Json], losses: dict[str, str]) -> None:
    assert folded(*chunks)[1] == losses


def test_another_start_forgets_nothing() -> None:
    parts, _ = folded(
        {"type": "text-delta", "id": "t", "delta": "a"}, {"type": "start", "messageId": "x"}, available("c")
    )
    assert parts == (TextPart("a", "done"), ToolCallPart("c", "Read", "input-available"))


def test_what_is_said_beside_the_message() -> None:
    chunks = [
        {"type": "error", "errorText": "ouch"},
        {"type": "abort", "reason": "stop"},
        {"type": "finish", "finishReason": "error"},
    ]
    result = fold([("$", read_chunk(chunk)) for chunk in chunks], "m")
    assert result.losses == []
    assert result.beside == {
        "errors": ["ouch"],
        "aborts": [{"type": "abort", "reason": "stop"}],
        "finishReasons": ["error"],
    }


@given(chunks=strategies.chunk_streams(7))
def test_a_good_stream_gives_the_message_of_the_one_reducer(chunks: list[JsonObject]) -> None:
    stream = [read_chunk(chunk) for chunk in chunks if chunk["type"] != "start"]
    accumulator = Accumulator(id="m", lenient=True)
    for chunk in stream:
        accumulator.feed(chunk)
    if not accumulator.diagnostics:
        assert fold([("$", chunk) for chunk in stream], "m").message == accumulator.finish()
