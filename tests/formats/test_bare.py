"""Bare values are written and read by a short way. It leads where the long way leads."""

from typing import Any

from msgspec import UNSET
from msgspec.structs import fields, force_setattr, replace

from partita.formats.bare import is_bare, is_bare_message, is_open, plain_result
from partita.formats.mastra.parts import load_part as load_mastra_part
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
from tests.tables import each_row

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


INVOCATION: JsonObject = {"state": "result", "toolCallId": "c", "toolName": "f", "args": {}, "result": 1}
REASONING: JsonObject = {
    "type": "reasoning",
    "reasoning": "Hm.",
    "details": [{"type": "text", "text": "Hm."}],
}
SAID: dict[str, tuple[Json, Any]] = {
    "a call": (
        {"type": "tool-invocation", "toolInvocation": INVOCATION},
        ToolCallPart("c", "f", "output-available", {}, output=JsonOutput(1)),
    ),
    "a call that says more": (
        {"type": "tool-invocation", "toolInvocation": {**INVOCATION, "isNew": True}},
        ToolCallPart("c", "f", "output-available", {}, output=JsonOutput(1), extra=Extra({"isNew": True})),
    ),
    "a reasoning": (REASONING, ReasoningPart("Hm.")),
    "a reasoning that says more": ({**REASONING, "x": 1}, ReasoningPart("Hm.", extra=Extra({"x": 1}))),
}


@each_row(("raw", "part"), SAID.values(), ids=SAID)
def test_what_says_more_is_kept_by_mastra(raw: Json, part: Any) -> None:
    assert load_mastra_part(raw, "assistant", "$", []) == (part,)
