"""A network execution as Mastra's rows hold it: as JSON in a text, or in the field `networkExecution`.

Both are the same object. In a text the nested messages are V1, as Mastra wrote them; in the field they are
V2. `formats.mastra.network` reads both.
"""

from collections.abc import Callable

from msgspec import UNSET
from msgspec.structs import replace

from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    failure_of,
    network_call,
)
from partita.types.parts import TextPart

from .dump_calls import dump_call
from .dump_v1_message import dump_v1_messages
from .notes import kept_of, note_of

Nested = Callable[[Message], list[JsonObject]]
"""Gives the rows of a message inside a result."""


def network_string(message_id: str, execution: NetworkExecution) -> str:
    """The text that older readers of Mastra's rows look for."""
    return dumps(network_payload(message_id, execution, _v1_rows)).decode()


def network_payload(message_id: str, execution: NetworkExecution, nested: Nested) -> JsonObject:
    """The object that stands for the network execution of a message."""
    payload: JsonObject = {"isNetwork": True}
    if execution.selection_reason is not None:
        payload["selectionReason"] = execution.selection_reason
    payload |= {"primitiveType": execution.primitive_type, "primitiveId": execution.primitive_id}
    if execution.input is not UNSET:
        payload["input"] = execution.input
    if execution.iteration is not None:
        payload["iteration"] = execution.iteration
    payload["finalResult"] = _result(message_id, execution, nested)
    return {**kept_of(execution), **payload}


def _result(message_id: str, execution: NetworkExecution, nested: Nested) -> JsonObject:
    kind, result = execution.primitive_type, execution.final_result or NetworkResult()
    body: JsonObject = {}
    if result.text is not None or kind == "agent":
        body["text"] = result.text or ""
    if result.value is not UNSET:
        is_run = kind == "workflow" and note_of(result).get("value") != "result"
        body["runResult" if is_run else "result"] = result.value
    if result.tool_calls:
        body["toolCalls"] = [_call(call) for call in result.tool_calls]
    if result.messages or kind == "agent":
        body["messages"] = [row for one in result.messages if not one.internal for row in nested(one)]
    if kind == "tool":
        body["toolCallId"] = network_call(message_id)
    if kind == "workflow":
        body["runSuccess"] = failure_of(result) is None
    if result.error is not None:
        body["error"] = result.error
    if result.interrupted is not None:
        body["interrupted"] = result.interrupted
    return {**body, **kept_of(result)}


def _call(call: ToolCallPart) -> Json:
    return dump_call(replace(call, dynamic=False, children=()))["toolInvocation"]


def _v1_rows(message: Message) -> list[JsonObject]:
    """A message as V1; the network execution of one is JSON in a text again."""
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        text = TextPart(network_string(message.id, message.content.network_execution))
        content = replace(message.content, parts=(*message.parts, text), network_execution=None, content=None)
        message = replace(message, content=content)
    return dump_v1_messages(message)
