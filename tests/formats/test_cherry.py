"""Session messages of Cherry Studio → canonical messages."""

from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConversionError, PartitaError
from partita.formats.cherry.format import load
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, Message, Part, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import (
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
)
from partita.types.usage import Usage
from tests import strategies
from tests.leaves import changed, leaves
from tests.tables import each_row

NOON = "2026-03-04T12:00:00.000Z"
MOMENT = datetime(2026, 3, 4, 12, tzinfo=UTC)


def only(payload: Json) -> Message:
    loaded = load(payload)
    assert loaded.lossless
    (message,) = loaded.messages
    return message


def cherry(message: Message) -> JsonObject:
    metadata = message.content.metadata
    assert is_object(metadata)
    assert is_object(metadata["cherry"])
    return metadata["cherry"]


# --- today's rows ----------------------------------------------------------------------------------------

TODAY: JsonObject = {
    "id": "0199-a",
    "sessionId": "session-1",
    "role": "assistant",
    "data": {
        "parts": [
            {"type": "step-start"},
            {
                "type": "reasoning",
                "text": "which file?",
                "state": "done",
                "providerMetadata": {"cherry": {"thinkingMs": 900, "startedAt": 1}},
            },
            {
                "type": "dynamic-tool",
                "toolName": "Read",
                "toolCallId": "call-1",
                "state": "output-available",
                "input": {"path": "a.md"},
                "output": "# A",
                "callProviderMetadata": {"cherry": {"transport": "cli", "tool": {"type": "builtin"}}},
            },
            {"type": "text", "text": "It is a title.", "state": "done"},
            {"type": "data-error", "data": {"name": "Error", "message": "cut off"}},
            {"type": "data-compaction-anchor", "id": "anchor", "data": {"status": "done", "preTokens": 9}},
        ],
        "turnOptions": {"effort": "high"},
    },
    "searchableText": "which file?\nIt is a title.",
    "status": "paused",
    "modelId": "claude::opus",
    "messageSnapshot": {"author": {"name": "Ada"}},
    "stats": {
        "inputTokens": 30,
        "outputTokens": 5,
        "totalTokens": 35,
        "inputTokenDetails": {"noCacheTokens": 10, "cacheReadTokens": 15, "cacheWriteTokens": 5},
        "outputTokenDetails": {"text": 3, "reasoning": 2},
        "costs": [{"amount": 0.1}],
    },
    "runtimeResumeToken": "resume-1",
    "delivery": None,
    "ftsRowid": 7,
    "createdAt": 1772625600000,
    "updatedAt": 1772625700000,
}


def test_a_row_of_today() -> None:
    message = only(TODAY)
    assert isinstance(message, AssistantMessage)
    assert (message.id, message.thread_id, message.created_at) == ("0199-a", "session-1", MOMENT)
    assert message.parts == (
        StepStartPart(),
        ReasoningPart(
            "which file?",
            state="done",
            provider_metadata={"cherry": {"thinkingMs": 900, "startedAt": 1}},
        ),
        ToolCallPart(
            "call-1",
            "Read",
            "output-available",
            {"path": "a.md"},
            output=TextOutput("# A"),
            dynamic=True,
            call_provider_metadata={"cherry": {"transport": "cli", "tool": {"type": "builtin"}}},
        ),
        TextPart("It is a title.", "done"),
        DataPart("error", {"name": "Error", "message": "cut off"}),
        DataPart("compaction-anchor", {"status": "done", "preTokens": 9}, "anchor"),
    )
    assert message.content.usage == Usage(30, 5, 35, 2, 15, 5, raw=TODAY["stats"])
    assert cherry(message) == {
        "data": {"turnOptions": {"effort": "high"}},
        **{
            name: TODAY[name]
            for name in (
                *("status", "modelId", "messageSnapshot", "runtimeResumeToken"),
                *("ftsRowid", "createdAt", "updatedAt"),
            )
        },
    }


@each_row("status", ["pending", "paused", "error"])
def test_an_answer_that_did_not_end_well_says_so(status: str) -> None:
    row: JsonObject = {"id": "a", "role": "assistant", "data": {"parts": []}, "status": status}
    message = only(row)
    assert (message.parts, cherry(message)) == ((), {"status": status})


# --- blocks ----------------------------------------------------------------------------------------------


def block(type_: str, **members: Json) -> JsonObject:
    return {"id": "b", "messageId": "m", "type": type_, "status": "success", **members}


def tool_block(raw: JsonObject | None = None, **members: Json) -> JsonObject:
    called = {"toolId": "s:t", "toolName": "Bash", "arguments": {"command": "ls"}}
    metadata = {} if raw is None else {"metadata": {"rawMcpToolResponse": raw}}
    return block("tool", **called, **metadata) | members


def call(state: Json, output: Json, kept: JsonObject | None = None) -> ToolCallPart:
    metadata = {"cherry": {"id": "b", **(kept or {})}}
    return ToolCallPart(
        *("s:t", "Bash", state, {"command": "ls"}),
        output=output,
        dynamic=True,
        call_provider_metadata=metadata,
    )


def said(**raw: Json) -> JsonObject:
    return {"metadata": {"rawMcpToolResponse": raw}}


AT = {"cherry": {"id": "b"}}
PICTURE = {"id": "f", "origin_name": "cat.png", "path": "/home/u/cat.png", "ext": ".png", "size": 3}

BLOCKS: dict[str, tuple[JsonObject, list[Part]]] = {
    "text": (block("main_text", content="hi"), [TextPart("hi", "done", provider_metadata=AT)]),
    "text that is still being written": (
        block("main_text", content="hi", status="streaming"),
        [TextPart("hi", "streaming", provider_metadata=AT)],
    ),
    "text with references to its citations": (
        block("main_text", content="hi", citationReferences=[{"citationBlockId": "c"}]),
        [
            TextPart(
                "hi",
                "done",
                provider_metadata={"cherry": {"id": "b", "citationReferences": [{"citationBlockId": "c"}]}},
            )
        ],
    ),
    "thinking": (
        block("thinking", content="hm", thinking_millsec=12, model={"id": "x"}),
        [
            ReasoningPart(
                "hm",
                state="done",
                provider_metadata={"cherry": {"id": "b", "model": {"id": "x"}, "thinkingMs": 12}},
            )
        ],
    ),
    "a call that was answered": (
        tool_block(content="a.md"),
        [call("output-available", TextOutput("a.md"))],
    ),
    "an answer with structure": (
        tool_block(content={"content": [{"type": "text", "text": "x"}]}),
        [call("output-available", JsonOutput({"content": [{"type": "text", "text": "x"}]}))],
    ),
    "a call that the adapter tells of again": (
        tool_block(
            {
                "id": "s:t",
                "toolCallId": "s:t",
                "status": "done",
                "arguments": {"command": "ls"},
                "response": "a.md",
                "tool": {"name": "Bash", "type": "provider"},
            },
            content="a.md",
        ),
        [call("output-available", TextOutput("a.md"), said(status="done", tool={"type": "provider"}))],
    ),
    "a call that only the adapter tells of": (
        block(
            "tool",
            toolId="s:t",
            metadata={
                "rawMcpToolResponse": {
                    "status": "done",
                    "arguments": {"command": "ls"},
                    "response": [1],
                    "tool": {"name": "Bash"},
                }
            },
        ),
        [call("output-available", JsonOutput([1]), said(status="done", tool={}))],
    ),
    "a call that failed": (
        tool_block({"status": "error", "response": "no such file"}),
        [call("output-error", ErrorTextOutput("no such file"), said(status="error"))],
    ),
    "a call whose answer says that it failed": (
        tool_block(content={"isError": True, "content": []}),
        [call("output-error", ErrorJsonOutput({"isError": True, "content": []}))],
    ),
    "a call that left an error alone": (
        tool_block(status="error", error={"message": "gone"}),
        [call("output-error", ErrorJsonOutput({"message": "gone"}), {"status": "error"})],
    ),
    "a call that was cancelled": (
        tool_block({"status": "cancelled"}),
        [call("output-error", InterruptedOutput("aborted"), said(status="cancelled"))],
    ),
    "a call that waits": (
        tool_block({"status": "pending"}, status="processing"),
        [call("input-available", None, {"status": "processing", **said(status="pending")})],
    ),
    "a call without a name": (
        block("tool", toolId="t"),
        [ToolCallPart("t", "unknown", "output-available", dynamic=True, call_provider_metadata=AT)],
    ),
    "a picture": (
        block("image", url="data:image/webp;base64,AA=="),
        [ImagePart("data:image/webp;base64,AA==", "image/webp", provider_metadata=AT)],
    ),
    "a picture on disk": (
        block("image", file=PICTURE),
        [
            ImagePart(
                "file:///home/u/cat.png",
                "image/png",
                "cat.png",
                provider_metadata={"cherry": {"id": "b", "file": PICTURE}},
            )
        ],
    ),
    "a file": (
        block("file", file={"path": "/x/a.pdf", "origin_name": "a.pdf"}),
        [
            FilePart(
                "file:///x/a.pdf",
                "application/pdf",
                "a.pdf",
                provider_metadata={
                    "cherry": {"id": "b", "file": {"path": "/x/a.pdf", "origin_name": "a.pdf"}}
                },
            )
        ],
    ),
    "citations: pages become sources, the rest stays": (
        block(
            "citation",
            response={
                "source": "bing",
                "results": [{"url": "https://x.test", "title": "X", "content": "x"}, 1],
            },
            knowledge=[{"id": 1}],
        ),
        [
            SourceUrlPart("b:0", "https://x.test", "X", provider_metadata={"cherry": {"content": "x"}}),
            DataPart(
                "citation",
                {"response": {"source": "bing", "results": [1]}, "knowledge": [{"id": 1}]},
                provider_metadata=AT,
            ),
        ],
    ),
    "an error": (
        block("error", status="error", error={"name": "E", "message": "no"}),
        [
            DataPart(
                "error",
                {"name": "E", "message": "no"},
                provider_metadata={"cherry": {"id": "b", "status": "error"}},
            )
        ],
    ),
    "code": (
        block("code", content="1+1", language="js"),
        [DataPart("code", {"content": "1+1", "language": "js"}, provider_metadata=AT)],
    ),
    "a translation": (
        block("translation", content="hallo", targetLanguage="de"),
        [DataPart("translation", {"content": "hallo", "targetLanguage": "de"}, provider_metadata=AT)],
    ),
    "a video": (
        block("video", filePath="/x.mp4"),
        [DataPart("video", {"filePath": "/x.mp4"}, provider_metadata=AT)],
    ),
    "a compaction": (
        block("compact", content="short", compactedContent="long"),
        [DataPart("compact", {"content": "short", "compactedContent": "long"}, provider_metadata=AT)],
    ),
    "a placeholder": (block("unknown"), [ForeignPart("cherry", block("unknown"))]),
    "text without text": (block("main_text"), [ForeignPart("cherry", block("main_text"))]),
    "a picture that is nowhere": (block("image"), [ForeignPart("cherry", block("image"))]),
    "another type": (block("hologram", x=1), [ForeignPart("cherry", block("hologram", x=1))]),
}


def before(*blocks: Json, **members: Json) -> JsonObject:
    message = {"id": "m", "role": "assistant", "createdAt": NOON, "status": "success", **members}
    return {"id": 3, "role": "assistant", "content": {"message": message, "blocks": list(blocks)}}


@each_row(("raw", "parts"), BLOCKS.values(), ids=BLOCKS)
def test_blocks(raw: JsonObject, parts: list[Part]) -> None:
    assert only(before(raw)).parts == tuple(parts)


def test_a_row_of_blocks() -> None:
    first, second = block("main_text", content="a", id="x"), block("main_text", content="b", id="y")
    row = before(
        second, first, blocks=["x", "y"], usage={"prompt_tokens": 4, "completion_tokens": 2, "cost": 1}
    )
    message = only(row | {"session_id": "s", "agent_session_id": "claude-1", "created_at": NOON})
    assert isinstance(message, AssistantMessage)
    assert (message.id, message.thread_id, message.created_at) == ("m", "s", MOMENT)
    assert [part.text for part in message.parts if isinstance(part, TextPart)] == ["a", "b"]
    assert message.content.usage == Usage(4, 2, raw={"prompt_tokens": 4, "completion_tokens": 2, "cost": 1})
    assert cherry(message) == {
        "id": 3,
        "agent_session_id": "claude-1",
        "created_at": NOON,
        "content": {"message": {"status": "success"}},
    }


def test_blocks_that_the_message_does_not_name_stay_in_their_order() -> None:
    first, second = block("main_text", content="a", id="x"), block("main_text", content="b", id="y")
    message = only(before(first, second, blocks=["y"]))
    assert [part.text for part in message.parts if isinstance(part, TextPart)] == ["a", "b"]
    assert cherry(message)["content"]["message"]["blocks"] == ["y"]


def test_parts_in_the_message_of_a_row_on_its_way_to_today() -> None:
    row = before(data={"parts": [{"type": "text", "text": "hi"}], "x": 1}, blocks=[])
    message = only(row)
    assert message.parts == (TextPart("hi"),)
    assert cherry(message)["content"]["message"] == {"status": "success", "data": {"x": 1}}


def test_what_may_not_stand_in_a_role_is_kept_as_foreign() -> None:
    row = before(block("thinking", content="hm"), block("main_text", content="hi"), role="user") | {
        "role": "user"
    }
    message = only(row)
    assert isinstance(message, UserMessage)
    foreign, text = message.parts
    assert isinstance(foreign, ForeignPart)
    assert foreign.value["text"] == "hm"
    assert isinstance(text, TextPart)


# --- the first months ------------------------------------------------------------------------------------


def delta(text: str, **members: Json) -> JsonObject:
    return {"type": "text-delta", "id": "t", "delta": text, **members}


def first(chunks: Sequence[Json], **members: Json) -> JsonObject:
    content = {"aiSDKChunks": list(chunks), "agentType": "claude-code", **members}
    return {"id": 12, "session_id": "s", "parent_id": 11, "role": "agent", "content": content}


FIRST = first(
    [
        {"type": "start", "messageId": "other"},
        {"type": "start-step"},
        {"type": "text-start", "id": "t"},
        delta("He", providerMetadata={"claudeCode": {"uuid": "u1"}}),
        delta("llo", providerMetadata={"claudeCode": {"uuid": "u2"}}),
        {"type": "text-end", "id": "t"},
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "Read", "title": "reads"},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"a":'},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": "1}"},
        {"type": "tool-input-available", "toolCallId": "c", "toolName": "Read", "input": {"a": 1}},
        {"type": "tool-output-available", "toolCallId": "c", "output": "half", "preliminary": True},
        {"type": "tool-output-available", "toolCallId": "c", "output": "whole"},
        {"type": "data-note", "id": "n", "data": 1},
        {"type": "data-note", "id": "n", "data": 2},
        {"type": "message-metadata", "messageMetadata": {"modelId": "a", "n": 1}},
        {"type": "message-metadata", "messageMetadata": {"modelId": "b"}},
        {"type": "error", "errorText": "ouch"},
        {"type": "finish", "finishReason": "stop"},
        {"type": "new-kind", "x": 1},
    ],
    rawAgentMessages=[{"type": "assistant", "uuid": "u1"}],
    agentResult={"ok": True},
)


def test_a_row_of_chunks() -> None:
    loaded = load(FIRST)
    (message,) = loaded.messages
    assert isinstance(message, AssistantMessage)
    assert (message.id, message.thread_id, message.parent_id) == ("12", "s", "11")
    assert message.parts == (
        StepStartPart(),
        TextPart("Hello", "done", provider_metadata={"claudeCode": {"uuid": "u2"}}),
        ToolCallPart("c", "Read", "output-available", {"a": 1}, output=TextOutput("whole"), title="reads"),
        DataPart("note", 2, "n"),
        DataPart("error", {"message": "ouch"}),
    )
    assert cherry(message) == {
        "role": "agent",
        "content": {
            "agentType": "claude-code",
            "rawAgentMessages": [{"type": "assistant", "uuid": "u1"}],
            "agentResult": {"ok": True},
            "messageMetadata": {"modelId": "b", "n": 1},
            "finishReasons": ["stop"],
        },
    }


def test_what_a_later_chunk_replaced_is_told() -> None:
    root = "$.content.aiSDKChunks"
    assert {loss.path: loss.what for loss in load(FIRST).losses} == {
        f"{root}[0].messageId": '"other"',
        f"{root}[3].providerMetadata.claudeCode.uuid": '"u1"',
        f"{root}[10].output": '"half"',
        f"{root}[10].preliminary": "true",
        f"{root}[12].data": "1",
        f"{root}[14].messageMetadata.modelId": '"a"',
        f"{root}[18]": '{"type":"new-kind","x":1}',
    }


END = {"type": "text-end", "id": "t"}
WORDS: dict[str, tuple[list[Json], str]] = {
    "pieces": ([delta("a"), delta("b"), END], "ab"),
    "pieces that look alike": ([delta("ha"), delta("ha"), delta("ha!x"), END], "hahaha!x"),
    "two pieces, by chance": ([delta("1"), delta("10"), END], "110"),
    "all of it so far": ([delta("I"), delta("I am"), delta("I am here"), END], "I am here"),
    "all of it so far, and the end says so": (
        [delta("I"), delta("I am"), END | {"providerMetadata": {"text": {"value": "I am"}}}],
        "I am",
    ),
    "one piece and no end": ([delta("a")], "a"),
}


@each_row(("chunks", "text"), WORDS.values(), ids=WORDS)
def test_texts_whose_pieces_are_all_of_it_so_far(chunks: list[Json], text: str) -> None:
    (message,) = load(first(chunks)).messages
    (part,) = message.parts
    assert isinstance(part, TextPart)
    assert part.text == text


def test_what_is_no_chunk_is_told() -> None:
    loaded = load(first([{"type": "text-start"}, 5]))
    assert [loss.path for loss in loaded.losses] == [f"$.content.aiSDKChunks[{place}]" for place in (0, 1)]


# --- columns ---------------------------------------------------------------------------------------------


def packed(row: JsonObject) -> JsonObject:
    """The row as a database has it: objects and arrays as text."""
    return {
        key: dumps(value).decode() if is_object(value) or is_array(value) else value
        for key, value in row.items()
    }


GENERATIONS: dict[str, JsonObject] = {
    "today": TODAY,
    "blocks": before(*(raw for raw, _ in BLOCKS.values()), usage={"total_tokens": 1}, metrics={"x": 1})
    | {"metadata": {"y": [1, {}]}, "created_at": NOON},
    "chunks": FIRST,
    "plain text": {
        "id": 1,
        "session_id": "s",
        "role": "user",
        "content": "hi",
        "created_at": "2026-03-04 12:00",
    },
}


@each_row("name", GENERATIONS)
def test_json_columns_may_be_text(name: str) -> None:
    row = GENERATIONS[name]
    assert load(packed(row)) == load(row)


@each_row("name", GENERATIONS)
def test_every_leaf_counts(name: str) -> None:
    row = GENERATIONS[name]
    loaded = load(row)
    whole = dumps([to_json(loaded.messages), loaded.losses])
    silent = [path for path in leaves(row) if _told(changed(row, path)) == whole]
    assert silent == []


def _told(row: Json) -> bytes | None:
    try:
        loaded = load(row)
    except PartitaError:
        return None
    return dumps([to_json(loaded.messages), loaded.losses])


MOMENTS: dict[str, Json] = {
    "as JavaScript writes it": NOON,
    "as SQLite writes it": "2026-03-04 12:00:00",
    "in another zone": "2026-03-04T14:00:00+02:00",
    "in seconds": 1772625600,
    "in milliseconds": 1772625600000,
}


@each_row("spelling", MOMENTS.values(), ids=MOMENTS)
@each_row("column", ["createdAt", "created_at"])
def test_moments(column: str, spelling: Json) -> None:
    message = only({"id": "a", "role": "user", "data": {"parts": []}, column: spelling})
    assert message.created_at == MOMENT
    if spelling == NOON:
        assert to_json(message)["content"] == {"format": 2, "parts": []}
    else:
        assert cherry(message) == {column: spelling}


@each_row("spelling", ["noon", "", 10**40, True, [1]])
def test_what_is_no_moment_is_kept(spelling: Json) -> None:
    message = only({"id": "a", "role": "user", "data": {"parts": []}, "createdAt": spelling})
    assert message.created_at is None
    assert cherry(message) == {"createdAt": spelling}


def test_rows_without_an_id_are_counted() -> None:
    rows = [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]
    first_, second = load(rows).messages
    assert (first_.id, second.id) == ("message-1", "message-2")
    assert isinstance(second, SystemMessage)


@each_row(("column", "text"), [("data", "{cut"), ("content", '{"message": {'), ("data", "hello")])
def test_damaged_json_spoils_nothing_but_its_row(column: str, text: str) -> None:
    rows = [{"id": 1, "role": "assistant", column: text}, {"id": 2, "role": "user", "content": "hi"}]
    loaded = load(rows)
    assert [message.parts for message in loaded.messages] == [
        (ForeignPart("cherry", text),),
        (TextPart("hi"),),
    ]
    ((path, what, why, _),) = loaded.losses
    assert (path, what) == (f"$[0].{column}", dumps(text).decode())
    assert "not JSON" in why


REFUSED: dict[str, tuple[Json, str]] = {
    "no row": (5, "$"),
    "no row in a list": ([{"role": "user", "content": "x"}, "x"], "$[1]"),
    "no role": ({"id": 1, "content": "x"}, "$.role"),
}


@each_row(("payload", "where"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_row_is_refused(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where


@given(data=st.data())
def test_any_json_is_loaded_or_refused(data: st.DataObject) -> None:
    row = deepcopy(data.draw(st.sampled_from(list(GENERATIONS.values()))))
    path = data.draw(st.sampled_from(list(leaves(row))))
    cut = data.draw(st.integers(1, len(path)))
    place: Json = row
    for step in path[: cut - 1]:
        place = place[step]
    place[path[cut - 1]] = data.draw(strategies.json_values())
    for payload in (row, packed(row)):
        try:
            loaded = load(payload)
        except PartitaError:
            continue
        assert dumps(to_json(loaded.messages))


def test_json_nested_too_deeply_is_refused_or_kept() -> None:
    deep = "[" * 100_000
    loaded = load({"id": 1, "role": "user", "data": deep})
    assert loaded.messages[0].parts == (ForeignPart("cherry", deep),)
    assert loaded.losses
