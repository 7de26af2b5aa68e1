"""Plain parts → parts of recorded messages, without a detour."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from partita.formats.framework.plain import Said
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.parts import ReasoningPart, TextPart


def write_said(part: Said) -> JsonObject:
    """The part that holds words, a thought or a call."""
    return _WRITERS[type(part)](part)


def write_output(call: ToolCallPart, value: Json) -> JsonObject:
    """The part that says what came of a call."""
    return {"type": "tool_call_response", "id": call.id, "response": value}


def _write_text(part: TextPart) -> JsonObject:
    return {"type": "text", "content": part.text}


def _write_thought(part: ReasoningPart) -> JsonObject:
    return {"type": "reasoning", "content": part.text}


def _write_call(call: ToolCallPart) -> JsonObject:
    return {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.input}


_WRITERS: Final[Mapping[type, Callable[[Any], JsonObject]]] = {
    TextPart: _write_text,
    ReasoningPart: _write_thought,
    ToolCallPart: _write_call,
}
