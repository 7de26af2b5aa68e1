"""The JSON that a network leaves in a text → a network execution.

    2025-09-10   resourceType, resourceId; a tool has args, result and toolCallId right in the payload
    2025-09-25   primitiveType, primitiveId, input; everything that was given back is in finalResult
    2025-12-16   no toolCalls in finalResult: the calls are in its messages alone

What was given back is the text and the messages of an agent, the run of a workflow, the result of a tool.
Calls are taken from the messages, then from `toolCalls`, whose raw form is always kept. A call that is in
both is read once, with the output that either has.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.ai_sdk.model.marks import conversion
from partita.formats.losses import Loss
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    PrimitiveType,
    ToolCallPart,
    ToolMessage,
)
from partita.types.tools import ToolOutput, ToolResultPart

from .calls import output_of
from .notes import extra_of
from .rows import load_rows

PRIMITIVES: tuple[PrimitiveType, ...] = get_args(PrimitiveType)

MARKS: Mapping[PrimitiveType, frozenset[str]] = {
    "workflow": frozenset({"runResult"}),
    "agent": frozenset({"text", "messages", "toolCalls"}),
    "tool": frozenset({"result", "toolCallId"}),
}
"""What in a result tells the primitive, if the payload does not say it."""

FLAT = ("result", "toolCallId")
"""What the first tools had right in the payload."""


class Names(NamedTuple):
    """How a generation of payloads names what was chosen."""

    type: str
    id: str


GENERATIONS: Mapping[str, Names] = {
    "primitive": Names("primitiveType", "primitiveId"),
    "resource": Names("resourceType", "resourceId"),
}


def names_of(payload: JsonObject) -> tuple[str, Names]:
    """The generation of a payload, and its names."""
    for generation, names in GENERATIONS.items():
        if names.type in payload or names.id in payload:
            return generation, names
    return "primitive", GENERATIONS["primitive"]


def read_payload(payload: JsonObject) -> NetworkExecution | None:
    """The execution that a payload tells; `None` when it does not even tell what was run."""
    generation, names = names_of(payload)
    rest = {key: item for key, item in payload.items() if key != "isNetwork"}
    note: JsonObject = {} if generation == "primitive" else {"names": generation}
    body = _body(rest, note)
    type_ = _primitive(payload.get(names.type), body or {})
    if type_ is None:
        return None
    if type_ == rest.get(names.type):
        del rest[names.type]
    id_ = rest.pop(names.id) if isinstance(rest.get(names.id), str) else ""
    reason = rest.pop("selectionReason") if isinstance(rest.get("selectionReason"), str) else None
    iteration = rest.pop("iteration") if type(rest.get("iteration")) is int else None
    input_ = rest.pop("input", UNSET)
    if input_ is UNSET and "body" in note and "args" in rest:
        input_, note["input"] = rest.pop("args"), "args"
    result = None if body is None else _read_result(body, type_)
    extra = extra_of(rest, note, NetworkExecution)
    return NetworkExecution(type_, id_, reason, input_, result, iteration, extra=extra)


def _body(rest: JsonObject, note: JsonObject) -> JsonObject | None:
    """What was given back, taken out of the payload."""
    if "finalResult" in rest:
        return rest.pop("finalResult") if is_object(rest["finalResult"]) else None
    flat = {key: rest.pop(key) for key in FLAT if key in rest}
    if flat:
        note["body"] = "flat"
    return flat or None


def _primitive(stated: Json, body: JsonObject) -> PrimitiveType | None:
    """What was run. A run of a workflow tells more than the name it was given."""
    if "runResult" in body:
        return "workflow"
    for type_ in PRIMITIVES:
        if type_ == stated:
            return type_
    return next((type_ for type_, marks in MARKS.items() if marks & body.keys()), None)


def _read_result(body: JsonObject, type_: PrimitiveType) -> NetworkResult:
    rest = dict(body)
    text = rest.pop("text") if isinstance(rest.get("text"), str) else None
    name = "runResult" if "runResult" in rest else "result"
    value = rest.pop(name, UNSET)
    messages, is_whole = _read_messages(rest.get("messages"))
    if messages and is_whole:
        del rest["messages"]
    calls = _joined(calls_in(messages), _read_calls(rest.get("toolCalls"), messages))
    note: JsonObject = (
        {"value": name} if type_ == "workflow" and name == "result" and value is not UNSET else {}
    )
    return NetworkResult(text, calls, messages, value, extra=extra_of(rest, note, NetworkResult))


def _read_messages(raws: Json) -> tuple[tuple[Message, ...], bool]:
    """The messages of the run, and whether they say all that was said."""
    if not is_array(raws):
        return (), False
    losses: list[Loss] = []
    try:
        with conversion():
            messages = load_rows(raws, "$", losses)
    except PartitaError:
        return (), False
    return tuple(messages), not losses


def calls_in(messages: Sequence[Message]) -> tuple[ToolCallPart, ...]:
    """The calls that messages hold."""
    return tuple(
        replace(part, result_message=None)
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )


def _joined(nested: Sequence[ToolCallPart], listed: Sequence[ToolCallPart]) -> tuple[ToolCallPart, ...]:
    """The calls of the messages, with the outputs that only the list has; then the calls that only it has."""
    outputs = {call.id: call for call in listed if call.output is not None}
    joined = [
        replace(call, state=outputs[call.id].state, output=outputs[call.id].output)
        if call.output is None and call.id in outputs
        else call
        for call in nested
    ]
    known = {call.id for call in nested}
    return (*joined, *(call for call in listed if call.id not in known))


def _read_calls(raws: Json, messages: Sequence[Message]) -> tuple[ToolCallPart, ...]:
    """Calls that stand apart from the messages: as chunks of the stream, or plain."""
    results = {
        part.id: part.output
        for message in messages
        if isinstance(message, ToolMessage)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    calls = (_read_call(raw, results) for raw in (raws if is_array(raws) else []))
    return tuple(call for call in calls if call is not None)


def _read_call(raw: Json, results: Mapping[str, ToolOutput]) -> ToolCallPart | None:
    told: Json = raw.get("payload", raw) if is_object(raw) else None
    match told:
        case {"toolCallId": str(id_), "toolName": str(name)}:
            output = output_of(told["result"]) if "result" in told else results.get(id_)
            metadata = told.get("providerMetadata")
            return ToolCallPart(
                id_,
                name,
                "input-available" if output is None else state_after(output),
                told.get("args", UNSET),
                output=output,
                call_provider_metadata=metadata if is_object(metadata) else None,
            )
        case _:
            return None
