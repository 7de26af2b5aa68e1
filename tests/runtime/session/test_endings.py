"""The ways a run can end: its text and the reason are stored, no part stays open, and the log agrees."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from partita.errors import AgentError, StoreError
from partita.runtime.service import InvokeOptions, Prompt
from partita.runtime.session.log_writer import REFUSED
from partita.runtime.session.run_task import FAILURE, NO_END
from partita.runtime.session.session import Session
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorChunk,
    ErrorEvent,
    MessageAbort,
    RawEvent,
    StepStart,
    TextDelta,
    ToolApprovalRequest,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputAvailable,
    raw_text,
)
from partita.types.codec import to_json
from partita.types.json import Json, is_object
from partita.types.messages import ToolCallPart, UserMessage
from partita.types.parts import InterruptedOutput, JsonOutput
from partita.types.threads import RunStatus
from partita.types.usage import Usage
from tests.runtime.session.controlled_agent import (
    COMPLETE,
    ControlledAgent,
    Follower,
    checked_run,
    full_reply,
    notes,
    partial_reply,
    raw_of,
)

CALL: list[Chunk] = [StepStart(), ToolInputStart("c", "dig"), ToolInputAvailable("c", "dig", {"deep": 3})]

LAST_EVENTS: dict[str, tuple[AgentStreamEvent | BaseException | None, RunStatus, str | None]] = {
    "a completion": (COMPLETE, "completed", None),
    "a failure": (ErrorEvent(message="out of luck"), "failed", "out of luck"),
    "a cancellation": (CancelledEvent(reason="enough"), "cancelled", "enough"),
    "an exception": (ZeroDivisionError("by zero"), "failed", "ZeroDivisionError: by zero"),
    "an error of Partita": (AgentError("no key", hint="set one"), "failed", "no key; hint: set one"),
    "no last event": (None, "failed", NO_END),
}


@pytest.mark.parametrize(("last", "status", "reason"), LAST_EVENTS.values(), ids=LAST_EVENTS)
async def test_the_end_of_an_agent_ends_the_run(
    session: Session,
    last: AgentStreamEvent | BaseException | None,
    status: RunStatus,
    reason: str | None,
) -> None:
    agent = ControlledAgent(*partial_reply("seen"), *CALL)
    if last is not None:
        agent.emit(last)
    agent.end()
    run = await session.start(agent, "t1", "Well?")
    follower = Follower(session, run.id)
    ended = await session.wait(run.id)
    await follower.task
    assert (ended.status, ended.error) == (status, reason)
    result = await checked_run(session.store, run.id)
    assert result.text == "seen"
    (call,) = [part for part in result.message.parts if isinstance(part, ToolCallPart)]
    if status == "completed":
        assert result.ending is None
        assert call.state == "input-available"  # the client may run it
    else:
        assert result.ending == {"status": status, **({} if reason is None else {"reason": reason})}
        assert call.output == InterruptedOutput("aborted" if status == "cancelled" else "lost")
        last_chunk = MessageAbort(reason) if status == "cancelled" else ErrorChunk(reason or "")
        assert follower.chunks[-1] == last_chunk


async def test_all_details_of_a_failure_are_stored(session: Session) -> None:
    failure = ErrorEvent(message="over", name="limit", details={"retryAfter": 3}, raw_text="!{}\n")
    agent = ControlledAgent(failure)
    agent.end()
    run = await session.wait((await session.start(agent, "t1", "Well?")).id)
    follower = Follower(session, run.id, everything=True)
    await follower.task
    (note,) = notes(follower.chunks, FAILURE)
    assert note.data == {"message": "over", "name": "limit", "details": {"retryAfter": 3}}
    assert await raw_of(session.store, run.id) == b"!{}\n"


async def test_an_output_that_cannot_be_stored_fails_the_run_and_keeps_the_rest(session: Session) -> None:
    agent = ControlledAgent(*partial_reply("seen"), *CALL, ToolOutputAvailable("c", {"ratio": float("nan")}))
    agent.complete()
    run = await session.wait((await session.start(agent, "t1", "Well?")).id)
    assert run.status == "failed"
    assert "$.content.parts[2].output.value.ratio" in str(run.error)
    result = await checked_run(session.store, run.id)
    assert result.text == "seen"
    (call,) = [part for part in result.message.parts if isinstance(part, ToolCallPart)]
    assert call.output == JsonOutput({"ratio": None})  # as in the log, which readers have received


async def test_a_turn_with_an_invalid_message_does_not_start(session: Session) -> None:
    call = ToolCallPart(id="c", name="dig", state="input-available", input={})
    message = UserMessage(id="u", content=[call])  # type: ignore[list-item]
    with pytest.raises(StoreError) as refused:
        await session.start(ControlledAgent(), "t1", message)
    assert refused.value.where == "$.content.parts[0].type"
    assert await session.store.threads.get("t1") is None


STATES: dict[str, tuple[list[Chunk], str | None, Json]] = {
    "before the first chunk": ([], None, None),
    "during a text": (partial_reply("half a"), "half a", None),
    "during the input of a call": (
        [*partial_reply("so "), ToolInputStart("c", "dig")],
        "so ",
        {"type": "interrupted", "reason": "aborted"},
    ),
    "during a tool call": (
        [*partial_reply("so "), *CALL],
        "so ",
        {"type": "interrupted", "reason": "aborted"},
    ),
    "during an approval request": (
        [*partial_reply("so "), *CALL, ToolApprovalRequest("a", "c")],
        "so ",
        None,
    ),
    "after a preliminary output": (
        [*partial_reply("so "), *CALL, ToolOutputAvailable("c", "12 %", preliminary=True)],
        "so ",
        {"type": "text", "value": "12 %"},
    ),
}


@pytest.mark.parametrize(("events", "text", "output"), STATES.values(), ids=STATES)
async def test_a_stopped_run_keeps_its_output(
    session: Session, events: list[Chunk], text: str | None, output: Json
) -> None:
    agent = ControlledAgent(*events)
    run = await session.start(agent, "t1", "Well?")
    await agent.started.wait()
    if events:
        await Follower(session, run.id).until(events[-1])
    stopped = await session.stop(run.id, "enough")
    assert agent.stopped.is_set()
    assert (stopped.status, stopped.error) == ("cancelled", "enough")
    result = await checked_run(session.store, run.id)
    assert result.text == (text or "")
    assert result.ending == {"status": "cancelled", "reason": "enough"}
    calls = [part for part in result.message.parts if isinstance(part, ToolCallPart)]
    assert [None if call.output is None else to_json(call.output) for call in calls] == [output] * len(calls)
    again = await session.stop(run.id, "twice")
    assert again == stopped


async def test_a_run_that_is_stopped_at_once_does_not_call_its_agent(session: Session) -> None:
    agent = ControlledAgent()
    run = await session.start(agent, "t1", "Well?")
    stopped = await session.stop(run.id)
    assert (stopped.status, stopped.error) == ("cancelled", None)
    assert (await checked_run(session.store, run.id)).ending == {"status": "cancelled"}


class IgnoresCancellation:
    """An agent that ignores its cancellation."""

    name = "uncancellable"

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.ended = asyncio.Event()
        self.released = asyncio.Event()

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        try:
            for chunk in partial_reply("seen"):
                yield ChunkEvent(chunk=chunk)
            while not self.released.is_set():
                try:
                    await self.released.wait()
                except asyncio.CancelledError:
                    self.cancelled.set()
            for _ in range(3):
                yield ChunkEvent(chunk=TextDelta("t", " too late"))
        finally:
            self.ended.set()


async def test_an_agent_that_ignores_its_cancellation_is_abandoned(session: Session) -> None:
    agent = IgnoresCancellation()
    run = await session.start(agent, "t1", "Well?")
    await Follower(session, run.id).until(TextDelta("t", "seen"))
    stopped = await session.stop(run.id, "enough")
    assert agent.cancelled.is_set()
    assert not agent.ended.is_set()
    assert stopped.status == "cancelled"
    agent.released.set()
    await agent.ended.wait()
    assert (await checked_run(session.store, run.id)).text == "seen"
    assert (await session.start(ControlledAgent(), "t1", "And now?")).status == "running"


class KeepsEmitting(IgnoresCancellation):
    """An agent that ignores its cancellation and continues to emit chunks."""

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        try:
            for chunk in partial_reply("seen"):
                yield ChunkEvent(chunk=chunk)
            while True:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)
                yield ChunkEvent(chunk=TextDelta("t", "."))
        finally:
            self.ended.set()


async def test_the_chunks_of_an_abandoned_agent_are_dropped(session: Session) -> None:
    agent = KeepsEmitting()
    run = await session.start(agent, "t1", "Well?")
    await Follower(session, run.id).until(TextDelta("t", "seen"))
    assert (await session.stop(run.id, "enough")).status == "cancelled"
    await agent.ended.wait()
    result = await checked_run(session.store, run.id)
    assert result.text.startswith("seen")
    log = await session.store.logs.read(run.id)
    assert log[-1].chunk == MessageAbort("enough")


class FailsAtCall:
    """An agent whose `invoke` raises."""

    name = "broken"

    def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[AgentStreamEvent]:
        raise AgentError("the key is missing", hint="set it")


async def test_a_run_fails_if_the_call_of_its_agent_raises(session: Session) -> None:
    run = await session.wait((await session.start(FailsAtCall(), "t1", "Well?")).id)
    assert (run.status, run.error) == ("failed", "the key is missing; hint: set it")
    result = await checked_run(session.store, run.id)
    assert result.ending == {"status": "failed", "reason": run.error}


async def test_an_invalid_chunk_is_noted_and_the_run_continues(session: Session) -> None:
    stray = TextDelta("nowhere", "?")
    agent = ControlledAgent(*partial_reply("one "), ChunkEvent(chunk=stray, raw_text="stray\n"))
    agent.complete(TextDelta("t", "two"), *full_reply()[2:])
    run = await session.wait((await session.start(agent, "t1", "Well?")).id)
    follower = Follower(session, run.id, everything=True)
    await follower.task
    (note,) = notes(follower.chunks, REFUSED)
    assert is_object(note.data)
    assert note.data["chunk"] == to_json(stray)
    assert "nowhere" in note.data["why"]
    assert stray not in follower.chunks
    result = await checked_run(session.store, run.id)
    assert (result.run.status, result.text) == ("completed", "one two")
    assert await raw_of(session.store, run.id) == b"stray\n"


RAW: dict[str, Callable[[str], AgentStreamEvent]] = {
    "with a chunk": lambda text: ChunkEvent(chunk=TextDelta("t", "x"), raw_text=text),
    "without a chunk": lambda text: RawEvent(raw_text=text),
    "with a failure": lambda text: ErrorEvent(message="out of luck", raw_text=text),
    "with a completion": lambda text: CompleteEvent(raw_text=text),
    "with a cancellation": lambda text: CancelledEvent(raw_text=text),
}


@pytest.mark.parametrize("event", RAW.values(), ids=RAW)
async def test_every_byte_of_the_agent_is_stored(
    session: Session, event: Callable[[str], AgentStreamEvent]
) -> None:
    sent = [b"data: {}\r\n\r\n", b"\xff\x00 no text\n", "größer\n".encode(), b""]
    agent = ControlledAgent(*partial_reply())
    agent.emit(*(RawEvent(raw_text=raw_text(data)) for data in sent))
    agent.emit(event("the last\n"))
    agent.end()
    run = await session.wait((await session.start(agent, "t1", "Well?")).id)
    assert await raw_of(session.store, run.id) == b"".join([*sent, b"the last\n"])


async def test_the_usage_and_the_cost_of_a_run_are_stored(session: Session) -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    agent = ControlledAgent(*full_reply("Hm."), CompleteEvent(usage=usage))
    agent.end()
    options = InvokeOptions(model="claude-sonnet-4-5")
    run = await session.wait((await session.start(agent, "t1", "Well?", options=options)).id)
    assert (run.model, run.usage) == ("claude-sonnet-4-5", usage)
    assert run.cost is not None
    assert run.cost > 0


async def test_the_session_id_of_an_agent_is_used_in_the_next_run(session: Session) -> None:
    class Named(ControlledAgent):
        def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[AgentStreamEvent]:
            session_ids.append(how["session_id"])
            return super().invoke(prompt, **how)

    session_ids: list[str | None] = []
    for _ in range(2):
        agent = Named(*full_reply("Hm."), CompleteEvent(agent_result={"sessionId": "abc"}))
        agent.end()
        await session.wait((await session.start(agent, "t1", "Well?")).id)
    assert session_ids == [None, "abc"]
