"""A network execution as the JSON string that older readers of Mastra's rows expect."""

from msgspec import UNSET

from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps
from partita.types.messages import (
    AssistantMessage,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    failure_of,
)
from partita.types.parts import TextPart


def network_string(execution: NetworkExecution) -> str:
    """The text of such a row. `formats.mastra.network` reads it back."""
    payload: JsonObject = {
        "isNetwork": True,
        "selectionReason": execution.selection_reason or "",
        "primitiveType": execution.primitive_type,
        "primitiveId": execution.primitive_id,
        "finalResult": _result(execution.primitive_type, execution.final_result or NetworkResult()),
    }
    if execution.input is not UNSET:
        payload["input"] = execution.input
    return dumps(payload).decode()


def _result(kind: str, result: NetworkResult) -> JsonObject:
    if kind == "tool":
        return {"result": None if result.value is UNSET else result.value, "toolCallId": ""}
    if kind == "workflow":
        return {
            "runResult": None if result.value is UNSET else result.value,
            "runSuccess": failure_of(result) is None,
        }
    return {"text": result.text or "", "messages": [_message(message) for message in _talk(result)]}


def _talk(result: NetworkResult) -> list[AssistantMessage]:
    return [one for one in result.messages if isinstance(one, AssistantMessage) and not one.internal]


def _message(message: AssistantMessage) -> JsonObject:
    """A message of the sub-run in Mastra's first shape: its calls, then its words."""
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    content: list[JsonObject] = [
        {"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "args": to_json(call.input)}
        for call in calls
        if call.input is not UNSET
    ]
    texts = [{"type": "text", "text": part.text} for part in message.parts if isinstance(part, TextPart)]
    return {"id": message.id, "role": "assistant", "type": "text", "content": [*content, *texts]}
