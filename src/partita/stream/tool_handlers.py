"""The handlers of tool calls: inputs, approvals, outputs."""

from typing import Any, Literal, TypeAlias, assert_never

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import StreamError
from partita.types.chunks import (
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.json import Json
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

from .partial_json import PartialJson
from .state import CallSlot, OpenInput, Rules, State

Encoding: TypeAlias = Literal["json", "text"] | None
Ended: TypeAlias = Literal["output-available", "output-error", "output-denied"]


def tool_input_start(state: State, chunk: ToolInputStart) -> bool:
    """Open the input of a call."""
    described = state.rules.describes_calls
    state.inputs[chunk.tool_call_id] = OpenInput(
        PartialJson("", state.rules.version),
        name=chunk.tool_name,
        dynamic=bool(chunk.dynamic),
        encoding=chunk.input_encoding if described else None,
        title=chunk.title if described else None,
        tool_metadata=chunk.tool_metadata if described else None,
    )
    _write(state, chunk, "input-streaming", encoding=chunk.input_encoding if described else None)
    return True


def tool_input_delta(state: State, chunk: ToolInputDelta) -> bool:
    """Add the next piece of an input."""
    source = state.inputs.get(chunk.tool_call_id)
    if source is None:
        raise StreamError(
            f"tool-input-delta for {chunk.tool_call_id!r}, whose input is not open",
            hint=f"send tool-input-start with toolCallId {chunk.tool_call_id!r} first",
            chunk_type="tool-input-delta",
            chunk_id=chunk.tool_call_id,
        )
    call = state.call_in_step(chunk.tool_call_id, source.dynamic)
    if call is None or call.source is not source:
        _follow(state, chunk.tool_call_id, source, call)
    else:
        call.hides_raw = False
    source.feed(chunk.input_text_delta)
    return True


def tool_input_available(state: State, chunk: ToolInputAvailable) -> bool:
    """Set the complete input."""
    if chunk.tool_call_id not in state.calls and state.rules.result_metadata:
        state.push(_whole_call(chunk))
    else:
        _write(state, chunk, "input-available", input=chunk.input)
    return True


def _whole_call(chunk: ToolInputAvailable) -> ToolCallPart:
    """A new call with its complete input, as `_write` would build it, in one step."""
    return ToolCallPart(
        chunk.tool_call_id,
        chunk.tool_name,
        "input-available",
        chunk.input,
        dynamic=bool(chunk.dynamic),
        provider_executed=chunk.provider_executed,
        title=chunk.title,
        tool_metadata=chunk.tool_metadata,
        call_provider_metadata=chunk.provider_metadata,
    )


def tool_input_error(state: State, chunk: ToolInputError) -> bool:
    """Set the error of an invalid input, which ends the call."""
    existing = None if state.rules.outputs_match_kind else state.call_in_step(chunk.tool_call_id)
    dynamic = bool(chunk.dynamic) if existing is None else existing.part.dynamic
    raw = state.rules.bad_input_is_raw and not dynamic
    _write(
        state,
        chunk,
        "output-error",
        dynamic=dynamic,
        input=UNSET if raw else chunk.input,
        raw_input=chunk.input if raw else UNSET,
        output=ErrorTextOutput(chunk.error_text),
    )
    return True


def tool_approval_request(state: State, chunk: ToolApprovalRequest) -> bool:
    """Add an approval request. It replaces an earlier one."""
    call = _find(state, chunk.tool_call_id)
    has_reasons = state.rules.approval_reasons
    approval = Approval(
        chunk.approval_id,
        request_reason=chunk.reason if has_reasons else None,
        is_automatic=True if has_reasons and chunk.is_automatic else None,
        signature=chunk.signature,
        descriptor=UNSET if chunk.approval_descriptor is None else chunk.approval_descriptor,
        input_schema_input=chunk.input_schema_input,
    )
    call.part = replace(call.release(), state="approval-requested", approval=approval)
    return True


def tool_approval_response(state: State, chunk: ToolApprovalResponse) -> bool:
    """Set the response to an approval request."""
    call = state.call_by_approval(chunk.approval_id)
    if call is None:
        raise StreamError(
            f"no call has the approval request {chunk.approval_id!r}",
            hint="send tool-approval-request with that approvalId first",
            chunk_type="tool-approval-response",
            chunk_id=chunk.approval_id,
        )
    part = call.release()
    asked = part.approval or Approval(chunk.approval_id)
    reason = asked.reason if chunk.reason is None else chunk.reason
    executed, metadata = chunk.provider_executed, chunk.provider_metadata
    call.part = replace(
        part,
        state="approval-responded",
        approval=replace(asked, approved=chunk.approved, reason=reason),
        provider_executed=part.provider_executed if executed is None else executed,
        call_provider_metadata=part.call_provider_metadata if metadata is None else metadata,
    )
    return True


def tool_output_available(state: State, chunk: ToolOutputAvailable) -> bool:
    """Set the output of a call."""
    call = _find_for_output(state, chunk)
    _end(
        state.rules,
        call,
        chunk,
        tool_state="output-available",
        output=as_output(chunk.output),
        preliminary=chunk.preliminary,
    )
    return True


def tool_output_error(state: State, chunk: ToolOutputError) -> bool:
    """Set the error of a call."""
    call = _find_for_output(state, chunk)
    _end(state.rules, call, chunk, tool_state="output-error", output=ErrorTextOutput(chunk.error_text))
    return True


def tool_output_denied(state: State, chunk: ToolOutputDenied) -> bool:
    """Mark a call as denied."""
    call = _find(state, chunk.tool_call_id)
    call.part = replace(call.release(), state="output-denied")
    return True


def tool_output(state: State, chunk: ToolOutputChunk) -> bool:
    """Set a typed output. Its type determines the state of the call."""
    call = _find(state, chunk.tool_call_id)
    _end(
        state.rules,
        call,
        chunk,
        tool_state=_state_after(chunk.output),
        output=chunk.output,
        preliminary=chunk.preliminary,
    )
    return True


def _state_after(output: ToolOutput) -> Ended:
    match output:
        case TextOutput() | JsonOutput() | ContentOutput():
            return "output-available"
        case ErrorTextOutput() | ErrorJsonOutput() | InterruptedOutput():
            return "output-error"
        case ExecutionDeniedOutput():
            return "output-denied"
        case _:
            assert_never(output)


def as_output(value: Json | UnsetType) -> ToolOutput | None:
    """An untyped output as a typed one: a string is text, any other value JSON."""
    if value is UNSET:
        return None
    return TextOutput(value) if isinstance(value, str) else JsonOutput(value)


def _find(state: State, call_id: str, dynamic: bool | None = None) -> CallSlot:
    call = state.call_anywhere(call_id, dynamic)
    if call is None:
        raise StreamError(
            f"no tool call {call_id!r} in this message",
            hint="send tool-input-available first, or continue the message that holds the call",
            chunk_type="tool-invocation",
            chunk_id=call_id,
        )
    return call


def _find_for_output(state: State, chunk: ToolOutputAvailable | ToolOutputError) -> CallSlot:
    kind = bool(chunk.dynamic) if state.rules.outputs_match_kind else None
    return _find(state, chunk.tool_call_id, kind)


def _follow(state: State, call_id: str, source: OpenInput, call: CallSlot | None) -> None:
    """Read the input of a call from `source`. The call that used it before keeps its current input."""
    if source.slot is not None and source.slot.source is source:
        source.slot.release()
    if call is None:
        part = ToolCallPart(call_id, source.name, "input-streaming", dynamic=source.dynamic)
        call = _push(state, part)
        call.hides_raw = source.dynamic
    else:
        call.release()
        call.hides_raw = False
    part = call.part
    call.part = replace(
        part,
        name=source.name if state.rules.renames or part.dynamic else part.name,
        state="input-streaming",
        input_encoding=_encoding(state.rules, part, source.encoding),
        output=None,
        preliminary=None,
        title=part.title if source.title is None else source.title,
        tool_metadata=part.tool_metadata if source.tool_metadata is None else source.tool_metadata,
    )
    call.source = source
    source.slot = call


def _write(
    state: State,
    chunk: ToolInputStart | ToolInputAvailable | ToolInputError,
    tool_state: Literal["input-streaming", "input-available", "output-error"],
    *,
    dynamic: bool | None = None,
    input: Json | UnsetType = UNSET,
    raw_input: Json | UnsetType = UNSET,
    encoding: Encoding = None,
    output: ToolOutput | None = None,
) -> None:
    """Replace a call of the current step, or add it. Members that the chunk omits are dropped."""
    kind = bool(chunk.dynamic) if dynamic is None else dynamic
    call = state.call_in_step(chunk.tool_call_id, kind)
    new = call is None
    if call is None:
        call = _push(state, ToolCallPart(chunk.tool_call_id, chunk.tool_name, tool_state, dynamic=kind))
    part = call.release()
    rules = state.rules
    executed = chunk.provider_executed
    call.part = replace(
        part,
        name=chunk.tool_name if rules.renames or kind else part.name,
        state=tool_state,
        input=input,
        raw_input=raw_input,
        input_encoding=_encoding(rules, part, encoding),
        output=output,
        preliminary=None,
        provider_executed=part.provider_executed if executed is None else executed,
        **_description(rules, part, chunk),
        **_metadata(rules, part, chunk, tool_state, new),
    )


def _end(
    rules: Rules,
    call: CallSlot,
    chunk: ToolOutputAvailable | ToolOutputError | ToolOutputChunk,
    *,
    tool_state: Ended,
    output: ToolOutput | None,
    preliminary: bool | None = None,
) -> None:
    """Set the output of a call. Raw input is only kept for the error of a static call."""
    part = call.release()
    keeps_raw = tool_state == "output-error" and not part.dynamic
    executed = chunk.provider_executed
    if rules.outputs_match_kind and part.dynamic and tool_state == "output-available":
        executed = None  # version 5 ignores it
    call.part = replace(
        part,
        state=tool_state,
        raw_input=part.raw_input if keeps_raw else UNSET,
        input_encoding=_encoding(rules, part, None),
        output=output,
        preliminary=preliminary,
        provider_executed=part.provider_executed if executed is None else executed,
        **_output_metadata(rules, part, chunk),
    )


def _encoding(rules: Rules, part: ToolCallPart, encoding: Encoding) -> Encoding:
    """The input encoding after a chunk; readers that do not support it leave it unchanged."""
    return encoding if rules.describes_calls else part.input_encoding


def _push(state: State, part: ToolCallPart) -> CallSlot:
    state.push(part)
    return state.calls[part.id][-1]


def _description(
    rules: Rules, part: ToolCallPart, chunk: ToolInputStart | ToolInputAvailable | ToolInputError
) -> dict[str, Any]:
    """Title and tool metadata: kept unless the chunk has new ones. An input error has no title."""
    if not rules.describes_calls:
        return {}
    title = None if isinstance(chunk, ToolInputError) else chunk.title
    return {
        "title": part.title if title is None else title,
        "tool_metadata": part.tool_metadata if chunk.tool_metadata is None else chunk.tool_metadata,
    }


def _metadata(
    rules: Rules,
    part: ToolCallPart,
    chunk: ToolInputStart | ToolInputAvailable | ToolInputError,
    tool_state: str,
    new: bool,
) -> dict[str, Any]:
    """The field for a chunk's provider metadata: that of the call, or of the result if there is one."""
    metadata = chunk.provider_metadata
    if metadata is None:
        return {}
    if rules.result_metadata:
        place = "result" if tool_state == "output-error" else "call"
        return {f"{place}_provider_metadata": metadata}
    if isinstance(chunk, ToolInputStart) or not (new or tool_state == "input-available"):
        return {}
    return {"call_provider_metadata": metadata}


def _output_metadata(
    rules: Rules, part: ToolCallPart, chunk: ToolOutputAvailable | ToolOutputError | ToolOutputChunk
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if rules.result_metadata and chunk.provider_metadata is not None:
        result["result_provider_metadata"] = chunk.provider_metadata
    if rules.describes_calls and chunk.tool_metadata is not None:
        result["tool_metadata"] = chunk.tool_metadata
    return result
