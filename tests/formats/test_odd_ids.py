"""Ids, types and tools that are of another type than they should be."""

from typing import Any

from partita.formats.registry import get_format
from partita.types.json import JsonObject
from tests.tables import each_row


@each_row("bad", [[], {}, 7, None])
def test_ids_types_and_tools_of_another_type_are_kept(bad: Any) -> None:
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
