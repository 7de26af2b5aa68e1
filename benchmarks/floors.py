"""How fast can dicts be made at all? The payloads of two formats, written straight from the conversation.

Nothing is looked at, nothing is checked and nothing is told, so this is of no use to anyone but a benchmark:
no converter that is written in Python can be faster.
"""

from collections.abc import Sequence

from partita.types.codec import encode
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput


def bare_chat(talk: Sequence[Message]) -> Json:
    """The messages of a request for Chat Completions."""
    said: list[JsonObject] = []
    for message in talk:
        if type(message) is AssistantMessage:
            text: str | None = None
            calls: list[JsonObject] = []
            results: list[JsonObject] = []
            for part in message.content.parts:
                if type(part) is TextPart:
                    text = part.text
                elif type(part) is ToolCallPart:
                    function = {"name": part.name, "arguments": encode(part.input).decode()}
                    calls.append({"id": part.id, "type": "function", "function": function})
                    results.append({"role": "tool", "tool_call_id": part.id, "content": _result(part)})
                elif type(part) is StepStartPart and calls:
                    said.append({"role": "assistant", "content": text, "tool_calls": calls})
                    said += results
                    text, calls, results = None, [], []
            said.append({"role": "assistant", "content": text})
        else:
            role = "user" if type(message) is UserMessage else "developer"
            said.append({"role": role, "content": _text(message)})
    return {"messages": said}


def bare_langchain(talk: Sequence[Message]) -> Json:
    """Message dicts of LangChain, in standard blocks."""
    said: list[JsonObject] = []
    for message in talk:
        if type(message) is AssistantMessage:
            blocks: list[JsonObject] = []
            calls: list[JsonObject] = []
            results: list[JsonObject] = []
            number = 1
            for part in message.content.parts:
                if type(part) is TextPart:
                    blocks.append({"type": "text", "text": part.text})
                elif type(part) is ReasoningPart:
                    blocks.append({"type": "reasoning", "reasoning": part.text})
                elif type(part) is ToolCallPart:
                    name, given, id_ = part.name, part.input, part.id
                    blocks.append({"type": "tool_call", "name": name, "args": given, "id": id_})
                    calls.append({"name": name, "args": given, "id": id_, "type": "tool_call"})
                    results.append(_langchain_result(part))
                elif type(part) is StepStartPart and calls:
                    said.append(_langchain_answer(message.id, blocks, calls))
                    said += results
                    number += 1
                    blocks, calls, results = [], [], []
            said.append(_langchain_answer(f"{message.id}#{number}", blocks, calls))
        else:
            type_ = "human" if type(message) is UserMessage else "system"
            data: JsonObject = {
                "content": _text(message),
                "additional_kwargs": {},
                "response_metadata": {},
                "type": type_,
                "name": None,
                "id": message.id,
            }
            said.append({"type": type_, "data": data})
    return said


def _text(message: Message) -> str:
    part = message.content.parts[0]
    return part.text if type(part) is TextPart else ""


def _result(call: ToolCallPart) -> str:
    output = call.output
    return output.value if type(output) is TextOutput else encode(_value(call)).decode()


def _value(call: ToolCallPart) -> Json:
    output = call.output
    return output.value if type(output) is JsonOutput else None


def _langchain_answer(id_: str, blocks: list[JsonObject], calls: list[JsonObject]) -> JsonObject:
    data: JsonObject = {
        "content": blocks,
        "additional_kwargs": {},
        "response_metadata": {"output_version": "v1"},
        "type": "ai",
        "name": None,
        "id": id_,
        "tool_calls": calls,
        "invalid_tool_calls": [],
        "usage_metadata": None,
    }
    return {"type": "ai", "data": data}


def _langchain_result(call: ToolCallPart) -> JsonObject:
    data: JsonObject = {
        "content": _result(call),
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "tool",
        "name": call.name,
        "id": None,
        "tool_call_id": call.id,
        "artifact": _value(call),
        "status": "success",
    }
    return {"type": "tool", "data": data}
