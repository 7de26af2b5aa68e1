"""OpenAI's Chat Completions."""

import json
from collections.abc import Iterator
from typing import Any

from openai import OpenAI

from .weather import DESCRIPTION, SCHEMA, weather

MODEL = "gpt-5-mini"
TOOLS: Any = [
    {"type": "function", "function": {"name": "weather", "description": DESCRIPTION, "parameters": SCHEMA}}
]


def ask(client: OpenAI, question: str) -> str:
    """The answer, in one piece."""
    messages: Any = [{"role": "user", "content": question}]
    while True:
        said = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS).choices[0].message
        if not said.tool_calls:
            return said.content or ""
        messages.append(said.model_dump(exclude_none=True))
        for call in said.tool_calls:
            if call.type != "function":
                raise ValueError(f"a call of another kind: {call.type}")
            output = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


def stream(client: OpenAI, question: str) -> Iterator[str]:
    """The answer, as it comes. It calls no tools."""
    messages: Any = [{"role": "user", "content": question}]
    for chunk in client.chat.completions.create(model=MODEL, messages=messages, stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content
