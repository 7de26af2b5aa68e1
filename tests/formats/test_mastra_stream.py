"""Streams of Mastra agents, workflows and networks → messages."""

from copy import deepcopy
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import PartitaError, StreamError
from partita.formats.event_streams import fold_events
from partita.formats.mastra.network import ROUTING
from partita.formats.mastra.stream import MastraStreamDecoder, load
from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, MessageStart
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantMessage, Message, NetworkExecution, ToolCallPart, text_of
from partita.types.parts import (
    Approval,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests import strategies
from tests.formats.mastra_streams import (
    AGENT,
    ANSWER,
    NETWORK,
    STREAMS,
    WORKFLOW,
    chunk,
    network,
    tool_output,
)
from tests.leaves import changed, leaves
from tests.tables import each_row

PartT = TypeVar("PartT")


def load_one(events: list[JsonObject]) -> AssistantMessage:
    (message,) = load(events).messages
    assert isinstance(message, AssistantMessage)
    return message


def parts_of(message: Message, kind: type[PartT]) -> list[PartT]:
    return [part for part in message.parts if isinstance(part, kind)]


def calls_of(message: Message) -> dict[str, ToolCallPart]:
    return {call.id: call for call in parts_of(message, ToolCallPart)}


def network_of(message: Message) -> NetworkExecution:
    assert isinstance(message, AssistantMessage)
    assert message.content.network_execution is not None
    return message.content.network_execution


def test_texts_and_reasoning_of_an_agent() -> None:
    message = load_one(AGENT)
    assert message.id == "answer-1"
    assert text_of(message) == "I look it up."
    first, second = parts_of(message, ReasoningPart)
    assert (first.text, second.text) == ("The register will know.", "")
    assert first.provider_metadata == {"openai": {"itemId": "rs_1"}, "anthropic": {"signature": "SIG"}}
    assert second.provider_metadata == {"anthropic": {"redactedData": "BLOB"}}


def test_calls_of_an_agent() -> None:
    calls = calls_of(load_one(AGENT))
    assert list(calls) == ["c1", "c2", "c3", "c4", "c5"]
    assert (calls["c1"].input, calls["c1"].output) == ({"tower": "Slettnes"}, JsonOutput({"metres": 39}))
    assert calls["c1"].call_provider_metadata == {"mastra": {"rawInput": '{"tower": "Slettnes"}'}}
    assert calls["c3"].state == "output-denied"
    assert calls["c3"].output == ExecutionDeniedOutput("no")
    assert calls["c3"].approval == Approval(
        "run-7::c3", approved=False, reason="no", descriptor={"resumeSchema": "{}"}
    )
    assert calls["c4"].state == "approval-requested"
    assert calls["c4"].approval == Approval(
        "run-7::c4", descriptor={"type": "suspension", "suspendPayload": {"question": "Why?"}}
    )
    assert (calls["c5"].state, calls["c5"].output) == ("output-error", ErrorTextOutput("lost at sea"))


def test_a_sub_agent_is_nested_under_its_call() -> None:
    call = calls_of(load_one(AGENT))["c2"]
    assert call.output == TextOutput("39 metres")
    (child,) = call.children
    assert (child.id, text_of(child)) == ("sub-1", "It is 39 metres.")
    assert calls_of(child)["s1"].output == ErrorJsonOutput({"message": "torn"})
    metadata: JsonObject = to_json(child)["content"]["metadata"]
    assert metadata["finishReason"] == "stop"
    assert metadata["mastra"]["start"] == {"id": "keeper"}


def test_other_parts_of_an_agent() -> None:
    message = load_one(AGENT)
    assert parts_of(message, SourceUrlPart) == [SourceUrlPart("s1", "https://example.com/page", "A page")]
    assert parts_of(message, SourceDocumentPart) == [
        SourceDocumentPart("s2", "text/plain", "A log", "log.txt")
    ]
    (file,) = parts_of(message, FilePart)
    assert (file.url, file.provider_metadata) == (
        "data:image/png;base64,iVBO",
        {"mastra": {"filename": "tower.png"}},
    )
    assert parts_of(message, SteeringMessagePart) == [SteeringMessagePart("u2", (TextPart("In feet, too."),))]
    data = {part.name: part.data for part in parts_of(message, DataPart)}
    assert data == {"progress": {"done": 2}, "object": {"metres": 39}, "hologram": {"beam": "green"}}


def test_facts_of_a_run_become_metadata() -> None:
    message = load_one(AGENT)
    metadata: JsonObject = to_json(message)["content"]["metadata"]
    assert metadata["finishReason"] == "stop"
    assert metadata["errors"] == ["the lamp is out"]
    assert metadata["mastra"]["runId"] == "run-7"
    assert metadata["mastra"]["step-start"] == {"request": {"body": "asked"}, "warnings": []}
    assert metadata["mastra"]["step-finish"]["metadata"] == {"modelId": "m-1"}
    assert message.content.usage is not None
    assert (message.content.usage.input_tokens, message.content.usage.reasoning_tokens) == (20, 3)


def test_replaced_values_are_reported() -> None:
    losses = load(AGENT).losses
    assert {(loss.what, loss.severity) for loss in losses} == {
        ("1", "lost"),
        ("3", "lost"),
        ('{"type":"data-blink","data":{"on":true},"transient":true}', "lost"),
        ('"t1"', "minor"),
    }


def test_steps_of_a_workflow_become_calls() -> None:
    calls = calls_of(load_one(WORKFLOW))
    assert (calls["w1"].name, calls["w1"].input) == ("mix", {"red": 2})
    assert calls["w1"].output == JsonOutput({"tin": 1})
    assert [text_of(child) for child in calls["w1"].children] == ["Hm."]
    assert (calls["dry"].state, calls["dry"].output) == ("output-error", ErrorTextOutput("rain"))
    assert calls["dry"].approval is not None


def test_a_network_gives_a_message_for_each_run() -> None:
    messages = load(NETWORK).messages
    ids = ["route-0", "step-run", "route-1", "flow-run", "route-2", "bill-1", "route-3"]
    assert [message.id for message in messages] == ids
    assert [message.internal for message in messages] == [True, False, True, False, True, False, False]
    assert text_of(messages[-1]) == ANSWER
    (routing,) = parts_of(messages[-1], DataPart)
    assert routing.name == ROUTING
    assert to_json(routing)["data"]["result"] == ANSWER


def test_an_agent_of_a_network() -> None:
    message = load(NETWORK).messages[1]
    run = network_of(message)
    assert (run.primitive_type, run.primitive_id, run.iteration) == ("agent", "painter", 1)
    assert (run.input, run.selection_reason) == ("Which red?", "why painter")
    assert run.final_result is not None
    assert run.final_result.text == "Signal red."
    (child,) = run.final_result.messages
    assert (child.id, text_of(child)) == ("sub-1", "Signal red.")
    assert [call.id for call in run.final_result.tool_calls] == ["k1"]
    assert [part.name for part in parts_of(child, DataPart)] == ["swatch"]


def test_a_workflow_and_a_tool_of_a_network() -> None:
    messages = load(NETWORK).messages
    flow, tool = network_of(messages[3]), network_of(messages[5])
    assert (flow.primitive_type, flow.input) == ("workflow", {"red": 2})
    assert (tool.primitive_type, tool.primitive_id, tool.input) == ("tool", "bill", {"tins": 1})
    assert flow.final_result is not None
    assert tool.final_result is not None
    assert flow.final_result.value == {"status": "success", "steps": {}}
    assert [calls_of(child)["mix"].output for child in flow.final_result.messages] == [JsonOutput(1)]
    assert tool.final_result.value == {"paid": True}


def test_a_step_with_another_message_id_starts_a_new_message() -> None:
    rotated = [*AGENT[:1], chunk("text-delta", id="a", text="one"), chunk("step-start", messageId="answer-2")]
    first, second = load([*rotated, chunk("text-delta", id="b", text="two")]).messages
    assert [(each.id, text_of(each)) for each in (first, second)] == [
        ("answer-1", "one"),
        ("answer-2", "two"),
    ]


def test_consecutive_runs_are_separate_messages() -> None:
    run = [chunk("start"), chunk("text-delta", text="hi"), chunk("finish", stepResult={"reason": "stop"})]
    messages = load([*run, *run]).messages
    assert [(each.id, text_of(each)) for each in messages] == [("message-1", "hi"), ("message-2", "hi")]


def test_an_answer_that_was_not_streamed_is_read_from_the_router() -> None:
    (message,) = load(
        [network("routing-agent-end", primitiveType="none", result="Done.", runId="r")]
    ).messages
    assert (message.id, text_of(message), message.internal) == ("r", "Done.", False)


@each_row("type_", ["text-end", "tool-output", "agent-execution-end", "file", "source", "goal"])
def test_unknown_chunks_are_kept_as_data(type_: str) -> None:
    payload = {"id": "x", "toolCallId": "nobody", "result": "r", "sourceType": "map"}
    message = load_one([chunk(type_, **payload)])
    assert parts_of(message, DataPart) == [DataPart(type_, payload)]


def test_decoding_chunk_by_chunk_gives_the_same_message() -> None:
    decoder = MastraStreamDecoder()
    chunks: list[Chunk] = [one for event in AGENT for one in decoder.feed(event)]
    chunks += decoder.finish()
    accumulator = Accumulator()
    for one in chunks:
        accumulator.feed(one)
    assert accumulator.finish().parts == load_one(AGENT).parts
    assert [one.message_id for one in chunks if isinstance(one, MessageStart)] == ["answer-1"]


@each_row("events", STREAMS.values(), ids=STREAMS)
def test_every_leaf_is_read_or_reported(events: list[JsonObject]) -> None:
    whole = result_of(events)
    assert [path for path in leaves(events) if result_of(changed(events, path)) == whole] == []


def result_of(events: Json) -> bytes | None:
    try:
        loaded = load(events)
    except PartitaError:
        return None
    return dumps([to_json(loaded.messages), loaded.losses])


@each_row("target", ["mastra-v2", "mastra-v1", "ai-sdk-ui-v7", "ai-sdk-model-v7"])
@each_row("events", STREAMS.values(), ids=STREAMS)
def test_a_stream_can_be_written_in_other_formats(events: list[JsonObject], target: str) -> None:
    dump = get_format(target).dump
    assert dump is not None
    assert dump(load(events).messages).payload


@each_row(("event", "where"), [(5, "$[1]"), ({"payload": {}}, "$[1].type")])
def test_invalid_chunks_are_refused(event: Json, where: str) -> None:
    with pytest.raises(StreamError) as raised:
        load([AGENT[0], event])
    assert raised.value.where == where


@given(data=st.data())
def test_any_json_is_loaded_or_refused(data: st.DataObject) -> None:
    events = deepcopy(data.draw(st.sampled_from(list(STREAMS.values()))))
    path = data.draw(st.sampled_from(list(leaves(events))))
    cut = data.draw(st.integers(1, len(path)))
    place: Json = events
    for step in path[: cut - 1]:
        place = place[step]
    place[path[cut - 1]] = data.draw(strategies.json_values())
    result_of(events)


# Interrupted streams

INPUT = chunk("tool-call", toolCallId="c1", toolName="agent-keeper", args={"a": 1})
SUB_AGENT = [
    tool_output("c1", chunk("start", messageId="sub")),
    tool_output("c1", chunk("text-start", id="t")),
    tool_output("c1", chunk("text-delta", id="t", text="I loo")),
    tool_output("c1", chunk("tool-call", toolCallId="c2", toolName="look", args={})),
]
ENDED: dict[str, tuple[JsonObject, ToolOutput]] = {
    "a background task failed": (
        chunk("background-task-failed", toolCallId="c1", taskId="b", error={"message": "no power"}),
        ErrorJsonOutput({"message": "no power"}),
    ),
    "a background task was cancelled": (
        chunk("background-task-cancelled", toolCallId="c1", taskId="b"),
        InterruptedOutput("aborted"),
    ),
    "a tripwire": (chunk("tripwire", reason="no names", retry=False), InterruptedOutput("aborted")),
    "an abort": (chunk("abort"), InterruptedOutput("aborted")),
}


@each_row(("last", "output"), ENDED.values(), ids=ENDED)
def test_a_failure_closes_everything(last: JsonObject, output: ToolOutput) -> None:
    opened = [
        chunk("start", messageId="a"),
        chunk("text-start", id="t"),
        chunk("text-delta", id="t", text="We"),
    ]
    decoder = get_format("mastra-stream").decoder
    assert decoder is not None
    (message,) = fold_events(decoder(), [*opened, INPUT, *SUB_AGENT, last]).messages
    call = calls_of(message)["c1"]
    assert call.output == output
    (sub,) = call.children
    assert parts_of(sub, TextPart) == [TextPart("I loo", "done")]
    assert calls_of(sub)["c2"].output == InterruptedOutput("aborted")
    assert all(part.state == "done" for part in parts_of(message, TextPart))


def test_a_tripwire_closes_an_input_and_leaves_approval_requests_open() -> None:
    events = [
        chunk("start", messageId="a"),
        chunk("tool-call-approval", toolCallId="c1", toolName="send", args={}),
        chunk("tool-call-input-streaming-start", toolCallId="c2", toolName="look"),
        chunk("tool-call-delta", toolCallId="c2", toolName="look", argsTextDelta='{"tower": "Sle'),
        chunk("tripwire", reason="no names"),
    ]
    calls = calls_of(load_one(events))
    assert calls["c1"].state == "approval-requested"
    assert (calls["c2"].output, calls["c2"].input) == (InterruptedOutput("aborted"), {"tower": "Sle"})
