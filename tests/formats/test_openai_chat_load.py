"""Chat Completions requests, read and written; losses are reported."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConversionError
from partita.formats.format import Dumped, Loaded, Request, ToolSpec
from partita.formats.openai_chat import format as chat_format
from partita.formats.openai_chat.dialects import DIALECTS
from partita.formats.openai_chat.format import BRIDGE, EARLIER_TURN
from partita.formats.registry import get_format
from partita.testing.full_conversation import full_conversation
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import (
    ContentOutput,
    ErrorTextOutput,
    ForeignPart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
)
from tests import canonical
from tests.formats.openai_chat_samples import REASONING, REQUEST, function, request_with_reasoning
from tests.tables import each_row

SERVERS = [name for name in DIALECTS if name != "generic"]


@cache
def message_adapter() -> Any:
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    return TypeAdapter[Any](ChatCompletionMessageParam)


def load(payload: Json, server: str = "openai") -> Loaded:
    return chat_format.load(payload, DIALECTS[server])


def dump(messages: Sequence[Message], server: str = "openai", request: Request | None = None) -> Dumped:
    return chat_format.dump(messages, request, dialect=DIALECTS[server])


def written(loaded: Loaded, server: str = "openai") -> Dumped:
    return dump(loaded.messages, server, loaded.request or Request())


def validate(messages: list[JsonObject]) -> None:
    """Check that the official package accepts every message, including members that it validates lazily."""
    for message in messages:
        _iterate(message_adapter().validate_python(message))


def _iterate(value: Json) -> None:
    if is_object(value):
        for item in value.values():
            _iterate(item)
    elif hasattr(value, "__iter__") and not isinstance(value, str):
        for item in value:
            _iterate(item)


PAYLOADS: dict[str, tuple[str, JsonObject]] = {
    "a request": ("openai", REQUEST),
    **{server: (server, request_with_reasoning(server)) for server in REASONING},
}


@each_row(("server", "payload"), PAYLOADS.values(), ids=PAYLOADS)
def test_a_request_round_trips(server: str, payload: JsonObject) -> None:
    loaded = load(payload, server)
    dumped = written(loaded, server)
    assert loaded.losses == ()
    if DIALECTS[server].replays == "always":
        assert dumped.payload == payload
        assert dumped.losses == ()
    else:
        assert dumped.payload["messages"][2] == {"role": "assistant", "content": "Yes."}
        assert [(loss.path, loss.why) for loss in dumped.losses] == [("$[2].content.parts[0]", EARLIER_TURN)]


@each_row("server", ["openai", "ollama", "openrouter"])
def test_other_members_of_a_tool_are_written_for_every_server(server: str) -> None:
    loaded = load(REQUEST)
    assert loaded.request is not None
    written = chat_format.dump(loaded.messages, loaded.request, dialect=DIALECTS[server])
    assert written.payload["tools"] == REQUEST["tools"]


def test_a_request_becomes_messages_tools_and_settings() -> None:
    loaded = load(REQUEST)
    assert loaded.request is not None
    assert [(tool.name, dict(tool.extra or {})) for tool in loaded.request.tools] == [
        ("tide", {"openai-chat": {"fields": {"function": {"strict": True}}}})
    ]
    assert loaded.request.settings["model"] == "gpt-keeper"
    assert [tool["type"] for tool in loaded.request.settings["tools"]] == ["custom"]
    assert [(message.id, message.__struct_config__.tag) for message in loaded.messages] == [
        ("message-1", "system"),
        ("message-2", "system"),
        ("message-3", "user"),
        ("message-4", "user"),
        ("message-5", "assistant"),
        ("message-11", "user"),
        ("message-12", "assistant"),
        ("message-15", "user"),
        ("message-16", "assistant"),
        ("message-19", "user"),
    ]
    assert [type(part).__name__ for part in loaded.messages[3].parts] == [
        "TextPart",
        "ImagePart",
        "ImagePart",
        "FilePart",
        "ForeignPart",
        "FilePart",
        "FilePart",
        "ForeignPart",
    ]


def calls(messages: Iterable[Message]) -> list[ToolCallPart]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolCallPart)]


def test_results_are_merged_into_their_calls_though_ids_repeat() -> None:
    outputs = [(call.id, call.output) for call in calls(load(REQUEST).messages)]
    assert outputs == [
        ("call-1", ContentOutput((TextPart("1.9 m"),))),
        ("call-2", TextOutput("2.1 m")),
        ("call-3", TextOutput("the port is missing")),
        ("call-4", TextOutput("")),
        ("call-1", TextOutput("1.8 m")),
        ("message-16:call", TextOutput("0.4 m")),
    ]


def test_arguments_that_are_not_json_are_kept() -> None:
    call = calls(load(REQUEST).messages)[2]
    assert (call.raw_input, call.state) == ('{"port": ', "output-available")
    assert not isinstance(call.input, dict)


def test_a_message_continues_only_after_results() -> None:
    loaded = load(
        [
            {"role": "assistant", "content": "One."},
            {"role": "assistant", "content": None, "tool_calls": [function("a", "tide", "{}")]},
            {"role": "tool", "tool_call_id": "a", "content": "1 m"},
            {"role": "assistant", "content": "Two."},
        ]
    )
    kinds = [[type(part) for part in message.parts] for message in loaded.messages]
    assert kinds == [[TextPart], [ToolCallPart, StepStartPart, TextPart]]


def test_a_misplaced_result_is_moved_and_reported() -> None:
    loaded = load(
        [
            {"role": "assistant", "content": None, "tool_calls": [function("a", "tide", "{}")]},
            {"role": "user", "content": "Well?"},
            {"role": "tool", "tool_call_id": "a", "content": "1 m"},
        ]
    )
    assert [call.output for call in calls(loaded.messages)] == [TextOutput("1 m")]
    assert [(loss.path, loss.severity) for loss in loaded.losses] == [("$[2]", "changed")]


def test_a_dropped_result_without_a_call_is_reported() -> None:
    payload = [{"role": "tool", "tool_call_id": "a", "content": "1 m"}, {"role": "user", "content": "Hi"}]
    dumped = dump(load(payload).messages)
    assert dumped.payload == {"messages": [{"role": "user", "content": "Hi"}]}
    assert "1 m" in str(dumped.losses[0])


BAD: dict[str, tuple[Json, str]] = {
    "a number": (7, "$"),
    "an object of another format": ({"contents": []}, "$"),
    "messages that are not a list": ({"messages": "Hi"}, "$.messages"),
    "a message that is not an object": (
        {"messages": [{"role": "user", "content": "Hi"}, 7]},
        "$.messages[1]",
    ),
    "an unknown role": ([{"role": "owl", "content": "Hi"}], "$[0].role"),
    "a role that is not a string": ([{"role": 7}], "$[0].role"),
    "invalid content": ([{"role": "user", "content": 7}], "$[0].content"),
}


@each_row(("payload", "where"), BAD.values(), ids=BAD)
def test_invalid_requests_are_refused(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where
    assert raised.value.hint


@each_row("server", SERVERS)
def test_a_full_conversation_is_valid_and_is_written_the_same_again(server: str) -> None:
    dumped = dump(full_conversation(), server)
    if server != "mistral":  # its reasoning is in the content
        validate(dumped.payload["messages"])
    loaded = load(dumped.payload, server)
    again = dump(loaded.messages, server)
    assert again.payload == dumped.payload
    assert [*loaded.losses, *again.losses] == []


@given(messages=st.lists(canonical.messages(), max_size=3))
def test_any_written_messages_are_valid(messages: list[Message]) -> None:
    validate(dump(messages).payload["messages"])


def test_losses_of_a_full_conversation_are_reported_by_field() -> None:
    losses = dump(full_conversation()).losses
    reported = {loss.path: loss.severity for loss in losses}
    expected = {
        "$[0].threadId": "lost",
        "$[2].content.usage": "lost",
        "$[2].content.metadata": "lost",
        "$[2].content.parts[3].state": "minor",
        "$[2].content.parts[16].children": "lost",
        "$[2].content.parts[22].approval": "lost",
        "$[2].content.parts[26].output": "changed",
        "$[2].content.parts[27].output.value[1]": "repaired",
        "$[2].content.parts[28].output": "changed",
        "$[3]": "lost",
        "$[4].content.networkExecution": "lost",
        "$[4].content.parts[2].output": "repaired",
    }
    assert {path: reported.get(path) for path in expected} == expected


def test_reasoning_is_sent_only_to_its_own_server() -> None:
    loaded = load(request_with_reasoning("deepseek"), "deepseek")
    assert [part for part in loaded.messages[2].parts if isinstance(part, ReasoningPart)]
    other = dump(loaded.messages, "groq")
    assert "It rains." not in str(other.payload)
    assert "It rains." in str(other.losses)


def test_mistral_requests_are_repaired_and_repairs_are_reported() -> None:
    payload = {
        "messages": [
            {"role": "assistant", "content": "", "tool_calls": [function("call_1", "tide", "{}")]},
            {"role": "tool", "tool_call_id": "call_1", "content": "1 m"},
            {"role": "user", "content": "Again."},
        ]
    }
    dumped = dump(load(payload).messages, "mistral")
    answer, result, bridge, _ = dumped.payload["messages"]
    assert answer["tool_calls"][0]["id"] == result["tool_call_id"] != "call_1"
    assert bridge["content"] == BRIDGE
    assert [(loss.path, loss.severity) for loss in dumped.losses if loss.severity != "lost"] == [
        ("$[1]", "repaired"),
        ("$[0].content.parts[0].id", "repaired"),
        ("$[1].id", "changed"),
    ]


def test_notes_of_other_servers_are_ignored() -> None:
    system = load([{"role": "system", "content": "Hi", "name": "x"}]).messages
    assert dump(system, "openai").payload["messages"] == [{"role": "system", "content": "Hi", "name": "x"}]
    other = dump(system, "groq")
    assert other.payload["messages"] == [{"role": "system", "content": "Hi"}]
    assert [loss.path for loss in other.losses] == ["$[0].content.providerMetadata"]


def test_changes_of_other_formats_are_reported() -> None:
    call = ToolCallPart(
        "a", "tide", "output-error", {"port": "Bø"}, output=ErrorTextOutput("no"), title="The tide"
    )
    view: list[Message] = [
        UserMessage(id="u", content=[ImagePart("https://x.test/a.png", "image/png")]),
        AssistantMessage(id="a", content=[call]),
    ]
    reported = {(loss.path, loss.severity) for loss in dump(view).losses}
    assert reported == {
        ("$[0].id", "changed"),
        ("$[0].content.parts[0].mediaType", "lost"),
        ("$[1].id", "changed"),
        ("$[1].content.parts[0].output", "changed"),
        ("$[1].content.parts[0].title", "lost"),
    }


def test_a_request_has_its_tools_and_settings() -> None:
    request = Request(
        (ToolSpec(name="tide"),), {"model": "m", "tools": [{"type": "custom", "custom": {"name": "sql"}}]}
    )
    dumped = dump([UserMessage(id="message-1", content="Hi")], request=request)
    assert dumped.payload == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [
            {
                "type": "function",
                "function": {"name": "tide", "parameters": {"type": "object", "properties": {}}},
            },
            {"type": "custom", "custom": {"name": "sql"}},
        ],
    }
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [("$.tools[0].inputSchema", "repaired")]


def test_a_json_output_is_written_as_text() -> None:
    call = ToolCallPart("a", "tide", "output-available", {}, output=JsonOutput({"m": 1}))
    dumped = dump([AssistantMessage(id="message-1", content=[call])])
    assert dumped.payload["messages"][1]["content"] == '{"m":1}'
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [
        ("$[0].content.parts[0].output", "changed")
    ]


def test_empty_requests() -> None:
    assert dump([]).payload == {"messages": []}
    assert load({"messages": []}).messages == ()
    assert load([]).messages == ()


def test_an_unknown_item_is_sent_only_to_its_own_server() -> None:
    item = {"type": "hologram", "beam": 1}
    loaded = load([{"role": "user", "content": [item]}], "groq")
    assert loaded.messages[0].parts[0] == ForeignPart("openai-chat-groq", item)
    assert dump(loaded.messages, "groq").payload["messages"][0]["content"] == [item]
    assert dump(loaded.messages, "xai").payload == {"messages": []}


def test_every_dialect_is_a_registered_format() -> None:
    for server in SERVERS:
        format_ = get_format("openai-chat" if server == "openai" else f"openai-chat-{server}")
        assert format_.load is not None
        assert format_.takes_request
        assert format_.load([{"role": "user", "content": "Hi"}]).messages == (
            UserMessage(id="message-1", content="Hi"),
        )
