"""Usual histories of LangChain take a short way in both directions, and come out as by the long one."""

from collections.abc import Callable
from typing import Any, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.format import Loaded
from partita.formats.langchain.dump import dump
from partita.formats.langchain.envelope import messages_in
from partita.formats.langchain.load import load, load_slowly
from partita.formats.langchain.plain import write_classic, write_modern
from partita.formats.langchain.plain_answers import PlainAnswer, Write
from partita.formats.langchain.plainly import read_plainly
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ErrorTextOutput, JsonOutput, TextOutput
from tests.formats.langchain_histories import histories
from tests.formats.long_way import besides_the_way, by_the_long_way
from tests.tables import each_row

STEP = StepStartPart()
HEIGHT = ToolCallPart("c1", "height", "output-available", {"tower": 1}, output=JsonOutput({"metres": 39.5}))
LAMP = ToolCallPart("c2", "lamp", "output-available", {"tower": 1}, output=TextOutput("lit"))
OPEN = ToolCallPart("c3", "door", "input-available", {})


def talk() -> list[Message]:
    """What most say: a question, a thought, calls with results, an answer."""
    parts: list[AssistantPart] = [ReasoningPart("Hm."), TextPart("I look."), HEIGHT, LAMP]
    return [
        UserMessage(id="u1", content="How tall is it?"),
        AssistantMessage(id="a1", content=[*parts, STEP, HEIGHT, STEP, TextPart("39.5 metres.")]),
        UserMessage(id="u2", content="And the door?"),
        AssistantMessage(id="message-7", content=[TextPart("I knock."), OPEN]),
    ]


Change: TypeAlias = Callable[[list[JsonObject]], Json]


def message(type_: str, content: Json, **members: Json) -> JsonObject:
    around: JsonObject = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}
    calls: JsonObject = {"tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None}
    more = calls if type_ == "ai" else {}
    return {"type": type_, "data": {"content": content, "type": type_, **around, **more, **members}}


V1: JsonObject = {"output_version": "v1"}
IDS = st.sampled_from((None, None, "a", "a", "a#2", "a#3", "message-2", "message-1#2"))
CALL_IDS = st.sampled_from(("c1", "c2", "c3"))
ARGS: st.SearchStrategy[Json] = st.sampled_from(({"tower": 1}, {"tower": True}, {}, None))
CALL: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(
    {"type": st.just("tool_call"), "name": st.just("height"), "args": ARGS, "id": CALL_IDS}
)
BLOCK: st.SearchStrategy[JsonObject] = st.sampled_from(
    ({"type": "text", "text": "lit"}, {"type": "reasoning", "reasoning": "Hm."})
)
ABOUT = st.sampled_from(({}, {"model_name": "m"}, {"model_provider": "google_genai"}))
KWARGS = st.sampled_from(({}, {}, {"reasoning_content": "Hm."}, {"refusal": None}, {"reasoning_content": ""}))
USAGES = st.sampled_from((None, None, {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}))


@st.composite
def answers(draw: st.DrawFn) -> JsonObject:
    blocks: list[JsonObject] = draw(st.lists(st.one_of(BLOCK, CALL), max_size=4))
    calls = [block for block in blocks if block["type"] == "tool_call"]
    about = draw(ABOUT)
    contents: list[Json] = [blocks, blocks, "", "It is lit."]
    content: Json = draw(st.sampled_from(contents))
    return message(
        "ai",
        content,
        id=draw(IDS),
        additional_kwargs=draw(KWARGS),
        response_metadata=about if isinstance(content, str) else {**about, **V1},
        tool_calls=draw(st.sampled_from((calls, calls, calls, calls[1:]))),
        usage_metadata=draw(USAGES),
    )


RESULTS: st.SearchStrategy[JsonObject] = st.builds(
    message,
    st.just("tool"),
    st.sampled_from(("lit", '{"a":1}')),
    tool_call_id=CALL_IDS,
    id=IDS,
    name=st.sampled_from(("height", "height", None, "lamp")),
    artifact=st.sampled_from((None, {"a": 1})),
    status=st.sampled_from(("success", "success", "error")),
)
SAID = st.builds(message, st.sampled_from(("human", "system")), st.just("And?"), id=IDS)


@settings(max_examples=200)
@given(st.lists(st.one_of(SAID, answers(), answers(), RESULTS, RESULTS), max_size=6))
def test_both_ways_read_the_same(history: list[JsonObject]) -> None:
    short = read_plainly(history)
    if short is not None:
        assert Loaded(tuple(short)) == load_slowly(messages_in(history))


@each_row("name", histories())
def test_both_ways_read_the_same_histories(name: str) -> None:
    found = messages_in(histories()[name])
    for raw in found.items:
        short = read_plainly([raw])
        assert short is None or Loaded(tuple(short)) == load_slowly(messages_in([raw]))
    assert load(found.items) == load_slowly(found._replace(path="$"))


@each_row("version", [0, 1])
def test_a_usual_talk_is_read_by_the_short_way(version: int) -> None:
    payload = dump(talk(), version).payload
    short = read_plainly(payload)
    assert short is not None
    assert Loaded(tuple(short)) == load_slowly(messages_in(payload))
    assert load({"messages": payload, "count": 2}).messages == tuple(short)


def _answer(**members: Json) -> Change:
    return lambda said: [said[0], {**said[1], "data": {**said[1]["data"], **members}}, *said[2:]]


def _result(**members: Json) -> Change:
    return lambda said: [*said[:2], {**said[2], "data": {**said[2]["data"], **members}}, *said[3:]]


CALLED: JsonObject = {"type": "tool_call", "name": "height", "args": {"tower": 1}, "id": "c1"}


CHANGES: list[Change] = [
    lambda said: [3, *said],
    lambda said: [{"type": "human", "data": 3}, *said],
    lambda said: [{**said[0], "more": 1}, *said[1:]],
    lambda said: [{**said[0], "type": "system"}, *said[1:]],
    lambda said: [message("human", [{"type": "text", "text": "?"}]), *said[1:]],
    lambda said: [message("human", "?", name="keeper"), *said[1:]],
    lambda said: [message("human", "?", additional_kwargs={"a": 1}), *said[1:]],
    lambda said: [message("human", "?", response_metadata=None), *said[1:]],
    lambda said: [said[0], *said[2:]],
    lambda said: [*said[:3], said[2], *said[3:]],
    lambda said: [*said[:2], said[3], said[2], *said[4:]],
    _answer(id="u1#2"),
    _answer(response_metadata={}),
    _answer(invalid_tool_calls=[{"name": "f", "args": "{", "id": "c9", "error": None}]),
    _answer(additional_kwargs={"tool_calls": []}),
    _answer(tool_calls=[]),
    _answer(tool_calls=[CALLED, CALLED], content=[CALLED, CALLED]),
    _answer(content=[{**CALLED, "args": {"tower": True}}], tool_calls=[CALLED]),
    _answer(content=[{**CALLED, "args": 3}], tool_calls=[{**CALLED, "args": 3}]),
    _answer(content=[{"type": "text", "text": "lit", "index": 0}], tool_calls=[]),
    _result(name="lamp"),
    _result(id="a1#9:results"),
    _result(response_metadata={"a": 1}),
    _result(content=["lit"]),
    _result(status="odd"),
]


@each_row("change", CHANGES)
def test_what_is_unusual_is_read_by_the_long_way(change: Change) -> None:
    payload = dump(talk()).payload
    assert read_plainly(payload) is not None
    assert read_plainly(change(payload)) is None


def test_what_integrations_note_and_count_is_usual() -> None:
    usage = {"input_tokens": 4, "output_tokens": 2, "total_tokens": 6}
    about = {"model_name": "m", "finish_reason": "stop"}
    answer = message(
        "ai", "I look.", id="a", tool_calls=[CALLED], usage_metadata=usage, response_metadata=about
    )
    result = message("tool", "no", tool_call_id="c1", id="r", artifact={"code": 404}, status="error")
    short = read_plainly([answer, result])
    assert short is not None
    assert Loaded(tuple(short)) == load_slowly(messages_in([answer, result]))
    assert dump(short, 0).payload == [answer, result]


def _plain(parts: list[AssistantPart], write: Write = write_modern, **more: Any) -> bool:
    answer = replace(AssistantMessage(id="a", content=parts), **more)
    return PlainAnswer([], write).add(answer)


def test_usual_answers_are_written_by_the_short_way_and_others_are_not() -> None:
    said = TextPart("lit")
    assert _plain([])
    assert _plain([STEP, ReasoningPart("Hm."), said, HEIGHT, LAMP, OPEN, STEP, HEIGHT, STEP], thread_id="t")
    assert _plain([said, HEIGHT], write_classic)
    assert not _plain([HEIGHT, said], write_classic)
    assert not _plain([TextPart("")], write_classic)
    odd: list[AssistantPart] = [
        replace(said, state="done"),
        ReasoningPart("Hm.", id="r"),
        replace(STEP, provider_metadata={}),
        replace(HEIGHT, title="Height"),
        replace(HEIGHT, state="output-error"),
        replace(HEIGHT, input="text"),
        replace(HEIGHT, output=JsonOutput([1])),
        replace(HEIGHT, output=ErrorTextOutput("no")),
        replace(HEIGHT, output=TextOutput("lit", provider_metadata={})),
        replace(OPEN, state="input-streaming"),
    ]
    assert [part for part in odd if _plain([part])] == []
    assert not _plain([HEIGHT, HEIGHT])


@each_row("version", [0, 1])
def test_an_answer_that_is_odd_at_its_end_is_written_once(version: int) -> None:
    parts: list[AssistantPart] = [
        STEP,
        TextPart("I look."),
        HEIGHT,
        STEP,
        STEP,
        TextPart("lit", state="done"),
    ]
    answer = AssistantMessage(id="a", content=parts)
    short, long = dump([answer], version), dump([by_the_long_way(answer)], version)
    assert besides_the_way(short) == besides_the_way(long)
    assert len(short.payload) == 3


@each_row("version", [0, 1])
@each_row(
    "steps",
    [[HEIGHT, STEP, TextPart("Tall.")], [TextPart("I look."), STEP, HEIGHT, STEP, TextPart("Tall.")]],
    ids=["a call first", "words first"],
)
def test_the_steps_of_an_answer_come_back_as_one_message(version: int, steps: list[AssistantPart]) -> None:
    answer = AssistantMessage(id="a1", content=steps)
    written = dump([answer], version).payload
    for loaded in (load(written), load_slowly(messages_in(written))):
        (read,) = loaded.messages
        assert (read.id, read.type, list(read.parts)) == ("a1", "tool", steps)
