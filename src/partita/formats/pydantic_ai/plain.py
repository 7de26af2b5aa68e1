"""Plain parts ↔ parts of requests and responses, without a detour."""

from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.formats.bare import (
    is_alone,
    is_bare_answer,
    is_bare_around,
    is_bare_reasoning,
    is_bare_text,
    is_open,
    plain_result,
)
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, ToolCallPart, derive_type
from partita.types.parts import ReasoningPart, StepStartPart, TextPart

from .shapes import written

Said: TypeAlias = TextPart | ReasoningPart | ToolCallPart


def _blank(kind: str, **members: Any) -> JsonObject:
    """A part to be filled in; copied anew, for copies of a dict that had more before are slow."""
    return {**written(kind, members, {"part_kind": kind})}


_TEXT: Final = _blank("text", content="")
_THOUGHT: Final = _blank("thinking", content="")
_CALL: Final = {**_blank("tool-call", tool_name="", args=None), "tool_call_id": ""}
_RETURN: Final = _blank("tool-return", content=None, tool_name="", tool_call_id="")
_RETURN_OF_TEXT: Final = _blank("tool-return", content="", tool_name="", tool_call_id="")
_PROMPTS: Final = {kind: _blank(kind, content="") for kind in ("system-prompt", "user-prompt")}
_RESPONSE: Final = written("response", {"parts": [], "kind": "response"})


def read_plain(raw: JsonObject) -> Said | None:
    """Words, a thought, or a call with input by name; `None` if a part is or says anything else."""
    kind: str = raw["part_kind"]
    if kind == "tool-call":
        name, args, id_ = raw.get("tool_name"), raw.get("args"), raw.get("tool_call_id")
        if not isinstance(name, str) or not is_object(args) or not isinstance(id_, str):
            return None
        if raw != {**_CALL, "tool_name": name, "args": args, "tool_call_id": id_}:
            return None
        return ToolCallPart(id_, name, "input-available", args)
    text = raw.get("content")
    if not isinstance(text, str):
        return None
    if kind == "text":
        return TextPart(text) if raw == {**_TEXT, "content": text} else None
    return ReasoningPart(text) if raw == {**_THOUGHT, "content": text} else None


class PlainStep(NamedTuple):
    """What the assistant said and called in one step, and what came of it, as it is written."""

    starts: list[int]
    """The places of the boundaries before it."""
    parts: list[JsonObject]
    returns: list[JsonObject]
    names: dict[str, str]
    """The names of the tools, by the ids of the calls."""


def plain_steps(message: AssistantMessage) -> list[PlainStep] | None:
    """The steps of an answer that is plain as a whole. The last has no parts if boundaries are behind all."""
    parts = message.content.parts
    if not is_bare_around(message) or not is_bare_answer(message.content):
        return None
    steps = [step := PlainStep([], [], [], {})]
    for index, part in enumerate(parts):
        if type(part) is TextPart and is_bare_text(part):
            step.parts.append(_with_content(_TEXT, part.text))
        elif type(part) is ReasoningPart and is_bare_reasoning(part):
            step.parts.append(_with_content(_THOUGHT, part.text))
        elif type(part) is ToolCallPart:
            if part.id in step.names:
                steps.append(step := PlainStep([], [], [], {}))
            if not _write_call(part, step):
                return None
        elif type(part) is StepStartPart and is_alone(part):
            if step.parts:
                steps.append(step := PlainStep([], [], [], {}))
            step.starts.append(index)
        else:
            return None
    return steps if message.type == derive_type(parts) else None


def _write_call(call: ToolCallPart, step: PlainStep) -> bool:
    """Write a call with input by name, alone or with an output that is text or an object."""
    value = None if is_open(call) else plain_result(call)
    is_text = type(value) is str
    if value is UNSET or not is_object(call.input) or not (is_text or value is None or is_object(value)):
        return False
    raw = _CALL.copy()
    raw["tool_name"], raw["args"], raw["tool_call_id"] = call.name, call.input, call.id
    step.parts.append(raw)
    step.names[call.id] = call.name
    if call.output is None:
        return True
    back = _with_content(_RETURN_OF_TEXT if is_text else _RETURN, value)
    back["tool_name"], back["tool_call_id"] = call.name, call.id
    step.returns.append(back)
    return True


def plain_response(parts: list[JsonObject]) -> JsonObject:
    """A response that says nothing around its parts."""
    raw = _RESPONSE.copy()
    raw["parts"] = parts
    return raw


def plain_prompt(kind: str, text: str) -> JsonObject:
    """The prompt of a system or a user that is one text."""
    return _with_content(_PROMPTS[kind], text)


def _with_content(template: JsonObject, content: Any) -> JsonObject:
    raw = template.copy()
    raw["content"] = content
    return raw
