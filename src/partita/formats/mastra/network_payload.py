"""Network executions as the JSON objects that Mastra stores in V2 messages ↔ `NetworkExecution`.

The object is JSON in a text, or in the member `networkExecution`, which Mastra planned, but never wrote. Its
form over time (https://github.com/mastra-ai/mastra/commits/main/packages/core/src/loop/network):

    2025-09-10   resourceType, resourceId; a tool has args, result and toolCallId directly in the object
    2025-09-25   primitiveType, primitiveId, input; the whole result is in finalResult
    2025-12-16   no toolCalls in finalResult: the calls are only in its messages

The result is the text and the messages of an agent, the run of a workflow, or the output of a tool. Calls are
read from the messages, then from `toolCalls`, whose raw form is always kept. A call that is in both is read
once, with the output from either.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError, PartitaError
from partita.formats.core.tool_text import read_tool_text
from partita.formats.core.wire import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    PrimitiveType,
    ToolCallPart,
    ToolMessage,
    failure_text,
    network_call_id,
)
from partita.types.parts import Interruption, TextPart, ToolOutput, ToolResultPart
from partita.types.tool_results import state_after

from .calls import read_invocation, write_call
from .notes import extra_of, members_of, note_in_extra
from .v1 import write_messages

PRIMITIVES: Final[tuple[PrimitiveType, ...]] = get_args(PrimitiveType)

SIGNS: Final[Mapping[PrimitiveType, frozenset[str]]] = {
    "workflow": frozenset({"runResult"}),
    "agent": frozenset({"text", "messages", "toolCalls"}),
    "tool": frozenset({"result", "toolCallId"}),
}
"""Members of a result that only one type of primitive has, for objects without the type."""

INTERRUPTIONS: Final[tuple[Interruption, ...]] = get_args(Interruption)

FLAT: Final = ("result", "toolCallId")
"""Members of a result that were directly in the object in the first version."""

NetworkForm: TypeAlias = Literal["part", "field", "string", "both"]
"""`part`: a `dynamic-tool` part. `field`: `content.networkExecution`, and the text of the result.
`string`: JSON in a text part, for older readers. `both`: the string and the field."""

FIELD: Final = "networkExecution"

LEGACY_NETWORK: Final = "legacyNetwork"
"""The member of a message's metadata that requests its network execution as a JSON string, too."""

ReadRows: TypeAlias = Callable[[Sequence[Json]], tuple[Sequence[Message], bool]]
"""Reads stored messages. Returns the messages, and whether nothing of them is lost."""

WriteRows: TypeAlias = Callable[[Message], Sequence[JsonObject]]
"""Writes a message that is inside a result."""


class Names(NamedTuple):
    """The names of the members with the type and the id of the primitive."""

    type: str
    id: str


GENERATIONS: Final[Mapping[str, Names]] = {
    "primitive": Names("primitiveType", "primitiveId"),
    "resource": Names("resourceType", "resourceId"),
}


def names_of(payload: JsonObject) -> tuple[str, Names]:
    """Return the generation of an object, and the names of its members."""
    for generation, names in GENERATIONS.items():
        if names.type in payload or names.id in payload:
            return generation, names
    return "primitive", GENERATIONS["primitive"]


# Reading


def read_payload(payload: JsonObject, read_rows: ReadRows) -> NetworkExecution | None:
    """Return the execution of an object, or `None` if it does not imply the type of the primitive."""
    generation, names = names_of(payload)
    rest = {key: item for key, item in payload.items() if key != "isNetwork"}
    note: JsonObject = {} if generation == "primitive" else {"names": generation}
    body = _take_body(rest, note)
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
    result = None if body is None else _read_result(body, type_, read_rows)
    extra = extra_of(rest, note, NetworkExecution)
    return NetworkExecution(type_, id_, reason, input_, result, iteration, extra=extra)


def _take_body(rest: JsonObject, note: JsonObject) -> JsonObject | None:
    """Remove the result from the object and return it."""
    if "finalResult" in rest:
        return rest.pop("finalResult") if is_object(rest["finalResult"]) else None
    flat = {key: rest.pop(key) for key in FLAT if key in rest}
    if flat:
        note["body"] = "flat"
    return flat or None


def _primitive(name: Json, body: JsonObject) -> PrimitiveType | None:
    """Return the type of the primitive. A body with a `runResult` is a workflow (seen in recordings)."""
    if "runResult" in body:
        return "workflow"
    for type_ in PRIMITIVES:
        if type_ == name:
            return type_
    return next((type_ for type_, signs in SIGNS.items() if signs & body.keys()), None)


def _read_result(body: JsonObject, type_: PrimitiveType, read_rows: ReadRows) -> NetworkResult:
    rest = dict(body)
    text = rest.pop("text") if isinstance(rest.get("text"), str) else None
    name = "runResult" if "runResult" in rest else "result"
    value = rest.pop(name, UNSET)
    error = rest.pop("error") if isinstance(rest.get("error"), str) else _failure(rest, value)
    interrupted = rest.pop("interrupted") if rest.get("interrupted") in INTERRUPTIONS else None
    messages, is_whole = _read_messages(rest.get("messages"), read_rows)
    if messages and is_whole:
        del rest["messages"]
    calls = _joined(calls_in(messages), _read_calls(rest.get("toolCalls"), messages))
    is_plain = type_ == "workflow" and name == "result" and value is not UNSET
    extra = extra_of(rest, {"value": name} if is_plain else {}, NetworkResult)
    return NetworkResult(text, calls, tuple(messages), value, error, interrupted, extra=extra)


def _failure(body: JsonObject, run: Json) -> str | None:
    """Return the error of a failed workflow, by the state of its run."""
    if body.get("runSuccess") is not False and not (is_object(run) and run.get("status") == "failed"):
        return None
    error: Json = run.get("error") if is_object(run) else None
    message: Json = error.get("message") if is_object(error) else error
    return message if isinstance(message, str) and message else "the workflow failed"


def _read_messages(raws: Json, read_rows: ReadRows) -> tuple[Sequence[Message], bool]:
    if not is_array(raws):
        return (), False
    try:
        return read_rows(raws)
    except PartitaError:
        return (), False


def calls_in(messages: Sequence[Message]) -> tuple[ToolCallPart, ...]:
    """Return the calls in messages."""
    return tuple(
        replace(part, result_message=None)
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )


def _joined(nested: Sequence[ToolCallPart], listed: Sequence[ToolCallPart]) -> tuple[ToolCallPart, ...]:
    """Return the calls of the messages, with outputs that only the list has, then calls that only it has."""
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
    """Read calls outside of messages: as chunks of the stream, or only their payloads."""
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
    given: Json = raw.get("payload", raw) if is_object(raw) else None
    if is_object(given) and "state" in given:
        return read_invocation(given)
    match given:
        case {"toolCallId": str(id_), "toolName": str(name)}:
            outcome: Literal["failed", "success"] = "failed" if given.get("isError") is True else "success"
            has_result = "result" in given
            output = read_tool_text(outcome, given["result"]) if has_result else results.get(id_)
            metadata = given.get("providerMetadata")
            return ToolCallPart(
                id_,
                name,
                "input-available" if output is None else state_after(output),
                given.get("args", UNSET),
                output=output,
                call_provider_metadata=metadata if is_object(metadata) else None,
            )
        case _:
            return None


# Writing


def check_form(form: str | None) -> None:
    """Raise an error for a form that does not exist."""
    if form is not None and form not in get_args(NetworkForm):
        hint = f"use {', '.join(get_args(NetworkForm))}"
        raise ConversionError(f"no form {form!r} of network executions", where="network", hint=hint)


def form_of(message: Message, form: NetworkForm | None) -> NetworkForm:
    """Return the form in which an execution is written: the given one, or that of the metadata."""
    if form is not None:
        return form
    metadata: Json = message.content.metadata
    return "both" if is_object(metadata) and metadata.get(LEGACY_NETWORK) is True else "part"


def add_network(
    content: JsonObject, message_id: str, execution: NetworkExecution, form: NetworkForm, nested: WriteRows
) -> None:
    """Add a network execution to a V2 content, in a field or as a string. `nested` writes V2 messages."""
    parts: list[Json] = content["parts"]
    if form in ("string", "both"):
        parts.append({"type": "text", "text": network_string(message_id, execution)})
    if form in ("field", "both"):
        content[FIELD] = write_payload(message_id, execution, nested)
    text = execution.final_result.text if execution.final_result else None
    if text and not any(is_object(part) and part.get("type") == "text" for part in parts):
        parts.append({"type": "text", "text": text})


def network_string(message_id: str, execution: NetworkExecution) -> str:
    """Return the text for older readers. Nested messages are V1, as in texts that Mastra writes."""
    return dumps(write_payload(message_id, execution, _v1_rows)).decode()


def write_payload(message_id: str, execution: NetworkExecution, nested: WriteRows) -> JsonObject:
    """Return the object of the network execution of a message. In a field, nested messages are V2."""
    payload: JsonObject = {"isNetwork": True}
    if execution.selection_reason is not None:
        payload["selectionReason"] = execution.selection_reason
    payload |= {"primitiveType": execution.primitive_type, "primitiveId": execution.primitive_id}
    if execution.input is not UNSET:
        payload["input"] = execution.input
    if execution.iteration is not None:
        payload["iteration"] = execution.iteration
    payload["finalResult"] = _write_result(message_id, execution, nested)
    return {**members_of(execution), **payload}


def _write_result(message_id: str, execution: NetworkExecution, nested: WriteRows) -> JsonObject:
    kind, result = execution.primitive_type, execution.final_result or NetworkResult()
    body: JsonObject = {}
    if result.text is not None or kind == "agent":
        body["text"] = result.text or ""
    if result.value is not UNSET:
        is_run = kind == "workflow" and note_in_extra(result).get("value") != "result"
        body["runResult" if is_run else "result"] = result.value
    if result.tool_calls:
        body["toolCalls"] = [_write_call(call) for call in result.tool_calls]
    if result.messages or kind == "agent":
        body["messages"] = [row for one in result.messages if not one.internal for row in nested(one)]
    if kind == "tool":
        body["toolCallId"] = network_call_id(message_id)
    if kind == "workflow":
        body["runSuccess"] = failure_text(result) is None
    if result.error is not None:
        body["error"] = result.error
    if result.interrupted is not None:
        body["interrupted"] = result.interrupted
    return {**body, **members_of(result)}


def _write_call(call: ToolCallPart) -> JsonObject:
    written: JsonObject = to_json(write_call(replace(call, dynamic=False, children=())).tool_invocation)
    return written


def _v1_rows(message: Message) -> Sequence[JsonObject]:
    """Return a message as V1 messages, with a network execution as JSON in a text."""
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        text = TextPart(network_string(message.id, message.content.network_execution))
        content = replace(message.content, parts=(*message.parts, text), network_execution=None, content=None)
        message = replace(message, content=content)
    return write_messages([message])
