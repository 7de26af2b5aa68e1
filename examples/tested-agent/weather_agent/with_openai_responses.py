"""OpenAI's Responses."""

import json
from typing import Any

from openai import OpenAI

from .weather import DESCRIPTION, SCHEMA, weather

MODEL = "gpt-5"
TOOLS: Any = [
    {"type": "function", "name": "weather", "description": DESCRIPTION, "parameters": SCHEMA, "strict": False}
]


def ask(client: OpenAI, question: str) -> str:
    """Call the model (streaming) and the tool until the answer is complete, and return it."""
    items: Any = [{"role": "user", "content": question}]
    while True:
        with client.responses.stream(model=MODEL, input=items, tools=TOOLS, store=False) as events:
            response = events.get_final_response()
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            items.append(
                {
                    "type": "function_call",
                    "call_id": call.call_id,
                    "name": call.name,
                    "arguments": call.arguments,
                }
            )
            output = weather(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
