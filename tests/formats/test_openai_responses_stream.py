"""Events of a Responses stream → chunks: rules and errors that only streams have."""

from typing import Final

from partita.formats.model_view import model_view
from partita.formats.openai_responses.format import load
from partita.formats.openai_responses.stream import ResponsesDecoder
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    TextDelta,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
    type_of,
)
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart, ToolMessage
from tests.decoding import accumulated
from tests.formats.openai_responses_samples import (
    added,
    created,
    decode,
    done,
    event,
    finish_metadata,
    finished,
    function,
    message,
    output_text,
    parts,
    reasoning,
    response,
)
from tests.tables import each_row


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.delta for chunk in chunks if isinstance(chunk, TextDelta)]


def delta(text: str, place: int = 0, **fields: Json) -> JsonObject:
    return event("output_text.delta", place, delta=text, **fields)


TEXTS: Final[dict[str, tuple[list[Json], list[str]]]] = {
    "deltas are not repeated by later events": (
        [
            added(message()),
            delta("Hi"),
            delta("gh"),
            event("output_text.done", text="High"),
            event("content_part.done", part=output_text("High")),
            done(message(output_text("High"))),
            finished(message(output_text("High"))),
        ],
        ["Hi", "gh"],
    ),
    "deltas take precedence over a different complete text": (
        [added(message()), delta("High"), done(message(output_text("Low")))],
        ["High"],
    ),
    "a text without deltas, from the done event": (
        [added(message()), event("output_text.done", text="High")],
        ["High"],
    ),
    "a text without deltas, from the content part": (
        [added(message()), event("content_part.done", part=output_text("High"))],
        ["High"],
    ),
    "a text without deltas, from the item": (
        [added(message()), done(message(output_text("High")))],
        ["High"],
    ),
    "a text without events, from the response": ([finished(message(output_text("High")))], ["High"]),
    "an unfinished item, from the response": (
        [added(message()), finished(message(output_text("High")))],
        ["High"],
    ),
    "an item that was not added": ([done(message(output_text("High")))], ["High"]),
    "a repeated item": ([done(message(output_text("High"))), done(message(output_text("High")))], ["High"]),
    "changing ids": (
        [
            added(message(id="a")),
            delta("High", item_id="b"),
            done(message(output_text("High"), id="c")),
            finished(message(output_text("High"), id="d")),
        ],
        ["High"],
    ),
    "missing indexes": (
        [
            {"type": "response.output_item.added", "item": message()},
            {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "High"},
            {"type": "response.output_item.done", "item": message(output_text("High"))},
        ],
        ["High"],
    ),
    "a response with fewer items than the stream": (
        [
            done(message(output_text("High"), id="msg_1")),
            done(message(output_text("Low"), id="msg_2"), 1),
            finished(message(output_text("Low"), id="msg_2")),
        ],
        ["High", "Low"],
    ),
    "a response with more items than the stream": (
        [
            done(message(output_text("High"))),
            finished(message(output_text("High")), message(output_text("Low"), id="msg_2")),
        ],
        ["High", "Low"],
    ),
    "a resumed stream": ([delta("gh", item_id="msg_1"), done(message(output_text("High")))], ["gh"]),
    "a response body instead of events": ([response(message(output_text("High")))], ["High"]),
}


@each_row(("events", "expected"), TEXTS.values(), ids=TEXTS)
def test_each_text_is_sent_once(events: list[Json], expected: list[str]) -> None:
    chunks = decode(events)
    accumulated(chunks)
    assert texts(chunks) == expected


def test_concurrent_items_are_separate() -> None:
    events: list[Json] = [
        added(function("", call_id="call_1"), 0),
        added(function("", id="fc_2", call_id="call_2"), 1),
        event("function_call_arguments.delta", 1, delta='{"b":'),
        event("function_call_arguments.delta", 0, delta='{"a":'),
        event("function_call_arguments.delta", 1, delta="2}"),
        event("function_call_arguments.delta", 0, delta="1}"),
        done(function('{"b":2}', id="fc_2", call_id="call_2"), 1),
        done(function('{"a":1}', call_id="call_1"), 0),
        finished(),
    ]
    assert [part["input"] for part in parts(decode(events))] == [{"a": 1}, {"b": 2}]


def test_reasoning_before_a_message_keeps_its_position() -> None:
    events: list[Json] = [
        added(reasoning(), 0),
        event("reasoning_text.delta", 0, delta="Moon"),
        added(message(), 1),
        delta("High", 1),
        done(message(output_text("High")), 1),
        done(reasoning(content=[{"type": "reasoning_text", "text": "Moon"}]), 0),
    ]
    assert [part["text"] for part in parts(decode(events))] == ["Moon", "High"]


def test_the_encrypted_content_of_the_finished_item_is_used() -> None:
    events: list[Json] = [added(reasoning(encrypted_content="old")), done(reasoning(encrypted_content="new"))]
    assert parts(decode(events))[0]["providerMetadata"]["openai"]["reasoningEncryptedContent"] == "new"


ARGUMENTS: Final[dict[str, tuple[list[Json], JsonObject]]] = {
    "only in the done event of the call": (
        [added(function("")), event("function_call_arguments.done", arguments='{"a":1}'), finished()],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "only in the item": (
        [added(function("")), done(function('{"a":1}'))],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "unfinished in a completed response": (
        [added(function("")), event("function_call_arguments.delta", delta='{"a":1}'), finished()],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "an object, as in some servers": (
        [done({**function(""), "arguments": {"a": 1}})],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "the finished item takes precedence": (
        [
            added(function("")),
            event("function_call_arguments.delta", delta='{"a":2}'),
            done(function('{"a":1}')),
        ],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "not JSON": ([done(function("{a"))], {"state": "output-error", "input": "{a"}),
    "interrupted by the stream": (
        [added(function("")), event("function_call_arguments.delta", delta='{"a":')],
        {"state": "input-streaming", "rawInput": '{"a":', "input": {}},
    ),
    "interrupted by the token limit": (
        [done(function('{"a":', status="incomplete")), finished(status="incomplete")],
        {"state": "input-streaming", "rawInput": '{"a":', "input": {}},
    ),
}


@each_row(("events", "expected"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_the_input_of_a_function(events: list[Json], expected: JsonObject) -> None:
    (part,) = parts(decode(events))
    assert {name: part.get(name) for name in expected} == expected


def test_the_name_of_a_call_may_be_only_in_the_finished_item() -> None:
    unnamed = {**function(""), "name": None}
    chunks = decode([added(unnamed), done(function("{}"))])
    assert [chunk.tool_name for chunk in chunks if isinstance(chunk, ToolInputStart)] == ["tide"]


def test_an_interrupted_custom_tool_keeps_its_input() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sql", "input": ""}
    (part,) = parts(decode([added(item), event("custom_tool_call_input.delta", delta="select")]))
    assert (part["state"], part["input"], part["inputEncoding"]) == ("input-streaming", "select", "text")


def test_code_is_sent_before_it_runs() -> None:
    item = {"type": "code_interpreter_call", "id": "ci_1", "container_id": "cntr_1", "code": ""}
    decoder = ResponsesDecoder()
    decoder.feed(added(item))
    chunks = decoder.feed(event("code_interpreter_call_code.delta", delta='a = "1"\n'))
    deltas = [chunk.input_text_delta for chunk in chunks if isinstance(chunk, ToolInputDelta)]
    assert deltas == ['{"containerId":"cntr_1","code":"', 'a = \\"1\\"\\n']
    chunks = decoder.feed(event("code_interpreter_call_code.done", code='a = "1"\n'))
    assert [type_of(chunk) for chunk in chunks] == ["tool-input-delta", "tool-input-available"]


def test_the_arguments_of_a_web_search_are_its_input() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "arguments": '{"query":"tides"}', "status": "completed"}
    (part,) = parts(decode([added(item), done(item)]))
    assert part["input"] == {"query": "tides"}
    (call,) = load({"input": [item]}).messages[0].parts
    assert isinstance(call, ToolCallPart)
    assert call.input == {"query": "tides"}


def test_an_unfinished_image_is_preliminary() -> None:
    item = {"type": "image_generation_call", "id": "ig_1"}
    chunks = decode(
        [
            added(item),
            event("image_generation_call.partial_image", partial_image_b64="iV"),
            done({**item, "result": "iVBO"}),
        ]
    )
    outputs = [chunk for chunk in chunks if isinstance(chunk, ToolOutputAvailable)]
    assert [(chunk.output, chunk.preliminary) for chunk in outputs] == [
        ({"result": "iV"}, True),
        ({"result": "iVBO"}, None),
    ]


def test_an_image_event_of_another_tool_is_unknown() -> None:
    chunks = decode(
        [added({"type": "mcp_call", "id": "mcp_1"}), event("image_generation_call.partial_image")]
    )
    accumulated(chunks)
    assert [type_of(chunk) for chunk in chunks[2:3]] == ["data-openai-unknown"]


def test_a_client_tool_search_has_the_id_of_the_finished_item() -> None:
    item: JsonObject = {"type": "tool_search_call", "id": "tsc_1", "execution": "client", "arguments": {}}
    (part,) = parts(decode([added({**item, "call_id": "old"}), done({**item, "call_id": "new"})]))
    assert (part["id"], part.get("providerExecuted")) == ("new", None)


@each_row(
    "item",
    [
        {"type": "mcp_call", "id": "mcp_1", "name": "tide"},
        {"type": "shell_call", "id": "sh_1", "call_id": "mcp_1", "name": "tide"},
    ],
    ids=["of an MCP server", "of a shell"],
)
def test_an_interrupted_call_is_sent(item: JsonObject) -> None:
    (part,) = parts(decode([added(item), event("mcp_call_arguments.delta", delta='{"a":')]))
    assert (part["state"], part["rawInput"]) == ("input-streaming", '{"a":')


def test_an_interrupted_stream_is_marked_as_incomplete() -> None:
    chunks = decode([created(service_tier="flex"), added(message()), delta("High")])
    assert (
        accumulated(chunks).parts[1:]
        == accumulated(decode([added(message()), delta("High"), finished()])).parts[1:]
    )
    assert finish_metadata(chunks) == {
        "finishReason": "interrupted",
        "model": "tide-1",
        "responseId": "resp_1",
        "openai": {"serviceTier": "flex"},
        "complete": False,
    }


def test_an_empty_stream_is_interrupted() -> None:
    assert finish_metadata(decode([])) == {"finishReason": "interrupted", "complete": False}


FAILURES: Final[dict[str, tuple[list[Json], JsonObject]]] = {
    "reported twice": (
        [
            {"type": "error", "error": {"message": "No sea"}},
            {"type": "response.failed", "response": {"status": "failed", "error": {"message": "No sea"}}},
        ],
        {"finishReason": "error", "rawFinishReason": "failed", "errors": ["No sea"]},
    ),
    "flat": (
        [{"type": "error", "code": "dry", "message": "No sea"}],
        {"finishReason": "error", "errors": ["No sea"], "complete": False},
    ),
    "without a type": (
        [{"error": {"message": "No sea"}}],
        {"finishReason": "error", "errors": ["No sea"], "complete": False},
    ),
}


@each_row(("events", "expected"), FAILURES.values(), ids=FAILURES)
def test_an_error_is_reported_once(events: list[Json], expected: JsonObject) -> None:
    chunks = decode(events)
    metadata = finish_metadata(chunks)
    assert {name: metadata[name] for name in metadata if name != "openai"} == expected
    assert [chunk.error_text for chunk in chunks if isinstance(chunk, ErrorChunk)] == ["No sea"]


def test_a_record_that_is_not_json_is_reported_and_skipped() -> None:
    chunks = decode(
        [added(message()), "<html>", delta("High"), done(message(output_text("High"))), finished()]
    )
    assert texts(chunks) == ["High"]
    assert finish_metadata(chunks)["errors"] == ["unparsable record: <html>"]
    assert finish_metadata(chunks)["finishReason"] == "stop"


@each_row(
    "unknown",
    [
        {"type": "response.moon.delta", "output_index": 0},
        {"type": "response.output_item.added"},
        {"type": "response.output_item.done", "item": {"id": "msg_1"}},
        event("function_call_arguments.delta", 7, delta="{"),
        event("content_part.added", part={"type": "moon"}),
        {},
        None,
        7,
        ["response.created"],
    ],
    ids=str,
)
def test_unknown_events_are_kept(unknown: Json) -> None:
    decoder = ResponsesDecoder()
    decoder.feed(added(message()))
    assert decoder.feed(unknown) == [DataChunk("data-openai-unknown", unknown)]


@each_row(
    "kind",
    [
        "web_search_call.searching",
        "mcp_call.completed",
        "mcp_list_tools.failed",
        "code_interpreter_call.interpreting",
    ],
)
def test_progress_events_of_a_tool_give_no_chunks(kind: str) -> None:
    assert decode([event(kind)])[2:-2] == []


def test_other_members_of_the_last_event_are_kept() -> None:
    assert finish_metadata(decode([{**finished(), "copilot_usage": {"cost": 1}}]))["openai"] == {
        "copilot_usage": {"cost": 1}
    }


def test_a_second_finish_gives_no_chunks() -> None:
    decoder = ResponsesDecoder()
    decoder.feed(finished())
    assert decoder.finish()
    assert decoder.finish() == []


# Servers that change or omit ids and indexes


def event_without_index(kind: str, **fields: Json) -> JsonObject:
    """Return an event without an index."""
    return {"type": f"response.{kind}", **fields}


def message_with_id(id: str, *content: JsonObject) -> JsonObject:
    return {**message(*content), "id": id}


HIGH = [output_text("High")]
ROTATING: Final[dict[str, list[Json]]] = {
    "a different id in every event": [
        event_without_index("output_item.added", item=message_with_id("a")),
        event_without_index("output_text.delta", item_id="b", delta="Hi"),
        event_without_index("output_text.delta", item_id="c", delta="gh"),
        event_without_index("output_text.done", item_id="d", text="High"),
        event_without_index("output_item.done", item=message_with_id("e", *HIGH)),
        finished(message_with_id("f", *HIGH)),
    ],
    "another id and index in the finished item": [
        delta("Hi", item_id="a"),
        delta("gh", item_id="a"),
        event_without_index("output_item.done", output_index=1, item=message_with_id("b", *HIGH)),
        finished(message_with_id("c", *HIGH)),
    ],
    "no ids": [
        event_without_index("output_text.delta", delta="Hi"),
        event_without_index("output_text.delta", delta="gh"),
        event_without_index("output_item.done", item=message_with_id("", *HIGH)),
        finished(message_with_id("", *HIGH)),
    ],
    "a different text in the finished item": [
        event_without_index("output_item.added", item=message_with_id("a")),
        event_without_index("output_text.delta", item_id="b", delta="High"),
        event_without_index("output_item.done", item=message_with_id("c", output_text("Low"))),
        finished(message_with_id("d", output_text("Low"))),
    ],
}


@each_row("events", ROTATING.values(), ids=ROTATING)
def test_a_text_is_sent_once_although_ids_change(events: list[Json]) -> None:
    assert [part["text"] for part in parts(decode(events))] == ["High"]


def test_two_texts_are_separate_although_ids_change() -> None:
    events: list[Json] = []
    for name, text in (("a", "High"), ("b", "Higher")):
        events += [
            event_without_index("output_item.added", item=message_with_id(name)),
            event_without_index("output_text.delta", item_id=name, delta=text),
            event_without_index("output_item.done", item=message_with_id(f"{name}-whole", output_text(text))),
        ]
    assert [part["text"] for part in parts(decode(events))] == ["High", "Higher"]


def test_a_call_and_its_reasoning_are_sent_once_although_ids_change() -> None:
    reasoning_item = {"type": "reasoning", "id": "a", "summary": []}
    call = {"type": "function_call", "id": "d", "call_id": "c", "name": "tide", "arguments": ""}
    events: list[Json] = [
        event_without_index("output_item.added", item=reasoning_item),
        event_without_index("reasoning_summary_text.delta", item_id="b", summary_index=0, delta="Hm."),
        event_without_index(
            "output_item.done",
            item={**reasoning_item, "id": "c", "summary": [{"type": "summary_text", "text": "Hm."}]},
        ),
        event_without_index("output_item.added", item=call),
        event_without_index("function_call_arguments.delta", item_id="e", delta='{"at":'),
        event_without_index("function_call_arguments.delta", item_id="f", delta='"noon"}'),
        event_without_index("output_item.done", item={**call, "id": "g", "arguments": '{"at":"noon"}'}),
    ]
    first, second = parts(decode(events))
    assert (first["text"], second["id"], second["input"]) == ("Hm.", "c", {"at": "noon"})


SEARCHED: JsonObject = {
    "type": "custom_tool_call",
    "id": "ctc_1",
    "call_id": "c",
    "name": "x_keyword_search",
    "input": "tides",
    "status": "completed",
}
TOOLS: Final[dict[str, tuple[list[JsonObject], bool, str]]] = {
    "a tool of the provider": ([{"type": "x_search"}], True, "stop"),
    "a tool of the provider, next to client tools": (
        [{"type": "x_search"}, {"type": "custom", "name": "note"}],
        True,
        "stop",
    ),
    "a tool of the client": (
        [{"type": "web_search"}, {"type": "custom", "name": "x_keyword_search"}],
        False,
        "tool-calls",
    ),
    "a tool in a namespace": (
        [
            {"type": "web_search"},
            {"type": "namespace", "tools": [{"type": "custom", "name": "x_keyword_search"}]},
        ],
        False,
        "tool-calls",
    ),
    "unknown tools": ([], False, "tool-calls"),
}


@each_row(("tools", "executed", "reason"), TOOLS.values(), ids=TOOLS)
def test_an_undeclared_custom_tool_is_provider_executed(
    tools: list[JsonObject], executed: bool, reason: str
) -> None:
    whole = {**response(SEARCHED), "tools": tools}
    created_ = event_without_index("created", response={**whole, "output": [], "status": "in_progress"})
    from_stream = decode(
        [
            created_,
            added({**SEARCHED, "input": ""}),
            done(SEARCHED),
            event_without_index("completed", response=whole),
        ]
    )
    body = ResponsesDecoder().read_body(whole)
    for chunks in (from_stream, body):
        (call,) = parts(chunks)
        assert bool(call.get("providerExecuted")) == executed
        assert finish_metadata(chunks)["finishReason"] == reason
    (loaded,) = load(whole).messages
    (call,) = [part for part in loaded.parts if isinstance(part, ToolCallPart)]
    assert bool(call.provider_executed) == executed
    assert isinstance(loaded.content.metadata, dict)
    assert loaded.content.metadata["finishReason"] == reason
    assert any(isinstance(each, ToolMessage) for each in model_view([loaded]).messages) != executed
