"""What has no more than words, calls and results takes a short way: it must lead where the long way leads."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from partita.formats.registry import get_format
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
)
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput
from tests.canonical import KNOWN, json_values, texts

FORMATS = ["a2a", "sharegpt", "chatml"]


def calls() -> SearchStrategy[ToolCallPart]:
    values = json_values(KNOWN)
    outputs = st.one_of(values.map(JsonOutput), texts(KNOWN).map(TextOutput), st.none())
    return st.builds(
        ToolCallPart,
        st.sampled_from(["one", "two", "three", "", "call_12345", "ninechars"]),
        st.sampled_from(["height", "lamp", "two words"]),
        st.sampled_from(["output-available", "input-available", "output-error"]),
        st.one_of(st.just({"tower": 1}), values),
        output=outputs,
    )


def answers() -> SearchStrategy[list[AssistantPart]]:
    words = texts(KNOWN)
    part = st.one_of(
        st.builds(StepStartPart),
        words.map(TextPart),
        st.just(TextPart("said")),
        words.map(ReasoningPart),
        calls(),
    )
    return st.lists(part, max_size=6)


def talks() -> SearchStrategy[list[Message]]:
    ids = st.sampled_from(["message-1", "message-2", "message-3", "a", "b"])
    message: SearchStrategy[Message] = st.one_of(
        st.builds(SystemMessage, id=ids, content=texts(KNOWN)),
        st.builds(UserMessage, id=ids, content=texts(KNOWN)),
        st.builds(AssistantMessage, id=ids, content=answers()),
    )
    return st.lists(message, max_size=4)


def counted(messages: Sequence[Message]) -> list[Message]:
    """The same messages with a number each, which is one thing more than the short way takes."""
    return [replace(message, seq=7) for message in messages]


@pytest.mark.parametrize("name", FORMATS)
@given(messages=talks())
def test_both_ways_write_the_same_and_tell_the_same(name: str, messages: list[Message]) -> None:
    dump = get_format(name).dump
    assert dump is not None
    short, long = dump(messages), dump(counted(messages))
    assert short.payload == long.payload
    assert list(short.losses) == [loss for loss in long.losses if not loss.path.endswith(".seq")]
