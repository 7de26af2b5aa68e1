"""AG-UI: sub-agents, chunks and results whose ids collide."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.ag_ui.encoder import AgUiEncoder
from partita.formats.ag_ui.format import dump, load
from partita.formats.ag_ui.stream import AgUiDecoder
from partita.formats.losses import Loss
from partita.types.chunks import (
    ChildChunk,
    MessageStart,
    TextDelta,
    ToolInputAvailable,
    ToolOutputAvailable,
)
from partita.types.codec import to_json
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, ToolMessage
from partita.types.parts import TextOutput, TextPart, ToolResultPart


def call(id: str, *children: Message) -> ToolCallPart:
    return ToolCallPart(id, "look", "input-available", {}, children=children)


def answer(id: str, *parts: Any) -> AssistantMessage:
    return AssistantMessage(id=id, content=parts)


def test_a_sub_agent_belongs_to_the_outermost_call() -> None:
    """A nested call with the same id comes first, but the outermost call gets the sub-agent."""
    message = answer("m", call("a", answer("n", call("b"))), call("b", answer("o", TextPart("41"))))
    dumped = dump([message])
    assert dumped.losses == ()
    assert load(dumped.payload).messages == (message,)


def test_the_sub_agent_of_a_nested_call_with_the_id_of_its_parent_is_reported_as_lost() -> None:
    inner = call("a", answer("o", TextPart("lost")))
    dumped = dump([answer("m", call("a", answer("n", inner)))])
    (loss,) = dumped.losses
    assert loss.path == "$[0].content.parts[0].children[0].content.parts[0].children"
    assert loss == Loss.of(loss.path, to_json(inner.children), loss.why, "lost")
    assert load(dumped.payload).messages == (answer("m", call("a", answer("n", call("a")))),)


def test_system_and_tool_messages_of_a_sub_agent_are_written_separately() -> None:
    result = ToolResultPart("b", "look", TextOutput("dry"))
    apart: list[Message] = [
        answer("n", call("b")),
        SystemMessage(id="s", content="Go on."),
        ToolMessage(id="t", content=[result]),
    ]
    once = dump([answer("m", call("a", *apart))]).payload
    assert [one["id"] for one in once] == ["m", "n", "t", "s"]
    assert dump(load(once).messages).payload == once


def test_results_name_the_tool_of_their_own_call() -> None:
    payload = [
        {"id": "m", "role": "assistant", "toolCalls": [calling("c", "height")]},
        {"id": "t", "role": "tool", "toolCallId": "c", "content": "39"},
        {"id": "n", "role": "assistant", "toolCalls": [calling("c", "lamp")]},
    ]
    dumped = dump(load(payload).messages)
    assert (dumped.payload, dumped.losses) == (payload, ())


def test_results_that_share_an_id_get_distinct_ids() -> None:
    results = [ToolMessage(id="t", content=[ToolResultPart(name, "", TextOutput(name))]) for name in "ab"]
    dumped = dump(results)
    assert [one["id"] for one in dumped.payload] == ["t", "t:2"]
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [("$[1].id", "changed")]


def calling(id: str, name: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


IDS = ["a", "a#2", "a#3", "b", "a#1:results", "a#2:results", "a#1:results:2"]
TEXTS = st.sampled_from(["", "x"])


@st.composite
def raw_messages(draw: st.DrawFn) -> dict[str, Any]:
    """A message whose id may be that of another one."""
    role = draw(st.sampled_from(["assistant", "assistant", "tool", "tool", "user", "system", "reasoning"]))
    raw: dict[str, Any] = {"id": draw(st.sampled_from(IDS)), "role": role}
    if role != "assistant" or draw(st.booleans()):
        raw["content"] = draw(TEXTS)
    if role == "tool":
        raw["toolCallId"] = draw(st.sampled_from("cd"))
    if role == "assistant" and draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(["cf", "cg", "df"]), max_size=2))
        raw["toolCalls"] = [calling(*name) for name in names]
    if draw(st.integers(0, 9)) == 0:
        raw["metadata"] = {"k": 1}
    if draw(st.integers(0, 2)) == 0:
        raw["subagentRunId"] = draw(st.sampled_from("cd"))
    return raw


@given(payload=st.lists(raw_messages(), max_size=7))
def test_colliding_ids_round_trip_or_are_reported(payload: list[Any]) -> None:
    loaded = load(payload).messages
    dumped = dump(loaded)
    again = load(dumped.payload).messages
    assert again == loaded or dumped.losses
    assert dump(again).payload == dumped.payload


# Streams


def test_a_changed_input_is_reported() -> None:
    encoder = AgUiEncoder()
    for value in ({"a": 1}, {"a": 1}, {"a": 2}):
        encoder.feed(ToolInputAvailable("c", "look", value))
    assert [(loss.path, loss.what) for loss in encoder.losses] == [("$[2].input", '{"a":2}')]


def test_members_of_a_call_are_reported_when_they_change() -> None:
    encoder = AgUiEncoder()
    encoder.feed(ToolInputAvailable("c", "look", {}, title="Look"))
    encoder.feed(ToolOutputAvailable("c", "dry", dynamic=True))
    encoder.feed(ToolInputAvailable("c", "look", {}, title="Look again"))
    assert [loss.what for loss in encoder.losses] == ['"Look"', "true", '"Look again"']


def test_many_sub_agents_stay_under_their_calls() -> None:
    chunks: list[Any] = [MessageStart("m"), *(ToolInputAvailable(f"c{n}", "look", {}) for n in range(9))]
    chunks += [ChildChunk((f"c{n}",), TextDelta("0", str(n))) for n in (*range(9), *range(9))]
    encoder, decoder = AgUiEncoder(), AgUiDecoder()
    events = [event for chunk in chunks for event in encoder.feed(chunk)] + encoder.finish()
    read = [chunk for event in events for chunk in decoder.feed(event)] + decoder.finish()
    deltas = [
        (one.path, one.chunk.delta)
        for one in read
        if isinstance(one, ChildChunk) and isinstance(one.chunk, TextDelta)
    ]
    assert deltas == [((f"c{n}",), str(n)) for n in (*range(9), *range(9))]
