"""Stored chunks → a message and its losses."""

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
    """Return the parts, and what was lost by path."""
    result = fold([(str(place), read_chunk(chunk)) for place, chunk in enumerate(chunks)], "m")
    return result.message.parts, {loss.path: loss.what for loss in result.losses}


def start(id_: str, name: str = "Read", **members: Json) -> JsonObject:
    return {"type": "tool-input-start", "toolCallId": id_, "toolName": name, **members}


def available(id_: str, name: str = "Read", **members: Json) -> JsonObject:
    return {"type": "tool-input-available", "toolCallId": id_, "toolName": name, **members}


def delta(text: str) -> JsonObject:
    return {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": text}


LOSSES: dict[str, tuple[list[Json], dict[str, str]]] = {
    "none": ([start("c"), available("c", input=1)], {}),
    "a replaced tool name": ([start("c", "Write"), available("c")], {"0.toolName": '"Write"'}),
    "a tool name that only another call has": (
        [start("a", "Write"), available("a"), available("b", "Write")],
        {"0.toolName": '"Write"'},
    ),
    "deltas of a different input": (
        [start("c"), delta('{"a":'), delta("1}"), available("c", input={"a": 2})],
        {"1": '"{\\"a\\":"', "2": '"1}"'},
    ),
    "deltas of an equal input with another member order": (
        [start("c"), delta('{"a":1,'), delta('"b":2}'), available("c", input={"b": 2, "a": 1})],
        {},
    ),
    "transient data": (
        [{"type": "data-x", "data": 1, "transient": True}],
        {"0": '{"type":"data-x","data":1,"transient":true}'},
    ),
    "an unknown member": ([{"type": "start-step", "request": 1}], {"0.request": "1"}),
    "an end without a start": ([{"type": "text-end", "id": "t"}], {"0": '{"type":"text-end","id":"t"}'}),
    "the id of another message": ([{"type": "start", "messageId": "x"}], {"0.messageId": '"x"'}),
}


@each_row(("chunks", "losses"), LOSSES.values(), ids=LOSSES)
def test_values_that_are_not_in_the_message_are_reported(chunks: list[Json], losses: dict[str, str]) -> None:
    assert folded(*chunks)[1] == losses


def test_another_start_keeps_the_earlier_parts() -> None:
    parts, _ = folded(
        {"type": "text-delta", "id": "t", "delta": "a"}, {"type": "start", "messageId": "x"}, available("c")
    )
    assert parts == (TextPart("a", "done"), ToolCallPart("c", "Read", "input-available"))


def test_errors_aborts_and_finish_reasons_are_returned_beside_the_message() -> None:
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
def test_a_valid_stream_gives_the_message_of_the_accumulator(chunks: list[JsonObject]) -> None:
    stream = [read_chunk(chunk) for chunk in chunks if chunk["type"] != "start"]
    accumulator = Accumulator(id="m", lenient=True)
    for chunk in stream:
        accumulator.feed(chunk)
    if not accumulator.diagnostics:
        assert fold([("$", chunk) for chunk in stream], "m").message == accumulator.finish()
