"""How far a call has come, in a mark and a few words that need no colour."""

from typing import NamedTuple, assert_never

from partita.types.messages import ToolCallPart
from partita.types.tools import (
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    ToolState,
)

INTERRUPTIONS = {
    "aborted": "interrupted: someone stopped it",
    "timeout": "interrupted: it took too long",
    "lost": "no result: the agent went away",
}


class State(NamedTuple):
    """A mark, its colour, what is to be said beside it, and the reason that was given."""

    mark: str
    style: str
    words: str = ""
    reason: str = ""


def state_of(call: ToolCallPart) -> State:
    """The state of a call. What came of it counts for more than what its state says."""
    match call.output:
        case InterruptedOutput(reason=reason, message=message):
            return State("■", "yellow", INTERRUPTIONS[reason], message or "")
        case ExecutionDeniedOutput(reason=reason):
            return _denied(call, reason)
        case ErrorTextOutput() | ErrorJsonOutput():
            return State("✗", "red", "failed")
        case _:
            return _by_name(call, call.state)


def _by_name(call: ToolCallPart, state: ToolState) -> State:
    approval = call.approval
    match state:
        case "input-streaming":
            return State("…", "yellow", "its input is not whole")
        case "input-available":
            return State("…", "yellow", "no result")
        case "approval-requested":
            return State(
                "?", "magenta", "waiting for approval", approval.request_reason or "" if approval else ""
            )
        case "approval-responded" if approval is not None and approval.approved is False:
            return _denied(call, None)
        case "approval-responded":
            return State("…", "yellow", "approved, no result")
        case "output-available":
            return State("…", "yellow", "still at work") if call.preliminary else State("✓", "green")
        case "output-error":
            return State("✗", "red", "failed")
        case "output-denied":
            return _denied(call, None)
        case _:
            assert_never(state)


def _denied(call: ToolCallPart, reason: str | None) -> State:
    by = call.approval.reason if call.approval is not None else None
    return State("⊘", "red", "denied", reason or by or "")
