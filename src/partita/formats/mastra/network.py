"""JSON of networks in the texts of messages: executions, routing decisions, and feedback of checks.

`agent.network()` stores each run of an agent, a workflow or a tool as an assistant message whose text is
JSON. Only whole texts are parsed, because prose may mention networks too, and only those of assistants,
because a user may paste the output of a network. Sources: packages/core/src/loop/network in
https://github.com/mastra-ai/mastra, https://github.com/mastra-ai/mastra/issues/9024 and
https://github.com/mastra-ai/mastra/issues/13106

- An execution becomes `network_execution`. A second one in the same message, which Mastra writes when it
  joins messages, becomes a `network-execution` data part.
- A decision of the router becomes a `network-routing` data part. A message with nothing else is an internal
  event.
- The feedback of a check is an internal message. Only its metadata identifies it.

Nothing of the JSON is lost: unknown members go to `extra`, and notes describe its original form.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.metadata import FIELDS, INDEX, with_message_notes
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    NetworkResult,
    network_output,
)
from partita.types.parts import DataPart, StepStartPart, TextPart
from partita.types.value import FOREIGN, Extra, keep_fields

from .calls import waiting_parts
from .network_payload import FIELD as MEMBER
from .network_payload import names_of, read_payload
from .stored import read_rows
from .wire import NAME

EXECUTION: Final = "network-execution"
ROUTING: Final = "network-routing"
"""The names of data parts."""

FIELD: Final = f"{FOREIGN}{MEMBER}"
"""The member of a content for executions, in `extra`. Mastra planned it, but never wrote it."""

FEEDBACK: Final = ("completionResult", "isTaskCompleteResult")
"""Metadata of messages in which a check reports whether the task is complete."""

# Notes about contents
NETWORK: Final = "network"  # the position of the execution
TEXT: Final = "text"  # the text that `content` repeated: the index of a part, or `lines` for all texts


def execution_of(payload: JsonObject) -> NetworkExecution | None:
    """Return the execution of a payload, including nested networks."""
    execution = read_payload(payload, read_rows)
    if execution is None or execution.final_result is None:
        return execution
    messages = tuple(structured(message) or message for message in execution.final_result.messages)
    return replace(execution, final_result=replace(execution.final_result, messages=messages))


def structured(message: Message) -> Message | None:
    """Return the message with the JSON in its texts as an execution or data, or `None` if it has none."""
    if not isinstance(message, AssistantMessage):
        return None
    result = _with_structure(message)
    if not (result.internal and result.type == "event") and is_decision(result.content):
        result = replace(result, type="event", internal=True)
    if not result.internal and _is_feedback(result.content.metadata):
        result = replace(result, internal=True)
    return None if result is message else result


def _with_structure(message: AssistantMessage) -> AssistantMessage:
    content, field = _without_field(message.content)
    read = [_read_part(part) for part in content.parts]
    if field is None and all(result is None for result in read):
        return message
    network = content.network_execution or (field and _with_waiting(field, content.metadata))
    note: JsonObject = {} if field is None else {NETWORK: {"field": True}}
    parts: list[AssistantPart] = []
    for place, (part, result) in enumerate(zip(content.parts, read, strict=True)):
        if result is None:
            parts.append(part)
        elif not isinstance(result, NetworkExecution):
            parts.append(_data_part(ROUTING, result, part))
        elif network is not None and is_same(network, result):
            continue  # written in both forms
        elif network is None:
            network = _with_waiting(result, content.metadata)
            note[NETWORK] = _text_note(part, place if len(read) > 1 else None)
        else:
            parts.append(_data_part(EXECUTION, to_json(result), part))
    content = _without_repetition(content, read, note)
    content = replace(content, parts=tuple(parts), network_execution=network)
    noted = {key: item for key, item in note.items() if item != {}}
    return with_message_notes(replace(message, content=content), NAME, noted)


def is_same(execution: NetworkExecution, other: NetworkExecution) -> bool:
    """Whether two executions are the same execution in two forms."""
    return _identity(execution) == _identity(other)


def _identity(execution: NetworkExecution) -> tuple[object, ...]:
    result = execution.final_result or NetworkResult()
    chosen = (execution.primitive_type, execution.primitive_id, execution.selection_reason or "")
    return (*chosen, result.text or "", result.value)


def _with_waiting(execution: NetworkExecution, metadata: Json) -> NetworkExecution:
    """Return the execution with the calls that wait for approval, which only the metadata has."""
    result = execution.final_result or NetworkResult()
    known = {call.id for call in result.tool_calls if call.output is not None}
    calls = {call.id: call for call in waiting_parts(metadata, of_network=True) if call.id not in known}
    if not calls or network_output(replace(execution, final_result=result)) not in (None, ""):
        return execution
    others = [call for call in result.tool_calls if call.id not in calls]
    return replace(execution, final_result=replace(result, tool_calls=(*others, *calls.values())))


def _read_part(part: AssistantPart) -> NetworkExecution | JsonObject | None:
    """Return the execution or the decision in a text."""
    payload = _payload(part.text) if isinstance(part, TextPart) else None
    if payload is None:
        return None
    if _is_network(payload):
        return execution_of(payload)
    _, names = names_of(payload)
    is_decision = {*names, "prompt", "selectionReason"} <= payload.keys()
    return payload if is_decision else None


def _payload(text: str) -> JsonObject | None:
    """Parse a text that is a whole JSON object. Incomplete JSON is text."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = loads(text)
    except DecodeError:
        return None
    return value if is_object(value) else None


def _is_network(payload: JsonObject) -> bool:
    return payload.get("isNetwork") is True


def _without_field(content: AssistantContent) -> tuple[AssistantContent, NetworkExecution | None]:
    """Return the content without the member for executions, and the execution in it."""
    extra: JsonObject = dict(content.extra or {})
    payload = extra.pop(FIELD, None)
    if content.network_execution is not None or not is_object(payload) or not _is_network(payload):
        return content, None
    execution = execution_of(payload)
    if execution is None:
        return content, None
    return replace(content, extra=Extra(extra) if extra else None), execution


def _data_part(name: str, data: Json, part: AssistantPart) -> DataPart:
    """Return a text as a data part, with its other members."""
    members = _other_members(part)
    metadata = members.pop("providerMetadata", None)
    return DataPart(name, data, provider_metadata=metadata, extra=keep_fields(members, DataPart))


def _text_note(part: AssistantPart, index: int | None) -> JsonObject:
    """Return a note about the text of an execution: its index among the parts, and its other members."""
    members = _other_members(part)
    return {**({} if index is None else {INDEX: index}), **({FIELDS: members} if members else {})}


def _other_members(part: AssistantPart) -> JsonObject:
    return {key: item for key, item in to_json(part).items() if key not in ("type", "text")}


def _without_repetition(
    content: AssistantContent, read: Sequence[object], note: JsonObject
) -> AssistantContent:
    """Return the content without a `content` that repeats the JSON."""
    texts = {place: part.text for place, part in enumerate(content.parts) if isinstance(part, TextPart)}
    repeated = [place for place, text in texts.items() if read[place] is not None and text == content.content]
    if repeated:
        note[TEXT] = repeated[-1]
    elif content.content is not None and content.content == "\n".join(texts.values()):
        note[TEXT] = "lines"
    else:
        return content
    return replace(content, content=None)


def is_decision(content: AssistantContent) -> bool:
    """Whether a content is only a decision of the router."""
    decisions = [part for part in content.parts if isinstance(part, DataPart) and part.name == ROUTING]
    steps = [part for part in content.parts if isinstance(part, StepStartPart)]
    is_whole = len(decisions) + len(steps) == len(content.parts)
    return content.network_execution is None and bool(decisions) and is_whole


def _is_feedback(metadata: Json) -> bool:
    return is_object(metadata) and any(is_object(metadata.get(name)) for name in FEEDBACK)
