"""Network executions as tool calls, which is how UI messages contain them."""

from collections.abc import Mapping

from msgspec.structs import replace

from partita.stream.encoder import NETWORK_KEY
from partita.types.codec import to_json
from partita.types.json import Json
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    failure_text,
    has_ended,
    network_call_id,
    network_output,
)
from partita.types.parts import ErrorTextOutput, JsonOutput, TextOutput


def network_tool_call(message_id: str, execution: NetworkExecution) -> ToolCallPart:
    """Return the call for the network execution of a message. Its metadata has the whole execution.

    It waits for approval while one of its calls does and nothing has been returned. A failed or interrupted
    execution is a failed call.
    """
    call = ToolCallPart(
        network_call_id(message_id),
        execution.primitive_type,
        "input-available",
        {"primitiveId": execution.primitive_id, "selectionReason": execution.selection_reason},
        dynamic=True,
        tool_metadata={NETWORK_KEY: to_json(execution)},
    )
    result = execution.final_result
    if result is None:
        return call
    call = replace(call, children=network_children(message_id, result))
    output: Json = network_output(execution)
    waiting = next((one for one in result.tool_calls if one.state == "approval-requested"), None)
    if waiting is not None and output in (None, ""):
        return replace(call, state=waiting.state, approval=waiting.approval)
    failure = failure_text(result)
    if failure is not None:
        return replace(call, state="output-error", output=ErrorTextOutput(failure))
    if not has_ended(execution):
        return call
    typed = TextOutput(output) if isinstance(output, str) else JsonOutput(output)
    return replace(call, state="output-available", output=typed)


def network_children(message_id: str, result: NetworkResult) -> tuple[Message, ...]:
    """Return the messages of a network execution: calls that are in no message, then its messages.

    A call that is open in its message but has its output in `tool_calls` gets this output.
    """
    calls = {call.id: call for call in result.tool_calls}
    messages = [_with_outputs(message, calls) for message in result.messages if not message.internal]
    nested = {
        part.id for message in messages for part in message.content.parts if isinstance(part, ToolCallPart)
    }
    apart = [
        AssistantMessage(id=f"{message_id}:{call.id}", content=(replace(call, dynamic=True),))
        for call in calls.values()
        if call.id not in nested
    ]
    return (*apart, *messages)


def _with_outputs(message: Message, calls: Mapping[str, ToolCallPart]) -> Message:
    """Return a message with the outputs that only `calls` has."""
    if not isinstance(message, AssistantMessage):
        return message
    parts = tuple(
        _with_output(part, calls) if isinstance(part, ToolCallPart) else part for part in message.parts
    )
    return replace(message, content=replace(message.content, parts=parts))


def _with_output(part: ToolCallPart, calls: Mapping[str, ToolCallPart]) -> ToolCallPart:
    other = calls.get(part.id)
    if part.output is not None or other is None or other.output is None:
        return part
    return replace(part, state=other.state, output=other.output)
