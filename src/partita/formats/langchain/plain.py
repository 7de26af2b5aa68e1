"""Plain messages ↔ message dicts of LangChain, without a detour."""

from typing import Final

from partita.formats.framework.plain import PlainStep
from partita.types.json import Json, JsonObject, dumps, is_array
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart

from .blocks import read_plain
from .calls import read_plain_call

MODERN: Final = {"output_version": "v1"}
REASONING: Final = "reasoning_content"


def read_modern(left: JsonObject, content: list[Json]) -> list[AssistantPart] | None:
    """The parts of an answer in standard blocks, its calls in the order of those beside them, and no more."""
    calls: Json = left.get("tool_calls", ())
    if left.get("response_metadata") != MODERN or len(left) != 1 + ("tool_calls" in left):
        return None
    rest = iter(calls if is_array(calls) else ())
    parts: list[AssistantPart] = []
    for block in content:
        part = read_plain(block) or read_plain_call(block, rest)
        if part is None:
            return None
        parts.append(part)
    return parts if next(rest, None) is None else None


def write_text(type_: str, text: str, id_: str | None) -> JsonObject:
    """The message of a text."""
    data: JsonObject = {
        "content": text,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": type_,
        "name": None,
        "id": id_,
    }
    return {"type": type_, "data": data}


def write_modern(step: PlainStep, id_: str | None) -> JsonObject:
    """The message of a step, its content in standard blocks."""
    blocks: list[JsonObject] = []
    calls: list[JsonObject] = []
    for part in step.parts:
        if type(part) is TextPart:
            blocks.append({"type": "text", "text": part.text})
        elif type(part) is ToolCallPart:
            blocks.append({"type": "tool_call", "name": part.name, "args": part.input, "id": part.id})
            calls.append({"name": part.name, "args": part.input, "id": part.id, "type": "tool_call"})
        elif type(part) is ReasoningPart:
            blocks.append({"type": "reasoning", "reasoning": part.text})
    return _answer(blocks, {}, dict(MODERN), calls, id_)


def write_classic(step: PlainStep, id_: str | None) -> JsonObject:
    """The message of a step as older code expects it."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[JsonObject] = []
    for part in step.parts:
        if type(part) is TextPart:
            texts.append(part.text)
        elif type(part) is ToolCallPart:
            calls.append({"name": part.name, "args": part.input, "id": part.id, "type": "tool_call"})
        elif type(part) is ReasoningPart:
            thoughts.append(part.text)
    content: Json = texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts] or ""
    return _answer(content, {REASONING: "\n\n".join(thoughts)} if thoughts else {}, {}, calls, id_)


def is_classic(step: PlainStep) -> bool:
    """Whether a step keeps its order where calls stand beside the content, and says something."""
    has_called = False
    for part in step.parts:
        if type(part) is ToolCallPart:
            has_called = True
        elif has_called or (type(part) is TextPart and not part.text):
            return False
    return True


def _answer(
    content: Json, kwargs: JsonObject, about: JsonObject, calls: list[JsonObject], id_: str | None
) -> JsonObject:
    data: JsonObject = {
        "content": content,
        "additional_kwargs": kwargs,
        "response_metadata": about,
        "type": "ai",
        "name": None,
        "id": id_,
        "tool_calls": calls,
        "invalid_tool_calls": [],
        "usage_metadata": None,
    }
    return {"type": "ai", "data": data}


def write_plain_result(call: ToolCallPart, value: Json) -> JsonObject:
    """The message of what came of a call: a text, or an object as text and artifact."""
    is_text = isinstance(value, str)
    data: JsonObject = {
        "content": value if is_text else dumps(value).decode(),
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "tool",
        "name": call.name,
        "id": None,
        "tool_call_id": call.id,
        "artifact": None if is_text else value,
        "status": "success",
    }
    return {"type": "tool", "data": data}
