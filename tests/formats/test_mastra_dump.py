"""Canonical messages as V2 and V1 messages of Mastra."""

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

from .test_mastra_v2 import rows, words

NAMES = ("mastra-v2", "mastra-v1")


def call(state: ToolState, output: ToolOutput, *children: Message) -> AssistantMessage:
    return AssistantMessage(
        id="m", content=[ToolCallPart("c1", "stock", state, {}, output=output, children=children)]
    )


def invocation(state: str, **more: Json) -> JsonObject:
    told: JsonObject = {"state": state, "toolCallId": "c1", "toolName": "stock", "args": {}, **more}
    return {"type": "tool-invocation", "toolInvocation": told}


WRITTEN: dict[str, tuple[Message, list[JsonObject]]] = {
    "a picture is a file": (
        UserMessage(id="m", content=[ImagePart("https://a.example/p.png", "image/png", name="p.png")]),
        [{"type": "file", "data": "https://a.example/p.png", "mimeType": "image/png", "filename": "p.png"}],
    ),
    "data in a url are bare base64": (
        UserMessage(id="m", content=[FilePart("data:image/png;base64,iVBO", "image/png")]),
        [{"type": "file", "data": "iVBO", "mimeType": "image/png"}],
    ),
    "a file that only a provider has": (
        UserMessage(id="m", content=[FilePart("", "image/png", provider_reference={"openai": "file-Ab3"})]),
        [{"type": "file", "data": "file-Ab3", "mimeType": "image/png"}],
    ),
    "a signed thought": (
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
    "a call that failed": (
        call("output-error", ErrorTextOutput("No stock.")),
        [invocation("output-error", errorText="No stock.")],
    ),
    "a call that was not allowed": (
        call("output-denied", ExecutionDeniedOutput("Too dear.")),
        [invocation("output-denied", approval={"id": "c1", "approved": False, "reason": "Too dear."})],
    ),
    "a call that never ended": (
        call("output-error", InterruptedOutput("aborted")),
        [invocation("output-error", errorText="The tool call was interrupted: it was stopped.")],
    ),
    "the result has no call right before it": (
        ToolMessage(id="m", content=[ToolResultPart("c1", "stock", TextOutput("3"))]),
        [invocation("result", result="3")],
    ),
    "a sub-agent under its call": (
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
def test_parts_as_v2(message: Message, parts: list[JsonObject]) -> None:
    (row,) = dump_v2([message]).payload
    assert row["content"]["parts"] == parts
    assert row["role"] in ("user", "assistant")


LOST: dict[str, tuple[Message, set[str]]] = {
    "nothing of a call with its result": (call("output-available", TextOutput("3")), set()),
    "nothing of a thought": (
        AssistantMessage(id="m", content=[ReasoningPart("hm", id="r", state="done", token_count=3)]),
        set(),
    ),
    "where a message stands": (
        UserMessage(id="m", content="Hi.", parent_id="l", run_id="r", seq=4, internal=True),
        {"$[0].parentId", "$[0].runId", "$[0].seq", "$[0].internal"},
    ),
    "that a call was cut off": (
        call("output-error", InterruptedOutput("aborted")),
        {"$[0].content.parts[0].output"},
    ),
    "that a picture is one": (
        UserMessage(id="m", content=[ImagePart("https://a.example/p.png", "image/png")]),
        {"$[0].content.parts[0].type"},
    ),
}


@each_row(("message", "paths"), LOST.values(), ids=LOST)
def test_what_v2_has_no_place_for_is_told(message: Message, paths: set[str]) -> None:
    assert {loss.path for loss in dump_v2([message]).losses} == paths


def test_a_network_execution_is_a_part_that_is_read_back() -> None:
    network = NetworkExecution("agent", "clerk", "it knows")
    message = AssistantMessage(id="m", content=AssistantContent(parts=(), network_execution=network))
    dumped = dump_v2([message])
    assert [part["type"] for part in dumped.payload[0]["content"]["parts"]] == ["dynamic-tool"]
    assert (load_v2(dumped.payload).messages, dumped.lossless) == ((message,), True)


def test_v1_tells_calls_results_and_words_apart() -> None:
    asked = UserMessage(id="q", thread_id="t", content="How many?")
    done = ToolCallPart("c1", "stock", "output-available", {"sku": "x"}, output=TextOutput("3"))
    answer = AssistantMessage(id="m", thread_id="t", content=[done, StepStartPart(), TextPart("Three left.")])
    dumped = dump_v1([SystemMessage(id="s", content="Be brief."), asked, answer])
    assert dumped.payload == [
        {"id": "s", "role": "system", "type": "text", "content": "Be brief."},
        {"id": "q", "role": "user", "threadId": "t", "type": "text", "content": [words("How many?")]},
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
            "content": [words("Three left.")],
        },
    ]
    assert not dumped.lossless
    assert dump_v1(load_v1(dumped.payload).messages).payload == dumped.payload


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_no_leaf_is_lost_in_silence(name: str, data: st.DataObject) -> None:
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
def test_what_mastra_stored_is_written_so_that_it_reads_the_same(raw: JsonObject) -> None:
    loaded = load_v2(raw)
    dumped = dump_v2(loaded.messages)
    again = load_v2(loads(dumps(dumped.payload)))
    if dumped.lossless:
        assert list(map(strip_notes, again.messages)) == list(map(strip_notes, loaded.messages))
    assert dump_v2(again.messages).payload == dumped.payload or again.losses


def test_known_messages_come_back() -> None:
    """V1 to the letter; of V2, which has had two ways to write some things, all that was said."""
    for case in cases("mastra/message-list.jsonl"):
        older, stored = case["expected"].get("v1"), case["expected"].get("db")
        if is_array(older):
            assert dump_v1(load_v1(older).messages).payload == older, case["id"]
        if is_array(stored):
            messages = load_v2(stored).messages
            again = load_v2(dump_v2(messages).payload).messages
            assert list(map(strip_notes, again)) == list(map(strip_notes, messages)), case["id"]
