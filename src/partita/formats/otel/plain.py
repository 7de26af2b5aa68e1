"""Plain parts → parts of recorded messages, without a detour."""

from partita.formats.framework.plain import Said
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.parts import TextPart


def write_said(part: Said) -> JsonObject:
    """The part that holds words, a thought or a call."""
    if type(part) is ToolCallPart:
        return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": part.input}
    return {"type": "text" if type(part) is TextPart else "reasoning", "content": part.text}


def write_output(call: ToolCallPart, value: Json) -> JsonObject:
    """The part that says what came of a call."""
    return {"type": "tool_call_response", "id": call.id, "response": value}
