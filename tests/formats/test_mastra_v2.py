"""Mastra V2 messages and rows → canonical messages."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.errors import ConversionError, PartitaError
from partita.formats.ai_sdk.ui import format as ui
from partita.formats.mastra.network import structured
from partita.formats.mastra.notes import strip_notes
from partita.types.codec import decode_message, encode, to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    Approval,
    CustomPart,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    JsonOutput,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    UnknownPart,
)
from partita.types.value import Extra
from tests import strategies
from tests.formats.mastra_messages import dump_v2 as dump
from tests.formats.mastra_messages import load_v2 as load
from tests.leaves import changes
from tests.tables import each_row

PNG = "data:image/png;base64,iVBO"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def text_part(text: str, **members: Json) -> JsonObject:
    return {"type": "text", "text": text, **members}


def invocation(state: str = "call", *, outer: JsonObject | None = None, **members: Json) -> JsonObject:
    call = {"state": state, "toolCallId": "c", "toolName": "w", "args": {"a": 1}, **members}
    return {"type": "tool-invocation", "toolInvocation": call, **(outer or {})}


def call(args: Json) -> JsonObject:
    return {"type": "tool-call", "toolCallId": "c", "toolName": "w", "args": args}


def reasoning(*details: JsonObject, **members: Json) -> JsonObject:
    content = "".join(detail.get("text", "") for detail in details)
    return {"type": "reasoning", "reasoning": content, "details": list(details), **members}


def row(*parts: Json, role: str = "assistant", **content: Json) -> JsonObject:
    return {"id": "m", "role": role, "content": {"format": 2, "parts": list(parts), **content}}


def load_one(payload: Json) -> Message:
    loaded = load(payload)
    assert loaded.lossless
    (message,) = loaded.messages
    return strip_notes(message)


# --- parts -----------------------------------------------------------------------------------------------

PARTS: dict[str, tuple[JsonObject, list[Any]]] = {
    "text": (
        text_part("hi", createdAt=5, providerMetadata={"openai": {"itemId": "i"}}),
        [TextPart("hi", provider_metadata={"openai": {"itemId": "i"}}, extra=Extra({"createdAt": 5}))],
    ),
    "step-start": (
        {"type": "step-start", "model": "x/y"},
        [StepStartPart(extra=Extra({"model": "x/y"}))],
    ),
    "a call whose input is streaming": (
        invocation("partial-call"),
        [ToolCallPart("c", "w", "input-streaming", {"a": 1})],
    ),
    "a call": (invocation(), [ToolCallPart("c", "w", "input-available", {"a": 1})]),
    "a result": (
        invocation("result", result={"n": 3}, step=2),
        [
            ToolCallPart(
                "c", "w", "output-available", {"a": 1}, output=JsonOutput({"n": 3}), extra=Extra({"step": 2})
            )
        ],
    ),
    "a text result": (
        invocation("result", result="ok"),
        [ToolCallPart("c", "w", "output-available", {"a": 1}, output=TextOutput("ok"))],
    ),
    "an error result": (
        invocation("result", result={"code": 5}, isError=True),
        [
            ToolCallPart(
                "c",
                "w",
                "output-error",
                {"a": 1},
                output=ErrorJsonOutput({"code": 5}),
            )
        ],
    ),
    "an error": (
        invocation("output-error", errorText="no", rawInput="{"),
        [ToolCallPart("c", "w", "output-error", {"a": 1}, raw_input="{", output=ErrorTextOutput("no"))],
    ),
    "an approval request": (
        invocation("approval-requested", approval={"id": "p"}),
        [ToolCallPart("c", "w", "approval-requested", {"a": 1}, approval=Approval("p"))],
    ),
    "a denial": (
        invocation("output-denied", approval={"id": "p", "approved": False, "reason": "no"}),
        [ToolCallPart("c", "w", "output-denied", {"a": 1}, approval=Approval("p", False, "no"))],
    ),
    "an approval without an id": (
        invocation(approval={"approved": True}),
        [ToolCallPart("c", "w", "input-available", {"a": 1})],
    ),
    "members next to an invocation": (
        invocation(
            outer={
                "providerExecuted": True,
                "title": "Look",
                "preliminary": False,
                "providerMetadata": {"p": {"q": 1}},
                "createdAt": 5,
            }
        ),
        [
            ToolCallPart(
                "c",
                "w",
                "input-available",
                {"a": 1},
                provider_executed=True,
                title="Look",
                preliminary=False,
                call_provider_metadata={"p": {"q": 1}},
                extra=Extra({"part:createdAt": 5}),
            )
        ],
    ),
    "reasoning": (
        reasoning(text_part("hm"), providerMetadata={"openai": {"itemId": "r"}}),
        [ReasoningPart("hm", provider_metadata={"openai": {"itemId": "r"}})],
    ),
    "reasoning with a signature": (
        reasoning(text_part("hm", signature="s=")),
        [ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "s="}})],
    ),
    "a repeated signature": (
        reasoning(text_part("hm", signature="s="), providerMetadata={"anthropic": {"signature": "s="}}),
        [
            ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "s="}}),
        ],
    ),
    "a signature in the metadata only": (
        reasoning(text_part("hm"), providerMetadata={"anthropic": {"signature": "s="}}),
        [
            ReasoningPart(
                "hm",
                provider_metadata={"anthropic": {"signature": "s="}},
            )
        ],
    ),
    "redacted data in the metadata only": (
        reasoning({"type": "redacted", "data": ""}, providerMetadata={"anthropic": {"redactedData": "r="}}),
        [
            ReasoningPart(
                "",
                provider_metadata={"anthropic": {"redactedData": "r="}},
            )
        ],
    ),
    "reasoning with several details": (
        reasoning(
            text_part("a", signature="s="), {"type": "redacted", "data": "r="}, text_part("b"), createdAt=5
        ),
        [
            ReasoningPart(
                "a",
                provider_metadata={"anthropic": {"signature": "s="}},
                extra=Extra({"createdAt": 5}),
            ),
            ReasoningPart(
                "",
                provider_metadata={"anthropic": {"redactedData": "r="}},
            ),
            ReasoningPart("b"),
        ],
    ),
    "reasoning with text in its details only": (
        reasoning(text_part("hm")) | {"reasoning": ""},
        [ReasoningPart("hm")],
    ),
    "reasoning with text outside its details": (
        {"type": "reasoning", "reasoning": "hm", "details": []},
        [ReasoningPart("hm")],
    ),
    "reasoning with only details": (
        {"type": "reasoning", "details": [text_part("hm")]},
        [ReasoningPart("hm")],
    ),
    "reasoning without text": (
        {
            "type": "reasoning",
            "reasoning": "",
            "details": [],
            "providerMetadata": {"openai": {"itemId": "r"}},
        },
        [ReasoningPart("", provider_metadata={"openai": {"itemId": "r"}})],
    ),
    "reasoning of AI SDK 5": (
        {"type": "reasoning", "text": "hm", "state": "done"},
        [ReasoningPart("hm", state="done")],
    ),
    "a file in base64": (
        {"type": "file", "mimeType": "image/png", "data": "iVBO", "filename": "a.png"},
        [FilePart(PNG, "image/png", "a.png")],
    ),
    "a file in a data url": (
        {"type": "file", "mimeType": "image/png", "data": PNG},
        [FilePart(PNG, "image/png")],
    ),
    "a file with a URL": (
        {"type": "file", "mimeType": "image/png", "data": "https://x.test/a.png"},
        [FilePart("https://x.test/a.png", "image/png")],
    ),
    "a provider file": (
        {"type": "file", "mimeType": "application/pdf", "data": "file-Ab3"},
        [FilePart("", "application/pdf", provider_reference={"openai": "file-Ab3"})],
    ),
    "a file of another provider": (
        {"type": "file", "mediaType": "application/pdf", "url": "file_01x"},
        [
            FilePart(
                "",
                "application/pdf",
                provider_reference={"anthropic": "file_01x"},
            )
        ],
    ),
    "a file with mixed member names": (
        {"type": "file", "mediaType": "image/png", "data": "iVBO"},
        [FilePart(PNG, "image/png")],
    ),
    "a file without a type": (
        {"type": "file", "data": "https://x.test/a.pdf"},
        [FilePart("https://x.test/a.pdf", "application/pdf")],
    ),
    "a file of AI SDK 5": (
        {"type": "file", "mediaType": "image/png", "url": PNG},
        [FilePart(PNG, "image/png")],
    ),
    "a source": (
        {
            "type": "source",
            "source": {"sourceType": "url", "id": "s", "url": "", "title": "T"},
            "createdAt": 5,
        },
        [SourceUrlPart("s", "", "T", extra=Extra({"part:createdAt": 5}))],
    ),
    "a source with repeated provider metadata": (
        {
            "type": "source",
            "source": {"sourceType": "url", "id": "s", "url": "u:", "providerMetadata": {"p": {}}},
            "providerMetadata": {"p": {}},
        },
        [SourceUrlPart("s", "u:", provider_metadata={"p": {}})],
    ),
    "source-document": (
        {"type": "source-document", "sourceId": "d", "mediaType": "text/plain", "title": "D"},
        [SourceDocumentPart("d", "text/plain", "D")],
    ),
    "data": (
        {"type": "data-om-status", "data": {"w": 1}, "id": "i", "metadata": {"mastra": {"sealedAt": 1}}},
        [DataPart("om-status", {"w": 1}, "i", extra=Extra({"metadata": {"mastra": {"sealedAt": 1}}}))],
    ),
    "dynamic-tool": (
        {"type": "dynamic-tool", "toolName": "d", "toolCallId": "c", "state": "input-available", "input": 1},
        [ToolCallPart("c", "d", "input-available", 1, dynamic=True)],
    ),
    "custom": ({"type": "custom", "kind": "x.y"}, [CustomPart("x.y")]),
    "unknown types": ({"type": "hologram"}, [UnknownPart(Extra({"type": "hologram"}))]),
    "details of an unknown type": (
        {"type": "reasoning", "reasoning": "a", "details": [{"type": "x"}]},
        [ReasoningPart("a", extra=Extra({"details": [{"type": "x"}]}))],
    ),
    "bytes as serialized by JavaScript": (
        {"type": "file", "mimeType": "image/png", "data": {"0": 137}},
        [FilePart("data:image/png;base64,iQ==", "image/png")],
    ),
    "a flat call": (
        {"type": "tool-invocation", "toolCallId": "c", "toolName": "w", "args": {}, "state": "call"},
        [ToolCallPart("c", "w", "input-available", {})],
    ),
    "a flat source": (
        {"type": "source", "id": "s", "url": "https://example.org"},
        [SourceUrlPart("s", "https://example.org")],
    ),
    "data without a name": ({"type": "data", "data": {"a": 1}}, [DataPart("data", {"a": 1})]),
}


@each_row(("raw", "parts"), PARTS.values(), ids=PARTS)
def test_parts_are_read(raw: JsonObject, parts: list[Any]) -> None:
    assert list(load_one(row(raw)).parts) == parts


NEW_FORMS = (
    *("reasoning of AI SDK 5", "details of an unknown type", "a file of AI SDK 5"),
    *("bytes as serialized by JavaScript", "a flat call", "a flat source", "data without a name"),
)
"""Parts of UI messages, and former forms of ours, that are written in the form of AI SDK 4."""


@each_row("name", [name for name in PARTS if name not in NEW_FORMS])
def test_a_part_round_trips(name: str) -> None:
    raw = row(PARTS[name][0])
    assert dump(load(raw).messages).payload == [raw]


def test_an_edited_part_is_not_restored() -> None:
    (message,) = load(row({"type": "reasoning", "reasoning": "hm", "details": []})).messages
    assert isinstance(message, AssistantMessage)
    content = replace(message.content, parts=(replace(message.parts[0], text="well"),))
    (written,) = dump([replace(message, content=content)]).payload
    assert written["content"]["parts"] == [reasoning(text_part("well"))]


BROKEN: list[Json] = [
    5,
    text_part("x") | {"text": 5},
    invocation("failed"),
    {"type": "tool-invocation", "toolInvocation": {"state": "call", "toolName": "w"}},
    {"type": "tool-invocation", "toolInvocation": 5},
    {"type": "reasoning", "reasoning": 5, "details": []},
    {"type": "source", "source": {"sourceType": "document", "id": "s"}},
    {"type": "source", "source": 5},
    {"type": "file", "mimeType": "image/png", "data": {"0": "x"}},
]


@each_row("raw", BROKEN, ids=str)
def test_a_broken_part_is_kept(raw: Json) -> None:
    assert load_one(row(raw)).parts == (ForeignPart("mastra", raw),)


def test_parts_that_do_not_fit_their_role_are_kept() -> None:
    assert load_one(row(invocation(), role="user")).parts == (ForeignPart("mastra", invocation()),)
    file = {"type": "file", "mimeType": "image/png", "data": "iVBO"}
    assert load_one(row(file, role="user")).parts == (FilePart(PNG, "image/png"),)
    assert load_one(row(file, role="system")).parts == (ForeignPart("mastra", file),)


UI_PARTS: dict[str, tuple[JsonObject, JsonObject]] = {
    "a result with a member called value": (
        invocation("result", result={"value": 7, "unit": "C"}),
        {"type": "tool-w", "state": "output-available", "output": {"value": 7, "unit": "C"}},
    ),
    "a provider-executed call": (
        invocation("result", result="x", outer={"providerExecuted": True, "preliminary": True}),
        {
            "type": "tool-w",
            "state": "output-available",
            "output": "x",
            "providerExecuted": True,
            "preliminary": True,
        },
    ),
    "an error": (
        invocation("output-error", errorText="boom"),
        {"type": "tool-w", "state": "output-error", "errorText": "boom"},
    ),
    "a denial": (
        invocation("output-denied", approval={"id": "p", "approved": False}),
        {"type": "tool-w", "state": "output-denied", "approval": {"id": "p", "approved": False}},
    ),
}


@each_row(("raw", "shown"), UI_PARTS.values(), ids=UI_PARTS)
def test_stored_parts_are_shown_as_ui_parts(raw: JsonObject, shown: JsonObject) -> None:
    (message,) = ui.dump([load_one(row(raw))], repair=False).payload
    assert message["parts"] == [{"toolCallId": "c", "input": {"a": 1}, **shown}]


# --- mirrors -----------------------------------------------------------------------------------------

DONE = invocation("result", result=1)


def test_mirrors_that_repeat_parts_are_dropped() -> None:
    message = load_one(
        row(
            reasoning(text_part("a")),
            reasoning(text_part("b")),
            DONE,
            invocation(toolCallId="d"),
            reasoning="a\nb",
            toolInvocations=[DONE["toolInvocation"]],
            content="",
        )
    )
    assert len(message.parts) == 4
    assert message.content.extra is None
    assert message.content.content == ""


def test_mirrors_that_differ_from_parts_are_kept() -> None:
    other: list[JsonObject] = [{**DONE["toolInvocation"], "args": {}}]
    message = load_one(row(DONE, reasoning="elsewhere", toolInvocations=other, annotations=[1]))
    assert message.content.extra == Extra(
        {"reasoning": "elsewhere", "toolInvocations": other, "annotations": [1]}
    )


def test_mirrors_supply_missing_values_of_parts() -> None:
    empty: JsonObject = {"type": "reasoning", "reasoning": "", "details": []}
    message = load_one(
        row(
            empty,
            invocation(args={}),
            toolInvocations=[DONE["toolInvocation"]],
            reasoning="hm",
        )
    )
    assert message.parts == (
        ReasoningPart("hm"),
        ToolCallPart("c", "w", "output-available", {"a": 1}, output=JsonOutput(1)),
    )
    assert message.content.extra == Extra({"toolInvocations": [DONE["toolInvocation"]], "reasoning": "hm"})


def test_mirrors_supply_missing_parts() -> None:
    raw = row(content="hi", reasoning="hm", toolInvocations=[DONE["toolInvocation"]])
    message = load_one(raw)
    assert message.parts == (
        ToolCallPart("c", "w", "output-available", {"a": 1}, output=JsonOutput(1)),
        ReasoningPart("hm"),
        TextPart("hi"),
    )
    assert message.content.extra is None
    del raw["content"]["parts"]
    assert load_one(raw) == message


def test_an_attachment_that_repeats_a_part_is_one_file() -> None:
    part = {"type": "file", "mimeType": "image/png", "data": PNG}
    message = load_one(
        row(
            part,
            text_part("see"),
            role="user",
            experimental_attachments=[
                {"url": PNG, "contentType": "image/png", "name": "a.png"},
                {"url": "https://x.test/b.csv", "name": "b.csv", "size": 3},
            ],
        )
    )
    assert message.parts == (
        FilePart(PNG, "image/png"),
        TextPart("see"),
        FilePart(
            "https://x.test/b.csv",
            "text/csv",
            "b.csv",
            extra=Extra({"size": 3}),
        ),
    )
    assert message.content.extra is None


@each_row("attachments", [[], [5], [{"name": "x"}], "x"])
def test_invalid_attachments_are_kept(attachments: Json) -> None:
    message = load_one(row(text_part("hi"), role="user", experimental_attachments=attachments))
    assert message.content.extra == Extra({"experimental_attachments": attachments})


# --- approvals in the metadata ---------------------------------------------------------------------------


def pending(**entry: Json) -> Json:
    return {"w": {"toolCallId": "c", "toolName": "w", **entry}}


SUSPENDED = {"type": "suspension", "suspendPayload": {"ask": "where?"}}
PENDING: dict[str, tuple[JsonObject, Approval]] = {
    "pending": ({"pendingToolApprovals": pending(type="approval", runId="r")}, Approval("r::c")),
    "required": ({"requireApprovalMetadata": pending(type="approval")}, Approval("c")),
    "suspended": (
        {"suspendedTools": pending(runId="r", **SUSPENDED)},
        Approval("r::c", descriptor=SUSPENDED),
    ),
    "by call id": ({"pendingToolApprovals": {"c": {"toolName": "w"}, "x": None}}, Approval("c")),
}


@each_row(("metadata", "approval"), PENDING.values(), ids=PENDING)
def test_a_pending_approval_in_the_metadata_is_added_to_its_call(
    metadata: JsonObject, approval: Approval
) -> None:
    message = load_one(row(invocation(), metadata=metadata))
    asks = ToolCallPart("c", "w", "approval-requested", {"a": 1}, approval=approval)
    assert message.parts == (asks,)
    assert message.content.metadata == metadata


@each_row(
    "part",
    [
        DONE,
        invocation("approval-responded", approval={"id": "p", "approved": True}),
        invocation(toolCallId="d"),
    ],
)
def test_other_calls_get_no_approval(part: JsonObject) -> None:
    metadata = {"pendingToolApprovals": pending()}
    assert load_one(row(part, metadata=metadata)).parts[:1] == load_one(row(part)).parts


@each_row("metadata", [None, 5, {"pendingToolApprovals": 5}, {"pendingToolApprovals": {"w": 5}}])
def test_metadata_of_any_type_are_kept(metadata: Json) -> None:
    assert load_one(row(invocation(), metadata=metadata)).content.metadata == metadata


# --- members of messages -------------------------------------------------------------------------------


def test_a_message_keeps_its_other_members() -> None:
    raw = row(text_part("hi"), providerMetadata={"p": {"q": 1}}, metadata={"k": 1}, content="hi")
    raw |= {"threadId": "t", "resourceId": "r", "createdAt": "2026-03-01T12:00:00.000Z", "type": "v2", "x": 1}
    message = load_one(raw)
    assert isinstance(message, AssistantMessage)
    assert (message.thread_id, message.resource_id, message.created_at) == ("t", "r", NOON)
    assert message.content.provider_metadata == {"p": {"q": 1}}
    assert (message.content.metadata, message.content.content) == ({"k": 1}, "hi")
    assert (message.type, message.extra) == ("text", Extra({"foreign:type": "v2", "x": 1}))


def test_a_row_gives_the_same_message() -> None:
    raw = row(text_part("hi"), DONE) | {
        "threadId": "t",
        "resourceId": "r",
        "createdAt": "2026-03-01T12:00:00.000Z",
    }
    stored = {
        "id": "m",
        "thread_id": "t",
        "resourceId": "r",
        "role": "assistant",
        "createdAt": raw["createdAt"],
        "content": dumps(raw["content"]).decode(),
    }
    whole, from_row = load_one(raw), load_one(stored)
    assert from_row.extra is None
    assert (from_row.content, from_row.thread_id, from_row.created_at) == (whole.content, "t", NOON)


TIMES: dict[Json, datetime | None] = {
    "2026-03-01T12:00:00.000Z": NOON,
    "2026-03-01T13:00:00+01:00": NOON,
    "2026-03-01 12:00:00": NOON,
    "2026-03-01 12:00:00.000+00": NOON,
    1772366400000: NOON,
    "1772366400000": NOON,
    "2026-03-01": datetime(2026, 3, 1, tzinfo=UTC),
    "yesterday": None,
    "": None,
    "0001-01-01T00:00:00+05:00": None,
    10**30: None,
    None: None,
    True: None,
}


@each_row(("spelling", "moment"), TIMES.items(), ids=map(str, TIMES))
def test_times_are_read_in_every_spelling(spelling: Json, moment: datetime | None) -> None:
    message = load_one(row(text_part("hi")) | {"createdAt": spelling})
    assert message.created_at == moment
    is_default = spelling == "2026-03-01T12:00:00.000Z"
    assert message.extra == (None if is_default else Extra({"foreign:createdAt": spelling}))


def test_a_time_with_a_zone_replaces_a_missing_one() -> None:
    message = load_one(row(text_part("hi")) | {"createdAtZ": "2026-03-01T12:00:00.000Z"})
    assert message.created_at == NOON
    assert message.extra == Extra({"createdAtZ": "2026-03-01T12:00:00.000Z"})


def test_missing_ids_are_numbered() -> None:
    raws = [{key: value for key, value in row(text_part("hi")).items() if key != "id"}] * 2
    assert [message.id for message in load(raws).messages] == ["message-1", "message-2"]


@each_row("kind", ["user", "state", "reactive", "notification"])
def test_a_signal_is_an_event_unless_a_user_sent_it(kind: str) -> None:
    signal = {"signal": {"id": "s", "type": kind, "contents": "hey", "createdAt": "2026-03-01T12:00:00.000Z"}}
    message = load_one(row(text_part("hey"), role="signal", metadata=signal) | {"type": kind})
    if kind == "user":
        assert isinstance(message, UserMessage)
        assert (message.type, message.internal) == ("text", False)
    else:
        assert isinstance(message, SystemMessage)
        assert (message.type, message.internal) == ("event", True)
    assert message.parts == (TextPart("hey"),)
    assert message.content.metadata == signal
    assert message.extra == Extra({"foreign:type": kind, "foreign:role": "signal"})


def test_a_tool_message_becomes_an_assistant_message() -> None:
    message = load_one(row(DONE, role="tool"))
    assert isinstance(message, AssistantMessage)
    assert message.extra == Extra({"foreign:role": "tool"})


# --- content that is not V2 ----------------------------------------------------------------------------


@each_row("content", ["hello", '{"a": 1}', "{curly}", '{"isNetwork":true}', "[1]", ""])
def test_a_plain_string_is_text(content: str) -> None:
    message = load_one({"id": "m", "role": "user", "content": content})
    assert message.parts == (TextPart(content),)
    assert message.content.content == content


def test_damaged_json_is_kept_as_text_and_reported() -> None:
    content = dumps(row(text_part("hello there"))["content"]).decode()[:-9]
    loaded = load(
        [row(text_part("before")), {"id": "d", "thread_id": "t", "role": "user", "content": content}]
    )
    assert loaded.messages[1].parts == (TextPart(content),)
    (loss,) = loaded.losses
    assert loss.path == "$[1].content"
    assert "cut off" in loss.why


@each_row("content", [None, 5, {}, {"format": 3}])
def test_invalid_content_is_kept(content: Json) -> None:
    assert load_one({"id": "m", "role": "user", "content": content}).parts == (
        ForeignPart("mastra", content),
    )


def test_another_format_number_is_kept() -> None:
    raw = row(text_part("hi"))
    raw["content"]["format"] = 3
    assert load_one(raw).content.extra == Extra({"foreign:format": 3})


def test_v1_and_v2_rows_may_be_mixed() -> None:
    result = [{"type": "tool-result", "toolCallId": "c", "toolName": "w", "result": 1}]
    messages = load(
        [
            {"id": "a", "thread_id": "t", "role": "user", "type": "text", "content": "Weather?"},
            {"id": "b", "thread_id": "t", "role": "assistant", "content": dumps([call({})]).decode()},
            {"id": "c", "thread_id": "t", "role": "tool", "content": dumps(result).decode()},
            row(text_part("Fine.")),
        ]
    ).messages
    assert [message.id for message in messages] == ["a", "b", "m"]
    (part,) = messages[1].parts
    assert isinstance(part, ToolCallPart)
    assert part.output == JsonOutput(1)


REFUSED: dict[str, tuple[Json, str]] = {
    "not a message": ([5], "$[0]"),
    "an unknown role": (row(role="judge"), "$.role"),
    "a role that is not a string": (row() | {"role": 5}, "$.role"),
    "an id that is not a string": (row() | {"id": 5}, "$.id"),
    "no content": ({"id": "m", "role": "user", "parts": []}, "$"),
}


@each_row(("payload", "where"), REFUSED.values(), ids=REFUSED)
def test_invalid_messages_are_refused_with_their_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as caught:
        load(payload)
    assert caught.value.where == where
    assert caught.value.hint


def test_networks_are_read() -> None:
    spelling = {
        "isNetwork": True,
        "primitiveType": "agent",
        "primitiveId": "a",
        "finalResult": {"text": "hi"},
    }
    message = load_one(row(text_part(dumps(spelling).decode())))
    assert isinstance(message, AssistantMessage)
    assert message.content.network_execution is not None
    assert load_one(row(text_part(dumps(spelling).decode()), role="user")).parts == (
        TextPart(dumps(spelling).decode()),
    )


# --- properties ------------------------------------------------------------------------------------------

RAW_PARTS = [raw for raw, _ in PARTS.values()]


@st.composite
def rows(draw: st.DrawFn) -> JsonObject:
    """A stored message with mirrors that repeat its parts or differ from them."""
    role = draw(st.sampled_from(["assistant", "assistant", "assistant", "user", "system", "signal"]))
    parts = draw(st.lists(st.sampled_from(RAW_PARTS) | strategies.texts().map(text_part), max_size=4))
    calls = [part["toolInvocation"] for part in parts if "toolInvocation" in part]
    attachment = st.fixed_dictionaries(
        {"url": st.sampled_from([PNG, "iVBO", "file-Ab3", "https://x.test/a.png"])},
        optional={"contentType": st.just("image/png"), "name": strategies.texts()},
    )
    waiting = st.sampled_from([metadata for metadata, _ in PENDING.values()])
    content: dict[str, st.SearchStrategy[Json]] = {
        "content": strategies.texts(),
        "toolInvocations": st.just(calls) | st.just([DONE["toolInvocation"]]),
        "reasoning": st.sampled_from(["hm", "", "hm\nhm"]),
        "experimental_attachments": st.lists(attachment, max_size=2),
        "annotations": st.just([1]),
        "metadata": waiting | strategies.json_values(),
        "providerMetadata": strategies.provider_metadata(),
    }
    around: dict[str, st.SearchStrategy[Json]] = {
        "threadId": st.just("t"),
        "thread_id": st.just("u"),
        "resourceId": st.sampled_from(["r", None]),
        "type": st.sampled_from(["v2", "text", "user"]),
        "createdAt": st.sampled_from(list(TIMES)),
    }
    raw = row(*parts, role=role, **draw(st.fixed_dictionaries({}, optional=content)))
    return {**raw, **draw(st.fixed_dictionaries({}, optional=around))}


def as_stored(raw: JsonObject) -> JsonObject:
    """Return the message with its content in a text column."""
    return {**raw, "content": dumps(raw["content"]).decode()}


@given(raw=rows(), in_column=st.booleans())
def test_any_stored_message_is_loaded(raw: JsonObject, in_column: bool) -> None:
    (message,) = load(as_stored(raw) if in_column else raw).messages
    assert structured(message) is None
    assert decode_message(encode(message)) == message


@given(data=st.data(), in_column=st.booleans())
def test_every_leaf_is_read_or_reported(data: st.DataObject, in_column: bool) -> None:
    raw = data.draw(rows())
    _, other = data.draw(changes(raw))
    assume(dumps(raw) != dumps(other))  # a large number plus one may be the same number
    if in_column:
        raw, other = as_stored(raw), as_stored(other)
    try:
        before, after = load(raw), load(other)
    except PartitaError:
        return
    assert (dumps(to_json(before.messages)), before.losses) != (dumps(to_json(after.messages)), after.losses)


@given(payload=strategies.json_values(8), name=st.sampled_from(["id", "role", "content", "createdAt"]))
def test_any_json_is_loaded_or_refused(payload: Json, name: str) -> None:
    for each in (
        payload,
        [payload],
        {**row(text_part("hi")), name: payload},
        row(payload),
        row(text_part("hi"), reasoning=payload),
    ):
        try:
            load(each)
        except PartitaError:
            continue


def test_json_nested_too_deeply_is_refused() -> None:
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ConversionError):
        load(row(invocation(args=deep), toolInvocations=[1]))
    with pytest.raises(PartitaError):
        _ = load({"id": "m", "role": "assistant", "content": [call(deep)]}).losses


def test_a_column_nested_too_deeply_is_kept_as_text() -> None:
    text = '{"format":2,"parts":' + "[" * 100_000
    loaded = load({"id": "m", "role": "user", "content": text})
    assert loaded.messages == (
        UserMessage(id="m", content=UserContent(parts=(TextPart(text),), content=text)),
    )
    assert len(loaded.losses) == 1
