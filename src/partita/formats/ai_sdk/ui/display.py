"""Messages as pages may see them: Mastra's display transforms replace the payloads of tool calls.

A Mastra server keeps the raw payload of a call for its own use, and beside it what a page is shown instead:

    providerMetadata.mastra.toolPayloadTransform.display.PHASE = {"transformed": value}

`toolPayloadProjection` and `projected` are the first names of the same. Where there is no transform, the page
gets the payload itself. Only UI messages are changed; stored messages and models keep the payloads.
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
"""Members of a message's metadata with the payloads of calls that wait, by call."""

DATA_PHASES: Final[Mapping[str, str]] = {"tool-call-approval": "approval", "tool-call-suspended": "suspend"}
"""Data parts with the payload of a call that waits, and the phase of their transform."""

FAILED: Final = (ErrorTextOutput, ErrorJsonOutput)
RETURNED: Final = (TextOutput, JsonOutput, ContentOutput)
RAW: Final = frozenset({"toolCalls", f"{FOREIGN}toolCalls", f"{FOREIGN}messages", "chunks"})
"""Members of a network's result that repeat the payloads of its calls as they were stored."""


def displayed(message: Message, path: str, losses: list[Loss]) -> Message:
    """The message as a page may see it; the same object when it has no display transforms."""
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
    """Whether a part may have a display transform, by a look that costs little."""
    if isinstance(part, ToolCallPart):
        metadata = part.call_provider_metadata or part.result_provider_metadata
        return bool(metadata or part.approval or part.children)
    return isinstance(part, DataPart)


def _displays(*holders: Json) -> list[JsonObject]:
    """The display transforms in provider metadata, by phase."""
    found: list[Json] = []
    for holder in holders:
        if is_object(holder) and "mastra" in holder:
            found += [_at(holder["mastra"], name, "display") for name in TRANSFORMS]
    return [one for one in found if is_object(one)]


def _shown(displays: Sequence[JsonObject], *phases: str) -> Json | UnsetType:
    """What a page is shown instead of a payload; unset when it may see the payload."""
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
    asked_for = _holder(descriptor) if is_object(descriptor) else None
    displays = _displays(
        part.result_provider_metadata, part.call_provider_metadata, _holder(entry), asked_for
    )
    changes: dict[str, Any] = {}
    if displays:
        asked = ("approval",) if part.state == "approval-requested" else ()
        given = _shown(displays, *asked, "input-available")
        if given is not UNSET and part.input is not UNSET:
            metadata = _without_raw(part.call_provider_metadata)
            changes |= {"input": given, "raw_input": UNSET, "call_provider_metadata": metadata}
            losses.append(Loss(f"{path}.input", "the input", DISPLAY))
        output = _output(part.output, displays)
        if output is not part.output:
            changes["output"] = output
            losses.append(Loss(f"{path}.output.value", "the output", DISPLAY))
        approval = _approval(part.approval, displays)
        if approval is not part.approval:
            changes["approval"] = approval
            losses.append(Loss(f"{path}.approval", "what it shows", DISPLAY))
    if part.children:
        changes["children"] = tuple(
            displayed(child, f"{path}.children[{index}]", losses) for index, child in enumerate(part.children)
        )
    return replace(part, **changes) if changes else part


def _without_raw(metadata: JsonObject | None) -> JsonObject | None:
    """The metadata of a call without the text that its input was written as."""
    if metadata is None:
        return None
    return {
        name: {key: item for key, item in held.items() if key != RAW_INPUT} if is_object(held) else held
        for name, held in metadata.items()
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
    """An approval that shows the person it waits for what the transform of the suspension lets through."""
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


def _holder(entry: JsonObject) -> Json:
    """The metadata of a call that waits."""
    return entry.get("metadata") or entry.get("providerMetadata")


def _waiting(metadata: Json) -> dict[str, JsonObject]:
    """The entries of calls that wait, by the id of the call."""
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
    """What is stored of a call that waits, as a page may see it."""
    displays = _displays(_holder(entry))
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
