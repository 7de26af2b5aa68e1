"""Plain messages ↔ message dicts of LangChain, without a detour."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array
from partita.types.messages import AssistantPart

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


def write_modern(blocks: list[JsonObject], calls: list[JsonObject], id_: str | None) -> JsonObject:
    """The message of a step, its content in standard blocks."""
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


def write_classic(blocks: list[JsonObject], calls: list[JsonObject], id_: str | None) -> JsonObject | None:
    """The same as older code expects it, calls only beside the content; none if they were not behind it."""
    said = blocks[: len(blocks) - len(calls)]
    texts = [block for block in said if block["type"] == "text"]
    thoughts = [block["reasoning"] for block in said if block["type"] == "reasoning"]
    if (
        len(texts) + len(thoughts) != len(said)
        or not all(thoughts)
        or not all(block["text"] for block in texts)
    ):
        return None
    data: JsonObject = {
        "content": texts[0]["text"] if len(texts) == 1 else texts or "",
        "additional_kwargs": {REASONING: "\n\n".join(thoughts)} if thoughts else {},
        "response_metadata": {},
        "type": "ai",
        "name": None,
        "id": id_,
        "tool_calls": calls,
        "invalid_tool_calls": [],
        "usage_metadata": None,
    }
    return {"type": "ai", "data": data}


def write_result(call_id: str, name: str, content: str, artifact: Json) -> JsonObject:
    """The message of what came of a call."""
    data: JsonObject = {
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "tool",
        "name": name,
        "id": None,
        "tool_call_id": call_id,
        "artifact": artifact,
        "status": "success",
    }
    return {"type": "tool", "data": data}
