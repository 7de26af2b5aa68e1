"""Cohere's chat API: recordings, and the restrictions of the API."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from partita.errors import ConversionError
from partita.formats.conversion import convert, read, write
from partita.formats.format import Dumped, Request, ToolSpec
from partita.formats.registry import get_format
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import (
    ContentOutput,
    ErrorTextOutput,
    FilePart,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.converting import read_payload
from tests.formats.provider_answers import differences_from_sdk, wrong_fields
from tests.recordings import answers, name_of
from tests.rules import problems
from tests.tables import each_row

NAME: Final = "cohere"


def dump(messages: list[Message], request: Request | None = None) -> Dumped:
    write_ = get_format(NAME).dump
    assert write_ is not None
    return write_(messages, request)


def test_every_recorded_response_is_read_correctly() -> None:
    assert wrong_fields(NAME) == {}


@each_row("path", answers(NAME, ".request.json", ".response.json"), ids=name_of)
def test_requests_and_bodies_round_trip(path: Path) -> None:
    if path.name == "cohere-unknown.request.json":
        return  # it has text next to calls, which is moved
    payload = read_payload(path)
    loaded = read(payload, get_format(NAME))
    dumped = write(loaded, get_format(NAME if "messages" in payload else f"{NAME}-response"))
    assert dumped.payload == payload
    assert not [*loaded.losses, *dumped.losses]


def test_only_the_text_next_to_calls_is_moved_in_a_request_with_unknown_content() -> None:
    (path,) = answers(NAME, "cohere-unknown.request.json")
    payload = read_payload(path)
    found = convert(payload, NAME, NAME)
    assert {loss.path for loss in found.losses} == {
        "$.messages[1].content[0]",
        "messages[1].content.parts[0]",
    }
    payload["messages"][1] |= {"tool_plan": "Hello", "content": [{"type": "hunch", "hunch": "east"}]}
    assert found.payload == payload


@each_row("path", answers(NAME, ".jsonl"), ids=name_of)
def test_streams_lose_only_positions(path: Path) -> None:
    loaded = read(read_payload(path), get_format(NAME))
    severities = {loss.severity for loss in loaded.losses}
    assert severities <= {"minor"} or path.stem == "cohere-null-arguments"  # `null` is read as `{}`


LEFT_OUT: Final = frozenset(
    {
        "cohere-unknown",  # `@ai-sdk/cohere` refuses it
        "cohere-timeout",  # it refuses a response without usage
        "cohere-null-arguments",  # its input is `null`
    }
)


def test_chunks_equal_those_of_the_ai_sdk() -> None:
    assert differences_from_sdk(NAME, LEFT_OUT) == {}


@each_row("name", ["plain-text", "thinking", "thinking-and-calls"])
def test_a_stream_gives_the_message_of_its_response_body(name: str) -> None:
    stream, body = (
        read(read_payload(path), get_format(NAME)).messages[0]
        for ending in (".jsonl", ".response.json")
        for path in answers(NAME, f"cohere-{name}{ending}")
    )
    assert stream.id == body.id
    assert [_known(part) for part in stream.parts] == [_known(part) for part in body.parts]


def _known(part: object) -> object:
    """Return a part without its raw input, which only a stream has."""
    return (part.id, part.name, part.input) if isinstance(part, ToolCallPart) else part


def test_a_tool_plan_becomes_reasoning_and_round_trips() -> None:
    (path,) = answers(NAME, "cohere-parallel-calls.request.json")
    loaded = read(read_payload(path), get_format(NAME))
    answer = loaded.messages[2]
    assert sum(isinstance(part, StepStartPart) for part in answer.parts) == 2
    plans = [part for part in answer.parts if isinstance(part, ReasoningPart)]
    assert [part.text for part in plans] == ["I will look up both stars.", "Deneb failed, so I try again."]
    assert all(part.provider_metadata == {"cohere": {"toolPlan": True}} for part in plans)
    sent = convert(read_payload(path), NAME, "openai-chat").payload["messages"]
    assert not any("look up both stars" in str(message) for message in sent)


def test_citations_belong_to_their_texts() -> None:
    (path,) = answers(NAME, "cohere-citations.response.json")
    (message,) = read(read_payload(path), get_format(NAME)).messages
    (text,) = (part for part in message.parts if isinstance(part, TextPart))
    assert [(one.source.id, one.start_index, one.cited_text) for one in text.citations or ()] == [
        ("rings", 0, "Saturn"),
        ("doc:2", 18, "Titan has air"),
        ("find_star_q1:0", 18, "Titan has air"),
    ]


# Restrictions of the API

CALL: Final = ToolCallPart("c1", "look", "output-available", {}, output=TextOutput("seen"))


def user_message(*parts: object) -> list[Message]:
    return [UserMessage(id="u", content=list(parts))]  # type: ignore[arg-type] # any parts


CASES: Final[dict[str, tuple[list[Message], Callable[[JsonObject], Json], Json]]] = {
    "text next to calls": (
        [*user_message(TextPart("Look.")), AssistantMessage(id="a", content=[TextPart("I look."), CALL])],
        lambda body: (body["messages"][1].get("content"), body["messages"][1]["tool_plan"]),
        (None, "I look."),
    ),
    "a later system message": (
        [*user_message(TextPart("Look.")), SystemMessage(id="s", content="Be brief.")],
        lambda body: [message["role"] for message in body["messages"]],
        ["system", "user"],
    ),
    "an empty response": (
        [*user_message(TextPart("Look.")), AssistantMessage(id="a", content=[TextPart(" ")])],
        lambda body: len(body["messages"]),
        1,
    ),
    "a call without a result": (
        [
            *user_message(TextPart("?")),
            AssistantMessage(id="a", content=[ToolCallPart("c", "look", "input-available", [1])]),
        ],
        lambda body: (
            body["messages"][1]["tool_calls"][0]["function"]["arguments"],
            body["messages"][2]["role"],
        ),
        ('{"input":[1]}', "tool"),
    ),
    "a document": (
        user_message(
            TextPart("Read."), FilePart("data:application/pdf;base64,JVBERi0=", "application/pdf", "x.pdf")
        ),
        lambda body: len(body["messages"][0]["content"]),
        1,
    ),
    "reasoning of another provider": (
        [
            *user_message(TextPart("?")),
            AssistantMessage(id="a", content=[ReasoningPart("Hm."), TextPart("Yes.")]),
            *user_message(TextPart("!")),
        ],
        lambda body: body["messages"][1]["content"],
        [{"type": "text", "text": "Yes."}],
    ),
}


@each_row(("messages", "found", "expected"), CASES.values(), ids=CASES)
def test_invalid_requests_are_repaired_and_reported(
    messages: list[Message], found: Callable[[JsonObject], Json], expected: Json
) -> None:
    dumped = dump(messages)
    assert found(dumped.payload) == expected
    assert problems("cohere", dumped.payload) == []
    assert any(loss.severity != "minor" for loss in dumped.losses)


OUTPUTS: Final[dict[str, tuple[ToolOutput, Json, bool]]] = {
    "a text": (TextOutput("seen"), "seen", True),
    "an object": (JsonOutput({"a": 1}), [{"type": "document", "document": {"data": {"a": 1}}}], True),
    "a list": (JsonOutput([1]), "[1]", False),
    "nothing": (TextOutput(""), "{}", False),
    "an error": (ErrorTextOutput("no"), "no", False),
    "texts": (
        ContentOutput((TextPart("a"), TextPart("b"))),
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        True,
    ),
}


@each_row(("output", "written", "is_same"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_become_tool_results(output: ToolOutput, written: Json, *, is_same: bool) -> None:
    state = "output-error" if isinstance(output, ErrorTextOutput) else "output-available"
    call = ToolCallPart("c", "look", state, {}, output=output)
    dumped = dump([*user_message(TextPart("?")), AssistantMessage(id="a", content=[call])])
    assert dumped.payload["messages"][2] == {"role": "tool", "tool_call_id": "c", "content": written}
    assert any(".output" in loss.path for loss in dumped.losses) is not is_same


def test_a_request_has_its_tools_and_settings() -> None:
    settings: JsonObject = {"model": "command-a-03-2025", "stream": True, "documents": ["Mars is red."]}
    body = dump(user_message(TextPart("?")), Request((ToolSpec("look"),), settings)).payload
    assert body["tools"] == [
        {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    ]
    assert {key: body[key] for key in settings} == settings


def test_a_request_without_messages_is_refused() -> None:
    with pytest.raises(ConversionError, match="no message to send"):
        dump([], Request(settings={"model": "command-a-03-2025"}))
