"""Interrupts of a graph: shown as calls of a tool that does not exist, and answered like calls.

An approval resumes the graph with `True`, or with the reason that was given; a denial always with `False`. An
interrupt whose schema is not boolean waits for an output, and that resumes the graph. The interrupts with
which LangChain requests approval of tool calls are resumed with its own decisions.
"""

from typing import Any, Final, NamedTuple

from langgraph.types import Interrupt

from partita.runtime.adapters.frameworks import (
    PendingCalls,
    as_json,
    calls_in,
    decision_reason,
    is_approved,
)
from partita.runtime.tools.outputs import chunk_of_output
from partita.store.ids import new_id
from partita.types.chunks import Chunk, DataChunk, ToolApprovalRequest, ToolInputAvailable
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

TOOL: Final = "interrupt"
NAMESPACE: Final = "langgraph"
DATA: Final = "data-interrupt"


class Resumption(NamedTuple):
    """What a graph is resumed with, by interrupt id, and the outputs of the calls that show interrupts."""

    values: dict[str, Json]
    chunks: list[Chunk]


def chunks_of(interrupt: Interrupt[Any], thread_id: str) -> list[Chunk]:
    """The chunks that show an interrupt of a thread of the graph."""
    call_id, value = f"{TOOL}-{new_id()}", as_json(interrupt.value)
    metadata: JsonObject = {NAMESPACE: {TOOL: interrupt.id, "thread": thread_id}}
    call = ToolInputAvailable(call_id, TOOL, value, provider_metadata=metadata, dynamic=True)
    data = DataChunk(DATA, {"id": interrupt.id, "value": value})
    approval = [ToolApprovalRequest(new_id(), call_id)] if _is_boolean(interrupt.response_schema) else []
    return [data, call, *approval]


def interrupt_id(call: ToolCallPart) -> str | None:
    """The id of the interrupt that a call shows; `None` for any other call."""
    metadata: Json = (call.call_provider_metadata or {}).get(NAMESPACE)
    found: Json = metadata.get(TOOL) if is_object(metadata) else None
    return found if call.name == TOOL and isinstance(found, str) else None


def thread_of(message: AssistantMessage | None) -> str | None:
    """The thread of the graph whose interrupts a message shows."""
    for call in reversed(calls_in(message)):
        if interrupt_id(call) is not None:
            found: Json = (call.call_provider_metadata or {})[NAMESPACE].get("thread")
            return found if isinstance(found, str) else None
    return None


def resumption(message: AssistantMessage | None, pending: PendingCalls, open_ids: set[str]) -> Resumption:
    """The responses to the interrupts that a message shows and that are still open in the graph."""
    decided = {call.id for call in pending.decided}
    values: dict[str, Json] = {}
    chunks: list[Chunk] = []
    for call in calls_in(message):
        id_ = interrupt_id(call)
        if id_ is None or id_ not in open_ids:
            continue
        if call.id in decided:
            value = values[id_] = _decision(call)
            is_denied = not is_approved(call)
            output = ExecutionDeniedOutput(decision_reason(call)) if is_denied else JsonOutput(value)
            chunks.append(chunk_of_output(call.id, output))
        elif call.output is not None and call.approval is None:
            values[id_] = _value(call.output)
    return Resumption(values, chunks)


def _is_boolean(schema: Any) -> bool:
    return schema is None or schema is bool or (is_object(schema) and schema.get("type") == "boolean")


def _decision(call: ToolCallPart) -> Json:
    actions: Json = call.input.get("action_requests") if is_object(call.input) else None
    reason = decision_reason(call)
    if is_array(actions):
        message = {} if reason is None else {"message": reason}
        decision = {"type": "approve"} if is_approved(call) else {"type": "reject", **message}
        return {"decisions": [decision for _ in actions]}
    return (reason or True) if is_approved(call) else False


def _value(output: ToolOutput) -> Json:
    match output:
        case TextOutput() | JsonOutput() | ErrorTextOutput() | ErrorJsonOutput():
            return output.value
        case ContentOutput():
            return [getattr(item, "text", None) or getattr(item, "url", None) for item in output.value]
        case _:
            return False
