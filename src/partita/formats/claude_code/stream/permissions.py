"""The control protocol: may this call run, and what was answered. Both directions are read.

A question that is withdrawn needs no answer here: the result of the call says what became of it.
"""

from typing import Final

from msgspec import UNSET

from partita.formats.claude_code.blocks import rest_of
from partita.formats.claude_code.wire import CLAUDE_CODE
from partita.types.chunks import ToolApprovalRequest, ToolApprovalResponse
from partita.types.json import Json, JsonObject, is_object

from .call import UNKNOWN_TOOL, Call
from .looking import same
from .turn import Denial, Turn

ASKED: Final = ("subtype", "tool_use_id", "decision_reason")
REFUSED: Final = "user-rejected"
"""What Claude Code calls a refusal by a person."""


def take_request(turn: Turn, event: JsonObject) -> None:
    """Take a `control_request`: the question whether a call may run, or something between programs."""
    request, request_id = event.get("request"), event.get("request_id")
    subtype = request.get("subtype") if is_object(request) else None
    if is_object(request) and subtype == "can_use_tool" and isinstance(request_id, str):
        _ask(turn, request_id, request)
        return
    turn.is_interrupted |= subtype == "interrupt"
    turn.outlet.tell("control-request", event, transient=True)


def take_response(turn: Turn, event: JsonObject) -> None:
    """Take a `control_response`: the answer to a question, or something between programs."""
    response = event.get("response")
    request_id = response.get("request_id") if is_object(response) else None
    call = turn.approvals.get(request_id) if isinstance(request_id, str) else None
    is_asked = call is not None and call.approval == request_id and call.is_open
    if call is None or not is_asked or not is_object(response) or not isinstance(request_id, str):
        turn.outlet.tell("control-response", event, transient=True)
        return
    answer = response.get("response")
    _answer(turn, call, request_id, answer if is_object(answer) else {}, response.get("error"))


def take_cancel(turn: Turn, event: JsonObject) -> None:
    """Take a `control_cancel_request`."""
    turn.outlet.tell("control-cancel-request", event, transient=True)


def _ask(turn: Turn, request_id: str, request: JsonObject) -> None:
    call = None if request_id in turn.approvals else _asked(turn, request_id, request)
    if call is None or not call.is_open:
        turn.outlet.tell("permission-request", request)
        return
    if call.state == "streaming":
        name = request.get("tool_name")
        call.name(name if isinstance(name, str) and name else UNKNOWN_TOOL)
        turn.emit(call, call.available(request.get("input")))
    call.approval, turn.approvals[request_id] = request_id, call
    known = ("tool_name", "input") if same(request.get("input"), call.input) else ("tool_name",)
    reason = request.get("decision_reason")
    turn.emit(
        call,
        ToolApprovalRequest(
            request_id,
            call.facts.call_id,
            rest_of(request, *ASKED, *known) or UNSET,
            reason=reason if isinstance(reason, str) else None,
        ),
    )


def _asked(turn: Turn, request_id: str, request: JsonObject) -> Call:
    """The call that is asked about. Older versions do not say which: then it is one that looks the same."""
    call_id, name, asked = request.get("tool_use_id"), request.get("tool_name"), request.get("input")
    name = name if isinstance(name, str) else ""
    if isinstance(call_id, str):
        return turn.calls.get(call_id) or turn.guess(call_id, name, asked)
    for call in turn.calls.values():
        if call.is_open and call.approval is None and call.facts.name == name and same(call.input, asked):
            return call
    return turn.calls.get(request_id) or turn.guess(request_id, name, asked)


def _answer(turn: Turn, call: Call, request_id: str, answer: JsonObject, error: Json) -> None:
    approved = answer.get("behavior") == "allow"
    message = answer.get("message", error)
    reason = message if isinstance(message, str) else None
    noted = {
        name: answer[name] for name in ("updatedInput", "updatedPermissions", "interrupt") if name in answer
    }
    metadata = None if not noted else {**(call.facts.provider_metadata or {}), CLAUDE_CODE: noted}
    if not approved:
        turn.denials[call.wire_id] = Denial(REFUSED, reason)
        turn.is_interrupted |= answer.get("interrupt") is True
    turn.emit(call, ToolApprovalResponse(request_id, approved, reason=reason, provider_metadata=metadata))
