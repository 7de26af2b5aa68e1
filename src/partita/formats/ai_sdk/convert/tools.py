"""Tool parts, each of which becomes several pieces: some the assistant says, some the tool answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from partita.types.json import Json, JsonObject

from .fields import Fields
from .parts import present
from .rules import Rules
from .values import is_nullish, json_text, text_of

OMITTED: Final = "Tool output omitted because the tool is no longer available."
DENIED: Final = "Tool call execution denied."
UNKNOWN_ERROR: Final = "unknown error"


@dataclass(frozen=True, slots=True)
class ModelTool:
    """A tool, and how it shows its output to the model; `None` shows the output as it is.

    `to_model_output(tool_call_id, input, output)` gives the output of a tool result, such as
    `{"type": "text", "value": "done"}`. An absent value is `None`.
    """

    to_model_output: Callable[[Json, Json, Json], JsonObject] | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool part under conversion: what decides which pieces it gives."""

    part: Fields
    rules: Rules
    tools: Mapping[str, ModelTool | None]
    state: Json
    dynamic: bool  # the part names its tool in a member, not in its type
    like_static: bool
    provider_executed: bool
    approval: Fields | None
    approved: Json

    @property
    def answered(self) -> bool:
        """Whether the tool message may say something about this call."""
        return not self.provider_executed or not is_nullish(self.approved)

    @property
    def name(self) -> Json:
        """The name of the tool."""
        if self.dynamic:
            return self.part.get("toolName")
        return self.part.get("type").partition("-")[2]


def tool_call(part: Fields, rules: Rules, tools: Mapping[str, ModelTool | None]) -> ToolCall:
    """A tool part, read for conversion."""
    dynamic = bool(part.get("type") == "dynamic-tool")
    like_static = rules.dynamic_is_static or not dynamic
    approval = part.inside("approval") if rules.approvals and not is_nullish(part.get("approval")) else None
    return ToolCall(
        part,
        rules,
        tools,
        state=part.get("state"),
        dynamic=dynamic,
        like_static=like_static,
        provider_executed=like_static and part.get("providerExecuted") is True,
        approval=approval,
        approved=UNSET if approval is None else approval.get("approved"),
    )


def said(call: ToolCall) -> list[JsonObject]:
    """What a tool part adds to the assistant message."""
    if call.state == "input-streaming":
        return []
    found = [_call(call)]
    if call.approval is not None:
        found.append(_request(call))
    if call.provider_executed and call.state == "output-available":
        found.append(_own_result(call, _shown_output(call)))
    if call.provider_executed and call.state == "output-error":
        found.append(_own_result(call, {"type": "error-json", "value": _or_null(call.part.get("errorText"))}))
    return found


def answers(call: ToolCall) -> list[JsonObject]:
    """What a tool part adds to the tool message behind it."""
    found: list[JsonObject] = []
    if not is_nullish(call.approved):
        found.append(_response(call))
    if call.rules.refusal_results and call.state == "approval-responded" and call.approved is False:
        found.append(_refusal(call))
    if call.provider_executed:
        return found
    if call.state == "output-denied" and call.rules.approvals:
        found.append(_denial(call))
    elif call.state == "output-available":
        found.append(_result(call, _shown_output(call)))
    elif call.state == "output-error":
        found.append(_error(call))
    return found


def _call(call: ToolCall) -> JsonObject:
    part = call.part
    failed = call.state == "output-error"
    from_result = ("resultProviderMetadata",) if call.rules.result_options and failed else ()
    return present(
        type="tool-call",
        toolCallId=part.get("toolCallId"),
        toolName=call.name,
        input=_failed_input(part) if failed and call.like_static else part.get("input"),
        providerExecuted=part.get("providerExecuted") if call.like_static else UNSET,
        providerOptions=part.first("callProviderMetadata", *from_result),
    )


def _failed_input(part: Fields) -> Json:
    return part.get("rawInput") if is_nullish(part.get("input")) else part.get("input")


def _request(call: ToolCall) -> JsonObject:
    approval = call.part.inside("approval")
    extras = (
        present(isAutomatic=approval.get("isAutomatic"), reason=approval.first("requestReason"))
        if call.rules.automatic_approvals
        else {}
    )
    return extras | present(
        type="tool-approval-request",
        approvalId=approval.get("id"),
        toolCallId=call.part.get("toolCallId"),
        inputSchemaInput=approval.get("inputSchemaInput"),
        signature=approval.first("signature"),
    )


def _response(call: ToolCall) -> JsonObject:
    approval = call.part.inside("approval")
    return present(
        type="tool-approval-response",
        approvalId=approval.get("id"),
        approved=approval.get("approved"),
        reason=approval.get("reason"),
        providerExecuted=call.part.get("providerExecuted"),
    )


def _refusal(call: ToolCall) -> JsonObject:
    reason = call.part.inside("approval").get("reason")
    return _result(call, present(type="execution-denied", reason=reason))


def _denial(call: ToolCall) -> JsonObject:
    reason = UNSET if call.approval is None else call.approval.first("reason")
    return _result(call, {"type": "error-text", "value": DENIED if reason is UNSET else reason})


def _error(call: ToolCall) -> JsonObject:
    error = call.part.first("errorText")
    if error is UNSET:
        error = UNKNOWN_ERROR
    value = error if isinstance(error, str) else json_text(error)
    return _result(call, {"type": "error-text", "value": value})


def _shown_output(call: ToolCall) -> JsonObject:
    part = call.part
    name = text_of(part.get("toolName") if call.dynamic else call.name)
    if name not in call.tools and call.dynamic and part.get("dynamic") is False:
        return {"type": "text", "value": OMITTED}
    tool = call.tools.get(name)
    if tool is not None and tool.to_model_output is not None:
        return tool.to_model_output(
            _or_null(part.get("toolCallId")), _or_null(part.get("input")), _or_null(part.get("output"))
        )
    output = part.get("output")
    return {"type": "text" if isinstance(output, str) else "json", "value": _or_null(output)}


def _result(call: ToolCall, output: JsonObject, *options: str) -> JsonObject:
    return present(
        type="tool-result",
        toolCallId=call.part.get("toolCallId"),
        toolName=call.name,
        output=output,
        providerOptions=call.part.first(*options, "callProviderMetadata"),
    )


def _own_result(call: ToolCall, output: JsonObject) -> JsonObject:
    return _result(call, output, *(("resultProviderMetadata",) if call.rules.result_options else ()))


def _or_null(value: Json) -> Json:
    return None if value is UNSET else value
