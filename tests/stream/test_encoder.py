"""Chunks as bytes: complete events, no nulls, only what the client version knows."""

import json
from collections.abc import Iterable
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import DecodeError, FormatError
from partita.formats.ai_sdk.ui.format import dump
from partita.stream.accumulator import accumulate, accumulate_messages
from partita.stream.encoder import SseEncoder
from partita.stream.partial_json import secure_loads
from partita.stream.sse import DONE, SseDecoder
from partita.stream.targets import DENIED, Target
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk, read_chunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import NetworkResult
from partita.types.value import Extra
from tests import canonical, strategies
from tests.tables import each_row

MAJORS = (5, 6, 7)


def received(target: str | int | Target | None, chunks: Iterable[Chunk]) -> list[Json]:
    """Return the payloads that a client of `target` parses from a stream."""
    encoder = SseEncoder(target)
    decoder = SseDecoder()
    payloads = [payload for chunk in chunks for payload in decoder.feed(encoder.encode(chunk))]
    decoder.finish()
    assert decoder.dropped is None
    return [secure_loads(payload) if encoder.target else json.loads(payload) for payload in payloads]


# One chunk

BYTES: dict[str, tuple[Chunk, bytes]] = {
    "a delta": (c.TextDelta("t", "hi"), b'{"type":"text-delta","id":"t","delta":"hi"}'),
    "line ends are escaped": (
        c.TextDelta("t", "a\n\nb\r"),
        b'{"type":"text-delta","id":"t","delta":"a\\n\\nb\\r"}',
    ),
    "a lone surrogate is escaped": (
        c.TextDelta("t", "\ud83d"),
        b'{"type":"text-delta","id":"t","delta":"\\ud83d"}',
    ),
    "NaN becomes null": (
        c.DataChunk("data-w", [float("nan"), float("-inf"), {"a": float("inf")}]),
        b'{"type":"data-w","data":[null,null,{"a":null}]}',
    ),
    "NaN next to a lone surrogate becomes null": (
        c.DataChunk("data-w", [float("nan"), "\ud83d"]),
        b'{"type":"data-w","data":[null,"\\ud83d"]}',
    ),
    "absent members are omitted": (
        c.ToolInputStart("c", "w"),
        b'{"type":"tool-input-start","toolCallId":"c","toolName":"w"}',
    ),
    "a missing output": (
        c.ToolOutputAvailable("c"),
        b'{"type":"tool-output-available","toolCallId":"c","output":null}',
    ),
    "an extra field": (
        c.StepStart(extra=Extra({"x": None})),
        b'{"type":"start-step","x":null}',
    ),
    "a text about prototypes": (
        c.TextDelta("t", '{"__proto__":1}'),
        b'{"type":"text-delta","id":"t","delta":"{\\"__proto__\\":1}"}',
    ),
}


@each_row(("chunk", "payload"), BYTES.values(), ids=BYTES)
def test_a_chunk_is_encoded(chunk: Chunk, payload: bytes) -> None:
    assert SseEncoder(7).encode(chunk) == b"data: " + payload + b"\n\n"


@given(chunks=st.lists(canonical.chunks() | canonical.chunks(canonical.BROKEN_STRINGS)))
def test_without_a_target_chunks_are_written_unchanged(chunks: list[Chunk]) -> None:
    encoder, decoder = SseEncoder(), SseDecoder()
    payloads = [payload for chunk in chunks for payload in decoder.feed(encoder.encode(chunk))]
    assert [decode_chunk(payload) for payload in payloads] == chunks
    assert encoder.withheld == []


@given(chunk=canonical.chunks(canonical.KNOWN), major=st.sampled_from(MAJORS))
def test_only_open_fields_are_null(chunk: Chunk, major: int) -> None:
    optional = {"input", "output", "data", "messageMetadata", "approvalDescriptor", "inputSchemaInput"}
    for payload in received(major, [chunk]):
        assert {key for key, value in payload.items() if value is None} <= optional


def test_the_done_event_and_keep_alive_comments() -> None:
    encoder = SseEncoder(7)
    decoder = SseDecoder()
    assert decoder.feed(encoder.keep_alive()) == []
    assert encoder.finish() == DONE
    assert decoder.feed(encoder.finish()) == []
    assert decoder.done


@each_row("target", [6, "6", Target(6)], ids=repr)
def test_a_target_may_be_given_in_any_form(target: str | int | Target) -> None:
    assert SseEncoder(target).target == Target(6)


def test_an_invalid_target_is_refused() -> None:
    with pytest.raises(FormatError, match="no rules for version 4"):
        SseEncoder(4)


def test_a_value_nested_too_deeply_is_refused() -> None:
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    for target in (None, 7):
        with pytest.raises(DecodeError, match="too deep"):
            SseEncoder(target).encode(c.DataChunk("data-w", deep))


def test_withheld_values_are_listed_with_their_chunk() -> None:
    encoder = SseEncoder("5.0.92")
    for chunk in (c.StepStart(), c.StepReset(), c.TextStart("t"), c.MessageAbort("why")):
        encoder.encode(chunk)
    assert [(item.chunk, item.what) for item in encoder.withheld] == [(1, "reset-step"), (3, "abort.reason")]
    assert str(encoder.withheld[0]) == "reset-step: AI SDK 5.0.92 does not know it (chunk 1)"


FORBIDDEN: dict[str, tuple[Json, Json, list[str]]] = {
    "a prototype key": ({"__proto__": 1, "a": 2}, {"a": 2}, ["data-w.data.__proto__"]),
    "deeper": ([{"a": {"__proto__": {}}}], [{"a": {}}], ["data-w.data[0].a.__proto__"]),
    "a prototype key of a constructor": (
        {"constructor": {"prototype": 1, "name": "A"}},
        {"constructor": {"name": "A"}},
        ["data-w.data.constructor.prototype"],
    ),
    "a constructor that is not an object": ({"constructor": None}, {}, ["data-w.data.constructor"]),
    "a constructor without a prototype": (
        {"constructor": "Acme", "prototype": 1},
        {"constructor": "Acme", "prototype": 1},
        [],
    ),
    "with a lone surrogate": ({"__proto__": 1, "a": "\ud83d"}, {"a": "\ud83d"}, ["data-w.data.__proto__"]),
}


@each_row(("data", "left", "withheld"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_keys_that_every_client_refuses_are_withheld(data: Json, left: Json, withheld: list[str]) -> None:
    encoder = SseEncoder(7)
    [payload] = SseDecoder().feed(encoder.encode(c.DataChunk("data-w", data)))
    assert json.loads(payload) == {"type": "data-w", "data": left}
    assert [item.what for item in encoder.withheld] == withheld


@given(data=strategies.forbidden_json())
def test_no_client_receives_a_forbidden_key(data: Json) -> None:
    encoder = SseEncoder(7)
    [payload] = SseDecoder().feed(encoder.encode(c.DataChunk("data-w", data)))
    assert keys_of(secure_loads(payload)) <= keys_of(data) | {"type", "data"}
    assert encoder.withheld or json.loads(payload)["data"] == data


def keys_of(value: Json) -> set[str]:
    if is_object(value):
        return set(value).union(*map(keys_of, value.values()))
    return set[str]().union(*map(keys_of, value)) if is_array(value) else set()


# State of the stream


Short: TypeAlias = tuple[str, JsonObject] | str


def raw(*chunks: Short) -> list[JsonObject]:
    return [{"type": chunk} if isinstance(chunk, str) else {"type": chunk[0], **chunk[1]} for chunk in chunks]


T: JsonObject = {"id": "t"}
CALL: JsonObject = {"toolCallId": "c"}
NAMED: JsonObject = {"toolCallId": "c", "toolName": "w"}
DYNAMIC: JsonObject = {"dynamic": True}
APPROVAL: JsonObject = {"approvalId": "a"}

STREAMS: dict[str, tuple[str, list[JsonObject], list[JsonObject]]] = {
    "a text over two steps, for a client that closes it": (
        "7.0.78",
        raw(
            ("text-start", T),
            "finish-step",
            "start-step",
            ("text-delta", {**T, "delta": "b"}),
            ("text-end", T),
        ),
        raw(
            ("text-start", T),
            ("text-end", T),
            "finish-step",
            "start-step",
            ("text-start", T),
            ("text-delta", {**T, "delta": "b"}),
            ("text-end", T),
        ),
    ),
    "a text over two steps, for a client that keeps it": (
        "7.0.79",
        raw(("text-start", T), "finish-step", ("text-delta", {**T, "delta": "b"}), ("text-end", T)),
        raw(("text-start", T), "finish-step", ("text-delta", {**T, "delta": "b"}), ("text-end", T)),
    ),
    "a text without a start": (
        "6",
        raw(("text-start", T), "finish-step", ("text-end", T)),
        raw(("text-start", T), ("text-end", T), "finish-step"),
    ),
    "reasoning with a signature at its end": (
        "5",
        raw(
            ("reasoning-start", T),
            "finish-step",
            ("reasoning-end", {**T, "providerMetadata": {"p": {"s": 1}}}),
        ),
        raw(
            ("reasoning-start", T),
            ("reasoning-end", T),
            "finish-step",
            ("reasoning-start", T),
            ("reasoning-end", {**T, "providerMetadata": {"p": {"s": 1}}}),
        ),
    ),
    "a text and reasoning with the same id": (
        "6",
        raw(("text-start", T), ("reasoning-start", T), ("text-end", T), "finish-step"),
        raw(("text-start", T), ("reasoning-start", T), ("text-end", T), ("reasoning-end", T), "finish-step"),
    ),
    "a text interrupted by another message": (
        "6",
        raw(("start", {"messageId": "a"}), ("text-start", T), ("start", {"messageId": "b"}), "finish-step"),
        raw(
            ("start", {"messageId": "a"}),
            ("text-start", T),
            ("text-end", T),
            ("start", {"messageId": "b"}),
            "finish-step",
        ),
    ),
    "a text continued by the same message": (
        "6",
        raw(("start", {"messageId": "a"}), ("text-start", T), ("start", {"messageId": "a"}), ("text-end", T)),
        raw(("start", {"messageId": "a"}), ("text-start", T), ("start", {"messageId": "a"}), ("text-end", T)),
    ),
    "a text removed by a reset": (
        "7.0.77",
        raw(("text-start", T), "reset-step", "finish-step"),
        raw(("text-start", T), "reset-step", "finish-step"),
    ),
    "a text that a reset keeps": (
        "6",
        raw(("text-start", T), "reset-step", "finish-step"),
        raw(("text-start", T), ("text-end", T), "finish-step"),
    ),
    "a reused id": (
        "6",
        raw(("text-start", T), "finish-step", ("text-start", T), ("text-delta", {**T, "delta": "b"})),
        raw(
            ("text-start", T),
            ("text-end", T),
            "finish-step",
            ("text-start", T),
            ("text-delta", {**T, "delta": "b"}),
        ),
    ),
    "the output of a dynamic tool, for 5": (
        "5",
        raw(
            ("tool-input-available", {**NAMED, **DYNAMIC, "input": 1}),
            ("tool-output-available", {**CALL, "output": 2}),
        ),
        raw(
            ("tool-input-available", {**NAMED, **DYNAMIC, "input": 1}),
            ("tool-output-available", {**CALL, **DYNAMIC, "output": 2}),
        ),
    ),
    "the error of a static tool marked as dynamic, for 5": (
        "5",
        raw(("tool-input-start", NAMED), ("tool-output-error", {**CALL, **DYNAMIC, "errorText": "no"})),
        raw(("tool-input-start", NAMED), ("tool-output-error", {**CALL, "errorText": "no"})),
    ),
    "the output of a call of an earlier message": (
        "5",
        raw(("tool-output-available", {**CALL, **DYNAMIC, "output": 2})),
        raw(("tool-output-available", {**CALL, **DYNAMIC, "output": 2})),
    ),
    "invalid input of an unknown tool, for 5": (
        "5",
        raw(
            ("tool-input-start", NAMED),
            ("tool-input-error", {**NAMED, **DYNAMIC, "input": 1, "errorText": "no tool"}),
        ),
        raw(
            ("tool-input-start", NAMED),
            ("tool-input-error", {**NAMED, "input": 1, "errorText": "no tool"}),
        ),
    ),
    "the kind of a call is ignored by 6": (
        "6",
        raw(
            ("tool-input-available", {**NAMED, **DYNAMIC, "input": 1}),
            ("tool-output-available", {**CALL, "output": 2}),
        ),
        raw(
            ("tool-input-available", {**NAMED, **DYNAMIC, "input": 1}),
            ("tool-output-available", {**CALL, "output": 2}),
        ),
    ),
    "a denial with its reason, for 5": (
        "5",
        raw(
            ("tool-input-available", {**NAMED, **DYNAMIC, "input": 1}),
            ("tool-approval-request", {**APPROVAL, **CALL}),
            ("tool-approval-response", {**APPROVAL, "approved": False, "reason": "too dear"}),
            ("tool-output-denied", CALL),
        ),
        raw(
            ("tool-input-available", {**NAMED, **DYNAMIC, "input": 1}),
            ("tool-output-error", {**CALL, **DYNAMIC, "errorText": "too dear"}),
        ),
    ),
    "a denial without a reason": (
        "5",
        raw(("tool-approval-request", {**APPROVAL, **CALL}), ("tool-output-denied", CALL)),
        raw(("tool-output-error", {**CALL, "errorText": DENIED})),
    ),
    "a network finish without a start": (
        "7",
        raw("network-execution-end", "start-step"),
        raw("start-step"),
    ),
}


@each_row(("target", "chunks", "expected"), STREAMS.values(), ids=STREAMS)
def test_streams_are_encoded_for_their_client(
    target: str, chunks: list[JsonObject], expected: list[JsonObject]
) -> None:
    assert received(target, map(read_chunk, chunks)) == expected


NETWORK: list[Chunk] = [
    c.MessageStart("m1"),
    c.NetworkExecutionStart("agent", "writer", "it writes best", {"task": "a poem"}, 1),
    c.NetworkExecutionEnd(NetworkResult("Roses are red.", value={"lines": 1})),
]


@each_row("ended", [False, True])
def test_a_streamed_network_equals_a_stored_one(ended: bool) -> None:
    chunks = NETWORK if ended else NETWORK[:2]
    stored = dump([accumulate(chunks)]).payload[0]
    live = dump([accumulate(map(read_chunk, received(7, chunks)))]).payload[0]
    assert live == stored


@given(raw_chunks=strategies.chunk_streams(7))
def test_the_newest_client_reads_the_accumulated_message(raw_chunks: list[JsonObject]) -> None:
    chunks = [read_chunk(chunk) for chunk in raw_chunks]
    read = accumulate_messages(map(read_chunk, received(7, chunks)))
    assert dump(read).payload == dump(accumulate_messages(chunks)).payload


# Several messages for a client that reads one


@each_row("major", MAJORS)
def test_the_next_message_of_a_run_is_marked(major: int) -> None:
    encoder = SseEncoder(major, one_message=True)
    chunks: list[Chunk] = [
        c.MessageStart("m1"),
        c.MessageFinish("stop"),
        c.MessageStart("m1"),
        c.MessageFinish("stop"),
        c.MessageStart("m2"),
    ]
    decoder = SseDecoder()
    payloads = [json.loads(payload) for chunk in chunks for payload in decoder.feed(encoder.encode(chunk))]
    assert [one for one in payloads if one["type"] not in ("start", "finish")] == [
        {"type": "data-message", "data": {"messageId": "m2"}, "transient": True}
    ]
    assert [one["messageId"] for one in payloads if one["type"] == "start"] == ["m1"]
