"""Pydantic AI's message history in both directions, built and read with its own classes."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse
from pydantic_ai.ui.vercel_ai import VercelAIAdapter

from partita.errors import ConversionError
from partita.formats.ai_sdk.ui import format as ui
from partita.formats.conversion import convert
from partita.formats.pydantic_ai.format import FORMAT, dump, load
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, dumps, loads
from partita.types.messages import AssistantMessage, SystemMessage, ToolCallPart, ToolMessage, UserMessage
from partita.types.parts import (
    Approval,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    JsonOutput,
    ReasoningPart,
    TextOutput,
)
from tests.formats.pydantic_ai_histories import LEGACY, history, payload
from tests.strategies import ui_messages
from tests.tables import each_row

HISTORY = payload()


def validated(value: Json) -> list[Any]:
    messages: list[Any] = ModelMessagesTypeAdapter.validate_json(dumps(value))
    return messages


def test_a_history_round_trips() -> None:
    loaded = load(HISTORY)
    dumped = dump(loaded.messages)
    assert loaded.losses == ()
    assert dumped.losses == ()
    assert dumped.payload == HISTORY
    assert validated(dumped.payload) == validated(HISTORY)


def test_an_older_history_is_read_as_by_pydantic_ai() -> None:
    loaded = load(LEGACY)
    dumped = dump(loaded.messages)
    assert loaded.losses == dumped.losses == ()
    assert validated(dumped.payload) == validated(LEGACY)


def test_results_are_merged_into_their_calls() -> None:
    answer = load(HISTORY).messages[3]
    assert isinstance(answer, AssistantMessage)
    calls = {part.id: part for part in answer.parts if isinstance(part, ToolCallPart)}
    assert calls["t1"].output == TextOutput("39 metres")
    assert calls["t2"].input == {"tower": "Anholt"}
    assert calls["t2"].output == JsonOutput({"metres": 28})
    assert calls["t3"].raw_input == '{"tower": '
    assert calls["t3"].output == ErrorTextOutput("no JSON")
    assert isinstance(calls["t4"].output, ContentOutput)
    assert calls["t5"].output == ExecutionDeniedOutput("not allowed")
    assert calls["t6"].output == ErrorJsonOutput({"code": 500})
    assert calls["b1"].provider_executed
    assert calls["b1"].output == JsonOutput({"found": ["https://example.com/a"]})
    assert answer.thread_id == "thread-1"
    assert answer.run_id == "run-1"
    assert answer.content.usage is not None
    assert answer.content.usage.reasoning_tokens == 4


def test_signatures_are_in_the_metadata_of_their_provider() -> None:
    answer = load(HISTORY).messages[3]
    found = [part.provider_metadata for part in answer.parts if isinstance(part, ReasoningPart)]
    assert found == [
        {"anthropic": {"signature": "c2ln"}},
        {"anthropic": {"redactedData": "cmVk"}},
        {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "ZW5j"}},
    ]


def test_changed_instructions_become_a_system_message() -> None:
    messages = load(HISTORY).messages
    texts = [one.parts[0] for one in messages if isinstance(one, SystemMessage)]
    assert [getattr(one, "text", None) for one in texts] == [
        "Answer in metres.",
        "You keep the register.",
        "Answer in feet.",
    ]
    without = [one for one in messages if not isinstance(one, SystemMessage)]
    assert all(one["instructions"] is None for one in dump(without).payload if one["kind"] == "request")


def test_pydantic_ai_reads_a_full_conversation() -> None:
    dumped = dump(full_conversation())
    messages = validated(dumped.payload)
    assert {type(one) for one in messages} == {ModelRequest, ModelResponse}
    again = loads(ModelMessagesTypeAdapter.dump_json(messages))
    assert dump(load(dumped.payload).messages).payload == dumped.payload
    calls = [one["tool_call_id"] for one in _parts(again, "tool-call")]
    assert {one["tool_call_id"] for one in _parts(again, "tool-return")} <= set(calls)
    outcomes = {one["tool_call_id"]: one["outcome"] for one in _parts(again, "tool-return")}
    assert outcomes["call-denied"] == "denied"
    assert outcomes["call-error-text"] == "failed"
    assert outcomes["call-interrupted"] == "interrupted"
    assert outcomes["call-json"] == "success"


def _parts(messages: Json, kind: str) -> list[Json]:
    return [part for one in messages for part in one["parts"] if part["part_kind"] == kind]


def test_ui_messages_of_the_vercel_adapter_have_the_same_texts_and_calls() -> None:
    """Both conversions give the same texts and calls."""
    theirs = [
        one.model_dump(by_alias=True, exclude_none=True)
        for one in VercelAIAdapter.dump_messages(history()[:4])
    ]
    ours = convert(loads(dumps(HISTORY))[:4], "pydantic-ai", "ai-sdk-ui-v6").payload
    read = loads(dumps(theirs))
    assert _texts_of(read) == _texts_of(ours)
    assert _call_ids_of(read) == _call_ids_of(ours)


def _texts_of(messages: Json) -> list[str]:
    texts = [part["text"] for one in messages for part in one["parts"] if part["type"] == "text"]
    return [text for text in texts if text != "Answer in metres."]


def _call_ids_of(messages: Json) -> set[str]:
    parts = (part for one in messages for part in one["parts"])
    return {part["toolCallId"] for part in parts if "toolCallId" in part}


def test_the_sidecar_is_in_the_metadata_of_the_first_message() -> None:
    assert FORMAT.slot is not None
    filled = FORMAT.slot.put(HISTORY, {"version": 1})
    without, carried = FORMAT.slot.take(filled)
    assert carried == {"version": 1}
    assert load(without).messages == load(HISTORY).messages
    assert FORMAT.slot.take(HISTORY) == (HISTORY, None)
    assert validated(filled)[0].metadata == {"rating": 5, "partita": {"version": 1}}
    plain = [to_json(one) for one in full_conversation()]
    carried = convert(plain, "canonical", "pydantic-ai", carry=True)
    assert carried.lossless
    back = convert(carried.payload, "pydantic-ai", "canonical")
    assert back.payload == convert(plain, "canonical", "canonical").payload


def test_misplaced_results_are_reported_and_kept() -> None:
    moved = copy.deepcopy(HISTORY)
    moved[2]["parts"][0], moved[4]["parts"][0] = moved[4]["parts"][0], moved[2]["parts"][0]
    loaded = load(moved)
    assert {loss.severity for loss in loaded.losses} == {"changed"}
    assert {loss.what for loss in loaded.losses} >= {'"t1"'}
    orphan = load([{"kind": "request", "parts": [{**HISTORY[2]["parts"][0]}]}]).messages
    assert [type(one) for one in orphan] == [ToolMessage]


@each_row(
    "value",
    [
        3,
        [3],
        [{}],
        [{"kind": "request"}],
        [{"kind": "request", "parts": [3]}],
        [{"kind": "request", "parts": [{"content": "x"}]}],
        [{"kind": "reply", "parts": []}],
    ],
)
def test_invalid_histories_are_refused(value: Json) -> None:
    with pytest.raises(ConversionError) as refused:
        load(value)
    assert refused.value.hint


@given(data=st.data())
def test_any_conversation_round_trips(data: st.DataObject) -> None:
    try:
        messages = ui.load(data.draw(ui_messages(7))).messages
    except ConversionError:
        return
    dumped = dump(messages)
    if b"\\ud" not in dumps(dumped.payload).lower():  # lone surrogates, which Pydantic refusess
        assert len(validated(dumped.payload)) == len(dumped.payload)
    again = load(dumped.payload)
    assert dump(again.messages).payload == dumped.payload


def test_empty_and_single_messages() -> None:
    assert dump([]).payload == []
    assert load([]).messages == ()
    one = load({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]}).messages[0]
    assert isinstance(one, UserMessage)


def test_members_of_a_request_with_several_results_are_kept() -> None:
    returns = [
        {"part_kind": "tool-return", "tool_name": "look_up", "tool_call_id": id_, "content": "39 metres"}
        for id_ in ("t1", "t2")
    ]
    given = [{**HISTORY[0]}, {"kind": "request", "parts": returns, "new_member": 1}]
    assert dump(load(given).messages).payload[1]["new_member"] == 1


@each_row("state, is_lost", [("approval-requested", False), ("input-streaming", True)])
def test_a_state_that_does_not_follow_from_the_approval_is_reported(state: Any, is_lost: bool) -> None:
    call = ToolCallPart("t1", "look_up", state, {}, approval=Approval("a1"))
    paths = {loss.path for loss in dump([AssistantMessage(id="m1", content=[call])]).losses}
    assert "$[0].content.parts[0].approval" in paths
    assert ("$[0].content.parts[0].state" in paths) == is_lost
