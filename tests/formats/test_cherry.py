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


def load_one(payload: Json) -> Message:
    loaded = load(payload)
    assert loaded.lossless
    (message,) = loaded.messages
    return message


def cherry(message: Message) -> JsonObject:
    metadata = message.content.metadata
    assert is_object(metadata)
    assert is_object(metadata["cherry"])
    return metadata["cherry"]


# --- rows of version 2 ------------------------------------------------------------------------------------

V2_ROW: JsonObject = {
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


def test_a_row_of_version_2() -> None:
    message = load_one(V2_ROW)
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
    assert message.content.usage == Usage(30, 5, 35, 2, 15, 5, raw=V2_ROW["stats"])
    assert cherry(message) == {
        "data": {"turnOptions": {"effort": "high"}},
        **{
            name: V2_ROW[name]
            for name in (
                *("status", "modelId", "messageSnapshot", "runtimeResumeToken"),
                *("ftsRowid", "createdAt", "updatedAt"),
            )
        },
    }


@each_row("status", ["pending", "paused", "error"])
def test_the_status_of_an_unfinished_response_is_kept(status: str) -> None:
    row: JsonObject = {"id": "a", "role": "assistant", "data": {"parts": []}, "status": status}
    message = load_one(row)
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


def tool_response(**raw: Json) -> JsonObject:
    return {"metadata": {"rawMcpToolResponse": raw}}


AT = {"cherry": {"id": "b"}}
PICTURE = {"id": "f", "origin_name": "cat.png", "path": "/home/u/cat.png", "ext": ".png", "size": 3}

BLOCKS: dict[str, tuple[JsonObject, list[Part]]] = {
    "text": (block("main_text", content="hi"), [TextPart("hi", "done", provider_metadata=AT)]),
    "streaming text": (
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
    "a call with an output": (
        tool_block(content="a.md"),
        [call("output-available", TextOutput("a.md"))],
    ),
    "a structured output": (
        tool_block(content={"content": [{"type": "text", "text": "x"}]}),
        [call("output-available", JsonOutput({"content": [{"type": "text", "text": "x"}]}))],
    ),
    "a call that is repeated in the adapter metadata": (
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
        [
            call(
                "output-available",
                TextOutput("a.md"),
                tool_response(status="done", tool={"type": "provider"}),
            )
        ],
    ),
    "a call that is only in the adapter metadata": (
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
        [call("output-available", JsonOutput([1]), tool_response(status="done", tool={}))],
    ),
    "a failed call": (
        tool_block({"status": "error", "response": "no such file"}),
        [call("output-error", ErrorTextOutput("no such file"), tool_response(status="error"))],
    ),
    "a call with an error output": (
        tool_block(content={"isError": True, "content": []}),
        [call("output-error", ErrorJsonOutput({"isError": True, "content": []}))],
    ),
    "a call with only an error": (
        tool_block(status="error", error={"message": "gone"}),
        [call("output-error", ErrorJsonOutput({"message": "gone"}), {"status": "error"})],
    ),
    "a cancelled call": (
        tool_block({"status": "cancelled"}),
        [call("output-error", InterruptedOutput("aborted"), tool_response(status="cancelled"))],
    ),
    "a pending call": (
        tool_block({"status": "pending"}, status="processing"),
        [call("input-available", None, {"status": "processing", **tool_response(status="pending")})],
    ),
    "a call without a name": (
        block("tool", toolId="t"),
        [ToolCallPart("t", "unknown", "output-available", dynamic=True, call_provider_metadata=AT)],
    ),
    "an image": (
        block("image", url="data:image/webp;base64,AA=="),
        [ImagePart("data:image/webp;base64,AA==", "image/webp", provider_metadata=AT)],
    ),
    "an image file": (
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
    "citations: pages become sources, other members are kept": (
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
    "a text block without text": (block("main_text"), [ForeignPart("cherry", block("main_text"))]),
    "an image without content": (block("image"), [ForeignPart("cherry", block("image"))]),
    "an unknown type": (block("hologram", x=1), [ForeignPart("cherry", block("hologram", x=1))]),
}


def block_row(*blocks: Json, **members: Json) -> JsonObject:
    message = {"id": "m", "role": "assistant", "createdAt": NOON, "status": "success", **members}
    return {"id": 3, "role": "assistant", "content": {"message": message, "blocks": list(blocks)}}


@each_row(("raw", "parts"), BLOCKS.values(), ids=BLOCKS)
def test_blocks_become_parts(raw: JsonObject, parts: list[Part]) -> None:
    assert load_one(block_row(raw)).parts == tuple(parts)


def test_a_row_of_blocks() -> None:
    chunk_row, second = block("main_text", content="a", id="x"), block("main_text", content="b", id="y")
    row = block_row(
        second, chunk_row, blocks=["x", "y"], usage={"prompt_tokens": 4, "completion_tokens": 2, "cost": 1}
    )
    message = load_one(row | {"session_id": "s", "agent_session_id": "claude-1", "created_at": NOON})
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


def test_blocks_without_a_reference_keep_their_order() -> None:
    chunk_row, second = block("main_text", content="a", id="x"), block("main_text", content="b", id="y")
    message = load_one(block_row(chunk_row, second, blocks=["y"]))
    assert [part.text for part in message.parts if isinstance(part, TextPart)] == ["a", "b"]
    assert cherry(message)["content"]["message"]["blocks"] == ["y"]


def test_parts_in_the_message_of_a_migrating_row() -> None:
    row = block_row(data={"parts": [{"type": "text", "text": "hi"}], "x": 1}, blocks=[])
    message = load_one(row)
    assert message.parts == (TextPart("hi"),)
    assert cherry(message)["content"]["message"] == {"status": "success", "data": {"x": 1}}


def test_a_block_that_does_not_fit_its_role_is_kept_as_foreign() -> None:
    row = block_row(block("thinking", content="hm"), block("main_text", content="hi"), role="user") | {
        "role": "user"
    }
    message = load_one(row)
    assert isinstance(message, UserMessage)
    foreign, text = message.parts
    assert isinstance(foreign, ForeignPart)
    assert foreign.value["text"] == "hm"
    assert isinstance(text, TextPart)


# --- rows of chunks ---------------------------------------------------------------------------------------


def delta(text: str, **members: Json) -> JsonObject:
    return {"type": "text-delta", "id": "t", "delta": text, **members}


def chunk_row(chunks: Sequence[Json], **members: Json) -> JsonObject:
    content = {"aiSDKChunks": list(chunks), "agentType": "claude-code", **members}
    return {"id": 12, "session_id": "s", "parent_id": 11, "role": "agent", "content": content}


CHUNK_ROW = chunk_row(
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
    loaded = load(CHUNK_ROW)
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


def test_replaced_values_are_reported() -> None:
    root = "$.content.aiSDKChunks"
    assert {loss.path: loss.what for loss in load(CHUNK_ROW).losses} == {
        f"{root}[0].messageId": '"other"',
        f"{root}[3].providerMetadata.claudeCode.uuid": '"u1"',
        f"{root}[10].output": '"half"',
        f"{root}[10].preliminary": "true",
        f"{root}[12].data": "1",
        f"{root}[14].messageMetadata.modelId": '"a"',
        f"{root}[18]": '{"type":"new-kind","x":1}',
    }


END = {"type": "text-end", "id": "t"}
DELTAS: dict[str, tuple[list[Json], str]] = {
    "pieces": ([delta("a"), delta("b"), END], "ab"),
    "deltas that look cumulative": ([delta("ha"), delta("ha"), delta("ha!x"), END], "hahaha!x"),
    "two deltas with a common prefix": ([delta("1"), delta("10"), END], "110"),
    "cumulative deltas": ([delta("I"), delta("I am"), delta("I am here"), END], "I am here"),
    "cumulative deltas with the complete text at the end": (
        [delta("I"), delta("I am"), END | {"providerMetadata": {"text": {"value": "I am"}}}],
        "I am",
    ),
    "one delta without an end": ([delta("a")], "a"),
}


@each_row(("chunks", "text"), DELTAS.values(), ids=DELTAS)
def test_cumulative_and_incremental_deltas_give_the_text(chunks: list[Json], text: str) -> None:
    (message,) = load(chunk_row(chunks)).messages
    (part,) = message.parts
    assert isinstance(part, TextPart)
    assert part.text == text


def test_invalid_chunks_are_reported() -> None:
    loaded = load(chunk_row([{"type": "text-start"}, 5]))
    assert [loss.path for loss in loaded.losses] == [f"$.content.aiSDKChunks[{place}]" for place in (0, 1)]


# --- columns ---------------------------------------------------------------------------------------------


def with_json_text(row: JsonObject) -> JsonObject:
    """Return the row as in a database: objects and arrays as JSON text."""
    return {
        key: dumps(value).decode() if is_object(value) or is_array(value) else value
        for key, value in row.items()
    }


ROWS: dict[str, JsonObject] = {
    "today": V2_ROW,
    "blocks": block_row(*(raw for raw, _ in BLOCKS.values()), usage={"total_tokens": 1}, metrics={"x": 1})
    | {"metadata": {"y": [1, {}]}, "created_at": NOON},
    "chunks": CHUNK_ROW,
    "plain text": {
        "id": 1,
        "session_id": "s",
        "role": "user",
        "content": "hi",
        "created_at": "2026-03-04 12:00",
    },
}


@each_row("name", ROWS)
def test_json_columns_may_be_text(name: str) -> None:
    row = ROWS[name]
    assert load(with_json_text(row)) == load(row)


@each_row("name", ROWS)
def test_every_leaf_is_read_or_reported(name: str) -> None:
    row = ROWS[name]
    loaded = load(row)
    whole = dumps([to_json(loaded.messages), loaded.losses])
    silent = [path for path in leaves(row) if _result_of(changed(row, path)) == whole]
    assert silent == []


def _result_of(row: Json) -> bytes | None:
    try:
        loaded = load(row)
    except PartitaError:
        return None
    return dumps([to_json(loaded.messages), loaded.losses])


TIMES: dict[str, Json] = {
    "a JavaScript timestamp": NOON,
    "an SQLite timestamp": "2026-03-04 12:00:00",
    "another time zone": "2026-03-04T14:00:00+02:00",
    "seconds": 1772625600,
    "milliseconds": 1772625600000,
}


@each_row("spelling", TIMES.values(), ids=TIMES)
@each_row("column", ["createdAt", "created_at"])
def test_times_are_read_in_every_spelling(column: str, spelling: Json) -> None:
    message = load_one({"id": "a", "role": "user", "data": {"parts": []}, column: spelling})
    assert message.created_at == MOMENT
    if spelling == NOON:
        assert to_json(message)["content"] == {"format": 2, "parts": []}
    else:
        assert cherry(message) == {column: spelling}


@each_row("spelling", ["noon", "", 10**40, True, [1]])
def test_an_invalid_time_is_kept(spelling: Json) -> None:
    message = load_one({"id": "a", "role": "user", "data": {"parts": []}, "createdAt": spelling})
    assert message.created_at is None
    assert cherry(message) == {"createdAt": spelling}


def test_rows_without_an_id_are_numbered() -> None:
    rows = [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]
    first_, second = load(rows).messages
    assert (first_.id, second.id) == ("message-1", "message-2")
    assert isinstance(second, SystemMessage)


@each_row(("column", "text"), [("data", "{cut"), ("content", '{"message": {'), ("data", "hello")])
def test_invalid_json_affects_only_its_row(column: str, text: str) -> None:
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
    "not a row": (5, "$"),
    "not a row, in a list": ([{"role": "user", "content": "x"}, "x"], "$[1]"),
    "no role": ({"id": 1, "content": "x"}, "$.role"),
}


@each_row(("payload", "where"), REFUSED.values(), ids=REFUSED)
def test_invalid_rows_are_refused_with_their_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where


@given(data=st.data())
def test_any_json_is_loaded_or_refused(data: st.DataObject) -> None:
    row = deepcopy(data.draw(st.sampled_from(list(ROWS.values()))))
    path = data.draw(st.sampled_from(list(leaves(row))))
    cut = data.draw(st.integers(1, len(path)))
    place: Json = row
    for step in path[: cut - 1]:
        place = place[step]
    place[path[cut - 1]] = data.draw(strategies.json_values())
    for payload in (row, with_json_text(row)):
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
