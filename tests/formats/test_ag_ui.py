"""AG-UI messages, run inputs and events in both directions, validated by the types of its package."""

from collections.abc import Sequence
from functools import cache
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConversionError
from partita.formats.ag_ui.encoder import AgUiEncoder
from partita.formats.ag_ui.format import dump, load
from partita.formats.ag_ui.stream import HANDLERS, LIFECYCLE, AgUiDecoder
from partita.formats.format import Request, ToolSpec
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator
from partita.testing.full_conversation import full_conversation
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageStart,
    SourceUrlChunk,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputError,
)
from partita.types.codec import read_chunk, to_json
from partita.types.json import Json, dumps, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ErrorTextOutput,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
)
from tests.canonical import messages as any_message
from tests.strategies import chunk_streams
from tests.tables import each_row

from .ag_ui_samples import CONTENT, FAILED_STREAM, INPUT, MESSAGES, OLD_STREAM, STREAM


@cache
def event_adapter() -> Any:
    from ag_ui.core.events import Event
    from pydantic import TypeAdapter

    return TypeAdapter[list[Any]](list[Event])


@cache
def message_adapter() -> Any:
    from ag_ui.core.types import Message as TheirMessage
    from pydantic import TypeAdapter

    return TypeAdapter[list[Any]](list[TheirMessage])


STREAMS = {"new": STREAM, "old": OLD_STREAM, "failed": FAILED_STREAM}


def reencode(events: Sequence[Json]) -> tuple[list[Json], list[Loss]]:
    """Decode the events and encode the chunks again."""
    decoder, encoder = AgUiDecoder(), AgUiEncoder()
    chunks = [chunk for event in events for chunk in decoder.feed(event)] + decoder.finish()
    written = [event for chunk in chunks for event in encoder.feed(chunk)] + encoder.finish()
    return written, list(encoder.losses)


def encode(*chunks: Chunk) -> list[Any]:
    encoder = AgUiEncoder("thread-1", "run-1")
    events = [event for chunk in chunks for event in encoder.feed(chunk)] + encoder.finish()
    event_adapter().validate_python(events)
    return events


# Messages


def test_a_run_input_round_trips() -> None:
    loaded = load(INPUT)
    assert loaded.request is not None
    dumped = dump(loaded.messages, loaded.request)
    assert dumped.payload == INPUT
    assert (loaded.losses, dumped.losses) == ((), ())


def test_a_list_of_messages_round_trips() -> None:
    dumped = dump(load(MESSAGES).messages)
    assert (dumped.payload, dumped.losses) == (MESSAGES, ())


def test_messages_become_their_canonical_types() -> None:
    messages = {message.id: message for message in load(MESSAGES).messages}
    system, developer, user, answer = (messages[id_] for id_ in ("m1", "m2", "m5", "m6"))
    assert isinstance(system, SystemMessage)
    assert isinstance(developer, SystemMessage)
    assert isinstance(user, UserMessage)
    assert isinstance(answer, AssistantMessage)
    assert [type(part).__name__ for part in answer.parts] == [
        "ReasoningPart",
        "ReasoningPart",
        "TextPart",
        *["ToolCallPart"] * 5,
    ]
    first, second, third, fourth, fifth = answer.parts[3:]
    assert isinstance(first, ToolCallPart)
    assert (first.input, first.output) == ({"tower": "Slettnes"}, TextOutput("found"))
    assert isinstance(second, ToolCallPart)
    assert second.output == ErrorTextOutput("the line broke")
    assert isinstance(third, ToolCallPart)
    assert third.raw_input == '{"cut'
    assert isinstance(fourth, ToolCallPart)
    assert fourth.input == {}
    assert isinstance(fifth, ToolCallPart)
    assert [child.id for child in fifth.children] == ["s1", "s2"]
    assert messages["x1"].internal
    assert messages["a1"].type == "event"
    assert isinstance(messages["t9"], ToolMessage)


def test_written_messages_are_valid() -> None:
    from ag_ui.core.types import RunAgentInput

    message_adapter().validate_python(dump(full_conversation()).payload)
    RunAgentInput.model_validate(dump(full_conversation(), Request((ToolSpec(name="look_up"),))).payload)


def test_written_messages_are_read_and_written_unchanged() -> None:
    payload = dump(full_conversation()).payload
    assert dump(load(payload).messages).payload == payload


def test_provider_metadata_round_trips() -> None:
    """A signature that a client stores and sends back reaches the provider unchanged."""
    reasoning = ReasoningPart("hm", id="r1", provider_metadata={"anthropic": {"signature": "sig"}})
    call = ToolCallPart("c1", "look", "input-available", {}, call_provider_metadata={"google": {"s": 1}})
    message = AssistantMessage(id="m1", content=[reasoning, TextPart("yes"), call])
    dumped = dump([message])
    assert dumped.losses == ()
    assert load(dumped.payload).messages == (message,)


def test_steps_become_messages_and_round_trip() -> None:
    parts: list[AssistantPart] = [
        TextPart("I look."),
        ToolCallPart("c1", "look", "output-available", {}, output=TextOutput("found")),
        StepStartPart(),
        TextPart("There."),
    ]
    message = AssistantMessage(id="m1", content=parts)
    dumped = dump([message])
    assert [one["id"] for one in dumped.payload] == ["m1", "m1#1:results", "m1#2"]
    assert load(dumped.payload).messages == (message,)
    assert dumped.losses == ()


def test_reasoning_after_the_last_text_round_trips() -> None:
    parts: list[AssistantPart] = [TextPart("I look."), StepStartPart(), ReasoningPart("hm", id="r1")]
    message = AssistantMessage(id="m1", content=parts)
    dumped = dump([message])
    assert [(one["id"], one["role"]) for one in dumped.payload[1:]] == [
        ("r1", "reasoning"),
        ("m1#2", "assistant"),
    ]
    assert (load(dumped.payload).messages, dumped.losses) == ((message,), ())


def test_a_text_after_a_call_begins_another_message() -> None:
    call = ToolCallPart("c1", "look", "output-available", {}, output=TextOutput("found"))
    dumped = dump([AssistantMessage(id="m1", content=[call, TextPart("There."), call])])
    assert [one["id"] for one in dumped.payload] == ["m1", "m1#1:results", "m1#2", "m1#2:results"]
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [("$[0].content.parts[1]", "repaired")]


def test_a_data_url_is_stored_once() -> None:
    url = "data:image/png;base64,aGVsbG8="
    payload = [{"id": "m", "role": "user", "content": [{"type": "image", "source": image_source(url)}]}]
    messages = load(payload).messages
    assert dump(messages).payload == payload
    assert dumps(to_json(messages)).count(b"aGVsbG8=") == 1


def image_source(url: str) -> dict[str, str]:
    return {"type": "url", "value": url}


def test_losses_name_the_lost_members() -> None:
    call = ToolCallPart("c1", "look", "output-available", {}, output=JsonOutput({"a": 1}), title="Look")
    message = AssistantMessage(id="m1", run_id="run-7", content=[call])
    found = {loss.path: (loss.what, loss.severity) for loss in dump([message]).losses}
    assert found == {
        "$[0].runId": ('"run-7"', "lost"),
        "$[0].content.parts[0].title": ('"Look"', "lost"),
        "$[0].content.parts[0].output": ('{"type":"json","value":{"a":1}}', "changed"),
    }


BAD: list[tuple[Json, str]] = [
    (7, "$"),
    ({"a": 1}, "$"),
    ([7], "$[0]"),
    ([{"role": "user", "id": 7, "content": ""}], "$[0].id"),
    ([{"role": "user", "id": "m"}], "$[0]"),
    ([{"role": "assistant", "id": "m", "toolCalls": [{}]}], "$[0].toolCalls[0]"),
    ([{"role": "tool", "id": "m", "content": ""}], "$[0]"),
    ({"messages": [], "tools": [{}]}, "$.tools[0]"),
]


@each_row(("payload", "where"), BAD)
def test_bad_payloads_are_refused_with_their_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as caught:
        load(payload)
    assert caught.value.where == where


def test_a_message_without_an_id_gets_one() -> None:
    loaded = load([{"role": "user", "content": "Hello."}])
    assert loaded.messages[0].id == "message-1"
    assert [loss.severity for loss in loaded.losses] == ["repaired"]


@given(messages=st.lists(any_message(), max_size=3))
def test_any_messages_are_written(messages: list[Message]) -> None:
    payload = dump(messages).payload
    message_adapter().validate_python(payload)
    again = dump(load(payload).messages).payload
    assert dump(load(again).messages).payload == again


def test_the_sidecar_is_in_the_metadata_of_the_first_message() -> None:
    slot = get_format("ag-ui").slot
    assert slot is not None
    filled = slot.put(MESSAGES, {"a": 1})
    assert filled[0]["metadata"] == {"partita": {"a": 1}}
    assert slot.take(filled) == (MESSAGES, {"a": 1})


# Events


def test_every_event_type_is_handled() -> None:
    from ag_ui.core.events import Event, EventType

    assert {one.value for one in EventType} <= {*HANDLERS, *LIFECYCLE}
    union = get_args(get_args(Event)[0])
    assert len(union) == len(EventType)


@each_row("name", STREAMS)
def test_reencoded_streams_are_valid(name: str) -> None:
    written, _ = reencode(STREAMS[name])
    event_adapter().validate_python(written)
    again, _ = reencode(written)
    assert sorted(map(dumps, again)) == sorted(map(dumps, written)), "reencoding is idempotent"


def test_a_stream_becomes_a_message() -> None:
    (message,) = load(STREAM).messages
    assert isinstance(message, AssistantMessage)
    calls = {part.id: part for part in message.parts if isinstance(part, ToolCallPart)}
    assert calls["call-1"].output == TextOutput("found")
    assert calls["call-1"].call_provider_metadata == {
        "agUi": {"parentMessageId": "m1", "encryptedValue": "s2", "rawInput": '{"tower": "Slettnes"}'}
    }
    assert [child.id for child in calls["call-2"].children] == ["sub-1"]
    asked = calls["call-3"].approval
    assert calls["call-3"].state == "approval-requested"
    assert asked is not None
    assert (asked.id, asked.request_reason) == ("i1", "Switch it off?")
    assert is_object(message.content.metadata)
    assert message.content.metadata["usage"]["inputTokens"] == 12
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    assert texts == ["I look it up.", "41 metres."]
    assert sum(isinstance(part, StepStartPart) for part in message.parts) == 3


def test_results_of_unknown_calls_and_invalid_events_are_kept() -> None:
    odd: list[Any] = [
        {"type": "TOOL_CALL_RESULT", "messageId": "t", "toolCallId": "gone", "content": "x"},
        {"type": "FUTURE_EVENT", "a": 1},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": 7, "delta": "x"},
        {"type": "TEXT_MESSAGE_END", "messageId": "never"},
        {"no": "type"},
        "text",
    ]
    decoder = AgUiDecoder()
    kept = [chunk for event in odd for chunk in decoder.feed(event)]
    assert [chunk.data for chunk in kept if isinstance(chunk, DataChunk)] == odd
    assert reencode(odd[:4])[0][1:5] == odd[:4]


def test_stopped_and_failed_runs() -> None:
    stopped = encode(MessageStart("m1"), TextStart("0"), TextDelta("0", "I was"), MessageAbort())
    assert stopped[-2]["type"] == "TEXT_MESSAGE_END"
    assert stopped[-1]["outcome"] == {"type": "cancelled"}
    failed = encode(MessageStart("m1"), ErrorChunk("dark"), MessageFinish("error"))
    assert failed[-1] == {"type": "RUN_ERROR", "message": "dark"}


def test_an_unanswered_call_is_listed_as_pending() -> None:
    events = encode(
        MessageStart("m1"),
        StepStart(),
        ToolInputAvailable("c1", "map", {"x": 1}),
        MessageFinish("tool-calls"),
    )
    assert events[-1]["outcome"] == {"type": "success", "pendingToolCallIds": ["c1"]}
    assert events[2] == {
        "type": "TOOL_CALL_START",
        "toolCallId": "c1",
        "toolCallName": "map",
        "parentMessageId": "m1",
    }


def test_an_approval_request_becomes_an_interrupt() -> None:
    call = ToolInputAvailable("c1", "off", {})
    asked = ToolApprovalRequest("a1", "c1", reason="sure?")
    events = encode(MessageStart("m1"), call, asked, MessageFinish("tool-calls"))
    (interrupt,) = events[-1]["outcome"]["interrupts"]
    assert (interrupt["id"], interrupt["toolCallId"], interrupt["message"]) == ("a1", "c1", "sure?")
    answered = encode(
        MessageStart("m1"), call, asked, ToolOutputAvailable("c1", "done"), MessageFinish("stop")
    )
    assert answered[-1]["outcome"] == {"type": "success"}


def test_a_sub_agent_starts_before_its_text_and_ends_before_its_result() -> None:
    events = encode(
        MessageStart("m1"),
        ToolInputAvailable("c1", "measure", {}),
        ChildChunk(("c1",), TextStart("0")),
        ChildChunk(("c1",), TextDelta("0", "41")),
        ChildChunk(("c1",), TextEnd("0")),
        ToolOutputError("c1", "wet"),
        MessageFinish("stop"),
    )
    kinds = [event["type"] for event in events]
    assert kinds.index("SUBAGENT_STARTED") < kinds.index("TEXT_MESSAGE_START")
    assert kinds.index("SUBAGENT_FINISHED") + 1 == kinds.index("TOOL_CALL_RESULT")
    assert events[kinds.index("TEXT_MESSAGE_CONTENT")]["subagentRunId"] == "c1"


def test_chunks_without_an_event_become_custom_events() -> None:
    source = SourceUrlChunk("s1", "https://example.com", "A page")
    event = encode(MessageStart("m1"), source)[1]
    assert event["name"] == "partita.source-url"
    decoder = AgUiDecoder()
    assert decoder.feed(event) == [MessageStart(), source]


@given(stream=chunk_streams(7))
def test_any_chunks_become_valid_events(stream: list[Any]) -> None:
    encoder = AgUiEncoder()
    events = [event for raw in stream for event in encoder.feed(read_chunk(raw))] + encoder.finish()
    event_adapter().validate_python(events)
    decoder, accumulator = AgUiDecoder(), Accumulator(lenient=True)
    for event in events:
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    accumulator.finish()


def test_media_round_trip() -> None:
    for part in CONTENT:
        payload = [{"id": "m", "role": "user", "content": [part, {"type": "text", "text": "."}]}]
        assert dump(load(payload).messages).payload == payload


def test_citations_without_an_entry_are_reported() -> None:
    dumped = dump([UserMessage(id="u", content=[TextPart("a", citations=())])])
    assert [loss.path for loss in dumped.losses] == ["$[0].content.parts[0].citations"]
