"""Interrupts of a graph: shown as calls of a tool that is none, and answered as such.

A yes resumes the graph with `True`, or with the words that came with it; a no always with `False`. An
interrupt with a schema for anything but yes and no waits for an output, and that resumes the graph. What
LangChain asks before tools run is answered in its own words.
"""

from typing import Any, Final, NamedTuple

from langgraph.types import Interrupt

from partita.runtime.plugged.jsonable import as_json
from partita.runtime.plugged.replies import Replies, is_allowed, reason_of
from partita.runtime.tools.chunks import chunk_of_output
from partita.store.ids import new_id
from partita.types.chunks import Chunk, DataChunk, ToolApprovalRequest, ToolInputAvailable
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.tools import (
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
    """What a graph is resumed with, by interrupt, and what that makes of the calls."""

    values: dict[str, Json]
    chunks: list[Chunk]


def chunks_of(interrupt: Interrupt[Any], thread_id: str) -> list[Chunk]:
    """The chunks that show an interrupt of a thread of the graph."""
    call_id, value = f"{TOOL}-{new_id()}", as_json(interrupt.value)
    kept: JsonObject = {NAMESPACE: {TOOL: interrupt.id, "thread": thread_id}}
    shown = ToolInputAvailable(call_id, TOOL, value, provider_metadata=kept, dynamic=True)
    data = DataChunk(DATA, {"id": interrupt.id, "value": value})
    asked = [ToolApprovalRequest(new_id(), call_id)] if _is_question(interrupt.response_schema) else []
    return [data, shown, *asked]


def interrupt_id(call: ToolCallPart) -> str | None:
    """The interrupt that a call stands for, if it does."""
    kept: Json = (call.call_provider_metadata or {}).get(NAMESPACE)
    found: Json = kept.get(TOOL) if is_object(kept) else None
    return found if call.name == TOOL and isinstance(found, str) else None


def thread_of(message: AssistantMessage | None) -> str | None:
    """The thread of the graph whose interrupts a message waits with."""
    for part in reversed(() if message is None else message.parts):
        if isinstance(part, ToolCallPart) and interrupt_id(part) is not None:
            found: Json = (part.call_provider_metadata or {})[NAMESPACE].get("thread")
            return found if isinstance(found, str) else None
    return None


def resumption(message: AssistantMessage | None, replies: Replies, open_ids: set[str]) -> Resumption:
    """What people have said to the interrupts that a message waits with and the graph still has."""
    decided = {call.id for call in replies.decided}
    values: dict[str, Json] = {}
    chunks: list[Chunk] = []
    calls = [part for part in (() if message is None else message.parts) if isinstance(part, ToolCallPart)]
    for call in calls:
        asked = interrupt_id(call)
        if asked is None or asked not in open_ids:
            continue
        if call.id in decided:
            values[asked] = _decision(call)
            output = JsonOutput(values[asked]) if is_allowed(call) else ExecutionDeniedOutput(reason_of(call))
            chunks.append(chunk_of_output(call.id, output))
        elif call.output is not None and call.approval is None:
            values[asked] = _value(call.output)
    return Resumption(values, chunks)


def _is_question(schema: Any) -> bool:
    return schema is None or schema is bool or (is_object(schema) and schema.get("type") == "boolean")


def _decision(call: ToolCallPart) -> Json:
    asked: Json = call.input.get("action_requests") if is_object(call.input) else None
    reason = reason_of(call)
    if is_array(asked):
        said = {} if reason is None else {"message": reason}
        one = {"type": "approve"} if is_allowed(call) else {"type": "reject", **said}
        return {"decisions": [one for _ in asked]}
    return (reason or True) if is_allowed(call) else False


def _value(output: ToolOutput) -> Json:
    match output:
        case TextOutput() | JsonOutput() | ErrorTextOutput() | ErrorJsonOutput():
            return output.value
        case ContentOutput():
            return as_json(
                [getattr(item, "text", None) or getattr(item, "url", None) for item in output.value]
            )
        case _:
            return False
