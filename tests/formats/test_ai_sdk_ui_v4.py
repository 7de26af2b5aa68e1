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


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def invocation(step: Json = 0, state: str = "result", **members: Json) -> JsonObject:
    call = {"state": state, "step": step, "toolCallId": "c", "toolName": "w", "args": {"a": 1}, **members}
    return {"type": "tool-invocation", "toolInvocation": call}


def reasoning(*details: JsonObject) -> JsonObject:
    words = "".join(detail.get("text", "") for detail in details)
    return {"type": "reasoning", "reasoning": words, "details": list(details)}


def opaque(words: str, **metadata: str) -> ReasoningPart:
    return ReasoningPart(words, provider_metadata={"anthropic": metadata})


def noted(value: Any, **notes: Json) -> Any:
    """A part, or the content of a message, with notes about how it was written."""
    return replace(value, provider_metadata=add_notes(value.provider_metadata, "ai-sdk-ui-v4", notes))


def respelled(name: str, written: Json, read: Json) -> JsonObject:
    return {"respelled": {name: [digest(written), read]}}


# --- parts that come back as they were -------------------------------------------------------------------

PARTS: dict[str, tuple[list[Json], list[AssistantPart]]] = {  # pyrefly: ignore[bad-assignment]
    "text": ([text("hi")], [TextPart("hi")]),
    "step-start": ([{"type": "step-start"}], [StepStartPart()]),
    "reasoning": ([reasoning(text("hm"))], [ReasoningPart("hm")]),
    "signatures and redacted data, byte for byte": (
        [reasoning(text("a") | {"signature": "s=="}, {"type": "redacted", "data": "r/+="}, text("b"))],
        [opaque("a", signature="s=="), opaque("", redactedData="r/+="), ReasoningPart("b")],
    ),
    "reasonings side by side": (
        [reasoning(text("a")), reasoning(text("b"), text("c"))],
        [ReasoningPart("a"), noted(ReasoningPart("b"), reasoning={}), ReasoningPart("c")],
    ),
    "a reasoning that says more than its details": (
        [{"type": "reasoning", "reasoning": "abc", "details": [text("a")]}],
        [noted(ReasoningPart("a"), reasoning=respelled("reasoning", "a", "abc"))],
    ),
    "a call whose input is being written": (
        [invocation(state="partial-call")],
        [ToolCallPart("c", "w", "input-streaming", {"a": 1})],
    ),
    "a call": ([invocation(state="call")], [ToolCallPart("c", "w", "input-available", {"a": 1})]),
    "a result": (
        [invocation(result=None)],
        [ToolCallPart("c", "w", "output-available", {"a": 1}, output=JsonOutput(None))],
    ),
    "a result in words": (
        [invocation(result="ok")],
        [ToolCallPart("c", "w", "output-available", {"a": 1}, output=TextOutput("ok"))],
    ),
    "a tool that gave back nothing": (
        [invocation()],
        [ToolCallPart("c", "w", "output-available", {"a": 1})],
    ),
    "steps by their boundaries": (
        [{"type": "step-start"}, invocation(0, "call"), {"type": "step-start"}, invocation(1, "call")],
        [
            StepStartPart(),
            ToolCallPart("c", "w", "input-available", {"a": 1}),
            StepStartPart(),
            ToolCallPart("c", "w", "input-available", {"a": 1}),
        ],
    ),
    "a step number that the boundaries do not give": (
        [{"type": "step-start"}, invocation(7, "call")],
        [
            StepStartPart(),
            noted(ToolCallPart("c", "w", "input-available", {"a": 1}), toolInvocation={"step": 7}),
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
    "a file with an address": (
        [{"type": "file", "mimeType": "image/png", "data": "https://x.test/a.png"}],
        [noted(FilePart("https://x.test/a.png", "image/png"), data="url", place="parts")],
    ),
    "unknown members": (
        [text("hi") | {"mood": 1, "state": 2}, invocation(0, "call", mood=3) | {"mood": 4}],
        [
            noted(TextPart("hi"), mood=1, state=2),
            noted(ToolCallPart("c", "w", "input-available", {"a": 1}), mood=4, toolInvocation={"mood": 3}),
        ],
    ),
    "unknown members of a reasoning": (
        [reasoning(text("a") | {"mood": 1}) | {"mood": 2}],
        [noted(ReasoningPart("a"), mood=1, reasoning={"mood": 2})],
    ),
    "a state of another version": (
        [invocation(0, "failed")],
        [
            noted(
                ToolCallPart("c", "w", "input-available", {"a": 1}),
                toolInvocation=respelled("state", "call", "failed"),
            )
        ],
    ),
    "a signature that is none": (
        [reasoning(text("a") | {"signature": 5})],
        [noted(ReasoningPart("a"), signature=5)],
    ),
    "a title that is none": (
        [{"type": "source", "source": {"sourceType": "url", "id": "s", "url": "x", "title": 5}}],
        [noted(SourceUrlPart("s", "x"), source={"title": 5})],
    ),
    "null for a title": (
        [{"type": "source", "source": {"sourceType": "url", "id": "s", "url": "x", "title": None}}],
        [noted(SourceUrlPart("s", "x"), source={"title": None})],
    ),
    "unknown types": ([{"type": "hologram"}], [UnknownPart(Extra({"type": "hologram"}))]),
    "what is no part": ([5], [ForeignPart("ai-sdk-ui-v4", 5)]),
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


def whole(role: str, parts: Sequence[Json], **members: Json) -> JsonObject:
    """A message as version 4 leaves it, with what it repeats of its parts."""
    objects = [part for part in parts if is_object(part)]
    calls = [part["toolInvocation"] for part in objects if part.get("type") == "tool-invocation"]
    thoughts = [part["reasoning"] for part in objects if part.get("type") == "reasoning" and _has_words(part)]
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


def _has_words(part: JsonObject) -> bool:
    details = part["details"]
    return not is_array(details) or any(detail["type"] != "redacted" for detail in details)


@each_row(("raw", "parts"), PARTS.values(), ids=PARTS)
def test_a_part_is_read_and_written_back(raw: list[Json], parts: list[AssistantPart]) -> None:
    payload = [whole("assistant", raw)]
    loaded = load(payload)
    assert loaded.lossless
    assert loaded.messages[0].parts == tuple(parts)
    dumped = dump(loaded.messages)
    assert dumped.lossless
    assert dumped.payload == payload


@each_row("raw", [invocation(), reasoning(text("a")), {"type": "step-start"}], ids=str)
def test_a_part_that_a_role_may_not_hold_is_kept_whole(raw: JsonObject) -> None:
    payload = [whole("user", [raw])]
    loaded = load(payload)
    assert loaded.messages[0].parts == (ForeignPart("ai-sdk-ui-v4", raw),)
    assert dump(loaded.messages).payload == payload


@each_row("step", [0, 1, False, "0"])
def test_a_step_number_is_kept_if_it_is_not_that_of_the_step(step: Json) -> None:
    payload = [whole("assistant", [{"type": "step-start"}, invocation(step)])]
    loaded = load(payload)
    part = loaded.messages[0].parts[1]
    assert isinstance(part, ToolCallPart)
    assert (part.provider_metadata is None) == (step == 0 and step is not False)
    assert spelt(dump(loaded.messages).payload) == spelt(payload)


# --- messages that come back as they were ----------------------------------------------------------------

BACK: dict[str, tuple[JsonObject, Message]] = {
    "attachments stand behind the text": (
        whole(
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
    "an attachment where files are parts": (
        whole("assistant", [], experimental_attachments=[{"contentType": "image/png", "url": PNG}]),
        AssistantMessage(
            id="m",
            content=AssistantContent(
                content="",
                parts=(noted(FilePart(PNG, "image/png"), place="attachments"),),
            ),
        ),
    ),
    "a broken attachment": (
        whole("user", [], experimental_attachments=[{"url": 5}]),
        UserMessage(
            id="m",
            content=UserContent(content="", parts=(ForeignPart("ai-sdk-ui-v4-attachment", {"url": 5}),)),
        ),
    ),
    "no attachments": (
        whole("user", [], experimental_attachments=[]),
        UserMessage(
            id="m",
            content=noted(UserContent(content="", parts=()), experimental_attachments=[]),
        ),
    ),
    "a time": (
        whole("system", [], createdAt="2025-03-01T12:30:00.250Z"),
        SystemMessage(
            id="m",
            content=SystemContent(content="", parts=()),
            created_at=datetime(2025, 3, 1, 12, 30, 0, 250_000, UTC),
        ),
    ),
    "a time in another zone": (
        whole("system", [], createdAt="2025-03-01T12:30:00+02:00"),
        SystemMessage(
            id="m",
            content=noted(
                SystemContent(content="", parts=()),
                **respelled("createdAt", "2025-03-01T10:30:00.000Z", "2025-03-01T12:30:00+02:00"),
            ),
            created_at=datetime(2025, 3, 1, 10, 30, tzinfo=UTC),
        ),
    ),
    "a time without a zone": (
        whole("system", [], createdAt="2025-03-01T12:30:00"),
        SystemMessage(
            id="m",
            content=noted(SystemContent(content="", parts=()), createdAt="2025-03-01T12:30:00"),
        ),
    ),
    "annotations": (
        whole("assistant", [], annotations=[1, {"a": None}]),
        AssistantMessage(
            id="m", content=AssistantContent(content="", parts=(), metadata={"annotations": [1, {"a": None}]})
        ),
    ),
    "a data message": (
        whole("data", [text("t")], data={"a": 1}),
        AssistantMessage(
            id="m",
            content=noted(
                AssistantContent(content="t", parts=(TextPart("t"), DataPart("data", {"a": 1}))),
                **respelled("role", "assistant", "data"),
            ),
        ),
    ),
    "text that the parts do not say": (
        whole("user", [text("a")], content="b"),
        UserMessage(id="m", content=UserContent(content="b", parts=(TextPart("a"),))),
    ),
    "mirrors that say something else": (
        whole("assistant", [reasoning(text("a"))], reasoning="b", toolInvocations=[]),
        AssistantMessage(
            id="m",
            content=noted(
                AssistantContent(content="", parts=(ReasoningPart("a"),)),
                toolInvocations=[],
                **respelled("reasoning", "a", "b"),
            ),
        ),
    ),
    "a mirror with another number": (
        whole(
            "assistant",
            [invocation(0, "call")],
            toolInvocations=[invocation(False, "call")["toolInvocation"]],
        ),
        AssistantMessage(
            id="m",
            content=noted(
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
        whole("user", [], threadId="t", mood=1, data=2),
        UserMessage(
            id="m",
            content=UserContent(content="", parts=()),
            extra=Extra({"foreign:threadId": "t", "mood": 1, "data": 2}),
        ),
    ),
}


@each_row(("raw", "message"), BACK.values(), ids=BACK)
def test_a_message_is_read_and_written_back(raw: JsonObject, message: Message) -> None:
    loaded = load(raw)
    assert loaded.lossless
    assert loaded.messages == (message,)
    dumped = dump(loaded.messages)
    assert dumped.lossless
    assert spelt(dumped.payload) == spelt([raw])


def spelt(value: Json) -> str:
    """JSON to compare: Python alone takes `1` for `true`."""
    return json.dumps(value, sort_keys=True)


# --- messages that say less than version 4 itself would ---------------------------------------------------

CALL = ToolCallPart("c", "w", "input-available", {"a": 1})

FILLED: dict[str, tuple[JsonObject, tuple[object, ...]]] = {
    "text alone": ({"role": "user", "content": "hi"}, (TextPart("hi"),)),
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
    "parts have the word": ({"role": "user", "content": "a", "parts": [text("b")]}, (TextPart("b"),)),
    "parts, though none": ({"role": "user", "content": "a", "parts": []}, ()),
    "parts that are null": ({"role": "user", "content": "a", "parts": None}, (TextPart("a"),)),
    "steps by their numbers": (
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
    "text between calls of one number": (
        {
            "role": "assistant",
            "content": "",
            "parts": [invocation(0, "call"), text("a"), invocation(1, "call")],
        },
        (CALL, StepStartPart(), TextPart("a"), CALL),
    ),
    "boundaries that are stored": (
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
    "a guess of what is attached": (
        {"role": "user", "content": "", "experimental_attachments": [{"url": "https://x.test/a.PDF?b.png"}]},
        (
            noted(
                FilePart("https://x.test/a.PDF?b.png", "application/pdf"),
                respelled={"contentType": [digest("application/pdf")]},
            ),
        ),
    ),
}


@each_row(("raw", "parts"), FILLED.values(), ids=FILLED)
def test_a_message_that_says_less_is_filled_as_version_4_fills_it(
    raw: JsonObject, parts: tuple[object, ...]
) -> None:
    message = load(raw).messages[0]
    assert message.parts == parts
    assert message.content.content == raw["content"]
    again = dump([message]).payload
    assert load(again).messages == (message,)
    assert again[0]["content"] == raw["content"]


GUESSES: dict[str, tuple[str, str | None, str]] = {
    "what a data URL says": ("data:text/csv;base64,YQ==", "a.png", "text/csv"),
    "a data URL without parameters": ("data:image/gif,a", None, "image/gif"),
    "the name of a data URL that says nothing": ("data:;base64,YQ==", "a.png", "image/png"),
    "the extension of an address": ("https://x.test/a.jpg#b", "c.pdf", "image/jpeg"),
    "the extension of a name": ("https://x.test/a", "c.MD", "text/markdown"),
    "nothing": ("https://x.test/a", None, "application/octet-stream"),
}


@each_row(("url", "name", "expected"), GUESSES.values(), ids=GUESSES)
def test_a_media_type_is_guessed(url: str, name: str | None, expected: str) -> None:
    assert guess_media_type(url, name) == expected


def test_ids_are_made_of_places() -> None:
    messages = load([{"role": "user", "content": "a"}, {"id": None, "role": "user", "content": "b"}]).messages
    assert [message.id for message in messages] == ["message-1", "message-2"]


ODD: dict[str, JsonObject] = {
    "a revision": whole("user", [], revisionId="r"),
    "null": whole("user", [], createdAt=None),
    "no details": whole("assistant", [{"type": "reasoning", "reasoning": "a", "details": []}], reasoning="a"),
    "null for a signature": whole("assistant", [reasoning(text("a") | {"signature": None})]),
    "a type that the browser did not know": whole(
        "user", [], experimental_attachments=[{"url": PNG, "contentType": ""}]
    ),
}


@each_row("raw", ODD.values(), ids=ODD)
def test_what_means_nothing_is_written_back(raw: JsonObject) -> None:
    loaded = load(raw)
    assert loaded.lossless
    assert spelt(dump(loaded.messages).payload) == spelt([raw])


BROKEN: dict[str, tuple[Json, str]] = {
    "no object": ([5], "$[0]"),
    "no role": ([{"content": ""}], "$[0].role"),
    "a role of another format": ([{"role": "tool", "content": ""}], "$[0].role"),
    "a number for an id": ({"id": 5, "role": "user"}, "$.id"),
    "a model message": ({"role": "user", "content": [text("a")]}, "$.content"),
    "parts that are no list": ({"role": "user", "content": "", "parts": {}}, "$.parts"),
}


@each_row(("payload", "where"), BROKEN.values(), ids=BROKEN)
def test_a_broken_message_is_refused_with_its_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where
    assert raised.value.hint


# --- what version 4 cannot say ---------------------------------------------------------------------------

DENIED = "Tool call execution denied."

RESULTS: dict[str, tuple[ToolCallPart, JsonObject, list[str]]] = {
    "an error in words": (
        ToolCallPart("c", "w", "output-error", 1, output=ErrorTextOutput("no")),
        {"state": "result", "result": "no"},
        ["state", "output"],
    ),
    "an error in JSON": (
        ToolCallPart("c", "w", "output-error", 1, output=ErrorJsonOutput({"code": 5})),
        {"state": "result", "result": {"code": 5}},
        ["state", "output"],
    ),
    "an error that says nothing": (
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
    "an approval": (
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
    "a string of JSON": (
        ToolCallPart("c", "w", "output-available", 1, output=JsonOutput("x")),
        {"state": "result", "result": "x"},
        ["output"],
    ),
    "metadata of an output": (
        ToolCallPart("c", "w", "output-available", 1, output=TextOutput("x", provider_metadata={"p": {}})),
        {"state": "result", "result": "x"},
        ["output.providerMetadata"],
    ),
    "the rest": (
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
def test_a_call_that_version_4_cannot_tell_becomes_a_call_or_a_result(
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
    "what only later versions know": (
        AssistantMessage(id="m", content=[DOCUMENT, CustomPart("p.k")]),
        {
            "annotations": [
                {"type": "source-document", "sourceId": "s", "mediaType": "text/plain", "title": "T"},
                {"type": "custom", "kind": "p.k"},
            ]
        },
        ["parts[0].type", "parts[1].type"],
    ),
    "annotations come first": (
        AssistantMessage(
            id="m", content=AssistantContent(parts=(DataPart("w", 1),), metadata={"annotations": [0], "b": 1})
        ),
        {"annotations": [0, {"type": "data-w", "data": 1}]},
        ["parts[0].type", "metadata.b"],
    ),
    "a file in front of the text": (
        UserMessage(id="m", content=[FilePart("https://x.test/a", "image/png", "a"), TextPart("t")]),
        {
            "experimental_attachments": [
                {"name": "a", "contentType": "image/png", "url": "https://x.test/a"}
            ],
            "parts": [text("t")],
        },
        ["parts[0]"],
    ),
    "a file with an address": (
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
    "what is around": (
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
    "metadata that is no object": (
        AssistantMessage(id="m", content=AssistantContent(parts=(), metadata=5)),
        {},
        ["metadata"],
    ),
}


@each_row(("message", "members", "lost"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_version_4_has_no_part_for_stands_elsewhere_and_is_told(
    message: Message, members: JsonObject, lost: list[str]
) -> None:
    dumped = dump([message])
    empty: JsonObject = {"id": "m", "role": dumped.payload[0]["role"], "parts": []}
    content = "".join(part["text"] for part in members.get("parts", ()) if part["type"] == "text")
    assert dumped.payload == [{**empty, "content": content, **members}]
    told = [loss.path.removeprefix("$[0].").removeprefix("content.") for loss in dumped.losses]
    assert told == lost


def test_results_apart_from_their_calls_are_brought_together_or_told() -> None:
    call = AssistantMessage(id="a", content=[ToolCallPart("c", "w", "input-available", {"a": 1})])
    results = ToolMessage(
        id="t",
        content=[ToolResultPart("c", "w", TextOutput("ok")), ToolResultPart("gone", "w", TextOutput("?"))],
    )
    dumped = dump([call, results])
    assert dumped.payload[0]["parts"] == [invocation(result="ok")]
    assert [loss.path for loss in dumped.losses] == ["$[1]", "$[0].content.parts[0].resultMessage"]


def test_version_4_becomes_version_7_with_its_thinking_and_its_files() -> None:
    raw = whole(
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
    """A message as version 4 leaves it."""
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
    said = draw(st.fixed_dictionaries({}, optional={"content": strategies.texts()}))
    return whole(role, pieces, **said, **optional)


@given(payload=st.lists(v4_messages(), max_size=3))
def test_what_version_4_leaves_comes_back_as_it_was(payload: list[JsonObject]) -> None:
    loaded = load(payload)
    assert loaded.lossless
    dumped = dump(loaded.messages)
    assert dumped.lossless
    assert spelt(dumped.payload) == spelt(payload)


LEFT_OUT = ("id", "parts", "toolInvocations", "reasoning", "createdAt", "experimental_attachments")


@given(message=v4_messages(), left_out=st.sets(st.sampled_from(LEFT_OUT)), marked=st.booleans())
def test_what_came_is_still_there_when_more_is_added(
    message: JsonObject, left_out: set[str], marked: bool
) -> None:
    raw = {key: value for key, value in message.items() if key not in left_out}
    if not marked and "parts" in raw:
        raw["parts"] = [part for part in raw["parts"] if part["type"] != "step-start"]
    loaded = load(raw)
    (again,) = dump(loaded.messages).payload
    assert {key: spelt(again[key]) for key in raw if key != "parts"} == {
        key: spelt(raw[key]) for key in raw if key != "parts"
    }
    if "parts" in raw:
        told = [part for part in again["parts"] if marked or part["type"] != "step-start"]
        assert spelt(told) == spelt(raw["parts"])
    assert load(again).messages == loaded.messages


@given(data=st.data())
def test_no_leaf_is_lost_in_silence_on_load(data: st.DataObject) -> None:
    payload = [data.draw(v4_messages()) | data.draw(st.sampled_from([{}, {"revisionId": "r"}, {"x": 1}]))]
    _, other = data.draw(changes(payload))
    assume(spelt(payload) != spelt(other))  # a large number plus one may be the same number
    try:
        before, after = load(payload), load(other)
    except PartitaError:
        return
    assert (spelt(to_json(before.messages)), before.losses) != (spelt(to_json(after.messages)), after.losses)
    dumped, changed = dump(before.messages), dump(after.messages)
    assert (spelt(dumped.payload), dumped.losses, before.losses) != (
        spelt(changed.payload),
        changed.losses,
        after.losses,
    )


@given(data=st.data())
def test_no_leaf_is_lost_in_silence_on_dump(data: st.DataObject) -> None:
    plain = to_json(data.draw(canonical.messages()))
    _, other = data.draw(changes(plain))
    try:
        before, after = read_message(plain), read_message(other)
    except PartitaError:
        return
    assume(before != after)
    assert dump([before]) != dump([after])


@given(messages=st.lists(canonical.messages(), max_size=3))
def test_what_is_written_is_read_and_written_the_same(messages: list[Message]) -> None:
    payload = dump(messages).payload
    loaded = load(payload)
    assume(loaded.lossless)  # a media type that says nothing is guessed
    again = dump(loaded.messages)
    assert again.lossless
    assert spelt(unmarked(again.payload)) == spelt(unmarked(payload))


def unmarked(payload: list[JsonObject]) -> list[JsonObject]:
    """Messages without the boundaries of their steps, which reading adds where none are."""
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


def test_json_nested_too_deeply_is_refused_or_carried() -> None:
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PartitaError):
        dump(load(whole("assistant", [invocation(args=deep)])).messages)
