"""LiteLLM against `/v1`, run in a separate environment: prints results of scenarios as one JSON object."""

import asyncio
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

litellm: Any = import_module("litellm")  # type checkers look into another environment
litellm.suppress_debug_info = True  # standard output is for the JSON

HELLO = {"role": "user", "content": "Where is it?"}
MAP = {
    "type": "function",
    "function": {
        "name": "show_map",
        "description": "Shows a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}
HOW: dict[str, Any] = {"api_base": f"{sys.argv[1]}/v1", "api_key": "none", "num_retries": 0, "max_retries": 0}


def complete(agent: str, messages: list[Any], **more: Any) -> Any:
    """One completion of an agent."""
    return litellm.completion(model=f"openai/{agent}", messages=messages, **HOW, **more)


def whole() -> Any:
    """Two turns without a stream."""
    first = complete("quick", [HELLO])
    message = first.choices[0].message.model_dump()
    second = complete("quick", [{"role": "system", "content": "Be brief."}, HELLO, message, HELLO])
    return [response.choices[0].message.content for response in (first, second)]


def stream() -> Any:
    """A stream, and what LiteLLM builds from its chunks."""
    chunks = list(complete("reader", [HELLO], stream=True, stream_options={"include_usage": True}))
    built = litellm.stream_chunk_builder(chunks, messages=[HELLO])
    text = "".join(c.delta.content or "" for chunk in chunks for c in chunk.choices)
    return {"text": text, "built": built.choices[0].message.content, "reason": built.choices[0].finish_reason}


def asynchronous() -> Any:
    """The asynchronous client."""

    async def run() -> Any:
        response = await litellm.acompletion(model="openai/quick", messages=[HELLO], **HOW)
        return response.choices[0].message.content

    return asyncio.run(run())


def tools(**how: Any) -> Any:
    """A tool of the client, and the turn after its output."""
    messages: list[Any] = [HELLO]
    first = complete("guide", messages, tools=[MAP], tool_choice="auto", **how)
    if how.get("stream"):
        first = litellm.stream_chunk_builder(list(first), messages=messages)
    choice = first.choices[0]
    messages.append(choice.message.model_dump())
    calls = choice.message.tool_calls
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "shown"} for call in calls]
    second = complete("guide", messages, tools=[MAP])
    return {
        "calls": [[call.function.name, json.loads(call.function.arguments)] for call in calls],
        "reason": choice.finish_reason,
        "text": second.choices[0].message.content,
    }


def reasoning() -> Any:
    """The reasoning of a response, complete and streamed."""
    chunks = list(complete("thinker", [HELLO], stream=True))
    streamed = [getattr(c.delta, "reasoning_content", None) for chunk in chunks for c in chunk.choices]
    response = complete("thinker", [HELLO])
    return {
        "whole": response.choices[0].message.reasoning_content,
        "streamed": "".join(filter(None, streamed)),
    }


def error_of(call: Callable[[], Any]) -> Any:
    """The error of a call."""
    try:
        call()
    except Exception as error:
        return {
            "name": type(error).__name__,
            "status": getattr(error, "status_code", None),
            "message": str(error),
        }
    return None


def main() -> None:
    """Run each scenario."""
    outcomes = {
        "whole": whole(),
        "stream": stream(),
        "asynchronous": asynchronous(),
        "tools": tools(),
        "streamed_tools": tools(stream=True),
        "reasoning": reasoning(),
        "unknown": error_of(lambda: complete("absent", [HELLO])),
        "invalid": error_of(lambda: complete("quick", [{"role": "oracle", "content": "?"}])),
        "failure": error_of(lambda: complete("mute", [HELLO])),
        "failed_stream": error_of(lambda: list(complete("mute", [HELLO], stream=True))),
    }
    json.dump(outcomes, sys.stdout)


main()
