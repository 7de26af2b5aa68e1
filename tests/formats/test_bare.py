"""Bare values are written and read by a short way. It leads where the long way leads."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import fields, force_setattr, replace

from partita.formats.ai_sdk.ui import load as ui_load
from partita.formats.ai_sdk.ui import v4_load
from partita.formats.ai_sdk.ui.dump import dump_bare, dump_part
from partita.formats.ai_sdk.ui.v4_parts import PartWriter
from partita.formats.bare import is_bare, is_bare_message, is_open, plain_result
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ErrorTextOutput, JsonOutput, TextOutput, ToolResultPart
from partita.types.value import Extra, Value
from tests import canonical
from tests.tables import each_row

VERSIONS: tuple[Any, ...] = (5, 6, 7)

texts = st.sampled_from(["", "a", "tool-", '{"isNetwork": true}', "\ud83d", "two\nlines"])
values = st.one_of(st.none(), st.booleans(), st.integers(), texts, st.just({"a": [1.5]}), st.just([]))
outputs = st.one_of(st.builds(TextOutput, texts), st.builds(JsonOutput, values))
ended = st.builds(ToolCallPart, texts, texts, st.just("output-available"), values, output=outputs)
waiting = st.builds(ToolCallPart, texts, texts, st.just("input-available"), values)
words = st.one_of(st.builds(TextPart, texts), st.builds(ReasoningPart, texts), st.builds(StepStartPart))
bare_parts = st.one_of(words, ended, waiting)
any_parts = st.one_of(bare_parts, canonical.parts("assistant"))


BARE: tuple[tuple[Value, set[str]], ...] = (
    *(
        (type_(id="m", content=()), {"id", "type", "content"})
        for type_ in (SystemMessage, UserMessage, AssistantMessage, ToolMessage)
    ),
    *(
        (type_(parts=()), {"format", "parts"})
        for type_ in (SystemContent, UserContent, AssistantContent, ToolContent)
    ),
    (TextPart("a"), {"text"}),
    (ReasoningPart("a"), {"text"}),
    (TextOutput("a"), {"value"}),
    (JsonOutput("a"), {"value"}),
    (StepStartPart(), set()),
    (ToolCallPart("c", "f", "input-available"), {"id", "name", "state", "input", "output"}),
    (ToolResultPart("c", "f", TextOutput("a")), {"id", "name", "output"}),
)
"""Bare values, and the fields that are their own."""


@each_row(("value", "own"), BARE, ids=lambda one: type(one).__name__)
def test_a_value_is_bare_until_any_field_that_is_not_its_own_is_set(value: Value, own: set[str]) -> None:
    assert is_bare(value)
    for field in fields(type(value)):
        other = replace(value)
        force_setattr(other, field.name, field)
        assert is_bare(other) == (field.name in own)


def test_a_value_that_nobody_knows_is_not_bare() -> None:
    assert not is_bare(ErrorTextOutput("a"))


@each_row("type_", ["text", "tool", "event"])
def test_a_message_of_another_type_than_its_parts_say_is_not_bare(type_: Any) -> None:
    message = AssistantMessage(id="a", content="Hello.", type=type_)
    assert is_bare_message(message) == (type_ == "text")


def test_a_call_that_says_more_is_not_plain() -> None:
    call = ToolCallPart("c", "f", "output-available", {}, output=TextOutput("done"))
    assert plain_result(call) == "done"
    others = [
        ToolCallPart("c", "f", "output-available", {}, output=JsonOutput("done")),
        ToolCallPart("c", "f", "output-available", {}, output=TextOutput("done", extra=Extra({"x": 1}))),
        ToolCallPart("c", "f", "output-available", UNSET, output=TextOutput("done")),
        ToolCallPart("c", "f", "output-error", {}, output=ErrorTextOutput("done")),
        ToolCallPart("c", "f", "output-available", {}, output=TextOutput("done"), title="F"),
    ]
    assert all(plain_result(other) is UNSET and not is_open(other) for other in others)


@pytest.mark.parametrize("version", VERSIONS)
@given(part=any_parts)
def test_ui_parts_are_the_same_by_both_ways(version: Any, part: Any) -> None:
    short = dump_bare(part)
    losses: list[Loss] = []
    if short is not None:
        assert short == dump_part(part, "$", losses, version)
        assert losses == []


@given(part=any_parts, role=st.sampled_from(["system", "user", "assistant"]))
def test_ui_parts_are_read_the_same_by_both_ways(part: Any, role: str) -> None:
    raw = dump_part(part, "$", [], 7)
    short = ui_load.load_bare(raw, role)
    losses: list[Loss] = []
    if short is not None:
        assert short == ui_load.load_part(raw, role, "$", losses)
        assert losses == []


@given(parts=st.lists(any_parts, max_size=4))
def test_parts_of_version_4_are_the_same_by_both_ways(parts: list[Any]) -> None:
    told: list[list[Loss]] = [[], []]
    short, long = (PartWriter("assistant", losses) for losses in told)
    for part in parts:
        if not short.add_bare(part):
            short.add(part, "$")
        long.add(part, "$")
    assert (short.parts, short.annotations, told[0]) == (long.parts, long.annotations, told[1])


INVOCATION: JsonObject = {"state": "result", "toolCallId": "c", "toolName": "f", "args": {}, "result": 1}


@each_row("step", [0, 1, False, "0"])
def test_a_call_of_version_4_keeps_a_step_that_is_not_the_one_it_stands_in(step: Json) -> None:
    call: JsonObject = {"type": "tool-invocation", "toolInvocation": {**INVOCATION, "step": step}}
    raw: JsonObject = {"id": "m", "role": "assistant", "content": "", "parts": [{"type": "step-start"}, call]}
    part = v4_load.load_message(raw, "$", []).parts[1]
    assert (part.extra is None) == (step == 0 and step is not False)
