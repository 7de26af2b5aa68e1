"""Plain blocks, items and parts are read and written by a short way. It leads where the long way leads."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.formats.mcp import comparing as mcp
from partita.formats.registry import get_format
from partita.types.json import JsonObject, heal
from partita.types.messages import AssistantPart, Message, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput
from tests import canonical
from tests.tables import each_row

texts = st.sampled_from(["", " ", "a", "two\nlines", "\ud83d", "\ud83d\ude00", "é"])
names = st.sampled_from(["", "c1", "msg_1", "fc_1", "a b", "x" * 70])
objects = st.sampled_from([{}, {"a": [1.5, None]}, {"\ud83d\ude00": "\udfff"}, {"b": {"c": True}}])
values = st.one_of(st.none(), st.booleans(), texts, objects, st.just([]))

healed = texts.map(heal)  # as all texts of messages are
outputs = st.one_of(st.builds(TextOutput, healed), st.builds(JsonOutput, values))
ended = st.builds(ToolCallPart, names, names, st.just("output-available"), values, output=outputs)
waiting = st.builds(ToolCallPart, names, names, st.just("input-available"), values)
plain = st.one_of(st.builds(TextPart, healed), st.builds(ReasoningPart, healed), ended, waiting)
any_parts = st.one_of(plain, canonical.parts("assistant"))


@pytest.mark.parametrize("format_", [mcp])
@given(part=any_parts)
def test_of_a_part_that_is_held_nothing_is_lost(format_: Any, part: AssistantPart) -> None:
    if format_.is_held(part):
        assert not list(format_.part_losses(part, "$"))
        around = replace(part, provider_metadata={"x": 1})
        told = [loss.path for loss in format_.part_losses(around, "$")]
        assert told in ([], ["$.providerMetadata.x"], ["$.providerMetadata"])


Shell = Callable[[Message], Iterator[Loss]]
shells: Sequence[Shell] = (lambda message: mcp.shell_losses(message, "$", "message-1"),)


@each_row("shell", shells, ids=["mcp"])
@each_row("id_", ["message-1", "other"])
def test_a_bare_message_loses_what_it_loses_beside_a_thread(shell: Shell, id_: str) -> None:
    bare = UserMessage(id=id_, content="Hello.")
    placed = UserMessage(id=id_, content="Hello.", thread_id="t")
    rest = [loss for loss in shell(placed) if loss.path != "$.threadId"]
    assert list(shell(bare)) == rest
    assert len(rest) == (id_ == "other")


@each_row("format_", [mcp])
def test_a_call_whose_input_is_null_gets_a_closer_look(format_: Any) -> None:
    call = ToolCallPart("c", "f", "output-available", None, output=TextOutput("done"))
    assert not format_.is_held(call)
    assert format_.is_held(replace(call, input={}))
    assert not format_.is_held(StepStartPart())


@each_row("bad", [[], {}, 7, None])
def test_ids_types_and_tools_that_are_no_such_thing_make_nothing_fail(bad: Any) -> None:
    call: JsonObject = {"type": "tool_use", "id": bad, "name": "f", "input": {}}
    result: JsonObject = {"type": "web_search_tool_result", "tool_use_id": bad, "content": []}
    talk: list[JsonObject] = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": [result, {**call, "id": "c"}]},
    ]
    said: JsonObject = {"type": bad, "role": "assistant", "content": []}
    payloads: dict[str, JsonObject] = {
        "anthropic-answer": {"type": "message", "content": [call]},
        "anthropic": {"messages": talk},
        "openai-responses-answer": {"output": [said]},
        "openai-responses": {"input": [], "tools": [bad, {"type": "function", "name": "f"}]},
    }
    for name, payload in payloads.items():
        format_ = get_format(name)
        assert format_.load is not None
        assert format_.dump is not None
        format_.dump(format_.load(payload).messages)
