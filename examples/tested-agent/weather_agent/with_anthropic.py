"""Anthropic's Messages."""

from typing import Any

from anthropic import Anthropic

from .weather import DESCRIPTION, SCHEMA, weather

MODEL = "claude-sonnet-5"
TOOLS: Any = [{"name": "weather", "description": DESCRIPTION, "input_schema": SCHEMA}]


def ask(client: Anthropic, question: str, *, streamed: bool) -> str:
    """Call the model and the tool until the answer is complete, and return it. `streamed`: with streaming requests."""
    messages: Any = [{"role": "user", "content": question}]
    request: Any = {"model": MODEL, "max_tokens": 1000, "tools": TOOLS, "messages": messages}
    while True:
        if streamed:
            with client.messages.stream(**request) as events:
                response = events.get_final_message()
        else:
            response = client.messages.create(**request)
        messages.append({"role": "assistant", "content": [_plain(block) for block in response.content]})
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in response.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": weather(**dict(call.input))}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})


def _plain(block: Any) -> dict[str, Any]:
    if block.type == "tool_use":
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
    return {"type": "text", "text": block.text}
