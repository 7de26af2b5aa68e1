"""Replies to calls that wait for someone: of runs at work here, of runs at work elsewhere, of ended runs.

A reply is durable, or refused, when `give` returns. For a run at work it goes through the run's own log; a
process that works on it hears of it by a signal, and says in the log what it made of it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias, assert_never

from partita.errors import ApprovalError, BusyError, ConflictError
from partita.runtime.closing import closed
from partita.runtime.error_mask import public_error
from partita.runtime.service import Decision
from partita.store.facade.store import Store
from partita.store.ids import new_id
from partita.types.chunks import Chunk, DataChunk, MessageMetadata
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.runs import Run

from .approvals import Answer, Shown, answered, check, note_of, response_of, shown_by
from .client_outputs import OUTPUT, ClientOutput, output_chunk, public_text_of, with_output
from .live_run import LiveRun
from .recovery import so_far

HEARD: Final = "data-partita-heard"
"""The note that a reply from another process was taken, or why not: `{token, why}`."""

AGAIN: Final = 0.05
"""Seconds until a call is looked for again, when a run has just begun to go on with its message."""

LEAVING: Final = 2.0
"""Seconds that a run has to end once a client gives the output of a call that may be the server's to run."""

Reply: TypeAlias = Answer | ClientOutput


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
                change = self._store.change_call(
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
        page = await self._store.list_runs(thread_id=thread_id, status=("running",), limit=1)
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
        topic = reply.approval_id if isinstance(reply, Answer) else reply.tool_call_id
        if topic in live.replied:
            raise ApprovalError(f"{topic!r} has had its reply", hint="a reply stands; ask the agent again")
        live.replied.add(topic)
        try:
            await _say(live, chunks)
        except ConflictError:  # it has just ended
            await live.over.wait()
            return False
        if isinstance(reply, Answer):
            decision = Decision(reply.approved, reply.reason, reply.by, self._clock())
            live.desk.answer(reply.approval_id, decision)
        return True

    def _chunks(self, live: LiveRun, reply: Reply) -> list[Chunk]:
        """What a reply adds to the log of a run; nothing, when the run does not wait for it."""
        now = self._clock()
        if isinstance(reply, Answer):
            question = live.desk.question(reply.approval_id)
            if question is not None:  # the agent itself tells what it made of the answer
                check(shown_by(reply), Shown(question.tool_call_id, question.tool_name, question.input))
                return [note_of(reply, now)]
        if self._waiting(live.fold.snapshot(), reply) is None:
            return []
        if isinstance(reply, Answer):
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
            await self._store.signal_run(run.id, {**_written(reply), "token": token})
        except ConflictError:  # it has ended
            return False
        return await self._heard(run.id, token, last_seq)

    async def _heard(self, run_id: str, token: str, after: int) -> bool:
        """Whether the reply was taken before the run ended."""
        async with closed(self._store.follow(run_id, after=after)) as steps:
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
            case Answer():
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
    if isinstance(reply, Answer):
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
        case Answer():
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
            return Answer(
                id,
                approved,
                by if isinstance(by, str) else None,
                reason if isinstance(reason, str) else None,
            )
        case {"kind": "output", "tool_call_id": str(id), "output": output}:
            return ClientOutput(id, OUTPUT.read(output), public=wanted.get("public") is True)
        case _:
            return None
