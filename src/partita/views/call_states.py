"""The state of a tool call, as it is displayed."""

from typing import Final, Literal, NamedTuple, TypeAlias, assert_never

from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
)

StateKind: TypeAlias = Literal["done", "failed", "denied", "interrupted", "open", "waiting"]
"""`open`: there is no result yet. `waiting`: a user has to approve the call."""

INTERRUPTIONS: Final = {
    "aborted": "interrupted",
    "timeout": "interrupted: timeout",
    "lost": "no result: the agent stopped unexpectedly",
}


class CallState(NamedTuple):
    """The kind of a state, a label (none for `done`), and the reason that was given."""

    kind: StateKind
    label: str = ""
    reason: str = ""


def call_state(call: ToolCallPart) -> CallState:
    """The state of a call. Its output takes precedence over its `state`."""
    match call.output:
        case InterruptedOutput(reason=reason, message=message):
            return CallState("interrupted", INTERRUPTIONS[reason], message or "")
        case ExecutionDeniedOutput(reason=reason):
            return _denied(call, reason)
        case ErrorTextOutput() | ErrorJsonOutput():
            return CallState("failed", "failed")
        case _:
            return _by_name(call)


def _by_name(call: ToolCallPart) -> CallState:
    approval = call.approval
    match call.state:
        case "input-streaming":
            return CallState("open", "incomplete input")
        case "input-available":
            return CallState("open", "no result")
        case "approval-requested":
            reason = approval.request_reason or "" if approval else ""
            return CallState("waiting", "waiting for approval", reason)
        case "approval-responded" if approval is not None and approval.approved is False:
            return _denied(call, None)
        case "approval-responded":
            return CallState("open", "approved, no result")
        case "output-available":
            return CallState("open", "still running") if call.preliminary else CallState("done")
        case "output-error":
            return CallState("failed", "failed")
        case "output-denied":
            return _denied(call, None)
        case _:
            assert_never(call.state)


def _denied(call: ToolCallPart, reason: str | None) -> CallState:
    approval_reason = call.approval.reason if call.approval is not None else None
    return CallState("denied", "denied", reason or approval_reason or "")
