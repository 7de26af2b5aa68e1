"""Plain messages take a short way through the formats of frameworks, and come out as by the long one."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.format import Dumped
from partita.formats.framework.plain import plain_steps, plain_text
from partita.formats.langchain.blocks import read_block
from partita.formats.langchain.blocks import read_plain as read_plain_block
from partita.formats.langchain.calls import read_call, read_plain_call
from partita.formats.registry import get_format
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
)
from partita.types.parts import DataPart, ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ErrorTextOutput, JsonOutput, TextOutput
from tests import canonical
from tests.formats.long_way import besides_the_way, by_the_long_way
from tests.tables import each_row

NAMES = ("langchain", "langchain-v0")
WORDS = st.sampled_from(("", "lit", "39.5 metres"))
IDS = st.sampled_from(("c1", "c2", "m1", "message-1", "message-2"))
OUTPUTS = st.one_of(
    WORDS.map(TextOutput),
    st.sampled_from(({}, {"metres": 39.5}, {"deep": [{"a": None}]}, [1], None, "text")).map(JsonOutput),
    WORDS.map(ErrorTextOutput),
)
INPUTS: st.SearchStrategy[Json] = st.sampled_from(({}, {"tower": 1}, "text"))
OPEN_CALLS = st.builds(ToolCallPart, IDS, WORDS, st.just("input-available"), INPUTS)
CALLS = st.builds(ToolCallPart, IDS, WORDS, st.just("output-available"), INPUTS, output=OUTPUTS)
PARTS: st.SearchStrategy[list[AssistantPart]] = st.lists(
    st.one_of(
        WORDS.map(TextPart),
        WORDS.map(ReasoningPart),
        st.just(StepStartPart()),
        OPEN_CALLS,
        CALLS,
        CALLS,
    ),
    max_size=7,
)
THREADS = st.sampled_from((None, None, "t1"))
TALKS: st.SearchStrategy[list[Message]] = st.lists(
    st.one_of(
        st.builds(SystemMessage, id=IDS, content=WORDS),
        st.builds(UserMessage, id=IDS, content=WORDS, thread_id=THREADS),
        st.builds(AssistantMessage, id=IDS, content=PARTS, thread_id=THREADS),
        canonical.messages(canonical.KNOWN),
    ),
    max_size=5,
)


def _dump(name: str) -> Callable[[list[Message]], Dumped]:
    dump = get_format(name).dump
    assert dump is not None
    return dump


def _answers(name: str, parts: list[AssistantPart]) -> list[JsonObject]:
    """The messages of an answer that stand for it, without those of results."""
    written: list[JsonObject] = _dump(name)([AssistantMessage(id="a", content=parts)]).payload
    return [one for one in written if one.get("type") == "ai" or one.get("kind") == "response"]


@pytest.mark.parametrize("name", NAMES)
@given(talk=TALKS)
def test_both_ways_write_and_tell_the_same(name: str, talk: list[Message]) -> None:
    dump = _dump(name)
    short, long = dump(talk), dump([by_the_long_way(one) for one in talk])
    assert besides_the_way(short) == besides_the_way(long)


def test_words_thoughts_and_calls_are_plain_and_what_says_more_is_not() -> None:
    call = ToolCallPart("c1", "height", "output-available", {"tower": 1}, output=TextOutput("39.5"))
    step, thought, said = StepStartPart(), ReasoningPart("hm"), TextPart("39.5")
    parts: list[AssistantPart] = [step, thought, call, step, said]
    steps = plain_steps(AssistantMessage(id="a", content=parts))
    assert steps == [([0], [thought, call], [(call, "39.5")]), ([3], [said], [])]
    assert plain_steps(AssistantMessage(id="a", content=[replace(call, title="Height")])) is None
    assert plain_steps(AssistantMessage(id="a", content=[replace(call, state="output-error")])) is None
    assert plain_text(UserMessage(id="u", content="How tall?")) == "How tall?"
    assert plain_text(UserMessage(id="u", content=[TextPart("How tall?", state="done")])) is None


@given(parts=PARTS)
def test_plain_blocks_of_langchain_are_read_as_all_blocks_are(parts: list[AssistantPart]) -> None:
    for message in _answers("langchain", parts):
        content: list[JsonObject] = message["data"]["content"]
        entries: list[JsonObject] = message["data"]["tool_calls"]
        for block in content:
            part = read_plain_block(block)
            assert part is None or part == read_block(block, None)
        blocks = [block for block in content if "args" in block]
        for block, entry in zip(blocks, entries, strict=True):
            call = read_plain_call(block, iter([entry]))
            assert call == read_call(block, entry, "", is_v1=True)


def test_a_call_that_is_told_in_two_ways_is_not_plain() -> None:
    block = {"type": "tool_call", "id": "c1", "name": "height", "args": {"tower": 1}}
    assert read_plain_call(block, iter([dict(block)])) is not None
    for entry in ({**block, "args": {"tower": True}}, {**block, "id": "c2"}, {**block, "index": 0}, None):
        assert read_plain_call(block, iter([entry])) is None
    assert read_plain_call({**block, "extras": {}}, iter([block])) is None


@each_row("name", [*NAMES, "pydantic-ai"])
def test_a_step_of_which_nothing_is_told_leaves_nothing_empty(name: str) -> None:
    shown = DataPart("lamp", {"lit": True})
    parts: list[AssistantPart] = [StepStartPart(), shown, StepStartPart(), TextPart("The lamp is lit.")]
    dump = _dump(name)
    silent, spoken = (
        dump([AssistantMessage(id="a", content=parts)]),
        dump([AssistantMessage(id="a", content=parts[3:])]),
    )
    assert silent.payload == spoken.payload
    assert "$[0].content.parts[1]" in {loss.path for loss in silent.losses}
