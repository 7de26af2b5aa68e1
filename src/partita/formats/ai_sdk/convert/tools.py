"""Tool parts, each of which becomes several pieces: some the assistant says, some the tool answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
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


class Piece(Enum):
    """One thing that a tool part gives to a model message."""

    CALL = auto()
    REQUEST = auto()
    OWN_OUTPUT = auto()  # results of a call the provider ran are said by the assistant
    OWN_ERROR = auto()
    RESPONSE = auto()
    REFUSAL = auto()
    DENIAL = auto()
    OUTPUT = auto()
    ERROR = auto()


# States that a part may be in, by what became of its request for approval.
_OPEN_STATES: Final = frozenset({"input-streaming", "input-available", "output-available", "output-error"})
_ASKED_STATES: Final = frozenset({"approval-requested"})
_GRANTED_STATES: Final = frozenset({"approval-responded", "output-available", "output-error"})
_DENIED_STATES: Final = frozenset({"approval-responded", "output-denied"})


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

    def take_name(self) -> Json:
        """The name of the tool."""
        if self.dynamic:
            self.part.lose("type", "model messages do not tell dynamic tools from static ones")
            return self.part.take("toolName")
        return self.part.take("type").partition("-")[2]


def tool_call(part: Fields, rules: Rules, tools: Mapping[str, ModelTool | None]) -> ToolCall:
    """A tool part, read for conversion."""
    dynamic = bool(part.peek("type") == "dynamic-tool")
    like_static = rules.dynamic_is_static or not dynamic
    approval = part.inside("approval") if rules.approvals and not is_nullish(part.peek("approval")) else None
    return ToolCall(
        part,
        rules,
        tools,
        state=part.peek("state"),
        dynamic=dynamic,
        like_static=like_static,
        provider_executed=like_static and part.peek("providerExecuted") is True,
        approval=approval,
        approved=UNSET if approval is None else approval.peek("approved"),
    )


def said(call: ToolCall) -> list[JsonObject]:
    """What a tool part adds to the assistant message."""
    return [_PIECES[piece](call) for piece in _said(call, call.state)]


def answers(call: ToolCall) -> list[JsonObject]:
    """What a tool part adds to the tool message behind it."""
    return [_PIECES[piece](call) for piece in _answered(call, call.state)]


def is_silent(call: ToolCall) -> bool:
    """Whether the part gives nothing at all."""
    return not _pieces(call, call.state)


def state_is_told(call: ToolCall) -> bool:
    """Whether the pieces tell the state: no other state that fits the approval gives the same ones."""
    fitting = _fitting_states(call)
    if not isinstance(call.state, str) or call.state not in fitting:
        return False
    told = _pieces(call, call.state)
    return all(_pieces(call, other) != told for other in fitting - {call.state})


def _pieces(call: ToolCall, state: Json) -> list[Piece]:
    return [*_said(call, state), *_answered(call, state)]


def _said(call: ToolCall, state: Json) -> list[Piece]:
    if state == "input-streaming":
        return []
    found = [Piece.CALL]
    if call.approval is not None:
        found.append(Piece.REQUEST)
    if call.provider_executed and state == "output-available":
        found.append(Piece.OWN_OUTPUT)
    if call.provider_executed and state == "output-error":
        found.append(Piece.OWN_ERROR)
    return found


def _answered(call: ToolCall, state: Json) -> list[Piece]:
    found: list[Piece] = []
    if not is_nullish(call.approved):
        found.append(Piece.RESPONSE)
    if call.rules.refusal_results and state == "approval-responded" and call.approved is False:
        found.append(Piece.REFUSAL)
    if call.provider_executed:
        return found
    if state == "output-denied" and call.rules.approvals:
        found.append(Piece.DENIAL)
    elif state == "output-available":
        found.append(Piece.OUTPUT)
    elif state == "output-error":
        found.append(Piece.ERROR)
    return found


def _fitting_states(call: ToolCall) -> frozenset[str]:
    if call.approval is None:
        return _OPEN_STATES
    if is_nullish(call.approved):
        return _ASKED_STATES
    return _GRANTED_STATES if call.approved is True else _DENIED_STATES


def _call(call: ToolCall) -> JsonObject:
    part = call.part
    failed = call.state == "output-error"
    from_result = ("resultProviderMetadata",) if call.rules.result_options and failed else ()
    return present(
        type="tool-call",
        toolCallId=part.take("toolCallId"),
        toolName=call.take_name(),
        input=_take_failed_input(part) if failed and call.like_static else part.take("input"),
        providerExecuted=part.take("providerExecuted") if call.like_static else UNSET,
        providerOptions=part.take_first("callProviderMetadata", *from_result),
    )


def _take_failed_input(part: Fields) -> Json:
    return part.take("rawInput") if is_nullish(part.peek("input")) else part.take("input")


def _request(call: ToolCall) -> JsonObject:
    approval = call.part.inside("approval")
    extras = (
        present(isAutomatic=approval.take("isAutomatic"), reason=approval.take_first("requestReason"))
        if call.rules.automatic_approvals
        else {}
    )
    return extras | present(
        type="tool-approval-request",
        approvalId=approval.take("id"),
        toolCallId=call.part.take("toolCallId"),
        inputSchemaInput=approval.take("inputSchemaInput"),
        signature=approval.take_first("signature"),
    )


def _response(call: ToolCall) -> JsonObject:
    approval = call.part.inside("approval")
    return present(
        type="tool-approval-response",
        approvalId=approval.take("id"),
        approved=approval.take("approved"),
        reason=approval.take("reason"),
        providerExecuted=call.part.take("providerExecuted"),
    )


def _refusal(call: ToolCall) -> JsonObject:
    reason = call.part.inside("approval").take("reason")
    return _result(call, present(type="execution-denied", reason=reason))


def _denial(call: ToolCall) -> JsonObject:
    reason = UNSET if call.approval is None else call.approval.take_first("reason")
    return _result(call, {"type": "error-text", "value": DENIED if reason is UNSET else reason})


def _error(call: ToolCall) -> JsonObject:
    error = call.part.take_first("errorText")
    if error is UNSET:
        error = UNKNOWN_ERROR
    value = error if isinstance(error, str) else json_text(error)
    return _result(call, {"type": "error-text", "value": value})


def _own_error(call: ToolCall) -> JsonObject:
    return _own_result(call, {"type": "error-json", "value": _or_null(call.part.take("errorText"))})


def _output(call: ToolCall) -> JsonObject:
    return _result(call, _shown_output(call))


def _own_output(call: ToolCall) -> JsonObject:
    return _own_result(call, _shown_output(call))


def _shown_output(call: ToolCall) -> JsonObject:
    part = call.part
    name = text_of(part.peek("toolName") if call.dynamic else call.take_name())
    if name not in call.tools and call.dynamic and part.peek("dynamic") is False:
        part.lose("output", "the tool is no longer available")
        return {"type": "text", "value": OMITTED}
    tool = call.tools.get(name)
    if tool is not None and tool.to_model_output is not None:
        part.lose("output", "the tool shows the model something else")
        return tool.to_model_output(
            _or_null(part.peek("toolCallId")), _or_null(part.peek("input")), _or_null(part.peek("output"))
        )
    output = part.take("output")
    return {"type": "text" if isinstance(output, str) else "json", "value": _or_null(output)}


def _result(call: ToolCall, output: JsonObject, *options: str) -> JsonObject:
    return present(
        type="tool-result",
        toolCallId=call.part.take("toolCallId"),
        toolName=call.take_name(),
        output=output,
        providerOptions=call.part.take_first(*options, "callProviderMetadata"),
    )


def _own_result(call: ToolCall, output: JsonObject) -> JsonObject:
    return _result(call, output, *(("resultProviderMetadata",) if call.rules.result_options else ()))


def _or_null(value: Json) -> Json:
    return None if value is UNSET else value


_PIECES: Final[dict[Piece, Callable[[ToolCall], JsonObject]]] = {
    Piece.CALL: _call,
    Piece.REQUEST: _request,
    Piece.OWN_OUTPUT: _own_output,
    Piece.OWN_ERROR: _own_error,
    Piece.RESPONSE: _response,
    Piece.REFUSAL: _refusal,
    Piece.DENIAL: _denial,
    Piece.OUTPUT: _output,
    Piece.ERROR: _error,
}
