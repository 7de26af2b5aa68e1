"""Events of a Responses stream → chunks: what only a stream can do, and what may go wrong in one."""

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
from tests.formats.openai_responses_answers import (
    added,
    created,
    decode,
    done,
    ended,
    event,
    function,
    message,
    parts,
    reasoning,
    response,
    told,
    words,
)
from tests.tables import each_row


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.delta for chunk in chunks if isinstance(chunk, TextDelta)]


def delta(text: str, place: int = 0, **fields: Json) -> JsonObject:
    return event("output_text.delta", place, delta=text, **fields)


TEXTS: Final[dict[str, tuple[list[Json], list[str]]]] = {
    "pieces are not told again": (
        [
            added(message()),
            delta("Hi"),
            delta("gh"),
            event("output_text.done", text="High"),
            event("content_part.done", part=words("High")),
            done(message(words("High"))),
            ended(message(words("High"))),
        ],
        ["Hi", "gh"],
    ),
    "pieces win over a whole that says otherwise": (
        [added(message()), delta("High"), done(message(words("Low")))],
        ["High"],
    ),
    "words without pieces, from the event": (
        [added(message()), event("output_text.done", text="High")],
        ["High"],
    ),
    "words without pieces, from the part": (
        [added(message()), event("content_part.done", part=words("High"))],
        ["High"],
    ),
    "words without pieces, from the item": ([added(message()), done(message(words("High")))], ["High"]),
    "words without any event, from the response": ([ended(message(words("High")))], ["High"]),
    "an item that was never ended, from the response": (
        [added(message()), ended(message(words("High")))],
        ["High"],
    ),
    "an item that was never begun": ([done(message(words("High")))], ["High"]),
    "an item whole twice": ([done(message(words("High"))), done(message(words("High")))], ["High"]),
    "ids that rotate": (
        [
            added(message(id="a")),
            delta("High", item_id="b"),
            done(message(words("High"), id="c")),
            ended(message(words("High"), id="d")),
        ],
        ["High"],
    ),
    "places that are missing": (
        [
            {"type": "response.output_item.added", "item": message()},
            {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "High"},
            {"type": "response.output_item.done", "item": message(words("High"))},
        ],
        ["High"],
    ),
    "a response shorter than what was streamed": (
        [
            done(message(words("High"), id="msg_1")),
            done(message(words("Low"), id="msg_2"), 1),
            ended(message(words("Low"), id="msg_2")),
        ],
        ["High", "Low"],
    ),
    "a response longer than what was streamed": (
        [done(message(words("High"))), ended(message(words("High")), message(words("Low"), id="msg_2"))],
        ["High", "Low"],
    ),
    "a stream taken up again": ([delta("gh", item_id="msg_1"), done(message(words("High")))], ["gh"]),
    "a whole response instead of events": ([response(message(words("High")))], ["High"]),
}


@each_row(("events", "expected"), TEXTS.values(), ids=TEXTS)
def test_words_are_told_once(events: list[Json], expected: list[str]) -> None:
    chunks = decode(events)
    accumulated(chunks)
    assert texts(chunks) == expected


def test_items_that_are_written_at_the_same_time_stay_apart() -> None:
    events: list[Json] = [
        added(function("", call_id="call_1"), 0),
        added(function("", id="fc_2", call_id="call_2"), 1),
        event("function_call_arguments.delta", 1, delta='{"b":'),
        event("function_call_arguments.delta", 0, delta='{"a":'),
        event("function_call_arguments.delta", 1, delta="2}"),
        event("function_call_arguments.delta", 0, delta="1}"),
        done(function('{"b":2}', id="fc_2", call_id="call_2"), 1),
        done(function('{"a":1}', call_id="call_1"), 0),
        ended(),
    ]
    assert [part["input"] for part in parts(decode(events))] == [{"a": 1}, {"b": 2}]


def test_reasoning_beside_a_message_keeps_its_place() -> None:
    events: list[Json] = [
        added(reasoning(), 0),
        event("reasoning_text.delta", 0, delta="Moon"),
        added(message(), 1),
        delta("High", 1),
        done(message(words("High")), 1),
        done(reasoning(content=[{"type": "reasoning_text", "text": "Moon"}]), 0),
    ]
    assert [part["text"] for part in parts(decode(events))] == ["Moon", "High"]


def test_the_encrypted_content_of_the_whole_item_counts() -> None:
    events: list[Json] = [added(reasoning(encrypted_content="old")), done(reasoning(encrypted_content="new"))]
    assert parts(decode(events))[0]["providerMetadata"]["openai"]["reasoningEncryptedContent"] == "new"


ARGUMENTS: Final[dict[str, tuple[list[Json], JsonObject]]] = {
    "only in the last event of the call": (
        [added(function("")), event("function_call_arguments.done", arguments='{"a":1}'), ended()],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "only in the item": (
        [added(function("")), done(function('{"a":1}'))],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "never said to be whole, in an answer that is": (
        [added(function("")), event("function_call_arguments.delta", delta='{"a":1}'), ended()],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "an object, as some servers write it": (
        [done({**function(""), "arguments": {"a": 1}})],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "the item has the last word": (
        [
            added(function("")),
            event("function_call_arguments.delta", delta='{"a":2}'),
            done(function('{"a":1}')),
        ],
        {"state": "input-available", "input": {"a": 1}},
    ),
    "no JSON": ([done(function("{a"))], {"state": "output-error", "input": "{a"}),
    "cut by the stream": (
        [added(function("")), event("function_call_arguments.delta", delta='{"a":')],
        {"state": "input-streaming", "rawInput": '{"a":', "input": {}},
    ),
    "cut by the limit of tokens": (
        [done(function('{"a":', status="incomplete")), ended(status="incomplete")],
        {"state": "input-streaming", "rawInput": '{"a":', "input": {}},
    ),
}


@each_row(("events", "expected"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_the_input_of_a_function(events: list[Json], expected: JsonObject) -> None:
    (part,) = parts(decode(events))
    assert {name: part.get(name) for name in expected} == expected


def test_the_name_of_a_call_may_come_with_the_whole_item() -> None:
    unnamed = {**function(""), "name": None}
    chunks = decode([added(unnamed), done(function("{}"))])
    assert [chunk.tool_name for chunk in chunks if isinstance(chunk, ToolInputStart)] == ["tide"]


def test_a_custom_tool_that_is_cut_keeps_its_words() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sql", "input": ""}
    (part,) = parts(decode([added(item), event("custom_tool_call_input.delta", delta="select")]))
    assert (part["state"], part["input"], part["inputEncoding"]) == ("input-streaming", "select", "text")


def test_code_is_told_before_it_runs() -> None:
    item = {"type": "code_interpreter_call", "id": "ci_1", "container_id": "cntr_1", "code": ""}
    decoder = ResponsesDecoder()
    decoder.feed(added(item))
    said = decoder.feed(event("code_interpreter_call_code.delta", delta='a = "1"\n'))
    pieces = [chunk.input_text_delta for chunk in said if isinstance(chunk, ToolInputDelta)]
    assert pieces == ['{"containerId":"cntr_1","code":"', 'a = \\"1\\"\\n']
    said = decoder.feed(event("code_interpreter_call_code.done", code='a = "1"\n'))
    assert [type_of(chunk) for chunk in said] == ["tool-input-delta", "tool-input-available"]


def test_the_arguments_of_a_web_search_are_its_input() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "arguments": '{"query":"tides"}', "status": "completed"}
    (part,) = parts(decode([added(item), done(item)]))
    assert part["input"] == {"query": "tides"}
    (call,) = load({"input": [item]}).messages[0].parts
    assert isinstance(call, ToolCallPart)
    assert call.input == {"query": "tides"}


def test_a_picture_that_is_not_ready_is_preliminary() -> None:
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


def test_a_picture_for_another_tool_is_not_understood() -> None:
    chunks = decode(
        [added({"type": "mcp_call", "id": "mcp_1"}), event("image_generation_call.partial_image")]
    )
    accumulated(chunks)
    assert [type_of(chunk) for chunk in chunks[2:3]] == ["data-openai-unknown"]


def test_a_search_for_tools_has_the_id_of_the_whole_item_when_the_client_runs_it() -> None:
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
def test_a_call_that_is_cut_before_it_is_whole_is_told(item: JsonObject) -> None:
    (part,) = parts(decode([added(item), event("mcp_call_arguments.delta", delta='{"a":')]))
    assert (part["state"], part["rawInput"]) == ("input-streaming", '{"a":')


def test_a_stream_that_breaks_off_says_so() -> None:
    chunks = decode([created(service_tier="flex"), added(message()), delta("High")])
    assert (
        accumulated(chunks).parts[1:]
        == accumulated(decode([added(message()), delta("High"), ended()])).parts[1:]
    )
    assert told(chunks) == {
        "finishReason": "interrupted",
        "model": "tide-1",
        "responseId": "resp_1",
        "openai": {"serviceTier": "flex"},
        "complete": False,
    }


def test_nothing_at_all_is_an_interruption() -> None:
    assert told(decode([])) == {"finishReason": "interrupted", "complete": False}


FAILURES: Final[dict[str, tuple[list[Json], JsonObject]]] = {
    "told twice": (
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
def test_a_failure_is_told_once(events: list[Json], expected: JsonObject) -> None:
    chunks = decode(events)
    said = told(chunks)
    assert {name: said[name] for name in said if name != "openai"} == expected
    assert [chunk.error_text for chunk in chunks if isinstance(chunk, ErrorChunk)] == ["No sea"]


def test_a_record_that_is_no_json_is_reported_and_passed_over() -> None:
    chunks = decode([added(message()), "<html>", delta("High"), done(message(words("High"))), ended()])
    assert texts(chunks) == ["High"]
    assert told(chunks)["errors"] == ["unparsable record: <html>"]
    assert told(chunks)["finishReason"] == "stop"


@each_row(
    "strange",
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
def test_what_is_not_understood_is_kept(strange: Json) -> None:
    decoder = ResponsesDecoder()
    decoder.feed(added(message()))
    assert decoder.feed(strange) == [DataChunk("data-openai-unknown", strange)]


@each_row(
    "kind",
    [
        "web_search_call.searching",
        "mcp_call.completed",
        "mcp_list_tools.failed",
        "code_interpreter_call.interpreting",
    ],
)
def test_progress_of_a_tool_says_nothing_new(kind: str) -> None:
    assert decode([event(kind)])[2:-2] == []


def test_what_stands_beside_the_response_is_kept() -> None:
    assert told(decode([{**ended(), "copilot_usage": {"cost": 1}}]))["openai"] == {
        "copilot_usage": {"cost": 1}
    }


def test_finishing_twice_tells_nothing_twice() -> None:
    decoder = ResponsesDecoder()
    decoder.feed(ended())
    assert decoder.finish()
    assert decoder.finish() == []


# Servers that change or omit what tells items apart


def bare(kind: str, **fields: Json) -> JsonObject:
    """An event without a place."""
    return {"type": f"response.{kind}", **fields}


def named(id: str, *content: JsonObject) -> JsonObject:
    return {**message(*content), "id": id}


HIGH = [words("High")]
ROTATING: Final[dict[str, list[Json]]] = {
    "every id is another one": [
        bare("output_item.added", item=named("a")),
        bare("output_text.delta", item_id="b", delta="Hi"),
        bare("output_text.delta", item_id="c", delta="gh"),
        bare("output_text.done", item_id="d", text="High"),
        bare("output_item.done", item=named("e", *HIGH)),
        ended(named("f", *HIGH)),
    ],
    "the whole item has another id and place": [
        delta("Hi", item_id="a"),
        delta("gh", item_id="a"),
        bare("output_item.done", output_index=1, item=named("b", *HIGH)),
        ended(named("c", *HIGH)),
    ],
    "no ids at all": [
        bare("output_text.delta", delta="Hi"),
        bare("output_text.delta", delta="gh"),
        bare("output_item.done", item=named("", *HIGH)),
        ended(named("", *HIGH)),
    ],
    "the whole item says otherwise": [
        bare("output_item.added", item=named("a")),
        bare("output_text.delta", item_id="b", delta="High"),
        bare("output_item.done", item=named("c", words("Low"))),
        ended(named("d", words("Low"))),
    ],
}


@each_row("events", ROTATING.values(), ids=ROTATING)
def test_a_text_is_told_once_whatever_ids_its_events_have(events: list[Json]) -> None:
    assert [part["text"] for part in parts(decode(events))] == ["High"]


def test_two_texts_stay_two_whatever_ids_their_items_have() -> None:
    events: list[Json] = []
    for name, text in (("a", "High"), ("b", "Higher")):
        events += [
            bare("output_item.added", item=named(name)),
            bare("output_text.delta", item_id=name, delta=text),
            bare("output_item.done", item=named(f"{name}-whole", words(text))),
        ]
    assert [part["text"] for part in parts(decode(events))] == ["High", "Higher"]


def test_a_call_and_its_reasoning_are_told_once_whatever_ids_their_items_have() -> None:
    thought = {"type": "reasoning", "id": "a", "summary": []}
    call = {"type": "function_call", "id": "d", "call_id": "c", "name": "tide", "arguments": ""}
    events: list[Json] = [
        bare("output_item.added", item=thought),
        bare("reasoning_summary_text.delta", item_id="b", summary_index=0, delta="Hm."),
        bare(
            "output_item.done",
            item={**thought, "id": "c", "summary": [{"type": "summary_text", "text": "Hm."}]},
        ),
        bare("output_item.added", item=call),
        bare("function_call_arguments.delta", item_id="e", delta='{"at":'),
        bare("function_call_arguments.delta", item_id="f", delta='"noon"}'),
        bare("output_item.done", item={**call, "id": "g", "arguments": '{"at":"noon"}'}),
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
    "beside tools of the client": ([{"type": "x_search"}, {"type": "custom", "name": "note"}], True, "stop"),
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
    "tools that are not known": ([], False, "tool-calls"),
}


@each_row(("tools", "executed", "reason"), TOOLS.values(), ids=TOOLS)
def test_a_custom_tool_that_the_client_did_not_declare_is_the_providers(
    tools: list[JsonObject], executed: bool, reason: str
) -> None:
    whole = {**response(SEARCHED), "tools": tools}
    begun = bare("created", response={**whole, "output": [], "status": "in_progress"})
    streamed = decode(
        [begun, added({**SEARCHED, "input": ""}), done(SEARCHED), bare("completed", response=whole)]
    )
    body = ResponsesDecoder().read_body(whole)
    for chunks in (streamed, body):
        (call,) = parts(chunks)
        assert bool(call.get("providerExecuted")) == executed
        assert told(chunks)["finishReason"] == reason
    (loaded,) = load(whole).messages
    (call,) = [part for part in loaded.parts if isinstance(part, ToolCallPart)]
    assert bool(call.provider_executed) == executed
    assert isinstance(loaded.content.metadata, dict)
    assert loaded.content.metadata["finishReason"] == reason
    assert any(isinstance(each, ToolMessage) for each in model_view([loaded]).messages) != executed
