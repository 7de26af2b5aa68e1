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
    """Call the model and the tool until the answer is complete, and return it."""
    messages: Any = [{"role": "user", "content": question}]
    while True:
        completion = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
        response = completion.choices[0].message
        if not response.tool_calls:
            return response.content or ""
        messages.append(response.model_dump(exclude_none=True))
        for call in response.tool_calls:
            if call.type != "function":
                raise ValueError(f"unknown type of call: {call.type}")
            output = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


def stream(client: OpenAI, question: str) -> Iterator[str]:
    """Yield the text of the answer as it is streamed, without tools."""
    messages: Any = [{"role": "user", "content": question}]
    for chunk in client.chat.completions.create(model=MODEL, messages=messages, stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content
