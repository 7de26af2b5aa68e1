"""Tool calls in model messages, where the approval and the result of a call are separate blocks.

`_write` writes what the SDK's `convertToModelMessages` writes for the UI part of a call. Everything else in a
payload is the residue of a block, which is kept in notes of the call. `reader` and `writer` match and place
the blocks.
"""

from collections.abc import Mapping
from dataclasses import replace as replace_fields
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.ai_sdk.convert import DENIED, OMITTED, UNKNOWN_ERROR, Rules, convert_to_model_messages
from partita.formats.ai_sdk.convert import RULES as SDK_RULES
from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.tool_text import write_tool_text
from partita.formats.core.wire import Wire, residue, restore
from partita.types.json import Json, JsonObject, is_object
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
    ToolResultPart,
    ToolState,
)
from partita.types.tool_results import state_after, state_before

from . import wire
from .parts import metadata, options, read_item, read_output, write_items, write_output
from .wire import NAME

RULES: Final[Mapping[int, Rules]] = {
    # Version 4 has no messages without content.
    4: replace_fields(SDK_RULES[5], version=4, empty_messages=False),
    **SDK_RULES,
}

OWN_OPTIONS: Final = "ownOptions"
"""The note that the result does not repeat the options of its call."""

STATES_WITHOUT_APPROVALS: Final[Mapping[str, ToolState]] = {
    "approval-requested": "input-available",
    "approval-responded": "input-available",
}
"""The states of calls in versions without approvals."""


class CallBlocks(NamedTuple):
    """The blocks of one call, as far as there are any."""

    call: Any = None
    request: Any = None
    response: Any = None
    result: Any = None
    in_assistant: bool = False
    """Whether the result is in the assistant message, because the provider ran the call."""
    has_tool_message: bool = False
    """Whether a tool message follows, even an empty one."""


BLOCKS: Final = ("call", "request", "response", "result")


# Reading


def read_call(blocks: CallBlocks, version: int) -> ToolCallPart:
    """Return the call of some blocks, with notes of everything that would be written differently."""
    candidates = _candidates(_call(blocks, version), blocks)
    for call in candidates:
        if _write(call, version) == blocks:
            return call
    call = candidates[-1]
    found: JsonObject = {}
    if call.result_provider_metadata is not None:
        found[OWN_OPTIONS] = True
    written = _write(_with_notes(call, found), version)
    for name in BLOCKS:
        one, other = getattr(written, name), getattr(blocks, name)
        if one is not None and other is not None and (kept := residue(one, other)):
            found[name] = kept
    if blocks.result is None and (
        written.result is not None or written.has_tool_message != blocks.has_tool_message
    ):
        found["result"] = False
    return _with_notes(call, found)


def _with_notes(call: ToolCallPart, found: JsonObject) -> ToolCallPart:
    return replace(call, call_provider_metadata=add_notes(call.call_provider_metadata, NAME, found))


def _call(blocks: CallBlocks, version: int) -> ToolCallPart:
    block = blocks.call
    executed = getattr(block, "provider_executed", UNSET)
    output = None if blocks.result is None else read_result(blocks.result, version).output
    input_ = block.input
    if version == 4 and block.args is not UNSET:
        input_ = block.args
    call = ToolCallPart(
        block.tool_call_id,
        block.tool_name,
        "input-available",
        input_,
        output=output,
        approval=None if blocks.request is None else _approval(blocks.request, blocks.response),
        provider_executed=None if executed is UNSET else executed,
        call_provider_metadata=metadata(block.provider_options),
        result_provider_metadata=None if blocks.result is None else metadata(_options(blocks.result)),
    )
    return replace(call, state=state_before(call) if output is None else state_after(output))


def _approval(request: wire.Request, response: wire.Response | None) -> Approval:
    return Approval(
        request.approval_id,
        None if response is None else response.approved,
        None if response is None else _or_none(response.reason),
        _or_none(request.reason),
        None if request.is_automatic is UNSET else request.is_automatic,
        _or_none(request.signature),
        input_schema_input=request.input_schema_input,
    )


def _or_none(value: str | UnsetType) -> str | None:
    return None if value is UNSET else value


def _options(result: Any) -> JsonObject | UnsetType:
    given: JsonObject | UnsetType = (
        result.providerOptions if isinstance(result, wire.ResultV4) else result.provider_options
    )
    return given


def read_result(block: Any, version: int) -> ToolResultPart:
    """Return the result of a block, without notes."""
    if not isinstance(block, wire.ResultV4):
        output = read_output(block.output, version)
        return ToolResultPart(block.tool_call_id, block.tool_name, output, metadata(block.provider_options))
    return ToolResultPart(
        block.toolCallId, block.toolName, _read_output_v4(block), metadata(block.providerOptions)
    )


def _read_output_v4(block: wire.ResultV4) -> ToolOutput:
    if block.result is UNSET and block.output is not UNSET:
        return read_output(block.output, 5)
    if block.experimental_content is not UNSET:
        return ContentOutput(tuple(read_item(item, 4) for item in block.experimental_content))
    value = None if block.result is UNSET else block.result
    if block.isError is True:
        return ErrorTextOutput(value) if isinstance(value, str) else ErrorJsonOutput(value)
    return TextOutput(value) if isinstance(value, str) else JsonOutput(value)


def _candidates(call: ToolCallPart, blocks: CallBlocks) -> list[ToolCallPart]:
    """Return the calls that the SDK may have converted to these blocks, the likeliest first."""
    if call.result_provider_metadata == call.call_provider_metadata:
        call = replace(call, result_provider_metadata=None)  # the conversion repeats that of the call
    is_refused = call.approval is not None and call.approval.approved is False
    match call.output:
        case ErrorTextOutput() if is_refused:
            return [replace(call, state="output-denied", output=None), call]
        case ExecutionDeniedOutput() if is_refused and call.provider_executed and not blocks.in_assistant:
            return [replace(call, state="approval-responded", output=None), call]
        case ErrorJsonOutput(value=str() as text, provider_metadata=None) if blocks.in_assistant:
            return [replace(call, output=ErrorTextOutput(text)), call]
        case _:
            return [call]


# Writing


class Written(NamedTuple):
    """The blocks of a call in the assistant message, and in the tool message after it."""

    assistant: list[Any]
    tool: list[Any]
    has_tool_message: bool


NO_BLOCKS: Final = Written([], [], has_tool_message=False)


def write_call(call: ToolCallPart, version: int, *, is_superseded: bool) -> Written:
    """Return the blocks of a call; none if its approval request is dropped because of a later prompt."""
    rules = RULES[version]
    if is_superseded and rules.user_supersedes and _state(call, rules) == "approval-requested":
        return NO_BLOCKS
    blocks = _write(call, version)
    kept = notes(call.call_provider_metadata, NAME)
    if kept.get("result") is False and call.output is None:
        blocks = blocks._replace(result=None, has_tool_message=False)
    call_, request, response, result = (_restored(getattr(blocks, name), kept.get(name)) for name in BLOCKS)
    assistant = [call_, request, result if blocks.in_assistant else None]
    tool = [response, None if blocks.in_assistant else result]
    return Written(
        [block for block in assistant if block is not None],
        [block for block in tool if block is not None],
        blocks.has_tool_message,
    )


def convert_ui_part(ui: Json, version: int, *, is_superseded: bool, role: str = "assistant") -> Written:
    """Return the SDK's blocks for a UI part that does not fit its schema, such as a call without an id."""
    later = [{"role": "user", "parts": []}] if is_superseded else []
    try:
        messages = convert_to_model_messages(
            [{"role": role, "parts": [ui]}, *later], version=max(version, 5)
        )[: -1 if later else None]
    except ConversionError:
        return NO_BLOCKS
    found: JsonObject = {message["role"]: message["content"] for message in messages}
    has_tool_message = RULES[version].empty_messages and "tool" in found
    return Written(found.get(role, []), found.get("tool", []), has_tool_message)


def _restored(block: Wire | None, kept: Json) -> Any:
    return restore(block, kept) if block is not None and is_object(kept) else block


def _write(call: ToolCallPart, version: int) -> CallBlocks:
    """Return the SDK's blocks for a call."""
    rules = RULES[version]
    is_like_static = rules.dynamic_is_static or not call.dynamic
    is_executed = version > 4 and is_like_static and call.provider_executed is True
    approval = call.approval if rules.approvals else None
    approved = None if approval is None else approval.approved
    response = None if approved is None else _response(call, approved)
    has_tool_message = rules.empty_messages and not is_executed
    if call.state == "input-streaming":
        return CallBlocks(response=response, has_tool_message=has_tool_message)
    state = _state(call, rules)
    blocks = CallBlocks(
        _call_block(call, rules, is_failed=state == "output-error", is_like_static=is_like_static),
        None if approval is None else _request(call, approval, rules),
        response,
        has_tool_message=has_tool_message,
    )
    in_assistant = is_executed and state in ("output-available", "output-error")
    output = _output(call, state, rules, is_executed=is_executed)
    if output is None:
        return blocks
    return blocks._replace(
        result=_result(call, output, rules, in_assistant=in_assistant), in_assistant=in_assistant
    )


def _state(call: ToolCallPart, rules: Rules) -> ToolState:
    if isinstance(call.output, ErrorJsonOutput | ExecutionDeniedOutput | InterruptedOutput):
        return "output-error"
    if rules.approvals:
        return call.state
    if call.state == "output-denied":
        return "output-error"
    return STATES_WITHOUT_APPROVALS.get(call.state, call.state)


def _call_block(call: ToolCallPart, rules: Rules, *, is_failed: bool, is_like_static: bool) -> Wire:
    input_: Json = call.input
    if is_failed and is_like_static and (input_ is UNSET or input_ is None):
        input_ = call.raw_input
    given = options(call.call_provider_metadata)
    if given is UNSET and is_failed and rules.result_options:
        given = options(call.result_provider_metadata)
    about: JsonObject = {"tool_call_id": call.id, "tool_name": call.name, "provider_options": given}
    if rules.version == 4:
        return wire.CallV4(args=input_, **about)
    executed = call.provider_executed if is_like_static else None
    return wire.Call(input=input_, provider_executed=UNSET if executed is None else executed, **about)


def _request(call: ToolCallPart, approval: Approval, rules: Rules) -> Wire:
    about: JsonObject = {}
    if rules.automatic_approvals:
        about = {"is_automatic": approval.is_automatic, "reason": approval.request_reason}
    about["signature"] = approval.signature
    return wire.Request(
        approval_id=approval.id,
        tool_call_id=call.id,
        input_schema_input=approval.input_schema_input,
        **{name: value for name, value in about.items() if value is not None},
    )


def _response(call: ToolCallPart, approved: bool) -> Wire:
    assert call.approval is not None
    reason, executed = call.approval.reason, call.provider_executed
    return wire.Response(
        approval_id=call.approval.id,
        approved=approved,
        reason=UNSET if reason is None else reason,
        provider_executed=UNSET if executed is None else executed,
    )


def _output(call: ToolCallPart, state: ToolState, rules: Rules, *, is_executed: bool) -> ToolOutput | None:
    """Return the output of the result that the SDK writes, or `None` if it writes none."""
    output, approval = call.output, call.approval if rules.approvals else None
    is_refused = approval is not None and approval.approved is False
    if rules.refusal_results and state == "approval-responded" and is_refused:
        return ExecutionDeniedOutput(None if approval is None else approval.reason)
    if state == "output-denied" and not is_executed and not isinstance(output, ContentOutput):
        reason = None if approval is None else approval.reason
        return ErrorTextOutput(DENIED if reason is None else reason)
    if state == "output-available" or (state == "output-denied" and not is_executed):
        if call.dynamic and call.unavailable:
            return TextOutput(OMITTED)
        return JsonOutput(None) if output is None else output
    if state != "output-error":
        return None
    match output:
        case None if call.state == "output-denied":  # of a version without approvals
            reason = None if call.approval is None else call.approval.reason
            return ErrorTextOutput(DENIED if reason is None else reason)
        case None:
            return ErrorJsonOutput(None) if is_executed else ErrorTextOutput(UNKNOWN_ERROR)
        case ErrorTextOutput() if is_executed:
            return ErrorJsonOutput(output.value, provider_metadata=output.provider_metadata)
        case _:
            return output


def _result(call: ToolCallPart, output: ToolOutput, rules: Rules, *, in_assistant: bool) -> Wire:
    given = options(call.result_provider_metadata)
    if notes(call.call_provider_metadata, NAME).get(OWN_OPTIONS) is not True and (
        given is UNSET or not (in_assistant and rules.result_options)
    ):
        given = options(call.call_provider_metadata)
    return write_result(call.id, call.name, output, given, rules.version)


def write_result(
    id_: str, name: str, output: ToolOutput, given: JsonObject | UnsetType, version: int
) -> Wire:
    """The block of a result."""
    if version > 4:
        written = write_output(output, version)
        return wire.Result(tool_call_id=id_, tool_name=name, output=written, provider_options=given)
    block = wire.ResultV4(toolCallId=id_, toolName=name, providerOptions=given)
    text = write_tool_text(output)
    if text.items is not None:
        items = write_items(text.items, 4)
        return replace(block, result=items, experimental_content=items)
    if isinstance(output, ExecutionDeniedOutput) and output.reason is None:
        return replace(block, result=DENIED, isError=True)
    return replace(block, result=text.value, isError=UNSET if text.outcome == "success" else True)


def write_result_part(part: ToolResultPart, version: int) -> Wire:
    """The block of a result without a call."""
    return write_result(part.id, part.name, part.output, options(part.provider_metadata), version)
