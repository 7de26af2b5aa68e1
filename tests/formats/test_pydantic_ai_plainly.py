"""Plain histories of Pydantic AI are read by a short way. It leads where the long way leads."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from partita.formats.pydantic_ai.dump import dump
from partita.formats.pydantic_ai.load import load, load_any
from partita.formats.pydantic_ai.plain import plain_steps
from partita.formats.pydantic_ai.plainly import read_plainly
from partita.types import messages as ours
from partita.types.json import Json, JsonObject, loads
from partita.types.messages import AssistantMessage, AssistantPart, Message, UserMessage
from partita.types.parts import ForeignPart, ReasoningPart, StepStartPart
from partita.types.parts import TextPart as Words
from partita.types.tools import ErrorTextOutput, JsonOutput, TextOutput, ToolOutput
from partita.types.usage import Usage
from tests import canonical
from tests.formats.long_way import besides_the_way, by_the_long_way
from tests.formats.pydantic_ai_histories import LATER, LEGACY, NOW, payload
from tests.leaves import changed, leaves
from tests.sampling import sampled
from tests.tables import each_row

RUN: Any = {"run_id": "run-1", "conversation_id": "thread-1"}


def talk() -> list[ModelMessage]:
    """What an agent's run leaves behind when nothing unusual happens."""
    return [
        ModelRequest(
            parts=[SystemPromptPart("You keep the register.", timestamp=NOW)],
            instructions="Answer in metres.",
            timestamp=NOW,
            **RUN,
        ),
        ModelResponse(
            parts=[
                ThinkingPart("Look both up."),
                TextPart("One moment."),
                ToolCallPart("height", {"tower": 1}, tool_call_id="t1"),
                ToolCallPart("lamp", '{"tower":1}', tool_call_id="t2"),
                ToolCallPart("list_towers", None, tool_call_id="t3"),
            ],
            usage=RequestUsage(input_tokens=40, output_tokens=16),
            model_name="some-model",
            provider_name="openai",
            provider_details={"finish_reason": "tool_calls"},
            provider_response_id="resp-1",
            finish_reason="tool_call",
            timestamp=LATER,
            **RUN,
        ),
        ModelRequest(
            parts=[
                ToolReturnPart("height", {"metres": 39.5}, tool_call_id="t1", timestamp=LATER),
                ToolReturnPart("lamp", "lit", tool_call_id="t2", timestamp=LATER),
                ToolReturnPart("list_towers", ["Anholt"], tool_call_id="t3", timestamp=LATER),
                UserPromptPart("In one sentence.", timestamp=LATER),
            ],
            instructions="Answer in metres.",
            timestamp=LATER,
            **RUN,
        ),
        ModelResponse(parts=[TextPart("39.5 metres, and lit.")], timestamp=LATER),
        ModelRequest(
            parts=[UserPromptPart("And in feet?", timestamp=NOW)],
            instructions="Answer in feet.",
            timestamp=LATER,
        ),
        ModelResponse(parts=[ToolCallPart("feet", {}, tool_call_id="t4")], timestamp=LATER),
    ]


TALK: Json = loads(ModelMessagesTypeAdapter.dump_json(talk()))
BARE: Json = [
    {
        "kind": "request",
        "parts": [
            {"part_kind": "system-prompt", "content": "You keep the register."},
            {"part_kind": "user-prompt", "content": "How tall is the tower?"},
        ],
    },
    {
        "kind": "response",
        "parts": [
            {"part_kind": "thinking", "content": "Hm."},
            {"part_kind": "tool-call", "tool_name": "height", "args": {"tower": 1}, "tool_call_id": "c1"},
            {"part_kind": "tool-call", "tool_name": "lamp", "args": {"tower": 1}, "tool_call_id": "c2"},
        ],
    },
    {
        "kind": "request",
        "parts": [
            {"part_kind": "tool-return", "tool_name": "height", "content": {"m": 39.5}, "tool_call_id": "c1"},
            {"part_kind": "tool-return", "tool_name": "lamp", "content": "lit", "tool_call_id": "c2"},
        ],
    },
    {"kind": "response", "parts": [{"part_kind": "text", "content": "39.5 metres, and lit."}]},
]


@each_row("history", [BARE, TALK, [], BARE[:2], BARE[3:], BARE[3:] * 2])
def test_a_plain_history_takes_the_short_way_to_the_same_messages(history: Json) -> None:
    short, long = read_plainly(history), load_any(history)
    assert short == list(long.messages)
    assert long.losses == ()
    assert load(history) == long


@each_row("history", [payload(), LEGACY])
def test_whatever_a_history_holds_is_read_the_same(history: Json) -> None:
    assert load(history) == load_any(history)
    for message in history:
        assert load(message) == load_any(message)


@each_row("history", [BARE, TALK])
def test_a_change_anywhere_is_read_the_same(history: Json) -> None:
    for path in sampled(leaves(history), 2):
        other = changed(history, path)
        short = read_plainly(other)
        if short is not None:
            assert short == list(load_any(other).messages), path
            assert load_any(other).losses == ()


def _with(place: int, **members: Any) -> list[JsonObject]:
    return [{**one, **members} if at == place else one for at, one in enumerate(BARE)]


CALLED, RETURNED = BARE[1]["parts"], BARE[2]["parts"]
ASKED = BARE[0]["parts"]
IMAGE: JsonObject = {"kind": "image-url", "url": "https://example.com/a.png"}
STAMP = "2026-03-01T09:00:00Z"
UNUSUAL: Mapping[str, Json] = {
    "a message of another kind": [{"kind": "reply", "parts": []}],
    "a member that nobody knows": _with(0, mood="calm"),
    "a part of another kind": _with(3, parts=[{"part_kind": "compaction", "content": "So far."}]),
    "a part with an id": _with(3, parts=[{**BARE[3]["parts"][0], "id": "msg_1"}]),
    "a request without parts": _with(0, parts=[]),
    "a request right behind a request": [BARE[0], *BARE],
    "results in another order": _with(2, parts=RETURNED[::-1]),
    "a call without a result beside one that has one": _with(2, parts=RETURNED[:1]),
    "more results than calls": _with(2, parts=[*RETURNED, RETURNED[0]]),
    "a result without a response": BARE[2:],
    "a result behind what was said": _with(2, parts=[ASKED[1], *RETURNED]),
    "a result of a tool of another name": _with(2, parts=[{**RETURNED[0], "tool_name": "x"}, RETURNED[1]]),
    "a result of another call": _with(2, parts=[{**RETURNED[0], "tool_call_id": "x"}, RETURNED[1]]),
    "a result that failed": _with(2, parts=[{**RETURNED[0], "outcome": "failed"}, RETURNED[1]]),
    "a result with files": _with(2, parts=[{**RETURNED[0], "content": [IMAGE]}, RETURNED[1]]),
    "results behind new instructions": _with(2, instructions="Answer in metres."),
    "instructions that end": _with(0, instructions="Answer in metres."),
    "a moment in other words": _with(0, parts=[{**ASKED[1], "timestamp": "yesterday"}]),
    "results of a moment in other words": _with(2, timestamp="2026-03-01 09:00"),
    "a moment that is null": _with(0, parts=[{**ASKED[1], "timestamp": None}]),
    "a call without its input": _with(3, parts=[{k: v for k, v in CALLED[1].items() if k != "args"}]),
}


@each_row("history", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_unusual_takes_the_long_way(history: Json) -> None:
    assert read_plainly(history) is None


moments: st.SearchStrategy[JsonObject] = st.sampled_from(
    [{}, {"timestamp": STAMP}, {"timestamp": "2026-03-01T09:00:01.250000Z"}]
)
runs: st.SearchStrategy[JsonObject] = st.sampled_from(
    [{}, {"run_id": "r"}, {"run_id": "r", "conversation_id": "t"}]
)
told: st.SearchStrategy[JsonObject] = st.sampled_from([{}, {}, {"instructions": "Be calm."}])
models: st.SearchStrategy[JsonObject] = st.sampled_from(
    [{}, {"model_name": "m", "usage": {"input_tokens": 1}}, {"finish_reason": "stop"}]
)


@st.composite
def parts_of(draw: st.DrawFn, raw: JsonObject) -> list[JsonObject]:
    """Some parts of a message, now and then in another order or with a moment."""
    parts: list[JsonObject] = draw(st.sampled_from([raw["parts"], raw["parts"][1:], raw["parts"][::-1]]))
    is_asked = raw["kind"] == "request"
    return [{**part, **(draw(moments) if is_asked else {})} for part in parts]


@st.composite
def histories(draw: st.DrawFn) -> list[JsonObject]:
    """Plain messages in any order, with more or less around them."""
    history: list[JsonObject] = []
    for raw in draw(st.lists(st.sampled_from([*BARE, *BARE[1:3]]), max_size=5)):
        more: JsonObject = draw(told if raw["kind"] == "request" else models)
        around: JsonObject = {**draw(moments), **draw(runs), **more}
        history.append({**raw, **around, "parts": draw(parts_of(raw))})
    return history


@given(histories())
def test_both_ways_read_the_same(history: list[JsonObject]) -> None:
    assert load(history) == load_any(history)


@given(st.lists(canonical.messages(), max_size=4))
def test_both_ways_read_the_same_of_what_we_write(messages: list[Message]) -> None:
    written = dump(messages).payload
    assert load(written) == load_any(written)


CALL = ours.ToolCallPart("c1", "height", "output-available", {"tower": 1}, output=TextOutput("39.5"))
OPEN = ours.ToolCallPart("c2", "lamp", "input-available", {})
SAID: list[AssistantPart] = [StepStartPart(), ReasoningPart("Hm."), CALL, StepStartPart(), Words("39.5.")]


def test_a_plain_answer_takes_the_short_way() -> None:
    steps = plain_steps(AssistantMessage(id="a", content=SAID))
    assert steps is not None
    assert [(step.starts, len(step.parts), len(step.returns), step.names) for step in steps] == [
        ([0], 2, 1, {"c1": "height"}),
        ([3], 1, 0, {}),
    ]


ODD: Mapping[str, AssistantMessage] = {
    "a moment": AssistantMessage(id="a", content=SAID, created_at=NOW),
    "a type of its own": AssistantMessage(id="a", content=SAID, type="event"),
    "usage": AssistantMessage(id="a", content=ours.AssistantContent(parts=(), usage=Usage())),
    "another part": AssistantMessage(id="a", content=[ForeignPart("x", 1)]),
    "a state": AssistantMessage(id="a", content=[Words("Yes.", state="done")]),
    "an id": AssistantMessage(id="a", content=[ReasoningPart("Hm.", id="r")]),
    "a title": AssistantMessage(id="a", content=[replace(CALL, title="Height")]),
    "an input that is no object": AssistantMessage(id="a", content=[replace(OPEN, input=[1])]),
    "an error": AssistantMessage(id="a", content=[replace(CALL, output=ErrorTextOutput("no"))]),
    "a list": AssistantMessage(id="a", content=[replace(CALL, output=JsonOutput([1]))]),
}


@each_row("message", ODD.values(), ids=ODD)
def test_an_answer_that_says_more_takes_the_long_way(message: AssistantMessage) -> None:
    assert plain_steps(message) is None


outputs: list[ToolOutput] = [
    TextOutput(""),
    TextOutput("39.5"),
    JsonOutput({"m": [1]}),
    JsonOutput(None),
]
calls = st.sampled_from([replace(CALL, id=id_, output=output) for id_ in "xy" for output in outputs])
said = st.lists(st.one_of(st.sampled_from([*SAID, OPEN]), calls), max_size=6)
names = st.sampled_from(["a", "message-1", "message-2", "message-3"])
talks = st.lists(
    st.one_of(
        st.builds(AssistantMessage, id=names, content=said),
        st.builds(UserMessage, id=names, content=st.just("How tall?"), run_id=st.sampled_from([None, "r"])),
        canonical.messages(canonical.KNOWN),
    ),
    max_size=5,
)


@given(talks, st.data())
def test_both_ways_write_and_tell_the_same(messages: list[Message], data: st.DataObject) -> None:
    long = [by_the_long_way(one) if data.draw(st.booleans()) else one for one in messages]
    assert besides_the_way(dump(messages)) == besides_the_way(dump(long))
