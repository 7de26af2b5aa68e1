"""Events of the stream about the turn: notices, permissions, and the result.

Source: https://docs.claude.com/en/docs/agent-sdk/typescript#message-types; the control protocol is in the
source of https://github.com/anthropics/claude-agent-sdk-python
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import UNSET

from partita.formats.core.anthropic import FINISH_REASONS
from partita.formats.core.members import is_equal, without
from partita.formats.losses import UNREAD
from partita.types import chunks as c
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object

from .stream_parts import REPEATED, UNKNOWN_TOOL, CallStream, strings
from .stream_turn import Denial, Turn
from .wire import (
    CLAUDE_CODE,
    IN_PLACE,
    INIT,
    LASTING,
    NOTICES,
    RESULT_NAMES,
    TRANSIENT,
    read_usage,
)

# Notices


def _read_system(turn: Turn, event: JsonObject) -> None:
    subtype = event.get("subtype")
    if subtype == "init":
        _read_init(turn, event)
    elif not isinstance(subtype, str):
        turn.emitter.emit_unknown(event)
    elif subtype in TRANSIENT:
        turn.emitter.emit_data(subtype, event, transient="compact_error" not in event)
    elif subtype in LASTING:
        _read_lasting(turn, subtype, event)
    else:
        turn.emitter.emit_unknown(event)


def _read_init(turn: Turn, event: JsonObject) -> None:
    """Begin a turn, with its session, its folder and its tools."""
    own = {name: event[key] for key, name in INIT.items() if event.get(key) is not None}
    rest = without(event, *INIT, "type", "subtype", "uuid", "model")
    metadata: JsonObject = {CLAUDE_CODE: {**own, "init": rest} if rest else own}
    if isinstance(event.get("model"), str):
        metadata["model"] = event["model"]
        turn.main.has_model = True
    elif "model" in event:
        turn.emitter.report_loss(".model", event["model"], UNREAD)
    turn.session_id = event.get("session_id")
    if "uuid" in event:
        turn.emitter.report_loss(".uuid", event["uuid"], UNREAD)
    turn.emitter.begin(metadata)


def _read_lasting(turn: Turn, subtype: str, event: JsonObject) -> None:
    call_id = event.get("tool_use_id")
    if subtype == "permission_denied" and isinstance(call_id, str):
        kind, reasons = (
            event.get("decision_reason_type"),
            (event.get("decision_reason"), event.get("message")),
        )
        reason = next((reason for reason in reasons if isinstance(reason, str) and reason), None)
        turn.denials[call_id] = Denial(kind if isinstance(kind, str) else "permission", reason)
    # The response is retracted before the notice is added: else the notice would be removed with it.
    turn.retract(set(strings(event.get("retracted_message_uuids"))))
    id_ = event.get(IN_PLACE.get(subtype, ""))
    turn.emitter.emit_data(subtype, event, id=id_ if isinstance(id_, str) else None)


def _read_notice(turn: Turn, event: JsonObject) -> None:
    kind = str(event["type"])
    turn.emitter.emit_data(kind, event, transient=NOTICES[kind])


def _keep_alive(turn: Turn, event: JsonObject) -> None:
    """Ignore a keep-alive event."""
    turn.emitter.report_loss("", event, UNREAD)


# Permissions. Requests and responses are read. A request that is withdrawn needs no response: the result of
# the call shows the decision.

USER_REJECTED: Final = "user-rejected"
"""The name of a denial by a person."""

_RESPONSE: Final = ("updatedInput", "updatedPermissions", "interrupt")


def _read_request(turn: Turn, event: JsonObject) -> None:
    """Read a request: whether a call may run, or another request between programs."""
    request, request_id = event.get("request"), event.get("request_id")
    subtype = request.get("subtype") if is_object(request) else None
    if is_object(request) and subtype == "can_use_tool" and isinstance(request_id, str):
        _request_approval(turn, request_id, request)
        turn.emitter.report_members(event, "", "type", "request_id", "request")
        return
    turn.is_interrupted |= subtype == "interrupt"
    turn.emitter.emit_data("control-request", event, transient=True)


def _request_approval(turn: Turn, request_id: str, request: JsonObject) -> None:
    call = None if request_id in turn.approvals else _requested_call(turn, request_id, request)
    if call is None or not call.is_open:
        turn.emitter.emit_data("permission-request", request)
        return
    name, reason = request.get("tool_name"), request.get("decision_reason")
    if call.state == "streaming":
        call.set_name(name if isinstance(name, str) and name else UNKNOWN_TOOL)
        turn.emit(call, call.available(request.get("input")))
    call.approval, turn.approvals[request_id] = request_id, call
    known = ("tool_name", "input") if is_equal(request.get("input"), call.input) else ("tool_name",)
    is_text = isinstance(reason, str)
    for key in (*known, "tool_use_id", *(() if is_text else ("decision_reason",))):
        if key in request:
            turn.emitter.report_loss(f".request.{key}", request[key], REPEATED)
    turn.emit(
        call,
        c.ToolApprovalRequest(
            request_id,
            call.facts.call_id,
            without(request, "subtype", "tool_use_id", "decision_reason", *known) or UNSET,
            reason=reason if is_text else None,
        ),
    )


def _requested_call(turn: Turn, request_id: str, request: JsonObject) -> CallStream:
    """Return the call of a request. Older versions do not name it: it has the same name and input."""
    call_id, name, asked = request.get("tool_use_id"), request.get("tool_name"), request.get("input")
    name = name if isinstance(name, str) else ""
    if isinstance(call_id, str):
        return turn.calls.get(call_id) or turn.add_unknown_call(call_id, name, asked)
    for call in turn.calls.values():
        if call.is_open and call.approval is None and call.facts.name == name and is_equal(call.input, asked):
            return call
    return turn.calls.get(request_id) or turn.add_unknown_call(request_id, name, asked)


def _read_response(turn: Turn, event: JsonObject) -> None:
    """Read the response to a request for permission, or another response between programs."""
    response = event.get("response")
    request_id = response.get("request_id") if is_object(response) else None
    call = turn.approvals.get(request_id) if isinstance(request_id, str) else None
    is_pending = call is not None and call.approval == request_id and call.is_open
    if call is None or not is_pending or not is_object(response) or not isinstance(request_id, str):
        turn.emitter.emit_data("control-response", event, transient=True)
        return
    input_ = response.get("response")
    decision: JsonObject = input_ if is_object(input_) else {}
    approved, message = decision.get("behavior") == "allow", decision.get("message", response.get("error"))
    reason = message if isinstance(message, str) else None
    noted = {name: decision[name] for name in _RESPONSE if name in decision}
    metadata = None if not noted else {**(call.facts.provider_metadata or {}), CLAUDE_CODE: noted}
    if not approved:
        turn.denials[call.wire_id] = Denial(USER_REJECTED, reason)
        turn.is_interrupted |= decision.get("interrupt") is True
    turn.emit(call, c.ToolApprovalResponse(request_id, approved, reason=reason, provider_metadata=metadata))
    known = ("message",) if reason is not None else ()
    turn.emitter.report_members(event, "", "type", "response")
    turn.emitter.report_members(response, ".response", "request_id", "response")
    turn.emitter.report_members(decision, ".response.response", *known, *_RESPONSE)


def _read_cancel(turn: Turn, event: JsonObject) -> None:
    turn.emitter.emit_data("control-cancel-request", event, transient=True)


# The result


def _read_result(turn: Turn, event: JsonObject) -> None:
    """End what is open, emit errors, and end the message."""
    if not turn.is_new(event):
        return
    is_aborted = _is_aborted(turn, event)
    turn.is_interrupted |= is_aborted
    for denial in event["permission_denials"] if is_array(event.get("permission_denials")) else ():
        if is_object(denial) and isinstance(denial.get("tool_use_id"), str):
            turn.deny(denial["tool_use_id"], "permission")
    deferred = event.get("deferred_tool_use")
    turn.finish(except_call=deferred.get("id") if is_object(deferred) else None)
    _emit_text(turn, event)
    if is_aborted:
        reason = event.get("terminal_reason")
        turn.emitter.emit(c.MessageAbort(reason if isinstance(reason, str) else "interrupted"))
    for error in () if is_aborted else _errors(event):
        turn.emitter.emit(c.ErrorChunk(error))
    reason = "other" if is_aborted else _finish_reason(turn, event)
    turn.emitter.end(c.MessageFinish(reason, _metadata(turn, event)))
    turn.has_result, turn.is_interrupted = True, False


def _finish_reason(turn: Turn, event: JsonObject) -> str:
    """Return the finish reason. If the result has no stop reason, it is that of the last response."""
    stop = event.get("stop_reason")
    if stop is None and not turn.has_result and turn.main.previous is not None:
        stop = turn.main.previous.facts.get("stopReason")
    if event.get("subtype") == "error_max_turns":
        return "length"
    if _is_error(event):
        return "error"
    if stop is None:
        return "stop"
    return FINISH_REASONS.get(stop, "other") if isinstance(stop, str) else "other"


def _is_error(event: JsonObject) -> bool:
    """Whether the turn failed. An error of the API has the subtype of a success and `is_error`."""
    subtype = event.get("subtype")
    return event.get("is_error") is True or (isinstance(subtype, str) and subtype.startswith("error"))


def _metadata(turn: Turn, event: JsonObject) -> JsonObject:
    own: JsonObject = {name: event[key] for key, name in RESULT_NAMES.items() if event.get(key) is not None}
    more = without(event, *RESULT_NAMES, "type", "uuid", "usage", "is_error", "result")
    own |= {key: value for key, value in more.items() if value is not None}
    for key in ("uuid", "is_error"):
        if key in event:
            turn.emitter.report_loss(f".{key}", event[key], UNREAD)
    if event.get("result", "") not in ("", turn.main.last_text):
        own["result"] = event["result"]
    elif "result" in event:
        turn.emitter.report_loss(".result", event["result"], REPEATED)
    metadata: JsonObject = {CLAUDE_CODE: own}
    if is_object(event.get("usage")):
        metadata["usage"] = to_json(read_usage(event["usage"]))
    elif "usage" in event:
        turn.emitter.report_loss(".usage", event["usage"], UNREAD)
    return metadata


def _errors(event: JsonObject) -> list[str]:
    """Return the texts of the errors."""
    if not _is_error(event):
        return []
    texts = [error for error in strings(event.get("errors")) if error]
    if texts:
        return texts
    candidates: tuple[Json, ...] = (event.get("result"), event.get("terminal_reason"), event.get("subtype"))
    return [next((text for text in candidates if isinstance(text, str) and text), "unknown error")]


def _is_aborted(turn: Turn, event: JsonObject) -> bool:
    """Whether the turn was stopped. Versions without a reason report an error during execution."""
    reason = event.get("terminal_reason")
    if isinstance(reason, str):
        return reason.startswith("aborted")
    return turn.is_interrupted and event.get("subtype") == "error_during_execution"


def _emit_text(turn: Turn, event: JsonObject) -> None:
    """Emit the text of a command without a response of the model, which only the result has."""
    text = event.get("result")
    if turn.main.has_message or event.get("is_error") is True or not isinstance(text, str) or not text:
        return
    agent = turn.main
    agent.begin_response(None, streamed=False)
    agent.end(agent.append(agent.open("text"), text))
    agent.end_step()


NOTICE_READERS: Final[Mapping[str, Callable[[Turn, JsonObject], None]]] = {
    "system": _read_system,
    "result": _read_result,
    "control_request": _read_request,
    "control_response": _read_response,
    "control_cancel_request": _read_cancel,
    "keep_alive": _keep_alive,
    **dict.fromkeys(NOTICES, _read_notice),
}
