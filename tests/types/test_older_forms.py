"""Older JSON of canonical messages becomes current parts, in every way of reading it."""

import json
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import partita
import partita.types
from partita import (
    AssistantMessage,
    ContentOutput,
    DataPart,
    ErrorTextOutput,
    FilePart,
    ImagePart,
    JsonOutput,
    Message,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UnknownPart,
    Usage,
    UserMessage,
)
from partita.agents import MessageList
from partita.formats.mastra.notes import strip_notes
from partita.types.json import Json
from tests.leaves import changed, leaves
from tests.tables import each_row

TIME = "2026-01-02T03:04:05.000Z"
TIME_UTC = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SIGNED = {"type": "text", "text": "hm", "signature": "c2ln"}


def stored(*parts: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    """Return a message as in rows: content of format 2."""
    content = {"format": 2, "parts": list(parts)}
    return {
        "id": "m1",
        "threadId": "t1",
        "role": role,
        "type": "text",
        "content": content,
        "createdAt": TIME,
    }


def invocation(**members: Any) -> dict[str, Any]:
    return {"type": "tool-invocation", "toolCallId": "c", "toolName": "look", **members}


PARTS: dict[str, tuple[dict[str, Any], Any]] = {
    "a call": (
        invocation(args={"at": 1}, state="call"),
        ToolCallPart("c", "look", "input-available", {"at": 1}),
    ),
    "a call with its result": (
        invocation(args={"at": 1}, result={"seen": 2}, state="result"),
        ToolCallPart("c", "look", "output-available", {"at": 1}, output=JsonOutput({"seen": 2})),
    ),
    "a text result": (
        invocation(args={}, result="sky", state="result"),
        ToolCallPart("c", "look", "output-available", {}, output=TextOutput("sky")),
    ),
    "an undefined result": (
        invocation(args={}, state="result"),
        ToolCallPart("c", "look", "output-available", {}, output=JsonOutput(None)),
    ),
    "an error result": (
        invocation(args={}, result="no", state="result", isError=True),
        ToolCallPart("c", "look", "output-error", {}, output=ErrorTextOutput("no")),
    ),
    "a call whose input is streaming": (
        invocation(args={"at": 1}, state="partial-call"),
        ToolCallPart("c", "look", "input-streaming", {"at": 1}),
    ),
    "provider metadata of a call": (
        invocation(args={}, state="call", providerMetadata={"google": {"thoughtSignature": "s"}}),
        ToolCallPart(
            "c",
            "look",
            "input-available",
            {},
            call_provider_metadata={"google": {"thoughtSignature": "s"}},
        ),
    ),
    "a source": (
        {"type": "source", "id": "s", "title": "Sky", "url": "https://example.org"},
        SourceUrlPart("s", "https://example.org", "Sky"),
    ),
    "a source without an id": (
        {"type": "source", "url": "https://example.org"},
        SourceUrlPart("https://example.org", "https://example.org"),
    ),
    "a source without a url": (
        {"type": "source", "id": "s", "title": "Sky"},
        SourceDocumentPart("s", "application/octet-stream", "Sky"),
    ),
    "data": ({"type": "data", "data": {"a": 1}}, DataPart("data", {"a": 1})),
    "reasoning": ({"type": "reasoning", "reasoning": "hm"}, ReasoningPart("hm")),
    "signed reasoning": (
        {"type": "reasoning", "reasoning": "hm", "details": [SIGNED]},
        ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "c2ln"}}),
    ),
    "redacted reasoning": (
        {"type": "reasoning", "reasoning": "", "details": [{"type": "redacted", "data": "eA=="}]},
        ReasoningPart("", provider_metadata={"anthropic": {"redactedData": "eA=="}}),
    ),
    "a provider file": (
        {"type": "file", "data": "file-a1", "mimeType": "text/plain"},
        FilePart("", "text/plain", provider_reference={"openai": "file-a1"}),
    ),
    "a file in base64": (
        {"type": "file", "data": "aGk=", "mimeType": "text/plain"},
        FilePart("data:text/plain;base64,aGk=", "text/plain"),
    ),
    "a file with a URL": (
        {"type": "file", "data": "https://example.org/a.png", "mimeType": "image/png"},
        FilePart("https://example.org/a.png", "image/png"),
    ),
    "a file without a media type": (
        {"type": "file", "data": "data:text/plain;base64,aGk="},
        FilePart("data:text/plain;base64,aGk=", "text/plain"),
    ),
    "a file as bytes": (
        {"type": "file", "data": {"0": 104, "1": 105}, "mimeType": "text/plain"},
        FilePart("data:text/plain;base64,aGk=", "text/plain"),
    ),
    "a file as a buffer": (
        {"type": "file", "data": {"type": "Buffer", "data": [104, 105]}, "mimeType": "text/plain"},
        FilePart("data:text/plain;base64,aGk=", "text/plain"),
    ),
}


def decoded(message: dict[str, Any]) -> Sequence[Message]:
    return [partita.types.decode_message(json.dumps(message))]


def listed(message: dict[str, Any]) -> Sequence[Message]:
    """Return the message as read by a list that detects the format."""
    return MessageList().add([message])


def converted(message: dict[str, Any]) -> Sequence[Message]:
    result = partita.convert([message], "canonical", "canonical")
    assert result.losses == ()
    return [partita.types.read_message(raw) for raw in result.payload]


WAYS: dict[str, Callable[[dict[str, Any]], Sequence[Message]]] = {
    "decoded": decoded,
    "listed": listed,
    "converted": converted,
}


CURRENT_PARTS: list[dict[str, Any]] = [
    {"type": "image", "url": "data:image/png;base64,iVBO"},
    {"type": "image", "url": "https://tower.example/view.png", "mediaType": "image/png"},
    {"type": "file", "url": "data:text/plain;base64,aGk=", "mediaType": "text/plain"},
    {"type": "text", "text": "Hi."},
    {"type": "data", "name": "level", "data": 3},
]


@each_row(("raw", "part"), PARTS.values(), ids=PARTS)
def test_an_older_part_becomes_a_current_one(raw: dict[str, Any], part: Any) -> None:
    for name, read in WAYS.items():
        (message,) = read(stored(raw))
        (found,) = message.parts
        assert _without_notes(found) == part, name


def _without_notes(part: Any) -> Any:
    """Return a part without the notes of the format that `MessageList` detected."""
    (bare,) = strip_notes(AssistantMessage(id="m", content=(part,))).parts
    return bare


def test_reasoning_with_several_signed_details_becomes_several_parts() -> None:
    details = [SIGNED, {"type": "redacted", "data": "eA=="}, {"type": "text", "text": " so"}]
    raw = {"type": "reasoning", "reasoning": "hm so", "details": details}
    for name, read in WAYS.items():
        (message,) = read(stored(raw))
        assert [_without_notes(part) for part in message.parts] == [
            ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "c2ln"}}),
            ReasoningPart("", provider_metadata={"anthropic": {"redactedData": "eA=="}}),
            ReasoningPart(" so"),
        ], name


def test_a_result_in_a_tool_message_is_read() -> None:
    (message,) = decoded(stored(invocation(result="sky", state="result"), role="tool"))
    assert message.parts == (ToolResultPart("c", "look", TextOutput("sky")),)


def test_a_part_in_an_unknown_form_is_kept() -> None:
    for raw in (invocation(state="failed"), {"type": "source"}, {"type": "tool-invocation", "x": 1}):
        (message,) = decoded(stored(raw))
        assert isinstance(message.parts[0], UnknownPart)
        assert partita.types.to_json(message)["content"]["parts"] == [raw]


@each_row("part", CURRENT_PARTS)
def test_an_unknown_member_of_a_message_does_not_change_its_parts(part: dict[str, Any]) -> None:
    raw = {"id": "m1", "role": "user", "content": {"format": 2, "parts": [part]}}
    message, extended = (
        partita.types.decode_message(json.dumps(one).encode()) for one in (raw, {**raw, "thread_id": "t"})
    )
    assert extended.content == message.content
    assert partita.types.decode_message(partita.types.encode(extended)) == extended


def test_unknown_members_are_kept() -> None:
    raw = invocation(args={}, state="call", step=2, title=7)
    (message,) = decoded(stored(raw))
    assert partita.types.to_json(message.parts[0])["step"] == 2
    assert partita.types.to_json(message.parts[0])["foreign:title"] == 7


IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mediaType": "image/png", "name": "dot"}
RESULT = {"type": "content", "value": [{"type": "text", "text": "a"}, IMAGE]}
DATED: list[dict[str, Any]] = [
    {"id": "s", "role": "system", "content": "Be brief.", "timestamp": TIME},
    {
        "id": "u",
        "role": "user",
        "content": [
            {"type": "text", "text": "Look"},
            IMAGE,
            {"type": "file", "data": "https://example.org/a.pdf", "mediaType": "application/pdf"},
        ],
        "timestamp": TIME,
    },
    {
        "id": "a",
        "role": "assistant",
        "content": [
            {"type": "thinking", "reasoning": "hm", "tokenCount": 4},
            {"type": "tool-call", "id": "c", "name": "look", "input": {"at": 1}},
        ],
        "timestamp": TIME,
        "parentId": "u",
        "usage": {"input": 3, "output": 4},
    },
    {
        "id": "r",
        "role": "tool",
        "content": [{"type": "tool-result", "id": "c", "name": "look", "output": RESULT}],
        "timestamp": TIME,
    },
]
PICTURE = ImagePart("data:image/png;base64,iVBORw0KGgo=", "image/png", "dot")


def test_messages_with_a_timestamp_and_a_list_of_parts_are_read() -> None:
    read = MessageList().add(DATED)
    assert read == tuple(map(partita.types.read_message, DATED))
    system, user, assistant, tool = read
    assert {message.created_at for message in read} == {TIME_UTC}
    assert not any(message.extra for message in read)
    assert isinstance(system, SystemMessage)
    assert isinstance(user, UserMessage)
    assert user.parts == (
        TextPart("Look"),
        PICTURE,
        FilePart("https://example.org/a.pdf", "application/pdf"),
    )
    assert isinstance(assistant, AssistantMessage)
    assert assistant.parts == (
        ReasoningPart("hm", token_count=4),
        ToolCallPart("c", "look", "input-available", {"at": 1}),
    )
    assert assistant.content.usage == Usage(input_tokens=3, output_tokens=4)
    assert assistant.parent_id == "u"
    assert isinstance(tool, ToolMessage)
    assert tool.parts == (ToolResultPart("c", "look", ContentOutput((TextPart("a"), PICTURE))),)


def test_a_string_is_not_deprecated_content() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in DATED:
            assert MessageList().add([message]) == (partita.types.read_message(message),)


@each_row("raw", [raw for raw, _ in PARTS.values()], ids=PARTS)
def test_every_leaf_of_an_older_part_is_kept(raw: dict[str, Any]) -> None:
    payload = [stored(raw)]
    assert [path for path in leaves(payload) if outcome(changed(payload, path)) == outcome(payload)] == []


def outcome(payload: Json) -> str:
    try:
        return repr(partita.convert(payload, "canonical", "canonical").payload)
    except partita.PartitaError as error:
        return repr(error)


def test_older_parts_are_converted_without_losses() -> None:
    for source in ("canonical", "legacy"):
        assert partita.convert(DATED, source, "canonical").losses == ()


OUTPUTS: list[dict[str, Any]] = [
    {"type": "text", "value": "ok"},
    {"type": "json", "value": [1]},
    {"type": "error-text", "value": "no"},
    {"type": "error-json", "value": {"code": 1}},
    {"type": "execution-denied", "reason": "no"},
]


@each_row("output", OUTPUTS)
def test_every_kind_of_output_is_read(output: dict[str, Any]) -> None:
    raw = {**DATED[3], "content": [{"type": "tool-result", "id": "c", "name": "look", "output": output}]}
    (part,) = partita.types.read_message(raw).parts
    assert partita.types.to_json(part)["output"] == output
