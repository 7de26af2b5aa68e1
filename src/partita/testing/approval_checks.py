"""The check that an agent asks for approval before a call, and follows the decision."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from partita.errors import StreamError
from partita.runtime.replay.calls import unwrapped
from partita.runtime.service import Decision, Question
from partita.types.chunks import ToolApprovalRequest
from partita.types.events import AgentStreamEvent, ChunkEvent
from partita.types.messages import AssistantMessage, ToolCallPart

from .candidate import Candidate, ContractError, begin, collect_events, made


class Counter:
    """A desk that makes the same decision on every question, once observers have seen the question."""

    def __init__(self, approved: bool, patience: float) -> None:
        self._decision = Decision(approved, "so says the test")
        self._patience = patience
        self._shown: dict[str, asyncio.Event] = {}
        self.asked: list[Question] = []
        self.unseen: list[Question] = []
        """Questions that no chunk shows."""

    async def ask(self, question: Question) -> Decision:
        """The answer."""
        self.asked.append(question)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._event(question.approval_id).wait()
        if not self._event(question.approval_id).is_set():
            self.unseen.append(question)
        return self._decision

    def see(self, event: AgentStreamEvent) -> None:
        """Observe an event."""
        chunk = unwrapped(event.chunk)[1] if isinstance(event, ChunkEvent) else None
        if isinstance(chunk, ToolApprovalRequest):
            self._event(chunk.approval_id).set()

    def _event(self, approval_id: str) -> asyncio.Event:
        return self._shown.setdefault(approval_id, asyncio.Event())


async def asks_before_it_acts(candidate: Candidate) -> None:
    """A question reaches the desk and the observers; a call that is refused does not run."""
    for approved in (False, True):
        desk = Counter(approved, candidate.patience / 2)
        asking = replace(
            candidate, prompt=candidate.asking or "", options=replace(candidate.options, desk=desk)
        )
        async with made(candidate.make) as service:
            collected = await collect_events(begin(service, asking), candidate.patience, desk.see)
        fold = collected.fold()
        if isinstance(fold, StreamError):
            continue  # that is for another check
        _was_asked(desk)
        calls = {call.id: call for message in fold.snapshot() for call in _calls(message)}
        for question in desk.asked:
            _was_heeded(question, calls.get(question.tool_call_id), approved)


def _was_asked(desk: Counter) -> None:
    if not desk.asked:
        raise ContractError("it did not ask", hint="await options.desk.ask(Question(…)) before the call runs")
    if desk.unseen:
        raise ContractError(
            f"nobody was shown the question {desk.unseen[0].approval_id!r}",
            hint="give a ToolApprovalRequest with its approval id while the desk is asked",
        )


def _was_heeded(question: Question, call: ToolCallPart | None, approved: bool) -> None:
    where = f"call {question.tool_call_id}"
    if call is None or call.name != question.tool_name:
        raise ContractError(
            f"the question is about {question.tool_name!r}, which was not called",
            where=where,
            hint="ask with the id and the name of the call",
        )
    if approved and call.state != "output-available":
        raise ContractError(
            f"the call was allowed, and is {call.state!r}", where=where, hint="run it, and tell its output"
        )
    if not approved and call.state == "output-available":
        raise ContractError("the call was refused, and ran", where=where, hint="wait for the decision")


def _calls(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]
