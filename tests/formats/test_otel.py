"""Messages in the format of the OpenTelemetry conventions, in both directions."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from partita.errors import ConversionError
from partita.formats.ai_sdk.ui import format as ui
from partita.formats.conversion import convert
from partita.formats.format import Request, ToolSpec
from partita.formats.otel.containers import put, take
from partita.formats.otel.format import dump, load
from partita.formats.otel.wire import CONVERSATION, INPUT, OUTPUT, SYSTEM, TOOLS
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, dumps, is_array, loads
from partita.types.messages import (
    AssistantMessage,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from partita.types.parts import ContentOutput, JsonOutput, TextOutput
from tests.formats.otel_recordings import ATTRIBUTES, EVENTS, MESSAGES, RECORDINGS, STRINGS, UNNAMED
from tests.strategies import ui_messages
from tests.tables import each_row


def _part(type_: str, required: dict[str, Any], **optional: Any) -> Json:
    properties = {"type": {"const": type_}, **required, **optional}
    return {"type": "object", "properties": properties, "required": ["type", *required]}


TEXT: Final = {"type": "string"}
MODALITY: Final = {"enum": ["image", "video", "audio", "document"]}
TYPED: Final = {"type": "object", "required": ["type"], "properties": {"type": TEXT}}
PARTS: Final[dict[str, Json]] = {
    "text": _part("text", {"content": TEXT}),
    "reasoning": _part("reasoning", {"content": TEXT}),
    "tool_call": _part("tool_call", {"name": TEXT, "arguments": {}}, id={"type": ["string", "null"]}),
    "tool_call_response": _part("tool_call_response", {"response": {}}, id={"type": ["string", "null"]}),
    "server_tool_call": _part("server_tool_call", {"name": TEXT, "server_tool_call": TYPED}, id=TEXT),
    "server_tool_call_response": _part(
        "server_tool_call_response", {"server_tool_call_response": TYPED}, id=TEXT
    ),
    "blob": _part("blob", {"modality": MODALITY, "content": TEXT}, mime_type=TEXT),
    "uri": _part("uri", {"modality": MODALITY, "uri": TEXT}, mime_type=TEXT),
    "file": _part("file", {"modality": MODALITY, "file_id": TEXT}, mime_type=TEXT),
}
MESSAGE: Final[Json] = {
    "type": "object",
    "required": ["role", "parts"],
    "properties": {
        "role": TEXT,
        "parts": {"type": "array", "items": {"oneOf": list(PARTS.values())}},
        "finish_reason": TEXT,
    },
}
SCHEMA: Final = Draft202012Validator(
    {
        "type": "object",
        "properties": {
            INPUT: {"type": "array", "items": MESSAGE},
            OUTPUT: {"type": "array", "items": MESSAGE},
            SYSTEM: {"type": "array", "items": {"oneOf": list(PARTS.values())}},
            CONVERSATION: TEXT,
        },
        "additionalProperties": {"type": "integer"},
    }
)
"""The parts that the conventions define."""


def test_attribute_names_equal_those_of_the_conventions() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names  # pyright: ignore[reportMissingTypeStubs] # it has none

    ours = {INPUT, OUTPUT, SYSTEM, TOOLS, CONVERSATION}
    theirs = {
        names.GEN_AI_INPUT_MESSAGES,
        names.GEN_AI_OUTPUT_MESSAGES,
        names.GEN_AI_SYSTEM_INSTRUCTIONS,
        names.GEN_AI_TOOL_DEFINITIONS,
        names.GEN_AI_CONVERSATION_ID,
    }
    assert ours == theirs
    usage = {getattr(names, name) for name in dir(names) if name.startswith("GEN_AI_USAGE_")}
    assert {key for key in ATTRIBUTES if key.startswith("gen_ai.usage.")} <= usage


@each_row("name", RECORDINGS)
def test_a_recording_round_trips(name: str) -> None:
    payload = RECORDINGS[name]
    loaded = load(payload)
    dumped = dump(loaded.messages, loaded.request)
    assert loaded.losses == ()
    assert dumped.losses == ()
    assert _parsed(dumped.payload) == _parsed(payload)
    assert [type(value) for value in _values(dumped.payload)] == [type(value) for value in _values(payload)]


def _parsed(payload: Json) -> Json:
    if is_array(payload):
        return payload
    if "attributes" in payload:
        return {**payload, "attributes": _parsed(payload["attributes"])}
    return {
        key: loads(value) if key in {INPUT, OUTPUT, SYSTEM} and isinstance(value, str) else value
        for key, value in payload.items()
    }


def _values(payload: Json) -> list[Json]:
    return payload if is_array(payload) else [payload[key] for key in sorted(payload)]


def test_every_wrapping_gives_the_same_messages() -> None:
    plain = load(ATTRIBUTES)
    assert [text_of(one) for one in load(STRINGS).messages] == [text_of(one) for one in plain.messages]
    assert [text_of(one) for one in load(MESSAGES).messages] == [text_of(one) for one in plain.messages[1:]]
    span = load(RECORDINGS["span"])
    assert span.request is not None
    assert span.request.settings["span"] == {"name": "chat some-model", "kind": 3}
    assert span.messages == load(STRINGS).messages


def test_calls_are_merged_with_their_results() -> None:
    loaded = load(ATTRIBUTES)
    answer = loaded.messages[3]
    assert isinstance(answer, AssistantMessage)
    calls = {part.id: part for part in answer.parts if isinstance(part, ToolCallPart)}
    assert calls["t1"].output == TextOutput("39 metres")
    assert calls["t2"].input == {"tower": "Anholt"}
    assert calls["t2"].output == JsonOutput({"metres": 28})
    assert calls["t3"].raw_input == '{"tower": '
    assert isinstance(calls["t4"].output, ContentOutput)
    assert calls["s1"].provider_executed
    assert calls["s1"].output == JsonOutput({"found": ["https://example.com/a"]})
    last = loaded.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.content.usage is not None
    assert last.content.usage.cached_input_tokens == 8
    assert {one.thread_id for one in loaded.messages} == {"thread-1"}
    assert loaded.request == Request(
        (
            ToolSpec(
                "look_up",
                "Looks a tower up.",
                {"type": "object", "properties": {"tower": {"type": "string"}}},
            ),
        ),
        {"gen_ai.request.model": "some-model", "gen_ai.response.finish_reasons": ["stop"]},
    )


def test_json_in_texts_is_compared_by_value() -> None:
    spaced = {**STRINGS, INPUT: json.dumps(MESSAGES[:-1], indent=1)}
    assert convert(spaced, "otel-genai", "otel-genai").lossless
    lost = {**STRINGS, INPUT: json.dumps([*MESSAGES[1:-1], {"role": "tool", "parts": [], "made": 3}])}
    assert convert(lost, "otel-genai", "otel-genai").losses[0].path == f"$.{INPUT}"


def test_messages_that_are_added_to_events_are_written_as_events() -> None:
    more = UserMessage(id="u", content="And in feet?")
    *_, last = dump([*load(EVENTS).messages, more]).payload
    assert last == {"name": "gen_ai.user.message", "body": {"content": "And in feet?"}}


def test_notes_of_older_versions_are_not_written() -> None:
    call = ToolCallPart(
        "c1",
        "look_up",
        "input-available",
        {},
        call_provider_metadata={"otel-genai": {"args": True, "made": False}},
    )
    (message,) = dump([AssistantMessage(id="a", content=[call])]).payload[OUTPUT]
    assert message["parts"] == [{"type": "tool_call", "id": "c1", "name": "look_up", "arguments": {}}]


def test_results_without_ids_are_matched_by_their_order() -> None:
    (answer,) = load(UNNAMED).messages
    outputs = [part.output for part in answer.parts if isinstance(part, ToolCallPart)]
    assert outputs == [TextOutput("of a"), TextOutput("of b")]


def test_events_become_messages() -> None:
    loaded = load(EVENTS)
    assert [type(one).__name__ for one in loaded.messages] == [
        "SystemMessage",
        "UserMessage",
        "AssistantMessage",
        "AssistantMessage",
    ]
    call = loaded.messages[2].parts[0]
    assert isinstance(call, ToolCallPart)
    assert call.input == {"tower": "Slettnes"}
    assert call.output == TextOutput("39 metres")
    assert text_of(loaded.messages[3]) == "39 metres."


def test_written_messages_fit_the_conventions() -> None:
    dumped = dump(full_conversation())
    assert [str(error) for error in SCHEMA.iter_errors(dumped.payload)] == []
    assert dump(load(dumped.payload).messages).payload == dumped.payload


def test_written_attributes_are_read_from_spans() -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    written = dump(full_conversation()).payload
    with provider.get_tracer("test").start_as_current_span("chat") as span:
        for key, value in written.items():
            span.set_attribute(key, value if isinstance(value, str | int) else dumps(value).decode())
    (recorded,) = exporter.get_finished_spans()
    provider.shutdown()
    again = load(loads(recorded.to_json())["attributes"])
    plain = load(written)
    assert [one.parts for one in again.messages] == [one.parts for one in plain.messages]


@pytest.mark.filterwarnings("ignore:Instrumentation format versions")
@pytest.mark.parametrize("version", [3, 4, 5])
def test_recordings_of_pydantic_ai_round_trip(version: Any) -> None:
    from pydantic_ai.models.instrumented import InstrumentationSettings

    from tests.formats.pydantic_ai_histories import history

    settings = InstrumentationSettings(version=version)
    recorded = loads(dumps(settings.messages_to_otel_messages(history()[:4])))
    loaded = load(recorded)
    calls = [part for one in loaded.messages for part in one.parts if isinstance(part, ToolCallPart)]
    outputs = {call.id: call.output for call in calls}
    assert outputs["t1"] == TextOutput("39 metres")
    assert outputs["b1"] is not None
    assert dump(loaded.messages).payload == recorded
    system = [one for one in loaded.messages if isinstance(one, SystemMessage)]
    assert "You keep the register." in "".join(map(text_of, system))


@each_row("payload", [ATTRIBUTES, MESSAGES])
def test_the_sidecar_is_in_the_payload(payload: Json) -> None:
    filled = put(payload, {"version": 1})
    assert take(filled) == (payload, {"version": 1})
    assert take(payload) == (payload, None)


def test_a_full_conversation_round_trips_with_a_sidecar() -> None:
    plain = [to_json(one) for one in full_conversation()]
    carried = convert(plain, "canonical", "otel-genai", carry=True)
    assert carried.lossless
    back = convert(carried.payload, "otel-genai", "canonical")
    assert back.payload == convert(plain, "canonical", "canonical").payload


@each_row(
    "payload",
    [
        3,
        {},
        [3],
        [{"role": "user"}],
        [{"parts": []}],
        {INPUT: "no JSON"},
        {INPUT: 3},
        [{"name": "gen_ai.choice", "body": 3}],
        [{"name": "gen_ai.choice", "body": {}}, {"name": "else"}],
    ],
)
def test_invalid_recordings_are_refused(payload: Json) -> None:
    with pytest.raises(ConversionError) as refused:
        load(payload)
    assert refused.value.hint


@given(data=st.data())
def test_any_conversation_round_trips(data: st.DataObject) -> None:
    try:
        messages = ui.load(data.draw(ui_messages(7))).messages
    except ConversionError:
        return
    dumped = dump(messages)
    assert [str(error) for error in SCHEMA.iter_errors(dumped.payload)] == []
    again = load(dumped.payload)
    assert dump(again.messages).payload == dumped.payload


def test_empty_payloads() -> None:
    assert dump([]).payload == {INPUT: []}
    assert load([]).messages == ()
    assert isinstance(load([{"role": "tool", "parts": []}]).messages[0], ToolMessage)
