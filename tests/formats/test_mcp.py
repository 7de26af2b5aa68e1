"""Content of the Model Context Protocol in both directions: blocks, results, prompts, sampling."""

from typing import Any, Final

import pytest

from partita.errors import ConversionError
from partita.formats.conversion import convert
from partita.formats.format import Request
from partita.formats.mcp.format import dump, load
from partita.formats.registry import get_format
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from tests.tables import each_row

NOTES: Final = {"audience": ["user"], "priority": 0.5, "lastModified": "2026-03-01T09:00:00Z"}


def text(words: str, **more: Json) -> JsonObject:
    return {"type": "text", "text": words, **more}


MEDIA: Final[list[JsonObject]] = [
    text("High water", annotations=NOTES, _meta={"a": 1}),
    {"type": "image", "data": "aVZC", "mimeType": "image/png"},
    {"type": "audio", "data": "UklG", "mimeType": "audio/wav", "annotations": NOTES},
]
RESOURCES: Final[list[JsonObject]] = [
    {
        "type": "resource_link",
        "uri": "file:///tides.txt",
        "name": "tides",
        "title": "Tides",
        "description": "of this year",
        "mimeType": "text/plain",
        "size": 3,
    },
    {"type": "resource_link", "uri": "https://tides.example/t", "name": "t"},
    {
        "type": "resource",
        "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "HW é", "_meta": {"k": 2}},
        "annotations": NOTES,
    },
    {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAEC"}},
    {"type": "resource", "resource": {"uri": "file:///a.png", "blob": "AAEC", "mimeType": "image/png"}},
]
UNKNOWN: Final[JsonObject] = {"type": "hologram", "beam": {"nm": 532}}

CONVERSATION: Final[list[JsonObject]] = [
    {"role": "user", "content": text("Tide?"), "_meta": {"x": 1}},
    {
        "role": "assistant",
        "content": [
            text("I look."),
            {"type": "tool_use", "id": "c1", "name": "tide", "input": {"port": "Oban"}, "_meta": {"y": 1}},
            {"type": "tool_use", "id": "c2", "name": "tide", "input": {}},
            {"type": "tool_use", "id": "c3", "name": "tide", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "toolUseId": "c1",
                "content": [text('{"at":6}')],
                "structuredContent": {"at": 6},
                "isError": False,
                "_meta": {"z": 1},
            },
            {"type": "tool_result", "toolUseId": "c2", "content": [text("no"), MEDIA[1]], "isError": True},
            {"type": "tool_result", "toolUseId": "c3", "content": [*MEDIA, *RESOURCES, UNKNOWN]},
        ],
        "_meta": {"r": 1},
    },
    {"role": "assistant", "content": [text("Six.")]},
    {"role": "user", "content": MEDIA},
]
SAMPLING: Final[JsonObject] = {
    "messages": CONVERSATION,
    "systemPrompt": "Be brief.",
    "maxTokens": 9,
    "temperature": 0.3,
    "modelPreferences": {"hints": [{"name": "claude"}]},
    "tools": [
        {"name": "tide", "description": "When", "inputSchema": {"type": "object"}, "title": "Tide"},
        {"name": "port", "inputSchema": {"type": "object"}},
    ],
}
PROMPT: Final[JsonObject] = {
    "description": "of tides",
    "messages": [{"role": "user", "content": block} for block in [*MEDIA, *RESOURCES]],
}
RESULT: Final[JsonObject] = {
    "content": [*MEDIA, *RESOURCES, UNKNOWN],
    "structuredContent": {"at": [6, 4]},
    "isError": False,
    "_meta": {"p": 1},
}
RESPONSE: Final[JsonObject] = {
    "role": "assistant",
    "content": text("Six."),
    "model": "m",
    "stopReason": "endTurn",
}


def test_the_samples_are_valid() -> None:
    from mcp.types import CallToolResult, CreateMessageResult, GetPromptResult

    known = [block for block in RESULT["content"] if block is not UNKNOWN]
    CallToolResult.model_validate({**RESULT, "content": known})
    GetPromptResult.model_validate(PROMPT)
    CreateMessageResult.model_validate(RESPONSE)


def test_messages_round_trip() -> None:
    loaded = load(CONVERSATION)
    dumped = dump(loaded.messages)
    assert dumped.payload == CONVERSATION
    assert not loaded.losses
    assert not dumped.losses


def test_a_sampling_request_round_trips() -> None:
    loaded = load(SAMPLING)
    assert loaded.request is not None
    assert [tool.name for tool in loaded.request.tools] == ["tide", "port"]
    assert loaded.messages[0] == SystemMessage(id="system", content="Be brief.")
    asked = dump(loaded.messages, loaded.request)
    assert asked.payload == SAMPLING
    assert not asked.losses


def test_messages_of_a_prompt_round_trip() -> None:
    loaded = load(PROMPT)
    assert loaded.request == Request((), {"description": "of tides"})
    assert dump(loaded.messages).payload == PROMPT["messages"]


def test_single_blocks_become_user_messages_and_calls_assistant_messages() -> None:
    (message,) = load([*MEDIA, *RESOURCES, UNKNOWN]).messages
    assert isinstance(message, UserMessage)
    kinds = [type(part) for part in message.parts]
    assert kinds == [TextPart, ImagePart, *[FilePart] * 6, ForeignPart]
    (call,) = load({"type": "tool_use", "id": "c", "name": "tide", "input": {}}).messages
    assert isinstance(call, AssistantMessage)


OUTPUTS: Final[dict[str, tuple[JsonObject, ToolOutput]]] = {
    "blocks": ({"content": [text("a")]}, ContentOutput((TextPart("a"),))),
    "empty content": ({"content": []}, ContentOutput(())),
    "structured": ({"content": [text("6")], "structuredContent": {"at": 6}}, JsonOutput({"at": 6})),
    "structured, and not an object": ({"content": [], "structuredContent": [6]}, JsonOutput([6])),
    "an error": ({"content": [text("no"), text("!")], "isError": True}, ErrorTextOutput("no!")),
    "a structured error": (
        {"content": [], "structuredContent": {"code": 7}, "isError": True},
        ErrorJsonOutput({"code": 7}),
    ),
}


@each_row(("payload", "output"), OUTPUTS.values(), ids=OUTPUTS)
def test_results_keep_both_blocks_and_structured_content(payload: JsonObject, output: ToolOutput) -> None:
    from mcp.types import SamplingMessage

    loaded = load(payload)
    match loaded.messages:
        case (ToolMessage(content=content),):
            (part,) = content.parts
        case _:
            pytest.fail(f"{loaded.messages}")
    assert isinstance(part, ToolResultPart)
    assert part.output == output
    (message,) = dump(loaded.messages).payload
    assert message["content"] == {"type": "tool_result", "toolUseId": "call-1", **payload}
    SamplingMessage.model_validate(message)


def test_a_sampling_response_has_a_finish_reason() -> None:
    (message,) = load(RESPONSE).messages
    assert message.content.metadata == {
        "finishReason": "stop",
        "rawFinishReason": "endTurn",
        "model": "m",
    }


def test_results_are_merged_into_their_calls() -> None:
    answer = load(CONVERSATION).messages[1]
    outputs = [type(part.output) for part in answer.parts if isinstance(part, ToolCallPart)]
    assert outputs == [JsonOutput, ErrorTextOutput, ContentOutput]


def test_written_messages_are_valid() -> None:
    from mcp.types import CreateMessageRequestParams, SamplingMessage
    from pydantic import TypeAdapter

    TypeAdapter[Any](list[SamplingMessage]).validate_python(dump(full_conversation()).payload)
    asked = dump(full_conversation(), Request())
    CreateMessageRequestParams.model_validate(asked.payload)
    assert asked.payload["systemPrompt"] == "You keep the lighthouse register."


def test_parts_without_a_block_are_reported() -> None:
    answer = AssistantMessage(
        id="message-1",
        content=[ReasoningPart("hm"), TextPart("a"), FilePart("blob:sha256:00", "text/csv"), ImagePart("https://a.example/b")],
    )  # fmt: skip
    dumped = dump([answer])
    assert [(loss.severity, loss.path) for loss in dumped.losses] == [
        ("lost", "$[0].content.parts[0]"),
        ("lost", "$[0].content.parts[2]"),
        ("changed", "$[0].content.parts[3]"),
    ]
    assert dumped.payload[0]["content"] == [text("a"), text("https://a.example/b")]


def test_the_sidecar_is_in_the_meta_member() -> None:
    from mcp.types import SamplingMessage
    from pydantic import TypeAdapter

    plain = to_json(full_conversation())
    carried = convert(plain, "canonical", "mcp", carry=True)
    TypeAdapter[Any](list[SamplingMessage]).validate_python(carried.payload)
    assert "partita" in carried.payload[0]["_meta"]
    assert convert(carried.payload, "mcp", "canonical").payload == plain
    slot = get_format("mcp").slot
    assert slot is not None
    assert slot.take(slot.put(CONVERSATION, {"a": 1})) == (CONVERSATION, {"a": 1})


BAD: Final[dict[str, tuple[Json, str]]] = {
    "a number": (7, "$"),
    "an empty object": ({}, "$"),
    "messages that are not a list": ({"messages": 7}, "$.messages"),
    "an unknown role": ([{"role": "system", "content": text("a")}], "$[0].role"),
    "no content": ([{"role": "user"}], "$[0]"),
    "a block that is not an object": ([{"role": "user", "content": [7]}], "$[0].content[0]"),
    "a block without type": ([text("a"), {"text": "b"}], "$[1].type"),
    "invalid content of a result": ({"content": "a"}, "$.content"),
}


@each_row(("payload", "where"), BAD.values(), ids=BAD)
def test_invalid_content_is_refused_with_its_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where
