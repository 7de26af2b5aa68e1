"""Agent Client Protocol lines → chunks."""

from typing import Any

from partita.formats.acp.decoder import AcpDecoder
from partita.formats.conversion import convert
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, DataChunk, MessageAbort, ToolOutputChunk
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
)
from tests.decoding import accumulated, decode_all
from tests.tables import each_row

OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


def update(what: str, **fields: Any) -> JsonObject:
    inner = {"sessionUpdate": what, **fields}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": inner}}


def text(words: str, what: str = "agent_message_chunk", **more: Any) -> JsonObject:
    return update(what, content={"type": "text", "text": words}, **more)


def request(id: Json, method: str, **params: Any) -> JsonObject:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def response(id: Json, result: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def text_content(words: str) -> JsonObject:
    return {"type": "content", "content": {"type": "text", "text": words}}


def permission_request(id: Json, **call: Any) -> JsonObject:
    return request(id, "session/request_permission", sessionId="s", toolCall=call, options=OPTIONS)


def chosen(id: Json, option: str) -> JsonObject:
    return response(id, {"outcome": {"outcome": "selected", "optionId": option}})


PROMPT = request(2, "session/prompt", sessionId="s", prompt=[])
END = response(2, {"stopReason": "end_turn"})


def decode(events: list[Json]) -> list[Chunk]:
    return decode_all(AcpDecoder(), events)


def parts(*events: Json) -> list[Any]:
    return [part for part in accumulated(decode([*events])).parts if not isinstance(part, StepStartPart)]


def test_consecutive_text_chunks_become_one_text() -> None:
    thought, words = parts(PROMPT, text("Hm", "agent_thought_chunk"), text("Go"), text("od"), END)
    assert isinstance(thought, ReasoningPart)
    assert thought.text == "Hm"
    assert isinstance(words, TextPart)
    assert (words.text, words.state) == ("Good", "done")


def test_another_message_id_starts_another_text() -> None:
    assert [part.text for part in parts(text("a", messageId="1"), text("b", messageId="2"))] == ["a", "b"]


def test_an_image_becomes_a_file_and_other_content_is_kept() -> None:
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    file, data = parts(
        update("agent_message_chunk", content=picture), update("agent_message_chunk", content=link)
    )
    assert isinstance(file, FilePart)
    assert file.url == "data:image/png;base64,AAAA"
    assert isinstance(data, DataPart)
    assert data.data == link


OUTPUTS: dict[str, tuple[JsonObject, object]] = {
    "words": ({"status": "completed", "content": [text_content("a"), text_content("b")]}, TextOutput("a\nb")),
    "raw text": ({"status": "completed", "rawOutput": "a"}, TextOutput("a")),
    "raw output": ({"status": "completed", "rawOutput": {"n": 1}}, JsonOutput({"n": 1})),
    "nothing": ({"status": "completed"}, TextOutput("")),
    "a failure": ({"status": "failed", "content": [text_content("no")]}, ErrorTextOutput("no")),
    "a diff": (
        {"status": "completed", "content": [{"type": "diff", "path": "/a", "oldText": None, "newText": "b"}]},
        ContentOutput((ForeignPart("acp", {"type": "diff", "path": "/a", "oldText": None, "newText": "b"}),)),
    ),
    "text and a terminal": (
        {"status": "completed", "content": [text_content("a"), {"type": "terminal", "terminalId": "t"}]},
        ContentOutput((TextPart("a"), ForeignPart("acp", {"type": "terminal", "terminalId": "t"}))),
    ),
}


@each_row(("fields", "output"), OUTPUTS.values(), ids=OUTPUTS)
def test_a_call_gets_its_output(fields: JsonObject, output: object) -> None:
    start = update("tool_call", toolCallId="c", title="Dig", kind="edit", rawInput={"depth": 1})
    (call,) = parts(PROMPT, start, update("tool_call_update", toolCallId="c", **fields), END)
    assert isinstance(call, ToolCallPart)
    assert (call.name, call.title, call.input) == ("edit", "Dig", {"depth": 1})
    assert call.output == output
    assert call.preliminary is None
    assert call.tool_metadata == {"acp": {"kind": "edit"}}


def test_a_call_waits_for_its_input() -> None:
    start = update("tool_call", toolCallId="c", title="Dig", name="dig_hole", status="pending")
    (call,) = parts(start)[:1]
    assert call.name == "dig_hole"
    decoder = AcpDecoder()
    states: list[str] = []
    accumulator = Accumulator(id="message")
    for event in (start, update("tool_call_update", toolCallId="c", rawInput={"depth": 1})):
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
        part = accumulator.snapshot().parts[-1]
        assert isinstance(part, ToolCallPart)
        states.append(part.state)
    assert states == ["input-streaming", "input-available"]


def test_output_of_a_running_call_is_preliminary() -> None:
    events = [
        update("tool_call", toolCallId="c", title="Dig", status="in_progress"),
        update("tool_call_update", toolCallId="c", content=[text_content("half")]),
        update("tool_call_update", toolCallId="c", content=[text_content("whole")], status="completed"),
    ]
    outputs = [chunk for chunk in decode([*events]) if isinstance(chunk, ToolOutputChunk)]
    assert [(one.output, one.preliminary) for one in outputs] == [
        (TextOutput("half"), True),
        (TextOutput("whole"), None),
    ]


def test_terminal_output_is_added_to_its_call() -> None:
    (call,) = parts(
        update("tool_call", toolCallId="c", title="Dig", status="in_progress"),
        request(7, "terminal/output", sessionId="s", terminalId="t"),
        response(7, {"output": "mud\n", "truncated": False}),
        request(8, "terminal/wait_for_exit", sessionId="s", terminalId="t"),
        response(8, {"exitCode": 0, "signal": None}),
        update(
            "tool_call_update",
            toolCallId="c",
            status="completed",
            content=[{"type": "terminal", "terminalId": "t"}],
        ),
    )
    (item,) = call.output.value
    assert item.value["output"] == "mud\n"
    assert item.value["exitStatus"] == {"exitCode": 0, "signal": None}


RESPONSES: dict[str, tuple[list[Json], str, object, bool | None]] = {
    "yes": (
        [chosen(0, "y"), update("tool_call_update", toolCallId="c", status="completed")],
        "output-available",
        TextOutput(""),
        True,
    ),
    "no": (
        [chosen(0, "n"), update("tool_call_update", toolCallId="c", status="failed")],
        "output-denied",
        ExecutionDeniedOutput("No"),
        False,
    ),
    "denied without an update after it": (
        [chosen(0, "n")],
        "output-denied",
        ExecutionDeniedOutput("No"),
        False,
    ),
    "none": ([], "output-error", InterruptedOutput("lost"), None),
    "cancelled": (
        [response(0, {"outcome": {"outcome": "cancelled"}}), response(2, {"stopReason": "cancelled"})],
        "output-error",
        InterruptedOutput("aborted"),
        None,
    ),
}


@each_row(("events", "state", "output", "approved"), RESPONSES.values(), ids=RESPONSES)
def test_a_permission_request_and_its_outcome(
    events: list[Json], state: str, output: object, approved: bool | None
) -> None:
    question = permission_request(0, toolCallId="c", title="Dig", rawInput={"depth": 1})
    (call,) = parts(PROMPT, question, *events)
    assert isinstance(call, ToolCallPart)
    assert (call.state, call.output) == (state, output)
    assert call.approval is not None
    assert call.approval.approved is approved
    assert call.approval.descriptor == {"options": OPTIONS}


def test_agent_and_client_may_use_the_same_request_ids() -> None:
    """The agent's request has the id of the client's prompt; each response is matched to its own request."""
    events = [PROMPT, permission_request(2, toolCallId="c", title="Dig"), chosen(2, "y"), text("ok"), END]
    accumulator = Accumulator(id="message")
    for chunk in decode([*events]):
        accumulator.feed(chunk)
    assert accumulator.finish_reason == "stop"


REASONS = {
    "end_turn": "stop",
    "max_tokens": "length",
    "max_turn_requests": "length",
    "refusal": "content-filter",
    "cancelled": "other",
    "an unknown reason": "other",
}


@each_row(("stop", "reason"), REASONS.items(), ids=REASONS)
def test_stop_reasons(stop: str, reason: str) -> None:
    chunks = decode([PROMPT, text("a"), response(2, {"stopReason": stop})])
    accumulator = Accumulator(id="message")
    for chunk in chunks:
        accumulator.feed(chunk)
    assert accumulator.finish_reason == reason
    assert any(isinstance(chunk, MessageAbort) for chunk in chunks) is (stop == "cancelled")


def test_an_error_is_reported() -> None:
    accumulator = Accumulator(id="message")
    for chunk in decode([PROMPT, text("a"), {"id": 2, "error": {"code": 1, "message": "broken"}}]):
        accumulator.feed(chunk)
    assert accumulator.errors == ("broken",)
    assert accumulator.finish_reason == "error"


def test_replayed_messages_of_a_loaded_session_are_skipped() -> None:
    events = [
        request(1, "session/load", sessionId="s"),
        text("old"),
        response(1, None),
        PROMPT,
        text("new"),
        END,
    ]
    (words,) = parts(*events)
    assert words.text == "new"


def test_a_later_plan_replaces_the_earlier_one() -> None:
    first, second = ([{"content": "dig", "status": status}] for status in ("pending", "completed"))
    (plan,) = parts(update("plan", entries=first), update("plan", entries=second))
    assert plan.name == "acp-plan"
    assert plan.data == {"entries": second}


def test_a_new_step_begins_when_all_calls_have_their_outputs() -> None:
    calls = [update("tool_call", toolCallId=id_, title="Dig", status="in_progress") for id_ in "ab"]
    ends = [update("tool_call_update", toolCallId=id_, status="completed") for id_ in "ab"]
    kinds = [
        type(part).__name__
        for part in accumulated(decode([*calls, ends[0], text("x"), ends[1], text("y")])).parts
    ]
    assert kinds == [
        *("StepStartPart", "ToolCallPart", "ToolCallPart", "TextPart"),
        *("StepStartPart", "TextPart"),
    ]


UNKNOWN: dict[str, Json] = {
    "not an object": "words",
    "an update": update("garden_update", rain=True),
    "a notification": {"jsonrpc": "2.0", "method": "garden/rain", "params": {"mm": 3}},
    "a request": request(5, "garden/water"),
    "a response without a request": response(99, {"a": 1}),
    "a call without an id": update("tool_call", title="Dig"),
}


@each_row("event", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_events_are_kept(event: Json) -> None:
    (data,) = [chunk for chunk in decode([event]) if isinstance(chunk, DataChunk)]
    whole = (
        event["params"]["update"] if is_object(event) and event.get("method") == "session/update" else event
    )
    assert data.data == whole
    assert data.transient is None


# Losses


def test_losses_list_everything_that_is_not_in_the_message() -> None:
    events: list[Json] = [
        request(0, "initialize", protocolVersion=1),
        response(0, {"protocolVersion": 1, "agentInfo": {"name": "gardener"}}),
        request(2, "session/prompt", sessionId="s", prompt=[{"type": "text", "text": "Dig!"}]),
        update("tool_call", toolCallId="c", title="Dig", rawInput={"depth": 1}, mood="calm"),
        update("tool_call_update", toolCallId="c", status="completed", content=[text_content("dug")]),
        text("Do"),
        text("ne."),
        END,
    ]
    envelope = {"jsonrpc": "2.0", "params": {"sessionId": "s"}}
    called = {"jsonrpc": "2.0", "params": {"sessionId": "s", "update": {"mood": "calm"}}}
    found = convert(events, "acp").losses
    assert [(loss.path, loads(loss.what), loss.severity) for loss in found] == [
        ("$[0]", events[0], "minor"),
        ("$[1]", {"jsonrpc": "2.0", "result": {"protocolVersion": 1}}, "minor"),
        ("$[2]", {"jsonrpc": "2.0", "params": events[2]["params"]}, "lost"),
        ("$[3]", called, "minor"),
        *((f"$[{at}]", envelope, "minor") for at in (4, 5, 6)),
        ("$[7]", {"jsonrpc": "2.0"}, "minor"),
    ]


# Unexpected input


def nested(depth: int) -> Json:
    value: Json = []
    for _ in range(depth):
        value = [value]
    return value


DEEP: dict[str, list[Json]] = {
    "a message": [nested(5000)],
    "an id": [{"id": nested(5000), "method": "session/request_permission", "params": {}}],
    "an input": [update("tool_call", toolCallId="c", title="t", rawInput=nested(5000))] * 2,
    "an output": [update("tool_call", toolCallId="c", title="t", status="completed", rawOutput=nested(5000))],
    "a number": [text("a", messageId=nested(5000))] * 2,
}


@each_row("events", DEEP.values(), ids=DEEP)
def test_deeply_nested_values_are_accepted(events: list[Json]) -> None:
    accumulated(decode(events))
