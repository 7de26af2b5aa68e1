"""Mastra's display transforms: values that a web page is shown instead of the payloads of tool calls.

A Mastra server stores the raw payload of a call, and beside it the value for display:

    providerMetadata.mastra.toolPayloadTransform.display.PHASE = {"transformed": value}

`toolPayloadProjection` and `projected` are older names. Without a transform, a page receives the payload
itself. Only UI messages are changed; stored messages and models keep the payloads.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.formats.core.metadata import RAW_INPUT
from partita.formats.losses import DISPLAY, Loss
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import AssistantMessage, AssistantPart, Message, NetworkExecution, ToolCallPart
from partita.types.parts import (
    Approval,
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)
from partita.types.value import FOREIGN, Extra

TRANSFORMS: Final = ("toolPayloadTransform", "toolPayloadProjection")
VALUES: Final = ("transformed", "projected")
WAITING: Final = ("pendingToolApprovals", "requireApprovalMetadata", "suspendedTools")
"""Members of a message's metadata with the payloads of waiting calls, by call."""

DATA_PHASES: Final[Mapping[str, str]] = {"tool-call-approval": "approval", "tool-call-suspended": "suspend"}
"""Data parts with the payload of a waiting call, and the phase of their transform."""

FAILED: Final = (ErrorTextOutput, ErrorJsonOutput)
RETURNED: Final = (TextOutput, JsonOutput, ContentOutput)
RAW: Final = frozenset({"toolCalls", f"{FOREIGN}toolCalls", f"{FOREIGN}messages", "chunks"})
"""Members of a network's result that repeat the stored payloads of its calls."""


def displayed(message: Message, path: str, losses: list[Loss]) -> Message:
    """Return the message for display; the same object if it has no display transforms."""
    if not isinstance(message, AssistantMessage):
        return message
    content = message.content
    waiting = _waiting(content.metadata)
    if not waiting and content.network_execution is None and not any(map(_has_metadata, content.parts)):
        return message
    found: list[Loss] = []
    parts = tuple(
        _part(part, waiting, f"{path}.content.parts[{index}]", found)
        for index, part in enumerate(content.parts)
    )
    network = content.network_execution
    if network is not None:
        network = _network(network, f"{path}.content.networkExecution", found)
    metadata = _metadata(content.metadata, f"{path}.content.metadata", found) if waiting else content.metadata
    if not found:
        return message
    losses += found
    return replace(
        message, content=replace(content, parts=parts, network_execution=network, metadata=metadata)
    )


def _has_metadata(part: AssistantPart) -> bool:
    """Whether a part may have a display transform. This only has to be cheap."""
    if isinstance(part, ToolCallPart):
        metadata = part.call_provider_metadata or part.result_provider_metadata
        return bool(metadata or part.approval or part.children)
    return isinstance(part, DataPart)


def _displays(*holders: Json) -> list[JsonObject]:
    """Return the display transforms in provider metadata, by phase."""
    found: list[Json] = []
    for holder in holders:
        if is_object(holder) and "mastra" in holder:
            found += [_at(holder["mastra"], name, "display") for name in TRANSFORMS]
    return [one for one in found if is_object(one)]


def _shown(displays: Sequence[JsonObject], *phases: str) -> Json | UnsetType:
    """Return the value to display instead of a payload, or unset if the payload itself is displayed."""
    for phase in phases:
        for display in displays:
            state = display.get(phase)
            for key in VALUES:
                if is_object(state) and key in state:
                    return state[key]
    return UNSET


def _at(value: Json, *names: str) -> Json:
    for name in names:
        value = value.get(name) if is_object(value) else None
    return value


def _part(part: Any, waiting: Mapping[str, JsonObject], path: str, losses: list[Loss]) -> Any:
    if isinstance(part, ToolCallPart):
        return _call(part, waiting.get(part.id, {}), path, losses)
    if isinstance(part, DataPart) and part.name in DATA_PHASES and is_object(part.data):
        return replace(part, data=_entry(part.data, DATA_PHASES[part.name], f"{path}.data", losses))
    return part


def _call(part: ToolCallPart, entry: JsonObject, path: str, losses: list[Loss]) -> ToolCallPart:
    descriptor: Json = part.approval.descriptor if part.approval is not None else None
    requested_by = _metadata_of(descriptor) if is_object(descriptor) else None
    displays = _displays(
        part.result_provider_metadata, part.call_provider_metadata, _metadata_of(entry), requested_by
    )
    changes: dict[str, Any] = {}
    if displays:
        requested = ("approval",) if part.state == "approval-requested" else ()
        input_ = _shown(displays, *requested, "input-available")
        if input_ is not UNSET and part.input is not UNSET:
            metadata = _without_raw(part.call_provider_metadata)
            changes |= {"input": input_, "raw_input": UNSET, "call_provider_metadata": metadata}
            losses.append(Loss(f"{path}.input", "the input", DISPLAY))
        output = _output(part.output, displays)
        if output is not part.output:
            changes["output"] = output
            losses.append(Loss(f"{path}.output.value", "the output", DISPLAY))
        approval = _approval(part.approval, displays)
        if approval is not part.approval:
            changes["approval"] = approval
            losses.append(Loss(f"{path}.approval", "the displayed payload", DISPLAY))
    if part.children:
        changes["children"] = tuple(
            displayed(child, f"{path}.children[{index}]", losses) for index, child in enumerate(part.children)
        )
    return replace(part, **changes) if changes else part


def _without_raw(metadata: JsonObject | None) -> JsonObject | None:
    """Return the metadata of a call without the text of its input."""
    if metadata is None:
        return None
    return {
        name: {key: item for key, item in own.items() if key != RAW_INPUT} if is_object(own) else own
        for name, own in metadata.items()
    }


def _output(output: ToolOutput | None, displays: Sequence[JsonObject]) -> ToolOutput | None:
    if isinstance(output, FAILED):
        value = _shown(displays, "error", "output-available")
        if value is UNSET:
            return output
        return ErrorTextOutput(value if isinstance(value, str) else "" if value is None else _text(value))
    if not isinstance(output, RETURNED):
        return output
    value = _shown(displays, "output-available", "error")
    if value is UNSET:
        return output
    return TextOutput(value) if isinstance(value, str) else JsonOutput(value)


def _text(value: Json) -> str:
    return dumps(value).decode()


def _approval(approval: Approval | None, displays: Sequence[JsonObject]) -> Approval | None:
    """Return the approval with the displayed value of its suspension."""
    descriptor: Json = approval.descriptor if approval is not None else None
    value = _shown(displays, "suspend")
    if approval is None or value is UNSET or not is_object(descriptor) or "suspendPayload" not in descriptor:
        return approval
    return replace(approval, descriptor={**descriptor, "suspendPayload": value})


def _network(execution: NetworkExecution, path: str, losses: list[Loss]) -> NetworkExecution:
    result = execution.final_result
    if result is None:
        return execution
    found: list[Loss] = []
    where = f"{path}.finalResult"
    calls = tuple(
        _call(call, {}, f"{where}.toolCalls[{index}]", found) for index, call in enumerate(result.tool_calls)
    )
    messages = tuple(
        displayed(message, f"{where}.messages[{index}]", found)
        for index, message in enumerate(result.messages)
    )
    if not found:
        return execution
    losses += found
    kept = {key: item for key, item in (result.extra or {}).items() if key not in RAW}
    losses += [Loss(f"{where}.{key}", "the raw calls", DISPLAY) for key in (result.extra or {}) if key in RAW]
    shown = replace(result, tool_calls=calls, messages=messages, extra=Extra(kept) if kept else None)
    return replace(execution, final_result=shown)


def _metadata_of(entry: JsonObject) -> Json:
    """Return the metadata of a waiting call."""
    return entry.get("metadata") or entry.get("providerMetadata")


def _waiting(metadata: Json) -> dict[str, JsonObject]:
    """Return the entries of waiting calls, by the id of the call."""
    found: dict[str, JsonObject] = {}
    for name in WAITING if is_object(metadata) else ():
        entries = _at(metadata, name)
        for key, entry in entries.items() if is_object(entries) else ():
            if is_object(entry):
                found.setdefault(str(entry.get("toolCallId", key)), entry)
    return found


def _metadata(metadata: Json, path: str, losses: list[Loss]) -> Json:
    changed = dict(metadata)
    for name in WAITING:
        entries = _at(metadata, name)
        if is_object(entries):
            phase = "suspend" if name == "suspendedTools" else "approval"
            changed[name] = {
                key: _entry(entry, phase, f"{path}.{name}.{key}", losses) if is_object(entry) else entry
                for key, entry in entries.items()
            }
    return changed


def _entry(entry: JsonObject, phase: str, path: str, losses: list[Loss]) -> JsonObject:
    """Return the entry of a waiting call for display."""
    displays = _displays(_metadata_of(entry))
    phases = (phase, "input-available") if phase == "approval" else ("input-available", phase)
    args, payload = _shown(displays, *phases), _shown(displays, phase)
    shown = dict(entry)
    if args is not UNSET and "args" in entry:
        shown["args"] = args
    if phase == "suspend" and payload is not UNSET and "suspendPayload" in entry:
        shown["suspendPayload"] = payload
    if shown != entry:
        losses.append(Loss(path, "the payload", DISPLAY))
    return shown
