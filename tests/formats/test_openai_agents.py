"""Session items and run items of the OpenAI Agents SDK ↔ messages, checked with the SDK."""

import asyncio
from functools import cache
from typing import Any, Final, cast

import pytest

from partita.errors import ConversionError
from partita.formats.conversion import convert
from partita.formats.openai_agents.format import dump, load, put, take
from partita.formats.openai_responses.format import dump as dump_request
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ReasoningPart, TextOutput, TextPart
from tests.formats.openai_responses_requests import ITEMS

FAKE: Final = "__fake_id__"


@cache
def item_adapter() -> Any:
    from openai.types.responses import ResponseInputItemParam
    from pydantic import TypeAdapter

    return TypeAdapter[Any](ResponseInputItemParam)


CHAT: Final[list[JsonObject]] = [
    {"role": "user", "content": "Tide?"},
    {
        "type": "reasoning",
        "id": FAKE,
        "summary": [{"type": "summary_text", "text": "The moon"}],
        "content": [{"type": "reasoning_text", "text": "deep"}, {"type": "reasoning_text", "text": "deeper"}],
        "encrypted_content": "signature-1\nsignature-2",
        "provider_data": {"model": "claude-tide", "thinking_blocks": [{"thinking": "deep"}]},
    },
    {
        "type": "message",
        "id": FAKE,
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "I ask the sea.", "annotations": [], "logprobs": []}],
        "provider_data": {"model": "claude-tide"},
    },
    {
        "type": "function_call",
        "call_id": "call_1",
        "name": "transfer_to_sea",
        "arguments": "{}",
        "provider_data": {},
    },
    {"type": "function_call_output", "call_id": "call_1", "output": '{"assistant": "Sea"}'},
    {
        "type": "message",
        "id": FAKE,
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "High.", "annotations": [], "logprobs": []}],
    },
]

SEA: Final[JsonObject] = {"name": "Sea"}
CALL: Final[JsonObject] = {
    "type": "function_call",
    "id": "fc_2",
    "call_id": "call_2",
    "name": "sink",
    "arguments": "{}",
}
RUN: Final[list[JsonObject]] = [
    {"type": "input_item", "agent": SEA, "raw_item": {"role": "user", "content": "Tide?"}},
    {
        "type": "handoff_call_item",
        "agent": SEA,
        "raw_item": {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "transfer",
            "arguments": "{}",
        },
    },
    {
        "type": "handoff_output_item",
        "agent": SEA,
        "source_agent": SEA,
        "target_agent": {"name": "Moon"},
        "raw_item": {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
    },
    {"type": "tool_call_item", "agent": {"name": "Moon"}, "raw_item": CALL},
    {"type": "tool_approval_item", "agent": {"name": "Moon"}, "tool_name": "sink", "raw_item": CALL},
]


def stored(items: Json) -> list[Json]:
    """Return the items as a session of the SDK returns them."""
    from agents import SQLiteSession
    from agents.items import TResponseInputItem

    async def through() -> list[Json]:
        session = SQLiteSession("tide")
        try:
            await session.add_items(cast("list[TResponseInputItem]", items))
            return list(await session.get_items())
        finally:
            session.close()

    return asyncio.run(through())


def test_a_session_of_a_chat_model_round_trips() -> None:
    loaded = load(stored(CHAT))
    assert {(loss.what, loss.severity) for loss in loaded.losses} == {(f'"{FAKE}"', "repaired")}
    dumped = dump(loaded.messages)
    assert stored(dumped.payload) == CHAT
    assert {loss.severity for loss in dumped.losses} == {"repaired"}


def test_a_session_of_a_responses_model_round_trips() -> None:
    items = [item for item in ITEMS if "id" in item or item.get("type") != "reasoning"]
    loaded = load(items)
    dumped = dump(loaded.messages)
    assert dumped.payload == items
    assert (loaded.losses, dumped.losses) == ((), ())


def test_reasoning_of_a_chat_model_is_not_sent_to_openai() -> None:
    messages = load(CHAT).messages
    sent = dump_request(messages)
    assert "signature-1" not in str(sent.payload)
    assert "claude-tide" not in str(sent.payload)
    assert FAKE not in str(sent.payload)
    assert [loss.severity for loss in sent.losses].count("lost") >= 3
    answer = messages[1]
    assert isinstance(answer, AssistantMessage)
    thoughts = [part.text for part in answer.parts if isinstance(part, ReasoningPart)]
    assert thoughts == ["The moon", "deep", "deeper"]


def test_a_handoff_is_a_call_with_an_output() -> None:
    answer = load(CHAT).messages[1]
    (call,) = [part for part in answer.parts if isinstance(part, ToolCallPart)]
    assert (call.name, call.output) == ("transfer_to_sea", TextOutput('{"assistant": "Sea"}'))


def test_run_items_are_read_and_their_other_members_are_reported() -> None:
    loaded = load(RUN)
    assert loaded.losses == ()
    handoff, pending = [part for part in loaded.messages[1].parts if isinstance(part, ToolCallPart)]
    assert handoff.call_provider_metadata is not None
    assert handoff.call_provider_metadata["openai-agents"]["item"]["run"]["agent"] == SEA
    assert pending.state == "approval-requested"
    dumped = dump(loaded.messages)
    assert [item.get("type", "message") for item in dumped.payload][:3] == [
        "message",
        "function_call",
        "function_call_output",
    ]
    assert sum('"run"' in loss.what for loss in dumped.losses) == 4


def test_the_sdk_accepts_a_written_full_conversation() -> None:
    from agents import ItemHelpers
    from agents.models.chatcmpl_converter import Converter

    items = dump(full_conversation()).payload
    assert stored(items) == items
    assert ItemHelpers.input_to_new_input_list(items) == items
    for item in items[2:]:
        item_adapter().validate_python(item)
    chat = Converter.items_to_messages([item for item in items if "file_url" not in str(item)])
    assert [message["role"] for message in chat][:3] == ["system", "assistant", "assistant"]


def test_items_that_the_sdk_builds_from_a_chat_response_are_read() -> None:
    from agents.models.chatcmpl_converter import Converter
    from openai.types.chat import ChatCompletionMessage

    message = ChatCompletionMessage(role="assistant", content="High.")
    items = [item.model_dump(exclude_unset=True) for item in Converter.message_to_output_items(message)]
    (answer,) = load(items).messages
    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == ["High."]
    assert dump([answer]).payload == items


def test_a_run_item_of_the_sdk_is_stored_in_a_session() -> None:
    from agents import Agent
    from agents.items import MessageOutputItem
    from openai.types.responses import ResponseOutputMessage

    raw = ResponseOutputMessage.model_validate(CHAT[5] | {"id": "msg_1"})
    agent = Agent(name="Sea")
    item = cast("JsonObject", MessageOutputItem(agent=agent, raw_item=raw).to_input_item())
    assert dump(load([item]).messages).payload == [item]


def test_the_sidecar_is_kept_by_sessions_and_not_sent() -> None:
    from agents.models.chatcmpl_converter import Converter
    from agents.models.openai_responses import OpenAIResponsesModel
    from openai import AsyncOpenAI

    rest = {"version": 1}
    filled = put(CHAT, rest)
    assert take(stored(filled)) == (CHAT, rest)
    assert take(CHAT) == (CHAT, None)
    model = OpenAIResponsesModel("tide-1", AsyncOpenAI(api_key="none"))
    sent = model._remove_openai_responses_api_incompatible_fields(stored(filled))  # pyright: ignore[reportPrivateUsage]
    assert "partita" not in str(sent)
    assert Converter.items_to_messages(filled)[0]["role"] == "user"


def test_a_sidecar_without_room_is_dropped() -> None:
    bare = [CHAT[1]]
    assert put(bare, {"version": 1}) == bare
    assert take(put([CHAT[2] | {"provider_data": {}}], {})) == ([CHAT[2] | {"provider_data": {}}], None)


def test_a_full_conversation_round_trips_with_a_sidecar() -> None:
    plain = to_json(full_conversation())
    carried = convert(plain, "canonical", "openai-agents", carry=True)
    assert carried.losses == ()
    assert convert(stored(carried.payload), "openai-agents", "canonical").payload == plain


def test_text_and_lists_of_items_are_read_alike() -> None:
    assert load("Tide?") == load([{"role": "user", "content": "Tide?"}]) == load({"items": [CHAT[0]]})


def test_a_number_is_refused() -> None:
    with pytest.raises(ConversionError, match="number"):
        load(3)
