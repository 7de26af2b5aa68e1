"""What people have replied to the calls that a message waits with."""

from typing import NamedTuple

from partita.runtime.agent.calls import open_calls
from partita.types.messages import AssistantMessage, ToolCallPart


class Replies(NamedTuple):
    """The calls of the last step of a message that have not ended."""

    decided: tuple[ToolCallPart, ...] = ()
    """Someone has said whether they may run."""
    waiting: tuple[ToolCallPart, ...] = ()
    """Nobody has said a thing yet."""


def replies_in(message: AssistantMessage | None) -> Replies:
    """The replies in the message that an answer goes on with."""
    calls = [] if message is None else open_calls(message)
    whole = [call for call in calls if call.state != "input-streaming"]
    decided = tuple(call for call in whole if call.state == "approval-responded")
    return Replies(decided, tuple(call for call in whole if call.state != "approval-responded"))


def is_allowed(call: ToolCallPart) -> bool:
    """Whether someone has allowed a call."""
    return call.approval is not None and call.approval.approved is True


def reason_of(call: ToolCallPart) -> str | None:
    """Why someone has decided as he did, if he said so."""
    return None if call.approval is None else call.approval.reason
