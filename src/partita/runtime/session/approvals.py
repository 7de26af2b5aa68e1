"""Answers to the question whether a call may run: checked against the call that asked, and stored with it.

A question is answered once, by a call's own approval id. Whoever shows another input than the one that is
stored, or answers what was not asked, is refused, and nothing changes.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ApprovalError
from partita.runtime.folding import DECISION
from partita.runtime.service import Decision
from partita.store.facade.store import Store
from partita.types.chunks import DataChunk
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import ToolCallPart
from partita.types.runs import Run
from partita.types.tools import Approval

from .live_run import LiveRun
from .recovery import folded


class Answer(NamedTuple):
    """Yes or no to a question, by whom and why. What is shown of the call must be what is stored of it."""

    approval_id: str
    approved: bool
    by: str | None = None
    reason: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    input: Json | UnsetType = UNSET


class Asked(NamedTuple):
    """What a question is about."""

    tool_call_id: str
    tool_name: str
    input: Json | UnsetType


class Answers:
    """Gives answers to calls: of runs at work here, of runs at work elsewhere, of runs that have ended."""

    def __init__(self, store: Store, live: Mapping[str, LiveRun], clock: Callable[[], datetime]) -> None:
        self._store = store
        self._live = live
        self._clock = clock

    async def give(self, thread_id: str, answer: Answer) -> None:
        """Give an answer, or refuse it."""
        at_work = [live for live in self._live.values() if live.run.thread_id == thread_id]
        for live in at_work:
            question = live.desk.question(answer.approval_id)
            if question is not None:
                check(answer, Asked(question.tool_call_id, question.tool_name, question.input))
                await self._decide(live, answer)
                return
        if not at_work and await self._signal(thread_id, answer):
            return
        if await self._store.change_call(thread_id, lambda call: self._answered(call, answer)) is None:
            raise ApprovalError(
                f"nobody asked for approval {answer.approval_id!r}",
                where=f"thread {thread_id}",
                hint="answer with the approval id of a call of this thread",
            )

    def hear(self, live: LiveRun, wanted: JsonObject) -> None:
        """Take up an answer that came through another process, which has checked it."""
        fields = {
            name: wanted[name] for name in ("approval_id", "approved", "by", "reason") if name in wanted
        }
        answer = Answer(**fields)
        if live.desk.question(answer.approval_id) is not None:
            live.background(self._decide(live, answer))

    async def _decide(self, live: LiveRun, answer: Answer) -> None:
        now = self._clock()
        noted = {"approvalId": answer.approval_id, "by": answer.by, "at": now.isoformat()}
        if live.note is not None:
            await live.note(DataChunk(DECISION, noted, transient=True))
        live.desk.answer(answer.approval_id, Decision(answer.approved, answer.reason, answer.by, now))

    async def _signal(self, thread_id: str, answer: Answer) -> bool:
        """Leave the answer with the process whose run asked; whether some run did."""
        page = await self._store.list_runs(thread_id=thread_id, status=("running",), limit=1)
        for run in page.items:
            call = await self._asking(run, answer.approval_id)
            if call is not None:
                check(answer, Asked(call.id, call.name, call.input))
                told = {"approval_id": answer.approval_id, "approved": answer.approved}
                told |= {"by": answer.by, "reason": answer.reason}
                await self._store.signal_run(run.id, {"kind": "answer", **told})
                return True
        return False

    async def _asking(self, run: Run, approval_id: str) -> ToolCallPart | None:
        """The call of a run at work that waits for an answer of that id."""
        messages = folded(run, None, await self._store.read_log(run.id)).snapshot()
        for part in (part for message in messages for part in message.parts):
            match part:
                case ToolCallPart(state="approval-requested", approval=Approval(id=id)) if id == approval_id:
                    return part
                case _:
                    pass
        return None

    def _answered(self, call: ToolCallPart, answer: Answer) -> ToolCallPart | None:
        """The call with its answer; `None` when it is not the one that asked."""
        approval = call.approval
        if approval is None or approval.id != answer.approval_id:
            return None
        if call.state != "approval-requested":
            by = f" by {approval.responded_by}" if approval.responded_by else ""
            raise ApprovalError(
                f"approval {approval.id!r} was answered already{by}: {_word(approval.approved)}",
                where=f"call {call.id}",
                hint="an answer stands; ask the agent again",
            )
        check(answer, Asked(call.id, call.name, call.input))
        decided = replace(
            approval,
            approved=answer.approved,
            reason=answer.reason,
            responded_by=answer.by,
            responded_at=self._clock(),
        )
        return replace(call, state="approval-responded", approval=decided)


def check(answer: Answer, asked: Asked) -> None:
    """Refuse an answer that is not about the call that asked."""
    shown = {
        "call": (answer.tool_call_id, asked.tool_call_id),
        "tool": (answer.tool_name, asked.tool_name),
    }
    for kind, (said, stored) in shown.items():
        if said is not None and said != stored:
            raise ApprovalError(
                f"approval {answer.approval_id!r} is about {kind} {stored!r}, not {said!r}",
                hint="answer with what was asked",
            )
    if answer.input is not UNSET and not _same(answer.input, asked.input):
        raise ApprovalError(
            f"the input shown for approval {answer.approval_id!r} is not the one that was asked about",
            where=f"call {asked.tool_call_id}",
            hint="load the thread again: the stored call is the one that will run",
        )


def _same(one: Json | UnsetType, other: Json | UnsetType) -> bool:
    return type(one) is type(other) and dumps(one) == dumps(other) if other is not UNSET else one is UNSET


def _word(approved: bool | None) -> str:
    return "allowed" if approved else "refused" if approved is False else "withdrawn"
