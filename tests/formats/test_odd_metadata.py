"""Provider metadata of any shape: a client may have stored anything there."""

from typing import Any

import pytest

from partita.formats.format import Request, ToolSpec
from partita.formats.registry import get_format
from partita.types.json import Json
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import TextOutput, TextPart
from partita.types.value import Extra
from tests.tables import each_row

HUGE = 10**30


def test_a_type_in_kept_fields_does_not_override_that_of_the_block() -> None:
    text = TextPart("Look.", provider_metadata={"anthropic": {"fields": {"type": 5, "odd": 1}}})
    call = ToolCallPart("c1", "look", "output-available", {}, output=TextOutput("Nothing."))
    dump = get_format("anthropic").dump
    assert dump is not None
    payload = dump([UserMessage(id="u", content="?"), AssistantMessage(id="a", content=[text, call])]).payload
    assert payload["messages"][1]["content"][0] == {"type": "text", "text": "Look.", "odd": 1}


@each_row("index", [HUGE, -HUGE, 1.5, "1", None])
def test_an_invalid_index_of_a_tool_is_limited(index: Json) -> None:
    dump = get_format("anthropic").dump
    if dump is None:
        pytest.fail("anthropic writes requests")
    tool = ToolSpec("look", input_schema={"type": "object"}, extra=Extra({"anthropic": {"index": index}}))
    own: Any = {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    payload = dump([UserMessage(id="u", content="?")], Request((tool,), own)).payload
    assert sorted(one["name"] for one in payload["tools"]) == ["look", "web_search"]


@each_row("name", ["langchain", "pydantic-ai", "otel-genai"])
def test_an_invalid_index_of_a_result_is_limited(name: str) -> None:
    call = ToolCallPart(
        "c1",
        "web_search",
        "output-available",
        {},
        output=TextOutput("Nothing."),
        provider_executed=True,
        call_provider_metadata={name: {"at": HUGE}, "partita": {"at": HUGE}},
        result_provider_metadata={name: {"at": HUGE}, "partita": {"at": -HUGE}},
    )
    dump = get_format(name).dump
    assert dump is not None
    assert dump([UserMessage(id="u", content="?"), AssistantMessage(id="a", content=[call])]).payload
