"""Rows of Smithers → canonical messages."""

from copy import deepcopy
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConversionError, PartitaError
from partita.formats.smithers.format import load
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    Part,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    DataPart,
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolResultPart,
)
from partita.types.usage import Usage
from tests import strategies
from tests.leaves import leaves
from tests.tables import each_row

NOON = "2026-03-04T12:00:00.000Z"
NOON_TIME = datetime(2026, 3, 4, 12, tzinfo=UTC)

AGENT: JsonObject = {
    "id": "agent-a",
    "execution_id": "run-1",
    "phase_id": None,
    "model": "sonnet",
    "system_prompt": "Be brief.",
    "prompt": "Name the capital.",
    "status": "completed",
    "result": "Paris.",
    "result_structured": {"city": "Paris"},
    "log_path": "/logs/a.log",
    "stream_summary": {"textBlocks": 1},
    "error": None,
    "started_at": "2026-03-04T12:00:01.000Z",
    "completed_at": "2026-03-04T12:00:09.000Z",
    "created_at": NOON,
    "duration_ms": 8000,
    "tokens_input": 12,
    "tokens_output": 3,
    "tool_calls_count": 0,
}


def reconstructed(**more: Json) -> JsonObject:
    return {"reconstructed": True, "from": "smithers.agents", **more}


def response_of(payload: Json) -> AssistantMessage:
    message = load(payload).messages[-1]
    assert isinstance(message, AssistantMessage)
    return message


# --- agents ----------------------------------------------------------------------------------------------


def test_an_agent_becomes_its_instructions_its_prompt_and_its_response() -> None:
    loaded = load([AGENT])
    assert loaded.lossless
    system, prompt, response = loaded.messages
    assert isinstance(system, SystemMessage)
    assert isinstance(prompt, UserMessage)
    assert isinstance(response, AssistantMessage)
    assert [message.id for message in loaded.messages] == ["agent-a:system", "agent-a:prompt", "agent-a"]
    assert {(message.thread_id, message.run_id, message.created_at) for message in loaded.messages} == {
        ("agent-a", "run-1", NOON_TIME)
    }
    assert (system.parts, system.content.metadata) == ((TextPart("Be brief."),), reconstructed())
    assert (prompt.parts, prompt.content.metadata) == ((TextPart("Name the capital."),), reconstructed())
    assert response.parts == (TextPart("Paris."), DataPart("result", {"city": "Paris"}))
    assert response.content.usage == Usage(12, 3)
    kept = ("model", "status", "log_path", "stream_summary", "started_at", "completed_at", "duration_ms")
    counts = ("tokens_input", "tokens_output", "tool_calls_count")
    assert response.content.metadata == reconstructed(**{name: AGENT[name] for name in (*kept, *counts)})


RESPONSES: dict[str, tuple[JsonObject, list[Part]]] = {
    "an agent with an error": ({"error": "no network"}, [DataPart("error", {"message": "no network"})]),
    "an agent with a response and an error": (
        {"result": "I", "error": "cut"},
        [TextPart("I"), DataPart("error", {"message": "cut"})],
    ),
    "a running agent": ({"status": "running"}, []),
    "an empty response": ({"result": ""}, [TextPart("")]),
    "only a structured response": ({"result_structured": "[1]"}, [DataPart("result", [1])]),
}


@each_row(("row", "parts"), RESPONSES.values(), ids=RESPONSES)
def test_rows_of_agents_become_responses(row: JsonObject, parts: list[Part]) -> None:
    message = response_of({"id": "a", "prompt": "p", **row})
    assert message.parts == tuple(parts)
    assert is_object(message.content.metadata)
    assert message.content.metadata["reconstructed"] is True


def test_a_structured_response_that_is_not_json_is_kept_and_reported() -> None:
    loaded = load([{"id": "a", "prompt": "p", "result_structured": "{cut"}])
    assert loaded.messages[-1].parts == (ForeignPart("smithers", "{cut"),)
    assert [loss.path for loss in loaded.losses] == ["$[0].result_structured"]


# --- stream events ---------------------------------------------------------------------------------------


def event(content: JsonObject, stamp: int = 0, **columns: Json) -> JsonObject:
    mirrors = {
        "event_type": content["type"],
        "event_id": content.get("id", content.get("toolCallId")),
        "tool_name": content.get("toolName"),
    }
    row = {"id": f"e{stamp}", "agent_id": "agent-a", "content": content, "timestamp": stamp}
    return {**row, **mirrors, "created_at": NOON, **columns}


def events(*contents: JsonObject) -> list[JsonObject]:
    return [event(content, stamp) for stamp, content in enumerate(contents)]


def text(content: str, id_: str = "t") -> list[JsonObject]:
    return [
        {"type": "text-start", "id": id_},
        {"type": "text-delta", "id": id_, "delta": content},
        {"type": "text-end", "id": id_},
    ]


CALL: JsonObject = {"type": "tool-call", "toolCallId": "c", "toolName": "Read", "input": '{"path":"a"}'}
RESULT: JsonObject = {"type": "tool-result", "toolCallId": "c", "toolName": "Read", "result": "x"}
START: JsonObject = {"type": "tool-input-start", "id": "c", "toolName": "Read"}
DELTA: JsonObject = {"type": "tool-input-delta", "id": "c", "delta": '{"path":"a"}'}
STOP: JsonObject = {"type": "tool-input-end", "id": "c"}


def read(state: Json = "input-available", output: Json = None, **members: Json) -> ToolCallPart:
    return ToolCallPart("c", "Read", state, {"path": "a"}, output=output, dynamic=True, **members)


STREAMS: dict[str, tuple[list[JsonObject], list[AssistantPart]]] = {
    "text": (text("hi"), [TextPart("hi", "done")]),
    "a text without a start": ([{"type": "text-delta", "id": "t", "delta": "hi"}], [TextPart("hi", "done")]),
    "reasoning": (
        [{"type": "reasoning-start", "id": "r"}, {"type": "reasoning-delta", "id": "r", "delta": "hm"}],
        [ReasoningPart("hm", id="r", state="done")],
    ),
    "a call": ([CALL], [read()]),
    "a call and its result": ([CALL, RESULT], [read("output-available", TextOutput("x"))]),
    "a streamed input, and the call": ([START, DELTA, STOP, CALL], [read()]),
    "a streamed input without a call": ([START, DELTA, STOP], [read()]),
    "a structured result": (
        [CALL, RESULT | {"result": [1]}],
        [read("output-available", JsonOutput([1]))],
    ),
    "a result without a tool name": (
        [CALL, RESULT | {"toolName": "unknown"}],
        [read("output-available", TextOutput("x"))],
    ),
    "a result without a call": (
        [RESULT],
        [ToolCallPart("c", "Read", "output-available", output=TextOutput("x"), dynamic=True)],
    ),
    "an input that is not JSON": (
        [CALL | {"input": "ls"}],
        [ToolCallPart("c", "Read", "input-available", "ls", dynamic=True)],
    ),
    "model calls": (
        [{"type": "stream-start", "warnings": []}, *text("a")],
        [StepStartPart(), TextPart("a", "done")],
    ),
    "a file": (
        [{"type": "file", "mediaType": "image/png", "data": "AA=="}],
        [FilePart("data:image/png;base64,AA==", "image/png")],
    ),
    "a page": (
        [{"type": "source", "sourceType": "url", "id": "s", "url": "https://x.test", "title": "X"}],
        [SourceUrlPart("s", "https://x.test", "X")],
    ),
    "a document": (
        [{"type": "source", "sourceType": "document", "content": "x"}],
        [DataPart("source", {"sourceType": "document", "content": "x"})],
    ),
    "an error": (
        [{"type": "error", "error": "ouch"}, {"type": "error", "error": {"code": 1}}],
        [DataPart("error", {"message": "ouch"}), DataPart("error", {"code": 1})],
    ),
    "terminal output": (
        [{"type": "cli-output", "stream": "stdout", "raw": "x"}],
        [DataPart("cli-output", {"stream": "stdout", "raw": "x"})],
    ),
}


@each_row(("contents", "parts"), STREAMS.values(), ids=STREAMS)
def test_stream_events_become_parts(contents: list[JsonObject], parts: list[AssistantPart]) -> None:
    loaded = load({"events": events(*contents)})
    (message,) = loaded.messages
    assert (message.id, message.parts) == ("agent-a", tuple(parts))
    assert message.content.metadata == {"from": "smithers.agents"}
    assert [loss.why for loss in loaded.losses] == ["messages have no place for it"]


KEPT: dict[str, JsonObject] = {
    "the session": {"type": "session-info", "sessionId": "s", "model": "m"},
    "the response": {"type": "response-metadata", "metadata": {"model": "m"}},
    "warnings": {"type": "stream-start", "warnings": [{"type": "x"}]},
    "the finish": {"type": "finish", "finishReason": {"unified": "stop"}},
    "an unknown part": {"type": "hologram", "x": 1},
    "an unknown member": {"type": "text-start", "id": "t", "x": 1},
    "a missing member": {"type": "tool-call", "toolCallId": "c"},
    "bytes": {"type": "file", "mediaType": "image/png", "data": {"0": 1}},
}


@each_row("content", KEPT.values(), ids=KEPT)
def test_other_events_are_kept_in_the_metadata(content: JsonObject) -> None:
    metadata = response_of({"events": events(content)}).content.metadata
    assert metadata == {"from": "smithers.agents", "events": [content]}


def test_a_response_with_events_is_not_reconstructed() -> None:
    loaded = load({"agents": [AGENT], "events": events(*text("Let me see. Paris."))})
    prompt, response = loaded.messages[1:]
    assert is_object(prompt.content.metadata)
    assert prompt.content.metadata["reconstructed"] is True
    assert is_object(response.content.metadata)
    assert "reconstructed" not in response.content.metadata
    assert response.parts == (TextPart("Let me see. Paris.", "done"), DataPart("result", {"city": "Paris"}))
    assert response.content.content == "Paris."


def test_a_result_that_is_not_in_the_events_is_added() -> None:
    message = response_of(
        {"agents": [AGENT], "events": events({"type": "cli-output", "stream": "stdout", "raw": "x"})}
    )
    assert message.parts[1:] == (TextPart("Paris."), DataPart("result", {"city": "Paris"}))


def test_an_error_is_reported_once() -> None:
    failed = {"id": "agent-a", "prompt": "p", "error": "ouch"}
    message = response_of({"agents": [failed], "events": events({"type": "error", "error": "ouch"})})
    assert message.parts == (DataPart("error", {"message": "ouch"}),)


def finish(input_tokens: int, output_tokens: int) -> JsonObject:
    return {
        "type": "finish",
        "usage": {"inputTokens": {"total": input_tokens}, "outputTokens": {"total": output_tokens}},
    }


def test_usage_of_model_calls_is_added_if_the_row_has_none() -> None:
    message = response_of({"events": events(finish(3, 1), finish(4, 2))})
    assert message.content.usage == Usage(7, 3, raw=[finish(3, 1)["usage"], finish(4, 2)["usage"]])
    assert response_of({"agents": [AGENT], "events": events(finish(3, 1))}).content.usage == Usage(12, 3)


def delta_at(content: str, stamp: int) -> JsonObject:
    return event({"type": "text-delta", "id": "t", "delta": content}, stamp)


ORDERS: dict[str, tuple[list[JsonObject], str]] = {
    "in order": ([delta_at("a", 1), delta_at("b", 2)], "ab"),
    "newest first": ([delta_at("b", 2), delta_at("a", 1)], "ab"),
    "newest first, some at the same time": ([delta_at("c", 2), delta_at("b", 1), delta_at("a", 1)], "abc"),
    "all at the same time": ([delta_at("a", 1), delta_at("b", 1)], "ab"),
    "mixed": ([delta_at("b", 2), delta_at("a", 1), delta_at("c", 3)], "abc"),
    "without timestamps": ([delta_at("a", 2) | {"timestamp": None}, delta_at("b", 1)], "ab"),
}


@each_row(("rows", "expected"), ORDERS.values(), ids=ORDERS)
def test_events_are_sorted_by_time(rows: list[JsonObject], expected: str) -> None:
    (part,) = response_of({"events": rows}).parts
    assert isinstance(part, TextPart)
    assert part.text == expected


def test_events_belong_to_their_agents() -> None:
    others = [event(content, agent_id="agent-b") for content in text("b")]
    loaded = load({"agents": [AGENT], "events": [*others, *events(*text("Paris. a"))]})
    texts = {
        message.id: message.parts[0] for message in loaded.messages if message.id in ("agent-a", "agent-b")
    }
    assert texts == {"agent-a": TextPart("Paris. a", "done"), "agent-b": TextPart("b", "done")}


def test_agents_may_have_numeric_ids() -> None:
    loaded = load({"agents": [{"id": 1, "prompt": "p"}], "events": [event(text("x")[1], agent_id=1)]})
    assert [(message.id, message.parts) for message in loaded.messages] == [
        ("1:prompt", (TextPart("p"),)),
        ("1", (TextPart("x", "done"),)),
    ]


def test_events_without_an_agent_belong_to_a_separate_agent() -> None:
    rows = [event(text("x")[1], agent_id=owner) for owner in (None, [1])]
    loaded = load({"agents": [{"prompt": "p"}], "events": rows})
    assert [message.id for message in loaded.messages] == ["agent-1:prompt", "agent-1", "agent-2"]
    assert loaded.messages[-1].parts == (TextPart("xx", "done"),)


# --- tool calls ------------------------------------------------------------------------------------------


def tool_row(**columns: Json) -> JsonObject:
    row = {"id": "row-1", "agent_id": "agent-a", "tool_name": "Read", "input": {"path": "a"}}
    return {**row, "status": "completed", **columns}


def rest(**columns: Json) -> JsonObject:
    return {"smithers": {"status": "completed", **columns}}


CALLS: dict[str, tuple[JsonObject, Json, Json, JsonObject]] = {
    "a small output": (tool_row(output_inline="x"), "output-available", TextOutput("x"), rest()),
    "a large output": (
        tool_row(output_summary="much", output_path="/o", output_size_bytes=9),
        "output-available",
        TextOutput("much", provider_metadata={"smithers": {"is": "summary"}}),
        rest(output_path="/o", output_size_bytes=9),
    ),
    "no output": (tool_row(), "output-available", None, rest()),
    "an error": (
        tool_row(status="failed", error="no"),
        "output-error",
        ErrorTextOutput("no"),
        rest(status="failed"),
    ),
    "running": (tool_row(status="running"), "input-available", None, rest(status="running")),
}


@each_row(("row", "state", "output", "kept"), CALLS.values(), ids=CALLS)
def test_rows_of_tool_calls_become_calls(
    row: JsonObject, state: Json, output: Json, kept: JsonObject
) -> None:
    loaded = load({"agents": [AGENT], "tool_calls": [row]})
    assert loaded.lossless
    call, *others = loaded.messages[-1].parts
    assert call == ToolCallPart(
        "row-1", "Read", state, {"path": "a"}, output=output, dynamic=True, tool_metadata=kept
    )
    assert others == [TextPart("Paris."), DataPart("result", {"city": "Paris"})]


MATCHES: dict[str, tuple[list[JsonObject], JsonObject, list[ToolCallPart]]] = {
    "a call of the stream gets the output of its row": (
        [CALL],
        tool_row(output_inline="x"),
        [
            read(
                "output-available",
                TextOutput("x"),
                tool_metadata={"smithers": {"id": "row-1", "status": "completed"}},
            )
        ],
    ),
    "the output of the stream takes precedence": (
        [CALL, RESULT],
        tool_row(output_inline="y"),
        [
            read(
                "output-available",
                TextOutput("x"),
                tool_metadata={
                    "smithers": {
                        "id": "row-1",
                        "status": "completed",
                        "output": {"type": "text", "value": "y"},
                    }
                },
            )
        ],
    ),
    "another call is a separate call": (
        [CALL],
        tool_row(input={"path": "b"}),
        [
            read(),
            ToolCallPart(
                "row-1", "Read", "output-available", {"path": "b"}, dynamic=True, tool_metadata=rest()
            ),
        ],
    ),
}


@each_row(("contents", "row", "calls"), MATCHES.values(), ids=MATCHES)
def test_rows_of_tool_calls_are_matched_with_calls_of_the_stream(
    contents: list[JsonObject], row: JsonObject, calls: list[ToolCallPart]
) -> None:
    assert response_of({"events": events(*contents), "toolCalls": [row]}).parts == tuple(calls)


# --- memory ----------------------------------------------------------------------------------------------


def memory(content: Json, role: str = "user", **columns: Json) -> JsonObject:
    row = {"id": "m", "threadId": "t", "role": role, "contentJson": dumps(content).decode()}
    return {**row, "createdAtMs": 1772625600000, **columns}


STAMP: JsonObject = {"smithers": {"createdAtMs": 1772625600000}}
CONTENTS: dict[str, tuple[JsonObject, type[Message], list[Part]]] = {
    "text": (memory("hi"), UserMessage, [TextPart("hi")]),
    "text in an object": (memory({"text": "hi"}), UserMessage, [TextPart("hi")]),
    "parts of model messages": (
        memory([{"type": "text", "text": "hi"}], "assistant"),
        AssistantMessage,
        [TextPart("hi")],
    ),
    "parts of UI messages": (
        memory({"parts": [{"type": "text", "text": "hi"}]}, "assistant"),
        AssistantMessage,
        [TextPart("hi")],
    ),
    "a model message": (
        memory({"role": "system", "content": "hi"}, "system"),
        SystemMessage,
        [TextPart("hi")],
    ),
    "results": (
        memory(
            [
                {
                    "type": "tool-result",
                    "toolCallId": "c",
                    "toolName": "Read",
                    "output": {"type": "text", "value": "x"},
                }
            ],
            "tool",
        ),
        ToolMessage,
        [ToolResultPart("c", "Read", TextOutput("x"))],
    ),
    "anything else": (memory({"a": 1}), UserMessage, [DataPart("content", {"a": 1})]),
}


@each_row(("row", "type_", "parts"), CONTENTS.values(), ids=CONTENTS)
def test_memory_rows_become_messages(row: JsonObject, type_: type[Message], parts: list[Part]) -> None:
    loaded = load([row | {"runId": "r"}])
    assert loaded.lossless
    (message,) = loaded.messages
    assert isinstance(message, type_)
    assert (message.id, message.thread_id, message.run_id, message.created_at) == ("m", "t", "r", NOON_TIME)
    assert (message.parts, message.content.metadata) == (tuple(parts), STAMP)


def test_memory_that_is_not_json_affects_only_its_row() -> None:
    loaded = load({"messages": [memory("x") | {"contentJson": "{cut"}, memory("hi")]})
    assert [message.parts for message in loaded.messages] == [
        (ForeignPart("smithers", "{cut"),),
        (TextPart("hi"),),
    ]
    assert [loss.path for loss in loaded.losses] == ["$.messages[0].contentJson"]


# --- payloads --------------------------------------------------------------------------------------------

ALL_TABLES: JsonObject = {
    "agents": [AGENT, AGENT | {"id": "agent-c", "error": "no"}],
    "events": events(
        {"type": "stream-start", "warnings": []},
        {"type": "session-info", "sessionId": "s", "model": "m"},
        *text("Let me see."),
        START,
        DELTA,
        STOP,
        CALL,
        RESULT,
        CALL | {"toolCallId": "d"},
        {"type": "file", "mediaType": "image/png", "data": "AA=="},
        {"type": "source", "sourceType": "url", "id": "s", "url": "https://x.test", "title": "X"},
        {"type": "error", "error": {"code": 1}},
        {"type": "cli-output", "stream": "stderr", "raw": "x"},
        finish(1, 2),
        {"type": "hologram", "x": [1]},
    ),
    "toolCalls": [tool_row(output_inline="x"), tool_row(id="row-2", error="no", agent_id="agent-c")],
    "messages": [
        memory(None) | {"contentJson": row} for row in ("hi", [{"type": "text", "text": "x"}], {"a": 1})
    ],
    "executions": [{"id": "run-1"}],
}


def with_json_text(value: JsonObject) -> JsonObject:
    """Return the payload as in a database: objects and arrays as JSON text."""
    return {table: [_row_with_json_text(row) for row in rows] for table, rows in value.items()}


def _row_with_json_text(row: JsonObject) -> JsonObject:
    columns = {key for key, item in row.items() if is_object(item) or is_array(item) or key == "contentJson"}
    return {key: dumps(item).decode() if key in columns else item for key, item in row.items()}


def result_of(payload: Json) -> bytes | None:
    try:
        loaded = load(payload)
    except PartitaError:
        return None
    return dumps([to_json(loaded.messages), loaded.losses])


def test_json_columns_may_be_text() -> None:
    whole = {name: rows for name, rows in ALL_TABLES.items() if name not in ("messages", "executions")}
    assert load(with_json_text(whole)) == load(whole)


def test_rows_of_all_tables_may_be_in_one_list() -> None:
    tables = {name: ALL_TABLES[name] for name in ("agents", "events", "toolCalls", "messages")}
    mixed = load([row for rows in tables.values() for row in rows])
    assert mixed.messages == load(tables).messages


def test_tables_without_messages_are_reported() -> None:
    loaded = load({"agents": [AGENT], "executions": [{"id": "run-1"}]})
    assert [(loss.path, loss.what) for loss in loaded.losses] == [("$.executions", '[{"id":"run-1"}]')]


REFUSED: dict[str, tuple[Json, str]] = {
    "not a row": ([5], "$[0]"),
    "a row of an unknown table": ([AGENT, {"id": 1}], "$[1]"),
    "a table that is not a list": ({"agents": 5}, "$.agents"),
    "a memory message without a role": ({"messages": [{"contentJson": "1"}]}, "$.messages[0].role"),
}


@each_row(("payload", "where"), REFUSED.values(), ids=REFUSED)
def test_invalid_rows_are_refused_with_their_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where


@given(data=st.data())
def test_any_json_is_loaded_or_refused(data: st.DataObject) -> None:
    payload = deepcopy(ALL_TABLES)
    path = data.draw(st.sampled_from(list(leaves(payload))))
    cut = data.draw(st.integers(1, len(path)))
    place: Json = payload
    for step in path[: cut - 1]:
        place = place[step]
    place[path[cut - 1]] = data.draw(strategies.json_values())
    result_of(payload)
