"""Answers to the question whether a call may run: checked against the call that asked, and stored with it.

A question is answered once, by a call's own approval id. Whoever shows another input than the one that is
stored, or answers what was not asked, is refused, and nothing changes.
"""

from datetime import datetime
from typing import NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ApprovalError
from partita.runtime.folding import DECISION
from partita.types.chunks import Chunk, DataChunk, ToolApprovalResponse
from partita.types.json import Json, dumps, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.tools import Approval


class Answer(NamedTuple):
    """Yes or no to a question, by whom and why. What is shown of the call must be what is stored of it."""

    approval_id: str
    approved: bool
    by: str | None = None
    reason: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    input: Json | UnsetType = UNSET


class Shown(NamedTuple):
    """What someone shows of the call that he replies to, as far as he does."""

    tool_call_id: str | None
    tool_name: str | None
    input: Json | UnsetType


def answered(call: ToolCallPart, answer: Answer, now: datetime) -> ToolCallPart | None:
    """The call with its answer; `None` when it is not the one that asked."""
    approval = call.approval
    if approval is None or approval.id != answer.approval_id:
        return None
    if call.state != "approval-requested":
        raise answered_already(approval, call.id)
    check(shown_by(answer), Shown(call.id, call.name, call.input))
    decided = replace(
        approval,
        approved=answer.approved,
        reason=answer.reason,
        responded_by=answer.by,
        responded_at=now,
    )
    return replace(call, state="approval-responded", approval=decided)


def note_of(answer: Answer, now: datetime) -> Chunk:
    """The note of who answered, and when, for the log of the run that asked."""
    noted = {"approvalId": answer.approval_id, "by": answer.by, "at": now.isoformat()}
    return DataChunk(DECISION, noted, transient=True)


def response_of(answer: Answer) -> Chunk:
    """The answer, for the log of the run that asked."""
    return ToolApprovalResponse(answer.approval_id, answer.approved, answer.reason)


def answered_already(approval: Approval, call_id: str) -> ApprovalError:
    """The refusal of a second answer."""
    by = f" by {approval.responded_by}" if approval.responded_by else ""
    return ApprovalError(
        f"approval {approval.id!r} was answered already{by}: {_word(approval.approved)}",
        where=f"call {call_id}",
        hint="an answer stands; ask the agent again",
    )


def shown_by(answer: Answer) -> Shown:
    """What an answer shows of its call."""
    return Shown(answer.tool_call_id, answer.tool_name, answer.input)


def check(shown: Shown, stored: Shown) -> None:
    """Refuse a reply that is not about the call that waits for it."""
    for kind, said, is_stored in (
        ("call", shown.tool_call_id, stored.tool_call_id),
        ("tool", shown.tool_name, stored.tool_name),
    ):
        if said is not None and said != is_stored:
            raise ApprovalError(
                f"the question was about {kind} {is_stored!r}, not {said!r}",
                where=f"call {stored.tool_call_id}",
                hint="reply to what was asked",
            )
    if shown.input is not UNSET and not _same(shown.input, stored.input):
        raise ApprovalError(
            "the input that is shown is not the one that is stored",
            where=f"call {stored.tool_call_id}",
            hint="load the thread again: the stored call is the one that counts",
        )


def _same(one: Json, other: Json | UnsetType) -> bool:
    """Whether two values are the same JSON, to a client that has one kind of numbers and no order of members.

    A call with 1.0 or 10000000000000001 comes back from JavaScript with 1 and 10000000000000000.
    """
    return other is not UNSET and dumps(_plain(one)) == dumps(_plain(other))


def _plain(value: Json) -> Json:
    if is_object(value):
        return {key: _plain(value[key]) for key in sorted(value)}
    if is_array(value):
        return [_plain(item) for item in value]
    return _number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _number(value: float) -> Json:
    try:
        return float(value) + 0.0  # there is no -0 in JSON from JavaScript
    except OverflowError:
        return value


def _word(approved: bool | None) -> str:
    return "allowed" if approved else "refused" if approved is False else "withdrawn"
