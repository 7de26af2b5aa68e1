"""Plain messages take a short way through the formats of frameworks, and come out as by the long one."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.format import Dumped
from partita.formats.framework.plain import plain_steps, plain_text
from partita.formats.registry import get_format
from partita.types.json import Json
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

NAMES = ("otel-genai",)
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


@each_row("name", [*NAMES, "langchain", "langchain-v0", "pydantic-ai"])
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
