"""Amazon Bedrock Converse: recordings, and the restrictions of the API."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from partita.errors import ConversionError
from partita.formats.conversion import convert, read, write
from partita.formats.event_streams import fold_events
from partita.formats.format import Decoder, Dumped, Request, ToolSpec
from partita.formats.losses import SIGNED
from partita.formats.registry import get_format
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    FilePart,
    ImagePart,
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

NAME: Final = "bedrock-converse"
PDF: Final = "data:application/pdf;base64,JVBERi0="
CLAUDE: Final[JsonObject] = {"modelId": "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"}


def dump(messages: list[Message], request: Request | None = None) -> Dumped:
    write_ = get_format(NAME).dump
    assert write_ is not None
    return write_(messages, request)


def test_every_recorded_response_is_read_correctly() -> None:
    assert wrong_fields("bedrock") == {}


@each_row("path", answers("bedrock", ".request.json", ".response.json"), ids=name_of)
def test_requests_and_bodies_round_trip(path: Path) -> None:
    payload = read_payload(path)
    loaded = read(payload, get_format(NAME))
    is_body = "output" in payload or "message" in payload or "Message" in payload
    dumped = write(loaded, get_format(f"{NAME}-response" if is_body else NAME))
    assert dumped.payload == payload
    assert not [*loaded.losses, *dumped.losses]


@each_row("path", answers("bedrock", ".jsonl"), ids=name_of)
def test_streams_lose_only_padding_and_positions(path: Path) -> None:
    loaded = read(read_payload(path), get_format(NAME))
    assert {loss.severity for loss in loaded.losses} <= {"minor"}


LEFT_OUT: Final = frozenset(
    {
        # `@ai-sdk/amazon-bedrock` does not support images, results of server tools and unknown blocks.
        "bedrock-picture",
        "bedrock-server-tool",
        "bedrock-server-tool-error",
        "bedrock-unknown",
        "bedrock-reasoning-and-calls",  # it joins redacted content as text
        "bedrock-length-in-call",  # there an unfinished input is an error
    }
)


def test_chunks_equal_those_of_the_ai_sdk() -> None:
    assert differences_from_sdk("bedrock", LEFT_OUT) == {}


SAME: Final = ("parallel-calls", "reasoning-and-calls", "server-tool", "guardrail")


@each_row("name", SAME)
def test_a_stream_gives_the_message_of_its_response_body(name: str) -> None:
    stream, body = (
        read(read_payload(path), get_format(NAME)).messages[0]
        for ending in (".jsonl", ".response.json")
        for path in answers("bedrock", f"bedrock-{name}{ending}")
    )
    assert _without_raw_inputs(stream.parts) == _without_raw_inputs(body.parts)


def _without_raw_inputs(parts: object) -> list[object]:
    """Return the parts without raw inputs, which only a stream has."""
    found: list[object] = []
    for part in parts:  # type: ignore[attr-defined] # a tuple
        if isinstance(part, ToolCallPart):
            own = {
                k: v
                for k, v in (part.call_provider_metadata or {}).get("bedrock", {}).items()
                if k != "rawInput"
            }
            found.append((part.id, part.name, part.input, part.output, own, part.result_provider_metadata))
        else:
            found.append(part)
    return found


# Restrictions of the API

CALL: Final = ToolCallPart("c1", "look", "output-available", {}, output=TextOutput("seen"))


def user_message(*parts: object) -> list[Message]:
    return [UserMessage(id="u", content=list(parts))]  # type: ignore[arg-type] # any parts


CASES: Final[dict[str, tuple[list[Message], Callable[[JsonObject], Json], Json]]] = {
    "a document without text": (
        user_message(FilePart(PDF, "application/pdf", "my_file.v2.pdf")),
        lambda body: [next(iter(block)) for block in body["messages"][0]["content"]],
        ["document", "text"],
    ),
    "names of documents": (
        user_message(
            *[FilePart(PDF, "application/pdf", name) for name in ("a_b.pdf", "a b.pdf", "A-B.pdf")],
            TextPart("?"),
        ),
        lambda body: [block["document"]["name"] for block in body["messages"][0]["content"][:3]],
        ["a-b", "a b", "A-B-2"],
    ),
    "a document next to results": (
        [
            *user_message(TextPart("Look.")),
            AssistantMessage(id="a", content=[CALL]),
            UserMessage(id="v", content=[TextPart("And this?"), FilePart(PDF, "application/pdf", "x.pdf")]),
        ],
        lambda body: body["messages"][3],
        {"role": "assistant", "content": [{"text": "."}]},
    ),
    "calls without tools": (
        [*user_message(TextPart("Look.")), AssistantMessage(id="a", content=[CALL])],
        lambda body: [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]],
        ["look"],
    ),
    "text after a call": (
        [*user_message(TextPart("Look.")), AssistantMessage(id="a", content=[CALL, TextPart("I look.")])],
        lambda body: [next(iter(block)) for block in body["messages"][1]["content"]],
        ["text", "toolUse"],
    ),
    "a later system message": (
        [*user_message(TextPart("Look.")), SystemMessage(id="s", content="Be brief.")],
        lambda body: body["system"],
        [{"text": "Be brief."}],
    ),
    "five cache points": (
        user_message(
            *[
                TextPart(str(number), provider_metadata={"bedrock": {"cachePoint": {"type": "default"}}})
                for number in range(5)
            ]
        ),
        lambda body: sum("cachePoint" in block for block in body["messages"][0]["content"]),
        4,
    ),
    "an image in an assistant message": (
        [
            *user_message(TextPart("Draw.")),
            AssistantMessage(
                id="a", content=[TextPart("Here."), FilePart("data:image/png;base64,AA==", "image/png")]
            ),
            *user_message(TextPart("More.")),
        ],
        lambda body: len(body["messages"][1]["content"]),
        1,
    ),
    "a conversation that begins with the assistant": (
        [AssistantMessage(id="a", content="Hello."), *user_message(TextPart("Hi."))],
        lambda body: body["messages"][0]["role"],
        "user",
    ),
    "a long name": (
        [
            *user_message(TextPart("Look.")),
            AssistantMessage(id="a", content=[ToolCallPart("c|1", "x" * 70, "input-available", [1])]),
        ],
        lambda body: (
            len(body["messages"][1]["content"][0]["toolUse"]["name"]),
            body["messages"][1]["content"][0]["toolUse"]["input"],
        ),
        (64, {"input": [1]}),
    ),
}


@each_row(("messages", "found", "expected"), CASES.values(), ids=CASES)
def test_invalid_requests_are_repaired_and_reported(
    messages: list[Message], found: Callable[[JsonObject], Json], expected: Json
) -> None:
    dumped = dump(messages)
    assert found(dumped.payload) == expected
    assert problems("bedrock-converse", dumped.payload) == []
    assert dumped.losses


OUTPUTS: Final[dict[str, tuple[ToolOutput, JsonObject, bool]]] = {
    "an object": (JsonOutput({"a": 1}), {"content": [{"json": {"a": 1}}]}, True),
    "a list": (JsonOutput([1]), {"content": [{"text": "[1]"}]}, False),
    "an object with a refused member": (
        JsonOutput({"a": {"__type": "x"}}),
        {"content": [{"text": '{"a":{"__type":"x"}}'}]},
        False,
    ),
    "nothing": (TextOutput(""), {"content": [{"text": "."}]}, False),
    "an error": (ErrorJsonOutput({"code": 1}), {"content": [{"json": {"code": 1}}], "status": "error"}, True),
    "an image": (
        ContentOutput((TextPart("Look:"), ImagePart("data:image/png;base64,AA==", "image/png"))),
        {"content": [{"text": "Look:"}, {"image": {"format": "png", "source": {"bytes": "AA=="}}}]},
        True,
    ),
}


@each_row(("output", "written", "is_same"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_become_tool_results(output: ToolOutput, written: JsonObject, *, is_same: bool) -> None:
    call = ToolCallPart("c", "look", "output-available", {}, output=output)
    if isinstance(output, ErrorJsonOutput):
        call = ToolCallPart("c", "look", "output-error", {}, output=output)
    dumped = dump([*user_message(TextPart("?")), AssistantMessage(id="a", content=[call])])
    assert dumped.payload["messages"][2]["content"] == [{"toolResult": {"toolUseId": "c", **written}}]
    assert any(".output" in loss.path for loss in dumped.losses) is not is_same


def test_unsigned_reasoning_is_sent_to_all_models_except_claude() -> None:
    thought = ReasoningPart("Hm.", provider_metadata={"bedrock": {"unsigned": True}})
    messages = [
        *user_message(TextPart("?")),
        AssistantMessage(id="a", content=[thought, TextPart("Yes.")]),
        *user_message(TextPart("!")),
    ]
    assert (
        len(
            dump(messages, Request(settings={"modelId": "openai.gpt-oss-120b-1:0"})).payload["messages"][1][
                "content"
            ]
        )
        == 2
    )
    claude = dump(messages, Request(settings=CLAUDE))
    assert claude.payload["messages"][1]["content"] == [{"text": "Yes."}]
    assert any(loss.why == SIGNED for loss in claude.losses)


def test_a_request_has_its_tools_and_settings() -> None:
    spec = ToolSpec("look.up", "Look.", {"properties": {"a": {}}})
    dumped = dump(
        user_message(TextPart("?")), Request((spec,), {**CLAUDE, "toolConfig": {"toolChoice": {"any": {}}}})
    )
    assert dumped.payload["modelId"] == CLAUDE["modelId"]
    config = dumped.payload["toolConfig"]
    assert config["toolChoice"] == {"any": {}}
    assert config["tools"][0]["toolSpec"]["inputSchema"] == {
        "json": {"type": "object", "properties": {"a": {}}}
    }
    assert [loss.path for loss in dumped.losses if loss.severity == "repaired"] == ["$.tools[0].name"]


def test_a_request_without_messages_is_refused() -> None:
    with pytest.raises(ConversionError, match="no message to send"):
        dump([], Request(settings=CLAUDE))


def test_steps_become_one_message() -> None:
    path = answers("bedrock", "bedrock-parallel-calls.request.json")[0]
    messages = read(read_payload(path), get_format(NAME)).messages
    assert [message.role for message in messages] == ["user", "assistant", "user"]
    assert sum(isinstance(part, StepStartPart) for part in messages[1].parts) == 1


def test_redacted_content_is_joined_as_bytes() -> None:
    pieces = [b64encode(one).decode() for one in (b"\xff", b"\x00\x01")]
    events: list[Json] = [
        {
            "contentBlockDelta": {
                "contentBlockIndex": 0,
                "delta": {"reasoningContent": {"redactedContent": one}},
            }
        }
        for one in pieces
    ]
    (message,) = fold_events(_decoder(), events).messages
    assert isinstance(message.parts[1], ReasoningPart)
    assert message.parts[1].provider_metadata == {
        "bedrock": {"redactedContent": b64encode(b"\xff\x00\x01").decode()}
    }


def _decoder() -> Decoder:
    decoder = get_format(NAME).decoder
    assert decoder is not None
    return decoder()


def test_cache_points_of_ai_sdk_messages_are_kept() -> None:
    point: JsonObject = {"bedrock": {"cachePoint": {"type": "default"}}}
    model = [
        {"role": "system", "content": "Be brief.", "providerOptions": point},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}], "providerOptions": point},
    ]
    body = convert(model, "ai-sdk-model-v7", NAME).payload
    assert body["system"][-1] == {"cachePoint": {"type": "default"}}
    assert body["messages"][0]["content"][-1] == {"cachePoint": {"type": "default"}}
