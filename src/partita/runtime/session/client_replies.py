"""Replies to calls that wait for someone: of runs at work here, of runs at work elsewhere, of ended runs.

A reply is durable, or refused, when `give` returns. For a run at work it goes through the run's own log; a
process that works on it hears of it by a signal, and says in the log what it made of it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, TypeAlias, assert_never

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ApprovalError, BusyError, ConflictError
from partita.formats.core.metadata import server_calls
from partita.runtime.error_mask import error_text, public_error
from partita.runtime.run_fold import DECISION
from partita.runtime.service import ApprovalDecision, closed
from partita.runtime.tools.outputs import chunk_of_output, truncate_output
from partita.store.ids import new_id
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, DataChunk, MessageMetadata, ToolApprovalResponse
from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import Approval, ToolOutput
from partita.types.threads import Run

from .live_run import LiveRun
from .recovery import so_far

# Answers to the question whether a call may run: checked against the call that asked, and stored with it.
#
# A question is answered once, by a call's own approval id. Whoever shows another input than the one that is
# stored, or answers what was not asked, is refused, and nothing changes.


class ApprovalResponse(NamedTuple):
    """The decision on an approval request. What is given of the call must match the stored call."""

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


def answered(call: ToolCallPart, answer: ApprovalResponse, now: datetime) -> ToolCallPart | None:
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


def note_of(answer: ApprovalResponse, now: datetime) -> Chunk:
    """The note of who answered, and when, for the log of the run that asked."""
    noted = {"approvalId": answer.approval_id, "by": answer.by, "at": now.isoformat()}
    return DataChunk(DECISION, noted, transient=True)


def response_of(answer: ApprovalResponse) -> Chunk:
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


def shown_by(answer: ApprovalResponse) -> Shown:
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


# Outputs of calls that the client runs: taken for a call that waits for one, and for no other.

OUTPUT: Final[Codec[ToolOutput]] = Codec(ToolOutput)


class ClientOutput(NamedTuple):
    """What came of a call. What is shown of the call must be what is stored of it."""

    tool_call_id: str
    output: ToolOutput
    tool_name: str | None = None
    input: Json | UnsetType = UNSET
    server_tools: frozenset[str] = frozenset()
    """Names of tools that the server runs: an output of theirs is refused."""
    public: bool = False
    """Whether end users may see the text of an error: it was reported for one of them."""


def with_output(call: ToolCallPart, given: ClientOutput, message: AssistantMessage) -> ToolCallPart | None:
    """The call of a message with its output; `None` when it is another one."""
    if call.id != given.tool_call_id:
        return None
    if call.name in given.server_tools or call.id in server_calls(message.content.metadata):
        raise ApprovalError(
            f"call {call.id!r} is not the client's to run",
            where=f"tool {call.name}",
            hint="the server runs it, once what the agent asked is answered",
        )
    if call.provider_executed or call.state != "input-available":
        state = "run by the provider" if call.provider_executed else call.state
        raise ApprovalError(
            f"call {call.id!r} does not wait for an output: it is {state}",
            where=f"tool {call.name}",
            hint="only a call whose input is there, and that has no output, takes one",
        )
    check(Shown(None, given.tool_name, given.input), Shown(call.id, call.name, call.input))
    fold = Accumulator(AssistantMessage(id="", content=[call]))
    fold.feed(output_chunk(given))
    (settled,) = fold.snapshot().parts
    assert isinstance(settled, ToolCallPart), "an output leaves a call a call"
    return settled


def public_text_of(given: ClientOutput) -> str | None:
    """The error that an end user's client reports for a tool of its own."""
    return error_text(truncate_output(given.output)) if given.public else None


def output_chunk(given: ClientOutput) -> Chunk:
    """The output, for the log of the run that waits for it. One that is too long is cut."""
    return chunk_of_output(given.tool_call_id, truncate_output(given.output))


HEARD: Final = "data-partita-heard"
"""The note that a reply from another process was taken, or why not: `{token, why}`."""

AGAIN: Final = 0.05
"""Seconds until a call is looked for again, when a run has just begun to go on with its message."""

LEAVING: Final = 2.0
"""Seconds that a run has to end once a client gives the output of a call that may be the server's to run."""

Reply: TypeAlias = ApprovalResponse | ClientOutput


class Replies:
    """Gives replies to the calls of threads."""

    def __init__(self, store: Store, live: Mapping[str, LiveRun], clock: Callable[[], datetime]) -> None:
        self._store = store
        self._live = live
        self._clock = clock

    async def give(self, thread_id: str, reply: Reply) -> None:
        """Give a reply, or refuse it with an `ApprovalError`."""
        while True:
            if await self._at_work(thread_id, reply):
                return
            try:
                note = _public(reply)
                change = self._store.messages.change_call(
                    thread_id, partial(self._replied, reply), note and note.message_metadata
                )
                if await change is None:
                    raise _nobody(reply, thread_id)
                return
            except BusyError:
                await asyncio.sleep(AGAIN)

    def hear(self, live: LiveRun, wanted: JsonObject) -> None:
        """Take up a reply that came through another process."""
        reply = _read(wanted)
        if reply is not None:
            live.background(self._hear(live, reply, wanted.get("token")))

    async def _hear(self, live: LiveRun, reply: Reply, token: object) -> None:
        why = None
        try:
            if not await self._here(live, reply):
                return  # the run has ended: whoever gave the reply sees that, and stores it
        except ApprovalError as error:
            why = str(error)
        with suppress(ConflictError):
            await _say(live, [DataChunk(HEARD, {"token": token, "why": why}, transient=True)])

    async def _at_work(self, thread_id: str, reply: Reply) -> bool:
        """Give the reply to a run of the thread that is at work and waits for it; whether there is one."""
        page = await self._store.runs.list(RunFilter(thread_id=thread_id, status=("running",)), limit=1)
        for run in page.items:
            live = self._live.get(run.id)
            if live is not None and self._store.owner in (None, live.owner or self._store.owner):
                return await self._here(live, reply)
            return await self._elsewhere(run, reply)
        return False

    async def _here(self, live: LiveRun, reply: Reply) -> bool:
        await live.ready.wait()
        chunks = self._chunks(live, reply)
        if not chunks:
            return False
        if isinstance(reply, ClientOutput) and not self._is_for_client(live, reply.tool_call_id):
            return await _ended(live, reply)
        topic = reply.approval_id if isinstance(reply, ApprovalResponse) else reply.tool_call_id
        if topic in live.replied:
            raise ApprovalError(f"{topic!r} has had its reply", hint="a reply stands; ask the agent again")
        live.replied.add(topic)
        try:
            await _say(live, chunks)
        except ConflictError:  # it has just ended
            await live.over.wait()
            return False
        if isinstance(reply, ApprovalResponse):
            decision = ApprovalDecision(reply.approved, reply.reason, reply.by, self._clock())
            live.approvals.decide(reply.approval_id, decision)
        return True

    def _chunks(self, live: LiveRun, reply: Reply) -> list[Chunk]:
        """What a reply adds to the log of a run; nothing, when the run does not wait for it."""
        now = self._clock()
        if isinstance(reply, ApprovalResponse):
            question = live.approvals.get(reply.approval_id)
            if question is not None:  # the agent itself tells what it made of the answer
                check(shown_by(reply), Shown(question.tool_call_id, question.tool_name, question.input))
                return [note_of(reply, now)]
        if self._waiting(live.fold.snapshot(), reply) is None:
            return []
        if isinstance(reply, ApprovalResponse):
            return [note_of(reply, now), response_of(reply)]
        note = _public(reply)
        return [output_chunk(reply)] if note is None else [note, output_chunk(reply)]

    def _is_for_client(self, live: LiveRun, call_id: str) -> bool:
        """Whether a call of a run at work is known to be the client's to run."""
        parts = (part for message in live.fold.snapshot() for part in message.parts)
        calls = [part for part in parts if isinstance(part, ToolCallPart) and part.id == call_id]
        return any(call.name in live.client_tools for call in calls)

    async def _elsewhere(self, run: Run, reply: Reply) -> bool:
        """Leave the reply with the process whose run waits for it, and see what it makes of it."""
        messages, last_seq = await so_far(self._store, run)
        if self._waiting(messages, reply) is None:
            return False
        token = new_id()
        try:
            await self._store.runs.signal(run.id, {**_written(reply), "token": token})
        except ConflictError:  # it has ended
            return False
        return await self._heard(run.id, token, last_seq)

    async def _heard(self, run_id: str, token: str, after: int) -> bool:
        """Whether the reply was taken before the run ended."""
        async with closed(self._store.logs.follow(run_id, after=after)) as steps:
            async for records in steps:
                for record in records:
                    match record.chunk:
                        case DataChunk(type=type_, data=data) if type_ == HEARD and is_object(data):
                            if data.get("token") == token:
                                return _taken(data)
                        case _:
                            pass
        return False

    def _waiting(self, messages: Sequence[AssistantMessage], reply: Reply) -> ToolCallPart | None:
        """The call of a run that waits for the reply. One that has had it refuses it."""
        for message in reversed(messages):
            for part in message.parts:
                if isinstance(part, ToolCallPart) and self._replied(reply, part, message) is not None:
                    return part
        return None

    def _replied(self, reply: Reply, call: ToolCallPart, message: AssistantMessage) -> ToolCallPart | None:
        """The call of a message with its reply; `None` when it is not the one that is meant."""
        match reply:
            case ApprovalResponse():
                return answered(call, reply, self._clock())
            case ClientOutput():
                return with_output(call, reply, message)
            case _:
                assert_never(reply)


async def _ended(live: LiveRun, reply: ClientOutput) -> bool:
    """Wait a moment for the end of a run: what it leaves without an output is the client's to run."""
    with suppress(TimeoutError):
        await asyncio.wait_for(live.over.wait(), LEAVING)
        return False
    raise ApprovalError(
        f"call {reply.tool_call_id!r} is not the client's to run",
        where=f"run {live.run.id}",
        hint="its agent is at work on it",
    )


def _public(reply: Reply) -> MessageMetadata | None:
    """What marks an error of a client's own tool as one that end users may see."""
    text = public_text_of(reply) if isinstance(reply, ClientOutput) else None
    return None if text is None else public_error(reply.tool_call_id or "", text)


async def _say(live: LiveRun, chunks: list[Chunk]) -> None:
    if live.say is None:
        raise ConflictError(f"run {live.run.id!r} is not at work", hint="start another one in its thread")
    await live.say(chunks)


def _taken(data: JsonObject) -> bool:
    why = data.get("why")
    if isinstance(why, str):
        raise ApprovalError(why, hint="load the thread again")
    return True


def _nobody(reply: Reply, thread_id: str) -> ApprovalError:
    if isinstance(reply, ApprovalResponse):
        return ApprovalError(
            f"nobody asked for approval {reply.approval_id!r}",
            where=f"thread {thread_id}",
            hint="answer with the approval id of a call of this thread",
        )
    return ApprovalError(
        f"no call {reply.tool_call_id!r} waits for an output",
        where=f"thread {thread_id}",
        hint="give the id of a call of this thread",
    )


def _written(reply: Reply) -> JsonObject:
    """A reply as a signal carries it. What it shows of the call has been checked."""
    match reply:
        case ApprovalResponse():
            told = {"approval_id": reply.approval_id, "approved": reply.approved}
            return {"kind": "answer", **told, "by": reply.by, "reason": reply.reason}
        case ClientOutput():
            output = to_json(reply.output)
            fields = {"tool_call_id": reply.tool_call_id, "output": output, "public": reply.public}
            return {"kind": "output", **fields}
        case _:
            assert_never(reply)


def _read(wanted: JsonObject) -> Reply | None:
    """The reply that a signal carries, if it carries one."""
    match wanted:
        case {"kind": "answer", "approval_id": str(id), "approved": bool(approved)}:
            by, reason = wanted.get("by"), wanted.get("reason")
            return ApprovalResponse(
                id,
                approved,
                by if isinstance(by, str) else None,
                reason if isinstance(reason, str) else None,
            )
        case {"kind": "output", "tool_call_id": str(id), "output": output}:
            return ClientOutput(id, OUTPUT.read(output), public=wanted.get("public") is True)
        case _:
            return None
