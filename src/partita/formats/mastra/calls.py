"""Tool invocations ↔ tool calls, and the calls that wait for a user.

Since 2026-04 the state of an invocation shows whether its call waits. Before that, only the metadata of the
message showed it, as it still does: https://github.com/mastra-ai/mastra/issues/9745
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.metadata import add_notes, without_notes
from partita.formats.core.tool_text import as_text, interruption_text, read_tool_text
from partita.formats.core.wire import to_json
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    Approval,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)
from partita.types.value import Extra, keep_fields

from .notes import members_of, part_notes, unknown_members, with_part_notes
from .wire import NAME, OPEN_STATES, STATES, Invocation, ToolInvocation

WRITTEN_STATES: Final = {state: name for name, state in STATES.items()}

WAITING: Final = ("pendingToolApprovals", "requireApprovalMetadata", "suspendedTools")
"""Members of a message's metadata that list waiting calls. Only networks write the second one."""

SUSPENSION: Final = ("type", "suspendPayload", "resumeSchema")
"""Members of a suspended call that are shown to the user."""

OUTER: Final = "part:"
"""The prefix of unknown members of the part that contains an invocation or a source."""

# Notes about calls
FAILED_RESULT: Final = "failedResult"  # the failure was a result with `isError`
UNLISTED: Final = "unlisted"  # the call is not in the parts

_APPROVAL: Final[Codec[Approval]] = Codec(Approval)
_INVOCATION: Final[Codec[Invocation]] = Codec(Invocation)


def or_none(member: Any) -> Any:
    """Return the value of an optional member of a wire type, or `None` if it is absent."""
    return None if member is UNSET else member


def or_unset(value: Any) -> Any:
    """Return a value as an optional member of a wire type. `None` is absent."""
    return UNSET if value is None else value


def read_call(block: ToolInvocation, waiting: Mapping[str, Approval]) -> ToolCallPart | None:
    """Return the call of an invocation, or `None` if its state is unknown.

    `waiting`: approvals by call id.
    """
    call = block.tool_invocation
    state_name: Json = call.state if call.state is not UNSET else (call.extra or {}).get("state")
    # Some rows have no state, or a state that is older than their result (seen in recordings).
    if state_name is None or (state_name in OPEN_STATES and call.result is not UNSET):
        state_name = _implied_state(call)
    if not isinstance(state_name, str) or state_name not in STATES:
        return None
    state, output = STATES[state_name], None
    metadata: JsonObject | None = block.provider_metadata or None
    if state_name == "result" and call.result is not UNSET:
        output = read_tool_text("failed" if call.is_error is True else "success", call.result)
        if call.is_error is True:
            state, metadata = "output-error", add_notes(metadata, NAME, {FAILED_RESULT: True})
    elif state_name == "output-error" and call.error_text is not UNSET:
        output = ErrorTextOutput(call.error_text)
    approval = _read_approval(call.approval)
    if state == "input-available" and approval is None and call.tool_call_id in waiting:
        state, approval = "approval-requested", waiting[call.tool_call_id]
    outer = {OUTER + name: value for name, value in unknown_members(block).items()}
    return ToolCallPart(
        call.tool_call_id,
        call.tool_name,
        state,
        call.args,
        call.raw_input,
        output=output,
        approval=approval,
        title=or_none(block.title),
        provider_executed=or_none(block.provider_executed),
        preliminary=or_none(block.preliminary),
        call_provider_metadata=metadata,
        result_provider_metadata=or_none(block.result_provider_metadata),
        tool_metadata=or_none(block.tool_metadata),
        extra=keep_fields({**unknown_members(call), **outer}, ToolCallPart),
    )


def _implied_state(call: Invocation) -> str:
    """Return the state of an invocation by its other members."""
    if call.result is not UNSET:
        return "result"
    return "call" if call.error_text is UNSET else "output-error"


def _read_approval(raw: Json) -> Approval | None:
    if not is_object(raw):
        return None
    try:
        return _APPROVAL.read(raw)
    except DecodeError:
        return None


def write_call(part: ToolCallPart) -> ToolInvocation:
    """Return the invocation of a call that is not dynamic and has no sub-agent."""
    call = Invocation(
        tool_call_id=part.id,
        tool_name=part.name,
        state=WRITTEN_STATES[part.state],
        args={} if part.input is UNSET else part.input,
        raw_input=part.raw_input,
        approval=UNSET if part.approval is None else to_json(part.approval),
    )
    if part.output is not None:
        call = _write_output(call, part, part.output)
    inner = members_of(part)
    outer = {name[len(OUTER) :]: inner.pop(name) for name in list(inner) if name.startswith(OUTER)}
    return ToolInvocation(
        tool_invocation=replace(call, extra=Extra(inner) if inner else None),
        provider_executed=or_unset(part.provider_executed),
        title=or_unset(part.title),
        preliminary=or_unset(part.preliminary),
        provider_metadata=or_unset(without_notes(part.call_provider_metadata, NAME)),
        result_provider_metadata=or_unset(part.result_provider_metadata),
        tool_metadata=or_unset(part.tool_metadata),
        extra=Extra(outer) if outer else None,
    )


def _write_output(call: Invocation, part: ToolCallPart, output: ToolOutput) -> Invocation:
    match output:
        case TextOutput() | JsonOutput():
            return replace(call, result=output.value)
        case ContentOutput():
            return replace(call, result=to_json(replace(output, provider_metadata=None, extra=None)))
        case ErrorTextOutput() | ErrorJsonOutput() if part_notes(part).get(FAILED_RESULT) is True:
            return replace(call, state="result", result=output.value, is_error=True)
        case ErrorTextOutput() | ErrorJsonOutput():
            return replace(call, state="output-error", error_text=as_text(output.value))
        case InterruptedOutput():
            return replace(call, state="output-error", error_text=interruption_text(output))
        case ExecutionDeniedOutput():
            approval = part.approval or Approval(part.id)
            reason = output.reason if approval.reason is None else approval.reason
            denied = replace(approval, approved=False, reason=reason)
            return replace(call, state="output-denied", approval=to_json(denied))


# Calls that are not in the parts


def waiting_calls(metadata: Json) -> dict[str, Approval]:
    """Return the approvals that calls wait for, by the id of the call."""
    found: dict[str, Approval] = {}
    for key, entry in _waiting_entries(metadata):
        given = entry.get("toolCallId")
        call_id = given if isinstance(given, str) else key
        found.setdefault(call_id, _requested(call_id, entry))
    return found


def _waiting_entries(metadata: Json) -> Iterator[tuple[str, JsonObject]]:
    for name in WAITING if is_object(metadata) else ():
        entries: Json = metadata.get(name)
        for key, entry in entries.items() if is_object(entries) else ():
            if is_object(entry):
                yield key, entry


def _requested(call_id: str, entry: JsonObject) -> Approval:
    """Return the approval that Mastra sends to clients of AI SDK 6: its id consists of run and call."""
    run_id = entry.get("runId")
    id_ = f"{run_id}::{call_id}" if isinstance(run_id, str) else call_id
    shown = {key: entry[key] for key in SUSPENSION if key in entry}
    return Approval(id_, descriptor=shown if entry.get("type") == "suspension" else UNSET)


def waiting_parts(metadata: Json, *, of_network: bool) -> Iterator[ToolCallPart]:
    """Yield the calls that wait according to the metadata: those in a network execution, or all others.

    A suspended agent or workflow of a network is not a call of its execution.
    """
    waiting = waiting_calls(metadata)
    is_network = is_object(metadata) and metadata.get("mode") == "network"
    for _, entry in _waiting_entries(metadata):
        match entry:
            case {"toolCallId": str(id_), "toolName": str(tool)}:
                is_inside = (is_network or "primitiveType" in entry) and entry.get("primitiveId") != tool
                if of_network == is_inside:
                    input_ = entry.get("args", UNSET)
                    yield ToolCallPart(id_, tool, "approval-requested", input_, approval=waiting[id_])
            case _:
                pass


def unlisted_calls(mirror: Json, metadata: Json, listed: Collection[str]) -> list[ToolCallPart]:
    """Return the calls that only `toolInvocations` or the metadata have. `listed`: ids of calls in parts."""
    waiting = waiting_calls(metadata)
    found: dict[str, ToolCallPart] = {}
    for raw in mirror if is_array(mirror) else []:
        call = read_invocation(raw, waiting)
        if call is not None and call.id not in listed:
            found.setdefault(call.id, call)
    for call in waiting_parts(metadata, of_network=False):
        if call.id not in listed:
            found.setdefault(call.id, call)
    return [with_part_notes(call, {UNLISTED: True}) for call in found.values()]


def read_invocation(raw: Json, waiting: Mapping[str, Approval] = {}) -> ToolCallPart | None:
    """Return the call of an invocation that is not in a part."""
    try:
        return read_call(ToolInvocation(tool_invocation=_INVOCATION.read(raw)), waiting)
    except DecodeError:
        return None
