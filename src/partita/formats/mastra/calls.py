"""Tool invocations of V2 → canonical tool calls, and the approvals that wait in the metadata.

A call that waits has its state in its part since 2026-04, and in the metadata of its message before that.
There it stays, whatever the part then says.

A call without a state has the one that its other members imply. Calls that stand only beside the parts, in
`toolInvocations` or in the metadata of calls that wait, become parts; the note on them says `unlisted`.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.ai_sdk.ui.v4_shape import BESIDE
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.tools import (
    Approval,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolState,
)

from .notes import extra_of, with_note

OPEN_STATES = ("call", "partial-call")

STATES: Mapping[str, ToolState] = {
    "partial-call": "input-streaming",
    "call": "input-available",
    "result": "output-available",
    "approval-requested": "approval-requested",
    "approval-responded": "approval-responded",
    "output-error": "output-error",
    "output-denied": "output-denied",
}

BESIDE_FIELDS: Mapping[str, tuple[str, type]] = {
    "providerExecuted": ("provider_executed", bool),
    "preliminary": ("preliminary", bool),
    "title": ("title", str),
    "providerMetadata": ("call_provider_metadata", dict),
    "resultProviderMetadata": ("result_provider_metadata", dict),
    "toolMetadata": ("tool_metadata", dict),
}
"""Members of the part around an invocation: the fields they fill, and of which kind they must be."""

ENDED = frozenset({"state", "toolCallId", "toolName", "args", "result"})
"""The members of an invocation with its result that says no more."""

WAITING = ("pendingToolApprovals", "requireApprovalMetadata", "suspendedTools")
"""Metadata that names calls that wait for a person."""

SUSPENSION = ("type", "suspendPayload", "resumeSchema")
"""What a suspended call shows to the person it waits for."""

_APPROVAL: Codec[Approval] = Codec(Approval)


def output_of(result: Json, *, failed: bool = False) -> ToolOutput:
    """The typed output that a bare result stands for."""
    if isinstance(result, str):
        return ErrorTextOutput(result) if failed else TextOutput(result)
    return ErrorJsonOutput(result) if failed else JsonOutput(result)


def read_invocation(raw: JsonObject) -> ToolCallPart | None:
    """The call of a `tool-invocation` part; `None` when it is not one."""
    call: Json = raw.get("toolInvocation")
    if not is_object(call):
        return None
    if call.keys() == ENDED and len(raw) == 2:
        id_, name = call["toolCallId"], call["toolName"]
        if call["state"] == "result" and isinstance(id_, str) and isinstance(name, str):
            given = output_of(call["result"])
            return ToolCallPart(id_, name, "output-available", call["args"], output=given)
    match call:
        case {"toolCallId": str(id_), "toolName": str(name), **rest}:
            note: JsonObject = {}
            state = _state(rest, note)
            if state is None:
                return None
            fields: JsonObject = {"input": rest.pop("args", UNSET), "raw_input": rest.pop("rawInput", UNSET)}
            canonical, output = _outcome(state, rest, note)
            fields |= {"output": output, "approval": _approval(rest)}
            beside = {key: item for key, item in raw.items() if key not in ("type", "toolInvocation")}
            for key, (field, kind) in BESIDE_FIELDS.items():
                if isinstance(beside.get(key), kind):
                    fields[field] = beside.pop(key)
            rest |= {BESIDE + key: item for key, item in beside.items()}
            return ToolCallPart(id_, name, canonical, extra=extra_of(rest, note, ToolCallPart), **fields)
        case _:
            return None


def implied_state(call: JsonObject) -> str:
    """The state of an invocation, by its other members."""
    if "result" in call:
        return "result"
    return "output-error" if isinstance(call.get("errorText"), str) else "call"


def _state(rest: JsonObject, note: JsonObject) -> str | None:
    """The state of an invocation, taken out of `rest`; `None` if it is unknown.

    A state that is absent, or is older than the result beside it, is noted as it was stated.
    """
    implied = implied_state(rest)
    stated: Json = rest.pop("state", None)
    if stated is None or (stated in OPEN_STATES and implied == "result"):
        note["stated"] = stated
        return implied
    return stated if isinstance(stated, str) and stated in STATES else None


def _outcome(state: str, rest: JsonObject, note: JsonObject) -> tuple[ToolState, ToolOutput | None]:
    """The state and the output, taken out of `rest`. Older rows tell a failure as a result."""
    if state == "result" and "result" in rest:
        if rest.get("isError") is True:
            del rest["isError"]
            note["state"] = state
            return "output-error", output_of(rest.pop("result"), failed=True)
        return STATES[state], output_of(rest.pop("result"))
    if state == "output-error" and isinstance(rest.get("errorText"), str):
        return STATES[state], ErrorTextOutput(rest.pop("errorText"))
    return STATES[state], None


def _approval(rest: JsonObject) -> Approval | None:
    if not is_object(rest.get("approval")):
        return None
    try:
        approval = _APPROVAL.read(rest["approval"])
    except DecodeError:
        return None
    if None in rest["approval"].values():  # which a field would take for absent
        return None
    del rest["approval"]
    return approval


def waiting_calls(metadata: Json) -> dict[str, Approval]:
    """The approvals that calls wait for, by the id of the call."""
    found: dict[str, Approval] = {}
    if not is_object(metadata):
        return found
    for name in WAITING:
        entries: Json = metadata.get(name)
        for key, entry in entries.items() if is_object(entries) else ():
            if is_object(entry):
                stated = entry.get("toolCallId")
                call_id = stated if isinstance(stated, str) else key
                found.setdefault(call_id, _asked(call_id, entry))
    return found


def _asked(call_id: str, entry: JsonObject) -> Approval:
    """The approval that clients of version 6 see: named after the run and the call."""
    run_id = entry.get("runId")
    id_ = f"{run_id}::{call_id}" if isinstance(run_id, str) else call_id
    shown = {key: entry[key] for key in SUSPENSION if key in entry}
    return Approval(id_, descriptor=shown if entry.get("type") == "suspension" else UNSET)


def with_approval(part: Any, waiting: Mapping[str, Approval]) -> Any:
    """A part, as a call that asks for approval if it is one that waits."""
    if not isinstance(part, ToolCallPart) or part.state != "input-available" or part.id not in waiting:
        return part
    if part.approval is not None or part.output is not None:
        return part
    asked = replace(part, state="approval-requested", approval=waiting[part.id])
    return with_note(asked, {"state": "waiting"})


def unlisted_calls(mirror: Json, metadata: Json, listed: Collection[str]) -> list[ToolCallPart]:
    """The calls that only `toolInvocations` or the metadata have; `listed` are the ids of those in parts."""
    waiting = waiting_calls(metadata)
    found: dict[str, ToolCallPart] = {}
    for raw in mirror if is_array(mirror) else []:
        call = read_invocation({"type": "tool-invocation", "toolInvocation": raw})
        if call is not None and call.id not in listed:
            found.setdefault(call.id, with_approval(call, waiting))
    for call in waiting_parts(metadata, of_network=False):
        if call.id not in listed:
            found.setdefault(call.id, call)
    return [with_note(call, {"unlisted": True}) for call in found.values()]


def waiting_parts(metadata: Json, *, of_network: bool) -> Iterator[ToolCallPart]:
    """The calls that the metadata names as waiting: those inside a network execution, or the others.

    A suspended agent or workflow of a network is not a call inside its execution.
    """
    waiting = waiting_calls(metadata)
    is_network = is_object(metadata) and metadata.get("mode") == "network"
    for name in WAITING if waiting else ():
        entries: Json = metadata.get(name)
        for entry in entries.values() if is_object(entries) else ():
            match entry:
                case {"toolCallId": str(id_), "toolName": str(tool)}:
                    inside = (is_network or "primitiveType" in entry) and entry.get("primitiveId") != tool
                    if of_network == inside:
                        call = ToolCallPart(id_, tool, "input-available", entry.get("args", UNSET))
                        yield with_approval(call, waiting)
                case _:
                    pass
