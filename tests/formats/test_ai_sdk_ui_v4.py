"""UI messages of AI SDK 4 ↔ canonical messages."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.errors import ConversionError, PartitaError
from partita.formats.ai_sdk.ui import format as ui_dump
from partita.formats.ai_sdk.ui_v4.format import FORMAT, dump
from partita.formats.core.files import guess_media_type
from partita.formats.core.metadata import add_notes
from partita.formats.core.wire import digest
from partita.formats.format import Loaded
from partita.types.codec import read_message, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    Approval,
    ContentOutput,
    CustomPart,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolResultPart,
    UnknownPart,
)
from partita.types.usage import Usage
from partita.types.value import Extra
from tests import canonical, strategies
from tests.leaves import changes
from tests.tables import each_row

PNG = "data:image/png;base64,iVBO"


def load(payload: Json) -> Loaded:
    assert FORMAT.load is not None
    return FORMAT.load(payload)


def text(content: str) -> JsonObject:
    return {"type": "text", "text": content}


def invocation(step: Json = 0, state: str = "result", **members: Json) -> JsonObject:
    call = {"state": state, "step": step, "toolCallId": "c", "toolName": "w", "args": {"a": 1}, **members}
    return {"type": "tool-invocation", "toolInvocation": call}


def reasoning(*details: JsonObject) -> JsonObject:
    words = "".join(detail.get("text", "") for detail in details)
    return {"type": "reasoning", "reasoning": words, "details": list(details)}


def signed_reasoning(words: str, **metadata: str) -> ReasoningPart:
    return ReasoningPart(words, provider_metadata={"anthropic": metadata})


def with_notes(value: Any, **notes: Json) -> Any:
    """Return a part or a content with notes about its original spelling."""
    return replace(value, provider_metadata=add_notes(value.provider_metadata, "ai-sdk-ui-v4", notes))


def respelled(name: str, written: Json, read: Json) -> JsonObject:
    return {"respelled": {name: [digest(written), read]}}


# --- parts that round-trip -------------------------------------------------------------------------------

PARTS: dict[str, tuple[list[Json], list[AssistantPart]]] = {  # pyrefly: ignore[bad-assignment]
    "text": ([text("hi")], [TextPart("hi")]),
    "step-start": ([{"type": "step-start"}], [StepStartPart()]),
    "reasoning": ([reasoning(text("hm"))], [ReasoningPart("hm")]),
    "signatures and redacted data": (
        [reasoning(text("a") | {"signature": "s=="}, {"type": "redacted", "data": "r/+="}, text("b"))],
        [
            signed_reasoning("a", signature="s=="),
            signed_reasoning("", redactedData="r/+="),
            ReasoningPart("b"),
        ],
    ),
    "adjacent reasoning parts": (
        [reasoning(text("a")), reasoning(text("b"), text("c"))],
        [ReasoningPart("a"), with_notes(ReasoningPart("b"), reasoning={}), ReasoningPart("c")],
    ),
    "a reasoning text that differs from its details": (
        [{"type": "reasoning", "reasoning": "abc", "details": [text("a")]}],
        [with_notes(ReasoningPart("a"), reasoning=respelled("reasoning", "a", "abc"))],
    ),
    "a call whose input is streaming": (
        [invocation(state="partial-call")],
        [ToolCallPart("c", "w", "input-streaming", {"a": 1})],
    ),
    "a call": ([invocation(state="call")], [ToolCallPart("c", "w", "input-available", {"a": 1})]),
    "a result": (
        [invocation(result=None)],
        [ToolCallPart("c", "w", "output-available", {"a": 1}, output=JsonOutput(None))],
    ),
    "a text result": (
        [invocation(result="ok")],
        [ToolCallPart("c", "w", "output-available", {"a": 1}, output=TextOutput("ok"))],
    ),
    "a null result": (
        [invocation()],
        [ToolCallPart("c", "w", "output-available", {"a": 1})],
    ),
    "step starts": (
        [{"type": "step-start"}, invocation(0, "call"), {"type": "step-start"}, invocation(1, "call")],
        [
            StepStartPart(),
            ToolCallPart("c", "w", "input-available", {"a": 1}),
            StepStartPart(),
            ToolCallPart("c", "w", "input-available", {"a": 1}),
        ],
    ),
    "a step number that differs from the step starts": (
        [{"type": "step-start"}, invocation(7, "call")],
        [
            StepStartPart(),
            with_notes(ToolCallPart("c", "w", "input-available", {"a": 1}), toolInvocation={"step": 7}),
        ],
    ),
    "source": (
        [
            {
                "type": "source",
                "source": {
                    "sourceType": "url",
                    "id": "s",
                    "url": "https://x.test/",
                    "title": "X",
                    "providerMetadata": {"p": {"q": 1}},
                },
            }
        ],
        [SourceUrlPart("s", "https://x.test/", "X", provider_metadata={"p": {"q": 1}})],
    ),
    "file": ([{"type": "file", "mimeType": "image/png", "data": "iVBO"}], [FilePart(PNG, "image/png")]),
    "a file with a URL": (
        [{"type": "file", "mimeType": "image/png", "data": "https://x.test/a.png"}],
        [with_notes(FilePart("https://x.test/a.png", "image/png"), data="url", place="parts")],
    ),
    "unknown members": (
        [text("hi") | {"mood": 1, "state": 2}, invocation(0, "call", mood=3) | {"mood": 4}],
        [
            with_notes(TextPart("hi"), mood=1, state=2),
            with_notes(
                ToolCallPart("c", "w", "input-available", {"a": 1}), mood=4, toolInvocation={"mood": 3}
            ),
        ],
    ),
    "unknown members of a reasoning": (
        [reasoning(text("a") | {"mood": 1}) | {"mood": 2}],
        [with_notes(ReasoningPart("a"), mood=1, reasoning={"mood": 2})],
    ),
    "a state of a later version": (
        [invocation(0, "failed")],
        [
            with_notes(
                ToolCallPart("c", "w", "input-available", {"a": 1}),
                toolInvocation=respelled("state", "call", "failed"),
            )
        ],
    ),
    "a signature that is not a string": (
        [reasoning(text("a") | {"signature": 5})],
        [with_notes(ReasoningPart("a"), signature=5)],
    ),
    "a title that is not a string": (
        [{"type": "source", "source": {"sourceType": "url", "id": "s", "url": "x", "title": 5}}],
        [with_notes(SourceUrlPart("s", "x"), source={"title": 5})],
    ),
    "null for a title": (
        [{"type": "source", "source": {"sourceType": "url", "id": "s", "url": "x", "title": None}}],
        [with_notes(SourceUrlPart("s", "x"), source={"title": None})],
    ),
    "unknown types": ([{"type": "hologram"}], [UnknownPart(Extra({"type": "hologram"}))]),
    "values that are not parts": ([5], [ForeignPart("ai-sdk-ui-v4", 5)]),
    **{
        f"a broken part: {raw}": ([raw], [ForeignPart("ai-sdk-ui-v4", raw)])
        for raw in (
            text("x") | {"text": 5},
            {"type": "tool-invocation", "toolInvocation": {"state": "call", "toolName": "w"}},
            {"type": "reasoning", "reasoning": "a", "details": [text("a"), {"type": "x"}]},
            {"type": "reasoning", "reasoning": "a", "details": 5},
            {"type": "source", "source": {"sourceType": "document", "id": "s", "url": "x"}},
            {"type": "file", "mimeType": "image/png", "url": "x"},
        )
    },
}


def message_of(role: str, parts: Sequence[Json], **members: Json) -> JsonObject:
    """Return a message as version 4 stores it, with the members that repeat its parts."""
    objects = [part for part in parts if is_object(part)]
    calls = [part["toolInvocation"] for part in objects if part.get("type") == "tool-invocation"]
    thoughts = [part["reasoning"] for part in objects if part.get("type") == "reasoning" and _has_text(part)]
    words = [str(part["text"]) for part in objects if part.get("type") == "text"]
    return {
        "id": "m",
        "role": role,
        "content": "".join(words),
        "parts": list(parts),
        **({"toolInvocations": calls} if calls else {}),
        **({"reasoning": "".join(thoughts)} if thoughts else {}),
        **members,
    }


def _has_text(part: JsonObject) -> bool:
    details = part["details"]
    return not is_array(details) or any(detail["type"] != "redacted" for detail in details)


@each_row(("raw", "parts"), PARTS.values(), ids=PARTS)
def test_a_part_is_read_and_written_back(raw: list[Json], parts: list[AssistantPart]) -> None:
    payload = [message_of("assistant", raw)]
    loaded = load(payload)
    assert loaded.lossless
    assert loaded.messages[0].parts == tuple(parts)
    dumped = dump(loaded.messages)
    assert dumped.lossless
    assert dumped.payload == payload


@each_row("raw", [invocation(), reasoning(text("a")), {"type": "step-start"}], ids=str)
def test_a_part_that_does_not_fit_its_role_is_kept(raw: JsonObject) -> None:
    payload = [message_of("user", [raw])]
    loaded = load(payload)
    assert loaded.messages[0].parts == (ForeignPart("ai-sdk-ui-v4", raw),)
    assert dump(loaded.messages).payload == payload


@each_row("step", [0, 1, False, "0"])
def test_a_step_number_is_kept_if_it_differs_from_the_step(step: Json) -> None:
    payload = [message_of("assistant", [{"type": "step-start"}, invocation(step)])]
    loaded = load(payload)
    part = loaded.messages[0].parts[1]
    assert isinstance(part, ToolCallPart)
    assert (part.provider_metadata is None) == (step == 0 and step is not False)
    assert canonical_json(dump(loaded.messages).payload) == canonical_json(payload)


# --- messages that round-trip ----------------------------------------------------------------------------

MESSAGES: dict[str, tuple[JsonObject, Message]] = {
    "attachments follow the text": (
        message_of(
            "user",
            [text("look")],
            experimental_attachments=[
                {"name": "a.png", "contentType": "image/png", "url": PNG},
                {"contentType": "text/csv", "url": "https://x.test/b"},
            ],
        ),
        UserMessage(
            id="m",
            content=UserContent(
                content="look",
                parts=(
                    TextPart("look"),
                    FilePart(PNG, "image/png", "a.png"),
                    FilePart("https://x.test/b", "text/csv"),
                ),
            ),
        ),
    ),
    "an attachment of an assistant message": (
        message_of("assistant", [], experimental_attachments=[{"contentType": "image/png", "url": PNG}]),
        AssistantMessage(
            id="m",
            content=AssistantContent(
                content="",
                parts=(with_notes(FilePart(PNG, "image/png"), place="attachments"),),
            ),
        ),
    ),
    "a broken attachment": (
        message_of("user", [], experimental_attachments=[{"url": 5}]),
        UserMessage(
            id="m",
            content=UserContent(content="", parts=(ForeignPart("ai-sdk-ui-v4-attachment", {"url": 5}),)),
        ),
    ),
    "no attachments": (
        message_of("user", [], experimental_attachments=[]),
        UserMessage(
            id="m",
            content=with_notes(UserContent(content="", parts=()), experimental_attachments=[]),
        ),
    ),
    "a time": (
        message_of("system", [], createdAt="2025-03-01T12:30:00.250Z"),
        SystemMessage(
            id="m",
            content=SystemContent(content="", parts=()),
            created_at=datetime(2025, 3, 1, 12, 30, 0, 250_000, UTC),
        ),
    ),
    "a time in another time zone": (
        message_of("system", [], createdAt="2025-03-01T12:30:00+02:00"),
        SystemMessage(
            id="m",
            content=with_notes(
                SystemContent(content="", parts=()),
                **respelled("createdAt", "2025-03-01T10:30:00.000Z", "2025-03-01T12:30:00+02:00"),
            ),
            created_at=datetime(2025, 3, 1, 10, 30, tzinfo=UTC),
        ),
    ),
    "a time without a time zone": (
        message_of("system", [], createdAt="2025-03-01T12:30:00"),
        SystemMessage(
            id="m",
            content=with_notes(SystemContent(content="", parts=()), createdAt="2025-03-01T12:30:00"),
        ),
    ),
    "annotations": (
        message_of("assistant", [], annotations=[1, {"a": None}]),
        AssistantMessage(
            id="m", content=AssistantContent(content="", parts=(), metadata={"annotations": [1, {"a": None}]})
        ),
    ),
    "a data message": (
        message_of("data", [text("t")], data={"a": 1}),
        AssistantMessage(
            id="m",
            content=with_notes(
                AssistantContent(content="t", parts=(TextPart("t"), DataPart("data", {"a": 1}))),
                **respelled("role", "assistant", "data"),
            ),
        ),
    ),
    "a text that differs from the parts": (
        message_of("user", [text("a")], content="b"),
        UserMessage(id="m", content=UserContent(content="b", parts=(TextPart("a"),))),
    ),
    "repeated members that differ from the parts": (
        message_of("assistant", [reasoning(text("a"))], reasoning="b", toolInvocations=[]),
        AssistantMessage(
            id="m",
            content=with_notes(
                AssistantContent(content="", parts=(ReasoningPart("a"),)),
                toolInvocations=[],
                **respelled("reasoning", "a", "b"),
            ),
        ),
    ),
    "a repeated call with another step number": (
        message_of(
            "assistant",
            [invocation(0, "call")],
            toolInvocations=[invocation(False, "call")["toolInvocation"]],
        ),
        AssistantMessage(
            id="m",
            content=with_notes(
                AssistantContent(content="", parts=(ToolCallPart("c", "w", "input-available", {"a": 1}),)),
                **respelled(
                    "toolInvocations",
                    [invocation(0, "call")["toolInvocation"]],
                    [invocation(False, "call")["toolInvocation"]],
                ),
            ),
        ),
    ),
    "unknown members": (
        message_of("user", [], threadId="t", mood=1, data=2),
        UserMessage(
            id="m",
            content=UserContent(content="", parts=()),
            extra=Extra({"foreign:threadId": "t", "mood": 1, "data": 2}),
        ),
    ),
}


@each_row(("raw", "message"), MESSAGES.values(), ids=MESSAGES)
def test_a_message_is_read_and_written_back(raw: JsonObject, message: Message) -> None:
    loaded = load(raw)
    assert loaded.lossless
    assert loaded.messages == (message,)
    dumped = dump(loaded.messages)
    assert dumped.lossless
    assert canonical_json(dumped.payload) == canonical_json([raw])


def canonical_json(value: Json) -> str:
    """Return JSON for comparison; in Python `1 == True`."""
    return json.dumps(value, sort_keys=True)


# --- messages with missing members -----------------------------------------------------------------------

CALL = ToolCallPart("c", "w", "input-available", {"a": 1})

FILLED: dict[str, tuple[JsonObject, tuple[object, ...]]] = {
    "only text": ({"role": "user", "content": "hi"}, (TextPart("hi"),)),
    "no text": ({"role": "assistant", "content": ""}, ()),
    "calls, then reasoning, then text": (
        {
            "role": "assistant",
            "content": "hi",
            "reasoning": "hm",
            "toolInvocations": [invocation(0, "call")["toolInvocation"]],
        },
        (CALL, StepStartPart(), ReasoningPart("hm"), TextPart("hi")),
    ),
    "parts take precedence over content": (
        {"role": "user", "content": "a", "parts": [text("b")]},
        (TextPart("b"),),
    ),
    "an empty list of parts": ({"role": "user", "content": "a", "parts": []}, ()),
    "null for parts": ({"role": "user", "content": "a", "parts": None}, (TextPart("a"),)),
    "steps from step numbers": (
        {
            "role": "assistant",
            "content": "",
            "parts": [text("a"), invocation(0, "call"), invocation(1, "call"), text("b")],
        },
        (TextPart("a"), CALL, StepStartPart(), CALL, StepStartPart(), TextPart("b")),
    ),
    "text before the call of a later step": (
        {"role": "assistant", "content": "", "parts": [text("a"), invocation(1, "call")]},
        (TextPart("a"), StepStartPart(), CALL),
    ),
    "text between the calls of one step": (
        {
            "role": "assistant",
            "content": "",
            "parts": [invocation(0, "call"), text("a"), invocation(1, "call")],
        },
        (CALL, StepStartPart(), TextPart("a"), CALL),
    ),
    "stored step starts": (
        {
            "role": "assistant",
            "content": "",
            "parts": [{"type": "step-start"}, invocation(0, "call"), text("a")],
        },
        (StepStartPart(), CALL, TextPart("a")),
    ),
    "a reasoning without details": (
        {"role": "assistant", "content": "", "parts": [{"type": "reasoning", "reasoning": "a"}]},
        (ReasoningPart("a"),),
    ),
    "the guessed media type of an attachment": (
        {"role": "user", "content": "", "experimental_attachments": [{"url": "https://x.test/a.PDF?b.png"}]},
        (
            with_notes(
                FilePart("https://x.test/a.PDF?b.png", "application/pdf"),
                respelled={"contentType": [digest("application/pdf")]},
            ),
        ),
    ),
}


@each_row(("raw", "parts"), FILLED.values(), ids=FILLED)
def test_missing_members_are_filled_as_by_version_4(raw: JsonObject, parts: tuple[object, ...]) -> None:
    message = load(raw).messages[0]
    assert message.parts == parts
    assert message.content.content == raw["content"]
    again = dump([message]).payload
    assert load(again).messages == (message,)
    assert again[0]["content"] == raw["content"]


GUESSES: dict[str, tuple[str, str | None, str]] = {
    "the media type of a data URL": ("data:text/csv;base64,YQ==", "a.png", "text/csv"),
    "a data URL without parameters": ("data:image/gif,a", None, "image/gif"),
    "the name of a data URL without a media type": ("data:;base64,YQ==", "a.png", "image/png"),
    "the extension of a URL": ("https://x.test/a.jpg#b", "c.pdf", "image/jpeg"),
    "the extension of a name": ("https://x.test/a", "c.MD", "text/markdown"),
    "nothing": ("https://x.test/a", None, "application/octet-stream"),
}


@each_row(("url", "name", "expected"), GUESSES.values(), ids=GUESSES)
def test_a_media_type_is_guessed(url: str, name: str | None, expected: str) -> None:
    assert guess_media_type(url, name) == expected


def test_missing_ids_are_numbered() -> None:
    messages = load([{"role": "user", "content": "a"}, {"id": None, "role": "user", "content": "b"}]).messages
    assert [message.id for message in messages] == ["message-1", "message-2"]


UNUSUAL: dict[str, JsonObject] = {
    "a revision": message_of("user", [], revisionId="r"),
    "null": message_of("user", [], createdAt=None),
    "empty details": message_of(
        "assistant", [{"type": "reasoning", "reasoning": "a", "details": []}], reasoning="a"
    ),
    "null for a signature": message_of("assistant", [reasoning(text("a") | {"signature": None})]),
    "an empty media type": message_of("user", [], experimental_attachments=[{"url": PNG, "contentType": ""}]),
}


@each_row("raw", UNUSUAL.values(), ids=UNUSUAL)
def test_members_without_meaning_round_trip(raw: JsonObject) -> None:
    loaded = load(raw)
    assert loaded.lossless
    assert canonical_json(dump(loaded.messages).payload) == canonical_json([raw])


BROKEN: dict[str, tuple[Json, str]] = {
    "not an object": ([5], "$[0]"),
    "no role": ([{"content": ""}], "$[0].role"),
    "an unknown role": ([{"role": "tool", "content": ""}], "$[0].role"),
    "a number for an id": ({"id": 5, "role": "user"}, "$.id"),
    "a model message": ({"role": "user", "content": [text("a")]}, "$.content"),
    "parts that are not a list": ({"role": "user", "content": "", "parts": {}}, "$.parts"),
}


@each_row(("payload", "where"), BROKEN.values(), ids=BROKEN)
def test_a_broken_message_is_refused_with_its_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where
    assert raised.value.hint


# --- values that version 4 cannot represent --------------------------------------------------------------

DENIED = "Tool call execution denied."

RESULTS: dict[str, tuple[ToolCallPart, JsonObject, list[str]]] = {
    "a text error": (
        ToolCallPart("c", "w", "output-error", 1, output=ErrorTextOutput("no")),
        {"state": "result", "result": "no"},
        ["state", "output"],
    ),
    "a JSON error": (
        ToolCallPart("c", "w", "output-error", 1, output=ErrorJsonOutput({"code": 5})),
        {"state": "result", "result": {"code": 5}},
        ["state", "output"],
    ),
    "an error without an output": (
        ToolCallPart("c", "w", "output-error", 1),
        {"state": "result", "result": "Tool call failed."},
        ["state"],
    ),
    "a denial with its reason": (
        ToolCallPart("c", "w", "output-denied", 1, output=ExecutionDeniedOutput("not now")),
        {"state": "result", "result": "not now"},
        ["state", "output"],
    ),
    "a denial by its approval": (
        ToolCallPart("c", "w", "output-denied", 1, approval=Approval("a", False, "too dear")),
        {"state": "result", "result": "too dear"},
        ["approval"],
    ),
    "a denial without a reason": (
        ToolCallPart("c", "w", "output-denied", 1),
        {"state": "result", "result": DENIED},
        ["state"],
    ),
    "an approval request": (
        ToolCallPart("c", "w", "approval-requested", 1, approval=Approval("a")),
        {"state": "call"},
        ["approval"],
    ),
    "an interruption": (
        ToolCallPart("c", "w", "output-error", 1, output=InterruptedOutput("timeout")),
        {"state": "result", "result": "The tool call was interrupted: it took too long."},
        ["state", "output"],
    ),
    "content": (
        ToolCallPart("c", "w", "output-available", 1, output=ContentOutput((TextPart("x"),))),
        {"state": "result", "result": {"type": "content", "value": [text("x")]}},
        ["output"],
    ),
    "a JSON string": (
        ToolCallPart("c", "w", "output-available", 1, output=JsonOutput("x")),
        {"state": "result", "result": "x"},
        ["output"],
    ),
    "metadata of an output": (
        ToolCallPart("c", "w", "output-available", 1, output=TextOutput("x", provider_metadata={"p": {}})),
        {"state": "result", "result": "x"},
        ["output.providerMetadata"],
    ),
    "title, dynamic and children": (
        ToolCallPart(
            "c",
            "w",
            "input-available",
            1,
            title="W",
            dynamic=True,
            children=(UserMessage(id="u", content="go"),),
        ),
        {"state": "call"},
        ["title", "dynamic", "children"],
    ),
}


@each_row(("part", "members", "lost"), RESULTS.values(), ids=RESULTS)
def test_unsupported_calls_become_a_call_or_a_result(
    part: ToolCallPart, members: JsonObject, lost: list[str]
) -> None:
    dumped = dump([AssistantMessage(id="m", content=[part])])
    call = {"step": 0, "toolCallId": "c", "toolName": "w", "args": 1, **members}
    assert dumped.payload[0]["parts"] == [{"type": "tool-invocation", "toolInvocation": call}]
    assert dumped.payload[0]["toolInvocations"] == [call]
    assert [loss.path.removeprefix("$[0].content.parts[0].") for loss in dumped.losses] == lost


DOCUMENT = SourceDocumentPart("s", "text/plain", "T")

ELSEWHERE: dict[str, tuple[Message, JsonObject, list[str]]] = {
    "data": (
        AssistantMessage(id="m", content=[DataPart("w", 1, "d"), TextPart("a")]),
        {"annotations": [{"type": "data-w", "id": "d", "data": 1}], "parts": [text("a")]},
        ["parts[0].type"],
    ),
    "parts of later versions": (
        AssistantMessage(id="m", content=[DOCUMENT, CustomPart("p.k")]),
        {
            "annotations": [
                {"type": "source-document", "sourceId": "s", "mediaType": "text/plain", "title": "T"},
                {"type": "custom", "kind": "p.k"},
            ]
        },
        ["parts[0].type", "parts[1].type"],
    ),
    "existing annotations come first": (
        AssistantMessage(
            id="m", content=AssistantContent(parts=(DataPart("w", 1),), metadata={"annotations": [0], "b": 1})
        ),
        {"annotations": [0, {"type": "data-w", "data": 1}]},
        ["parts[0].type", "metadata.b"],
    ),
    "a file before the text": (
        UserMessage(id="m", content=[FilePart("https://x.test/a", "image/png", "a"), TextPart("t")]),
        {
            "experimental_attachments": [
                {"name": "a", "contentType": "image/png", "url": "https://x.test/a"}
            ],
            "parts": [text("t")],
        },
        ["parts[0]"],
    ),
    "a file with a URL": (
        AssistantMessage(id="m", content=[FilePart("https://x.test/a", "image/png")]),
        {"experimental_attachments": [{"contentType": "image/png", "url": "https://x.test/a"}], "parts": []},
        [],
    ),
    "the name of a file": (
        AssistantMessage(id="m", content=[FilePart(PNG, "image/png", "a.png")]),
        {"parts": [{"type": "file", "mimeType": "image/png", "data": "iVBO"}]},
        ["parts[0].filename"],
    ),
    "images and the files of reasoning": (
        AssistantMessage(
            id="m", content=[ImagePart("https://x.test/a"), ReasoningFilePart(PNG, "image/png")]
        ),
        {
            "experimental_attachments": [{"contentType": "image/*", "url": "https://x.test/a"}],
            "parts": [{"type": "file", "mimeType": "image/png", "data": "iVBO"}],
        },
        ["parts[0]", "parts[0].type", "parts[1].type"],
    ),
    "parts of other formats": (
        AssistantMessage(id="m", content=[ForeignPart("other", {"a": 1})]),
        {"parts": []},
        ["parts[0]"],
    ),
    "unknown parts": (
        AssistantMessage(id="m", content=[UnknownPart(Extra({"type": "hologram", "x": 1}))]),
        {"parts": [{"type": "hologram", "x": 1}]},
        [],
    ),
    "other metadata of a reasoning": (
        AssistantMessage(
            id="m",
            content=[
                ReasoningPart("a", provider_metadata={"anthropic": {"signature": "s", "x": 1}, "openai": {}})
            ],
        ),
        {"parts": [reasoning(text("a") | {"signature": "s"})], "reasoning": "a"},
        ["parts[0].providerMetadata.anthropic.x", "parts[0].providerMetadata.openai"],
    ),
    "members of the message": (
        AssistantMessage(
            id="m",
            content=AssistantContent(parts=(), usage=Usage(1)),
            thread_id="t",
            created_at=datetime(2025, 1, 1, 0, 0, 0, 1, UTC),
            type="event",
        ),
        {"createdAt": "2025-01-01T00:00:00.000001Z"},
        ["threadId", "type", "usage"],
    ),
    "metadata that is not an object": (
        AssistantMessage(id="m", content=AssistantContent(parts=(), metadata=5)),
        {},
        ["metadata"],
    ),
}


@each_row(("message", "members", "lost"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_unsupported_parts_are_moved_and_reported(
    message: Message, members: JsonObject, lost: list[str]
) -> None:
    dumped = dump([message])
    empty: JsonObject = {"id": "m", "role": dumped.payload[0]["role"], "parts": []}
    content = "".join(part["text"] for part in members.get("parts", ()) if part["type"] == "text")
    assert dumped.payload == [{**empty, "content": content, **members}]
    kept_parts = [loss.path.removeprefix("$[0].").removeprefix("content.") for loss in dumped.losses]
    assert kept_parts == lost


def test_separate_results_are_merged_into_their_calls_or_reported() -> None:
    call = AssistantMessage(id="a", content=[ToolCallPart("c", "w", "input-available", {"a": 1})])
    results = ToolMessage(
        id="t",
        content=[ToolResultPart("c", "w", TextOutput("ok")), ToolResultPart("gone", "w", TextOutput("?"))],
    )
    dumped = dump([call, results])
    assert dumped.payload[0]["parts"] == [invocation(result="ok")]
    assert [loss.path for loss in dumped.losses] == ["$[1]", "$[0].content.parts[0].resultMessage"]


def test_reasoning_and_files_of_version_4_are_converted_to_version_7() -> None:
    raw = message_of(
        "assistant",
        [reasoning(text("a") | {"signature": "s"}), {"type": "file", "mimeType": "x/y", "data": "AA"}],
    )
    assert ui_dump.dump(load(raw).messages).payload[0]["parts"] == [
        {"type": "reasoning", "text": "a", "providerMetadata": {"anthropic": {"signature": "s"}}},
        {"type": "file", "mediaType": "x/y", "url": "data:x/y;base64,AA"},
    ]


# --- properties ------------------------------------------------------------------------------------------

TIMES = st.sampled_from(
    ["2024-02-29T23:59:59.999Z", "1970-01-01T00:00:00.000Z", "2024-06-01T00:00:00", "soon"]
)
NAMES = st.sampled_from(["get_weather", "w", ""])
IDS = st.sampled_from(["i1", "i2", "é"])


@st.composite
def details(draw: st.DrawFn) -> JsonObject:
    words = draw(strategies.texts())
    return draw(
        st.sampled_from(
            [text(words), text(words) | {"signature": words}, {"type": "redacted", "data": words}]
        )
    )


@st.composite
def calls(draw: st.DrawFn, step: int) -> JsonObject:
    state = draw(st.sampled_from(["partial-call", "call", "result", "result"]))
    call = {"state": state, "step": step, "toolCallId": draw(IDS), "toolName": draw(NAMES)}
    if state != "partial-call" or draw(st.booleans()):
        call["args"] = draw(strategies.json_values())
    if state == "result":
        call["result"] = draw(strategies.json_values())
    return {"type": "tool-invocation", "toolInvocation": call}


def parts(step: int) -> st.SearchStrategy[JsonObject]:
    source = st.fixed_dictionaries(
        {"sourceType": st.just("url"), "id": IDS, "url": strategies.texts()},
        optional={"title": strategies.texts(), "providerMetadata": strategies.provider_metadata()},
    )
    return st.one_of(
        strategies.texts().map(text),
        st.lists(details(), min_size=1, max_size=3).map(lambda all_: reasoning(*all_)),
        calls(step),
        source.map(lambda value: {"type": "source", "source": value}),
        st.sampled_from(["image/png", "text/plain", ""]).map(
            lambda type_: {"type": "file", "mimeType": type_, "data": "QUJD"}
        ),
    )


@st.composite
def v4_messages(draw: st.DrawFn) -> JsonObject:
    """A message as version 4 stores it."""
    role = draw(st.sampled_from(["assistant", "assistant", "user", "system", "data"]))
    pieces: list[JsonObject] = []
    for step in range(draw(st.integers(0, 3)) if role == "assistant" else 0):
        pieces += [{"type": "step-start"}, *draw(st.lists(parts(step), max_size=3))]
    if role != "assistant":
        pieces = [text(words) for words in draw(st.lists(strategies.texts(), max_size=2))]
    attachment = st.fixed_dictionaries(
        {"url": st.sampled_from([PNG, "https://x.test/a"]), "contentType": st.just("image/png")},
        optional={"name": strategies.texts()},
    )
    members: dict[str, st.SearchStrategy[Json]] = {
        "createdAt": TIMES,
        "annotations": st.lists(strategies.json_values(), max_size=2),
        "experimental_attachments": st.lists(attachment, max_size=2),
        "data": strategies.json_values(),
    }
    optional = draw(st.fixed_dictionaries({}, optional=members))
    content_member = draw(st.fixed_dictionaries({}, optional={"content": strategies.texts()}))
    return message_of(role, pieces, **content_member, **optional)


@given(payload=st.lists(v4_messages(), max_size=3))
def test_messages_of_version_4_round_trip(payload: list[JsonObject]) -> None:
    loaded = load(payload)
    assert loaded.lossless
    dumped = dump(loaded.messages)
    assert dumped.lossless
    assert canonical_json(dumped.payload) == canonical_json(payload)


LEFT_OUT = ("id", "parts", "toolInvocations", "reasoning", "createdAt", "experimental_attachments")


@given(message=v4_messages(), left_out=st.sets(st.sampled_from(LEFT_OUT)), marked=st.booleans())
def test_present_members_stay_when_missing_ones_are_added(
    message: JsonObject, left_out: set[str], marked: bool
) -> None:
    raw = {key: value for key, value in message.items() if key not in left_out}
    if not marked and "parts" in raw:
        raw["parts"] = [part for part in raw["parts"] if part["type"] != "step-start"]
    loaded = load(raw)
    (again,) = dump(loaded.messages).payload
    assert {key: canonical_json(again[key]) for key in raw if key != "parts"} == {
        key: canonical_json(raw[key]) for key in raw if key != "parts"
    }
    if "parts" in raw:
        kept_parts = [part for part in again["parts"] if marked or part["type"] != "step-start"]
        assert canonical_json(kept_parts) == canonical_json(raw["parts"])
    assert load(again).messages == loaded.messages


@given(data=st.data())
def test_every_leaf_is_read_or_reported(data: st.DataObject) -> None:
    payload = [data.draw(v4_messages()) | data.draw(st.sampled_from([{}, {"revisionId": "r"}, {"x": 1}]))]
    _, other = data.draw(changes(payload))
    assume(canonical_json(payload) != canonical_json(other))  # a large number plus one may be the same number
    try:
        before, after = load(payload), load(other)
    except PartitaError:
        return
    assert (canonical_json(to_json(before.messages)), before.losses) != (
        canonical_json(to_json(after.messages)),
        after.losses,
    )
    dumped, changed = dump(before.messages), dump(after.messages)
    assert (canonical_json(dumped.payload), dumped.losses, before.losses) != (
        canonical_json(changed.payload),
        changed.losses,
        after.losses,
    )


@given(data=st.data())
def test_every_leaf_is_written_or_reported(data: st.DataObject) -> None:
    plain = to_json(data.draw(canonical.messages()))
    _, other = data.draw(changes(plain))
    try:
        before, after = read_message(plain), read_message(other)
    except PartitaError:
        return
    assume(before != after)
    assert dump([before]) != dump([after])


@given(messages=st.lists(canonical.messages(), max_size=3))
def test_written_messages_are_read_and_written_unchanged(messages: list[Message]) -> None:
    payload = dump(messages).payload
    loaded = load(payload)
    assume(loaded.lossless)  # an unspecific media type is guessed
    again = dump(loaded.messages)
    assert again.lossless
    assert canonical_json(without_step_starts(again.payload)) == canonical_json(without_step_starts(payload))


def without_step_starts(payload: list[JsonObject]) -> list[JsonObject]:
    """Return the messages without step starts, which loading adds where there are none."""
    return [
        {**message, "parts": [part for part in message["parts"] if part != {"type": "step-start"}]}
        for message in payload
    ]


@given(data=st.data())
def test_any_json_is_loaded_or_refused(data: st.DataObject) -> None:
    message = data.draw(v4_messages())
    name = data.draw(st.sampled_from([*message, "revisionId"]))
    payload = data.draw(
        strategies.json_values(8) | st.just({**message, name: data.draw(strategies.json_values())})
    )
    try:
        loaded = load(payload)
    except PartitaError:
        return
    assert is_array(dump(loaded.messages).payload)


def test_json_nested_too_deeply_is_refused() -> None:
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PartitaError):
        dump(load(message_of("assistant", [invocation(args=deep)])).messages)
