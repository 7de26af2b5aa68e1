"""Canonical messages → Mastra V2 and V1 messages."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from partita.errors import PartitaError
from partita.formats.mastra.notes import strip_notes
from partita.formats.registry import get_format
from partita.types.codec import read_message, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    NetworkExecution,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    InterruptedOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    ToolState,
)
from tests import canonical
from tests.formats.mastra_messages import dump_v1, dump_v2, load_v1, load_v2
from tests.leaves import changes
from tests.recordings import cases
from tests.tables import each_row

from .test_mastra_v2 import rows, text_part

NAMES = ("mastra-v2", "mastra-v1")


def call(state: ToolState, output: ToolOutput, *children: Message) -> AssistantMessage:
    return AssistantMessage(
        id="m", content=[ToolCallPart("c1", "stock", state, {}, output=output, children=children)]
    )


def invocation(state: str, **more: Json) -> JsonObject:
    members: JsonObject = {"state": state, "toolCallId": "c1", "toolName": "stock", "args": {}, **more}
    return {"type": "tool-invocation", "toolInvocation": members}


WRITTEN: dict[str, tuple[Message, list[JsonObject]]] = {
    "an image becomes a file": (
        UserMessage(id="m", content=[ImagePart("https://a.example/p.png", "image/png", name="p.png")]),
        [{"type": "file", "data": "https://a.example/p.png", "mimeType": "image/png", "filename": "p.png"}],
    ),
    "a data URL becomes base64": (
        UserMessage(id="m", content=[FilePart("data:image/png;base64,iVBO", "image/png")]),
        [{"type": "file", "data": "iVBO", "mimeType": "image/png"}],
    ),
    "a provider file": (
        UserMessage(id="m", content=[FilePart("", "image/png", provider_reference={"openai": "file-Ab3"})]),
        [{"type": "file", "data": "file-Ab3", "mimeType": "image/png"}],
    ),
    "signed reasoning": (
        AssistantMessage(
            id="m", content=[ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "s="}})]
        ),
        [
            {
                "type": "reasoning",
                "reasoning": "hm",
                "details": [{"type": "text", "text": "hm", "signature": "s="}],
                "providerMetadata": {"anthropic": {"signature": "s="}},
            }
        ],
    ),
    "a failed call": (
        call("output-error", ErrorTextOutput("No stock.")),
        [invocation("output-error", errorText="No stock.")],
    ),
    "a denied call": (
        call("output-denied", ExecutionDeniedOutput("Too dear.")),
        [invocation("output-denied", approval={"id": "c1", "approved": False, "reason": "Too dear."})],
    ),
    "an interrupted call": (
        call("output-error", InterruptedOutput("aborted")),
        [invocation("output-error", errorText="The tool call was interrupted: it was stopped.")],
    ),
    "a result without a call": (
        ToolMessage(id="m", content=[ToolResultPart("c1", "stock", TextOutput("3"))]),
        [invocation("result", result="3")],
    ),
    "a sub-agent": (
        call("output-available", TextOutput("3"), AssistantMessage(id="i", content="Three.")),
        [
            {
                "type": "dynamic-tool",
                "toolCallId": "c1",
                "toolName": "stock",
                "state": "output-available",
                "input": {},
                "output": "3",
                "childMessages": [
                    {"id": "i", "role": "assistant", "parts": [{"type": "text", "text": "Three."}]}
                ],
            }
        ],
    ),
}


@each_row(("message", "parts"), WRITTEN.values(), ids=WRITTEN)
def test_parts_are_written_as_v2(message: Message, parts: list[JsonObject]) -> None:
    (row,) = dump_v2([message]).payload
    assert row["content"]["parts"] == parts
    assert row["role"] in ("user", "assistant")


LOST: dict[str, tuple[Message, set[str]]] = {
    "a call with its result": (call("output-available", TextOutput("3")), set()),
    "reasoning": (
        AssistantMessage(id="m", content=[ReasoningPart("hm", id="r", state="done", token_count=3)]),
        set(),
    ),
    "members of a message": (
        UserMessage(id="m", content="Hi.", parent_id="l", run_id="r", seq=4, internal=True),
        {"$[0].parentId", "$[0].runId", "$[0].seq", "$[0].internal"},
    ),
    "an interrupted call": (
        call("output-error", InterruptedOutput("aborted")),
        {"$[0].content.parts[0].output"},
    ),
    "an image": (
        UserMessage(id="m", content=[ImagePart("https://a.example/p.png", "image/png")]),
        {"$[0].content.parts[0].type"},
    ),
}


@each_row(("message", "paths"), LOST.values(), ids=LOST)
def test_members_without_a_v2_equivalent_are_reported(message: Message, paths: set[str]) -> None:
    assert {loss.path for loss in dump_v2([message]).losses} == paths


def test_a_network_execution_round_trips_as_a_part() -> None:
    network = NetworkExecution("agent", "clerk", "it knows")
    message = AssistantMessage(id="m", content=AssistantContent(parts=(), network_execution=network))
    dumped = dump_v2([message])
    assert [part["type"] for part in dumped.payload[0]["content"]["parts"]] == ["dynamic-tool"]
    assert (load_v2(dumped.payload).messages, dumped.lossless) == ((message,), True)


def test_v1_has_separate_messages_for_calls_results_and_texts() -> None:
    asked = UserMessage(id="q", thread_id="t", content="How many?")
    done = ToolCallPart("c1", "stock", "output-available", {"sku": "x"}, output=TextOutput("3"))
    answer = AssistantMessage(id="m", thread_id="t", content=[done, StepStartPart(), TextPart("Three left.")])
    dumped = dump_v1([SystemMessage(id="s", content="Be brief."), asked, answer])
    assert dumped.payload == [
        {"id": "s", "role": "system", "type": "text", "content": "Be brief."},
        {"id": "q", "role": "user", "threadId": "t", "type": "text", "content": [text_part("How many?")]},
        {
            "id": "m",
            "role": "assistant",
            "threadId": "t",
            "type": "tool-call",
            "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "stock", "args": {"sku": "x"}}],
        },
        {
            "id": "m__split-1",
            "role": "tool",
            "threadId": "t",
            "type": "tool-result",
            "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "stock", "result": "3"}],
        },
        {
            "id": "m__split-2",
            "role": "assistant",
            "threadId": "t",
            "type": "text",
            "content": [text_part("Three left.")],
        },
    ]
    assert not dumped.lossless
    assert dump_v1(load_v1(dumped.payload).messages).payload == dumped.payload


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_every_leaf_is_written_or_reported(name: str, data: st.DataObject) -> None:
    dump = get_format(name).dump
    assert dump is not None
    plain = to_json(data.draw(canonical.messages()))
    _, other = data.draw(changes(plain))
    try:
        before, after = read_message(plain), read_message(other)
    except PartitaError:
        return
    assume(before != after)
    assert dump([before]) != dump([after])


@given(raw=rows())
def test_stored_messages_round_trip(raw: JsonObject) -> None:
    loaded = load_v2(raw)
    dumped = dump_v2(loaded.messages)
    again = load_v2(loads(dumps(dumped.payload)))
    if dumped.lossless:
        assert list(map(strip_notes, again.messages)) == list(map(strip_notes, loaded.messages))
    assert dump_v2(again.messages).payload == dumped.payload or again.losses


def test_recorded_messages_round_trip() -> None:
    """V1 messages are written unchanged. V2 has two spellings of some values, which are read as equal."""
    for case in cases("mastra/message-list.jsonl"):
        older, stored = case["expected"].get("v1"), case["expected"].get("db")
        if is_array(older):
            assert dump_v1(load_v1(older).messages).payload == older, case["id"]
        if is_array(stored):
            messages = load_v2(stored).messages
            again = load_v2(dump_v2(messages).payload).messages
            assert list(map(strip_notes, again)) == list(map(strip_notes, messages)), case["id"]
