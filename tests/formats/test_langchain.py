"""LangChain messages in both directions, built and read with its own classes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.load import load as load_constructor
from langchain_core.messages import AIMessage, ToolMessage, message_chunk_to_message, messages_from_dict

from partita.errors import ConversionError
from partita.formats.conversion import convert
from partita.formats.langchain.format import FORMAT, dump, load
from partita.testing.full_conversation import full_conversation
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart, UserMessage
from partita.types.messages import ToolMessage as Results
from partita.types.parts import (
    ErrorTextOutput,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
)
from tests.formats.langchain_histories import histories, message_chunks, standard_blocks
from tests.sampling import FULL
from tests.strategies import ui_messages
from tests.tables import each_row

HISTORIES = histories()
NAMES = tuple(HISTORIES)


@each_row("name", ["standard", "other"])
def test_current_messages_round_trip(name: str) -> None:
    loaded = load(HISTORIES[name])
    dumped = dump(loaded.messages)
    assert loaded.losses == ()
    assert dumped.losses == ()
    assert dumped.payload == HISTORIES[name]


@each_row("name", ["anthropic", "openai", "other"])
def test_provider_blocks_round_trip_in_version_0(name: str) -> None:
    loaded = load(HISTORIES[name])
    dumped = dump(loaded.messages, version=0)
    assert loaded.losses == ()
    assert {loss.severity for loss in dumped.losses} <= {"minor"}
    assert _without_versions(dumped.payload) == _without_versions(HISTORIES[name])


def _without_versions(payload: Json) -> Json:
    return [_without_version(message) for message in payload]


def _without_version(message: Json) -> Json:
    about = dict(message["data"].get("response_metadata", {}))
    about.pop("output_version", None)
    return {**message, "data": {**message["data"], "response_metadata": about}}


@each_row("name", NAMES)
@each_row("version", [0, 1])
def test_written_messages_are_read_and_written_unchanged(name: str, version: int) -> None:
    messages = load(HISTORIES[name]).messages
    dumped = dump(messages, version)
    again = load(dumped.payload)
    assert dump(again.messages, version).payload == dumped.payload
    assert [type(one) for one in again.messages] == [type(one) for one in messages]


@each_row("name", NAMES)
@each_row("version", [0, 1])
def test_langchain_reads_written_messages(name: str, version: int) -> None:
    dumped = dump(load(HISTORIES[name]).messages, version)
    for message in messages_from_dict(dumped.payload):
        assert message.content_blocks is not None


@each_row("version", [0, 1])
def test_langchain_reads_a_full_conversation(version: int) -> None:
    dumped = dump(full_conversation(), version)
    messages = messages_from_dict(dumped.payload)
    calls = {call["id"] for one in messages if isinstance(one, AIMessage) for call in one.tool_calls}
    results = {one.tool_call_id for one in messages if isinstance(one, ToolMessage)}
    assert {"call-child", "call-json", "call-denied"} <= calls & results
    assert dump(load(dumped.payload).messages, version).payload == dumped.payload


def test_standard_blocks_equal_those_of_langchain() -> None:
    for name in ("anthropic", "openai"):
        given_ = messages_from_dict(HISTORIES[name])
        written = messages_from_dict(dump(load(HISTORIES[name]).messages).payload)
        for before, after in zip(given_, written, strict=True):
            if isinstance(before, AIMessage) and isinstance(before.content, list):
                assert _comparable(after.content_blocks) == _comparable(before.content_blocks)


def _comparable(blocks: list[Any]) -> list[Any]:
    """Return the members that every conversion has: types, texts, names, arguments and signatures."""
    names = ("type", "text", "reasoning", "name", "args", "id", "output")
    kinds = {"text", "reasoning", "tool_call", "image"}
    return [{key: one.get(key) or None for key in names} for one in blocks if one["type"] in kinds]


@pytest.mark.filterwarnings("ignore:The function `load` is in beta")
def test_constructors_are_read_like_message_dicts() -> None:
    messages = [load_constructor(one, allowed_objects="messages") for one in HISTORIES["constructors"]]
    assert [one.content for one in messages] == [one.content for one in standard_blocks()]
    loaded = load(HISTORIES["constructors"])
    assert loaded.messages == load(HISTORIES["standard"]).messages
    assert {loss.severity for loss in loaded.losses} == {"minor"}


def test_message_chunks_are_joined_as_by_langchain() -> None:
    first, *others = message_chunks()
    whole: Any = first
    for other in others:
        whole = whole + other
    expected = message_chunk_to_message(whole)
    (message,) = load(HISTORIES["streamed"]).messages
    (written,) = messages_from_dict(dump([message]).payload)
    assert isinstance(expected, AIMessage)
    assert isinstance(written, AIMessage)
    assert written.text == expected.text == "Let me look."
    assert [(call["name"], call["args"]) for call in written.tool_calls] == [("look_up", {"tower": "Anholt"})]
    assert written.usage_metadata == expected.usage_metadata


def test_calls_are_merged_with_their_blocks_and_results() -> None:
    answer = load(HISTORIES["standard"]).messages[2]
    assert isinstance(answer, AssistantMessage)
    calls = {part.id: part for part in answer.parts if isinstance(part, ToolCallPart)}
    assert list(calls) == ["srv1", "srv2", "t1", "t2", "t3"]
    assert calls["t1"].output == TextOutput("39 metres")
    assert calls["t2"].output == ErrorTextOutput("no such tower")
    assert calls["t3"].raw_input == '{"tower": '
    assert calls["t3"].output == ErrorTextOutput("cut off")
    assert calls["srv1"].provider_executed
    assert calls["srv1"].output == JsonOutput([{"url": "https://example.com/found"}])


def test_signatures_are_in_the_metadata_of_their_provider() -> None:
    answer = load(HISTORIES["anthropic"]).messages[1]
    reasoning = [part for part in answer.parts if isinstance(part, ReasoningPart)]
    assert reasoning[0].provider_metadata is not None
    assert reasoning[0].provider_metadata["anthropic"] == {"signature": "c2ln"}
    assert reasoning[1].provider_metadata is not None
    assert reasoning[1].provider_metadata["anthropic"] == {"redactedData": "cmVk"}
    google = load(HISTORIES["other"]).messages[2]
    metadata = [part.call_provider_metadata for part in google.parts if isinstance(part, ToolCallPart)]
    assert metadata[0] is not None
    assert metadata[0]["google"] == {"thoughtSignature": "Y2FsbA=="}


def test_a_json_output_is_read_from_the_artifact() -> None:
    answer = load(HISTORIES["openai"]).messages[2]
    outputs = [part.output for part in answer.parts if isinstance(part, ToolCallPart)]
    assert outputs == [JsonOutput({"metres": 39})]


def test_other_members_of_a_state_become_settings() -> None:
    loaded = load(HISTORIES["plain"])
    assert loaded.request is not None
    assert loaded.request.settings == {"count": 2}
    assert loaded.messages == load(HISTORIES["openai"]).messages


def test_misplaced_results_are_reported() -> None:
    standard = HISTORIES["standard"]
    loaded = load([*standard[:3], standard[5], standard[4], standard[3]])
    assert [loss.severity for loss in loaded.losses] == ["changed", "changed"]


def test_lost_values_are_carried_in_the_sidecar() -> None:
    assert FORMAT.slot is not None
    payload = dump(full_conversation()).payload
    filled = FORMAT.slot.put(payload, {"version": 1})
    bare, rest = FORMAT.slot.take(filled)
    assert load(bare).messages == load(payload).messages
    assert rest == {"version": 1}
    assert FORMAT.slot.take(payload) == (payload, None)
    assert messages_from_dict(filled)[0].additional_kwargs == {"partita": {"version": 1}}
    carried = convert([_plain(one) for one in full_conversation()], "canonical", "langchain", carry=True)
    assert carried.lossless
    back = convert(carried.payload, "langchain", "canonical")
    assert (
        back.payload
        == convert([_plain(one) for one in full_conversation()], "canonical", "canonical").payload
    )


def _plain(message: Any) -> Json:
    from partita.types.codec import to_json

    return to_json(message)


V1: JsonObject = {"output_version": "v1"}
IDS = st.sampled_from((None, None, "a", "b", "message-2"))
CALL_IDS = st.sampled_from(("c1", "c2", "c3"))
BLOCKS: st.SearchStrategy[JsonObject] = st.sampled_from(
    (
        {"type": "text", "text": "lit"},
        {"type": "text", "text": "", "index": 1},
        {"type": "reasoning", "reasoning": "Hm."},
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
        {"type": "image", "url": "https://example.com/a.png", "mime_type": "image/png"},
        {"type": "file", "source_type": "base64", "data": "YQ==", "mime_type": "text/plain"},
        {"type": "text-plain", "text": "a", "mime_type": "text/plain"},
        {"type": "hologram", "depth": 3},
        {"no": "type"},
    )
)
ARGS: st.SearchStrategy[JsonObject] = st.sampled_from(({"tower": 1}, {"tower": True}, {}))
CALLS: st.SearchStrategy[JsonObject] = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("tool_call"), "name": st.just("height"), "args": ARGS, "id": CALL_IDS}
    ),
    st.fixed_dictionaries(
        {"type": st.just("tool_use"), "name": st.just("height"), "input": ARGS, "id": CALL_IDS}
    ),
)
ABOUT = st.sampled_from(
    ({}, {"model_name": "m"}, {"model_provider": "anthropic"}, {"model_provider": "openai"})
)
KWARGS = st.sampled_from(({}, {"reasoning_content": "Hm."}, {"refusal": None}, {"reasoning_content": ""}))


def _message(type_: str, content: Json, **members: Json) -> JsonObject:
    around: JsonObject = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}
    return {"type": type_, "data": {"content": content, "type": type_, **around, **members}}


@st.composite
def responses(draw: st.DrawFn) -> JsonObject:
    """A response with content of any form, and with or without a list of its calls."""
    other = draw(st.sampled_from(("signature", "summary")))  # members of the other provider's blocks
    drawn = draw(st.lists(BLOCKS, max_size=3, unique_by=str))
    blocks: list[JsonObject] = [one for one in drawn if other not in one]
    blocks += draw(st.lists(CALLS, max_size=2, unique_by=lambda call: str(call["id"])))
    calls = [block for block in blocks if "args" in block]
    content: Json = draw(st.sampled_from((blocks, blocks, "", "It is lit.")))
    is_v1 = content is blocks and draw(st.booleans())
    return _message(
        "ai",
        content,
        id=draw(IDS),
        additional_kwargs={"refusal": None} if content is blocks else draw(KWARGS),
        response_metadata={**draw(ABOUT), **(V1 if is_v1 else {})},
        tool_calls=draw(st.sampled_from((calls, calls, calls[1:]))),
    )


HISTORY = st.lists(
    st.one_of(
        st.builds(_message, st.sampled_from(("human", "system")), st.sampled_from(("And?", "")), id=IDS),
        st.builds(_message, st.just("human"), st.lists(st.one_of(BLOCKS, st.just("text")), max_size=3)),
        responses(),
        responses(),
    ),
    max_size=4,
)


@pytest.mark.parametrize("version", [0, 1])
@settings(max_examples=500 if FULL else 60)
@given(history=HISTORY)
def test_every_form_of_a_message_is_read_without_losses(version: int, history: list[JsonObject]) -> None:
    assert load(history, version).losses == ()


@pytest.mark.parametrize("version", [0, 1])
@settings(max_examples=500 if FULL else 60)
@given(history=HISTORY)
def test_only_messages_that_langchain_reads_are_written(version: int, history: list[JsonObject]) -> None:
    messages_from_dict(dump(load(history, version).messages, version).payload)


STEP = StepStartPart()
HEIGHT = ToolCallPart("c1", "height", "output-available", {"tower": 1}, output=JsonOutput({"metres": 39.5}))


@each_row("version", [0, 1])
@each_row(
    "steps",
    [[HEIGHT, STEP, TextPart("Tall.")], [TextPart("I look."), STEP, HEIGHT, STEP, TextPart("Tall.")]],
    ids=["a call first", "text first"],
)
def test_the_steps_of_a_response_round_trip_as_one_message(version: int, steps: list[AssistantPart]) -> None:
    written = dump([AssistantMessage(id="a1", content=steps)], version)
    assert written.losses == ()
    (read,) = load(written.payload, version).messages
    assert (read.id, read.type, list(read.parts)) == ("a1", "tool", steps)


def test_moved_reasoning_and_calls_are_reported() -> None:
    parts: list[AssistantPart] = [HEIGHT, TextPart("Tall."), ReasoningPart("Hm.")]
    message = AssistantMessage(id="a1", content=parts)
    assert dump([message]).losses == ()
    moved = sorted(loss.path for loss in dump([message], 0).losses)
    assert moved == ["$[0].content.parts[0]", "$[0].content.parts[2]"]


def test_a_signature_is_only_written_for_the_provider_of_the_message() -> None:
    signed = ReasoningPart("Hm.", provider_metadata={"anthropic": {"signature": "c2ln"}})
    other = ReasoningPart("Ah.", provider_metadata={"google": {"thoughtSignature": "Zm9v"}})
    dumped = dump([AssistantMessage(id="a1", content=[signed, other])])
    assert "Zm9v" not in str(dumped.payload)
    assert dumped.payload[0]["data"]["response_metadata"]["model_provider"] == "anthropic"
    assert [loss.path for loss in dumped.losses] == ["$[0].content.parts[1].providerMetadata"]


@each_row(
    "payload",
    [
        3,
        "ai",
        [3],
        [{}],
        [{"type": "ai", "data": 3}],
        [{"lc": 1, "type": "constructor", "id": [], "kwargs": {}}],
        [{"lc": 1, "type": "not_implemented", "id": ["a"]}],
        {"messages": 3},
        [{"type": "ai", "content": "", "tool_calls": 3}],
        [{"type": "ai", "content": "", "tool_calls": [{"name": 3}]}],
    ],
)
def test_invalid_histories_are_refused(payload: Json) -> None:
    with pytest.raises(ConversionError) as refused:
        load(payload)
    assert refused.value.hint


@pytest.mark.parametrize("version", [0, 1])
@given(data=st.data())
def test_any_conversation_round_trips(version: int, data: st.DataObject) -> None:
    from partita.formats.ai_sdk.ui import format as ui

    try:
        messages = ui.load(data.draw(ui_messages(7))).messages
    except ConversionError:
        return
    dumped = dump(messages, version)
    again = load(dumped.payload)
    assert dump(again.messages, version).payload == dumped.payload


def test_empty_and_single_messages_are_read() -> None:
    assert dump([]).payload == []
    assert load([]).messages == ()
    assert isinstance(load({"type": "human", "content": "hi"}).messages[0], UserMessage)
    orphan = load([{"type": "tool", "content": "x", "tool_call_id": "t"}]).messages[0]
    assert isinstance(orphan, Results)
    assert isinstance(load([{"type": "ai", "content": "hi"}]).messages[0].parts[0], TextPart)
