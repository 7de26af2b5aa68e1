"""However a run ends: what was seen is in the message, why is said, nothing is open, and the log agrees."""

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
from tests.runtime.session.puppets import COMPLETE, Puppet, Watcher, answer, left_by, notes, raw_of, talk

CALL: list[Chunk] = [StepStart(), ToolInputStart("c", "dig"), ToolInputAvailable("c", "dig", {"deep": 3})]

BY_ITSELF: dict[str, tuple[AgentStreamEvent | BaseException | None, RunStatus, str | None]] = {
    "it is complete": (COMPLETE, "completed", None),
    "it says that it failed": (ErrorEvent(message="out of luck"), "failed", "out of luck"),
    "it says that it was stopped": (CancelledEvent(reason="enough"), "cancelled", "enough"),
    "it raises": (ZeroDivisionError("by zero"), "failed", "ZeroDivisionError: by zero"),
    "it raises something of ours": (AgentError("no key", hint="set one"), "failed", "no key; hint: set one"),
    "it goes without a word": (None, "failed", NO_END),
}


@pytest.mark.parametrize(("last", "status", "reason"), BY_ITSELF.values(), ids=BY_ITSELF)
async def test_an_agent_that_ends(
    session: Session,
    last: AgentStreamEvent | BaseException | None,
    status: RunStatus,
    reason: str | None,
) -> None:
    puppet = Puppet(*talk("seen"), *CALL)
    if last is not None:
        puppet.say(last)
    puppet.stop()
    run = await session.start(puppet, "t1", "Well?")
    watcher = Watcher(session, run.id)
    ended = await session.wait(run.id)
    await watcher.task
    assert (ended.status, ended.error) == (status, reason)
    left = await left_by(session.store, run.id)
    assert left.words == "seen"
    (call,) = [part for part in left.message.parts if isinstance(part, ToolCallPart)]
    if status == "completed":
        assert left.ended is None
        assert call.state == "input-available"  # the client may run it
    else:
        assert left.ended == {"status": status, **({} if reason is None else {"reason": reason})}
        assert call.output == InterruptedOutput("aborted" if status == "cancelled" else "lost")
        last_word = MessageAbort(reason) if status == "cancelled" else ErrorChunk(reason or "")
        assert watcher.chunks[-1] == last_word


async def test_all_that_an_agent_says_of_its_failure_is_kept(session: Session) -> None:
    failure = ErrorEvent(message="over", name="limit", details={"retryAfter": 3}, raw_text="!{}\n")
    puppet = Puppet(failure)
    puppet.stop()
    run = await session.wait((await session.start(puppet, "t1", "Well?")).id)
    watcher = Watcher(session, run.id, everything=True)
    await watcher.task
    (note,) = notes(watcher.chunks, FAILURE)
    assert note.data == {"message": "over", "name": "limit", "details": {"retryAfter": 3}}
    assert await raw_of(session.store, run.id) == b"!{}\n"


async def test_an_output_that_no_store_can_hold_fails_the_run_and_keeps_the_rest(session: Session) -> None:
    puppet = Puppet(*talk("seen"), *CALL, ToolOutputAvailable("c", {"ratio": float("nan")}))
    puppet.end()
    run = await session.wait((await session.start(puppet, "t1", "Well?")).id)
    assert run.status == "failed"
    assert "$.content.parts[2].output.value.ratio" in str(run.error)
    left = await left_by(session.store, run.id)
    assert left.words == "seen"
    (call,) = [part for part in left.message.parts if isinstance(part, ToolCallPart)]
    assert call.output == JsonOutput({"ratio": None})  # as the log, and everyone who watched, has it


async def test_a_turn_that_no_store_can_hold_does_not_begin(session: Session) -> None:
    call = ToolCallPart(id="c", name="dig", state="input-available", input={})
    said = UserMessage(id="u", content=[call])  # type: ignore[list-item]
    with pytest.raises(StoreError) as refused:
        await session.start(Puppet(), "t1", said)
    assert refused.value.where == "$.content.parts[0].type"
    assert await session.store.threads.get("t1") is None


STATES: dict[str, tuple[list[Chunk], str | None, Json]] = {
    "before anything came": ([], None, None),
    "while it streams": (talk("half a"), "half a", None),
    "while a call is written": (
        [*talk("so "), ToolInputStart("c", "dig")],
        "so ",
        {"type": "interrupted", "reason": "aborted"},
    ),
    "while a tool runs": ([*talk("so "), *CALL], "so ", {"type": "interrupted", "reason": "aborted"}),
    "while someone is asked": ([*talk("so "), *CALL, ToolApprovalRequest("a", "c")], "so ", None),
    "after a preliminary output": (
        [*talk("so "), *CALL, ToolOutputAvailable("c", "12 %", preliminary=True)],
        "so ",
        {"type": "text", "value": "12 %"},
    ),
}


@pytest.mark.parametrize(("said", "words", "output"), STATES.values(), ids=STATES)
async def test_a_run_that_is_stopped(
    session: Session, said: list[Chunk], words: str | None, output: Json
) -> None:
    puppet = Puppet(*said)
    run = await session.start(puppet, "t1", "Well?")
    await puppet.begun.wait()
    if said:
        await Watcher(session, run.id).until(said[-1])
    stopped = await session.stop(run.id, "enough")
    assert puppet.left.is_set()
    assert (stopped.status, stopped.error) == ("cancelled", "enough")
    left = await left_by(session.store, run.id)
    assert left.words == (words or "")
    assert left.ended == {"status": "cancelled", "reason": "enough"}
    calls = [part for part in left.message.parts if isinstance(part, ToolCallPart)]
    assert [None if call.output is None else to_json(call.output) for call in calls] == [output] * len(calls)
    again = await session.stop(run.id, "twice")
    assert again == stopped


async def test_a_run_that_is_stopped_at_once_never_asks_its_agent(session: Session) -> None:
    puppet = Puppet()
    run = await session.start(puppet, "t1", "Well?")
    stopped = await session.stop(run.id)
    assert (stopped.status, stopped.error) == ("cancelled", None)
    assert (await left_by(session.store, run.id)).ended == {"status": "cancelled"}


class Stubborn:
    """An agent that does not hear when it is told to stop."""

    name = "stubborn"

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self.gone = asyncio.Event()
        self.goes = asyncio.Event()

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        try:
            for chunk in talk("seen"):
                yield ChunkEvent(chunk=chunk)
            while not self.goes.is_set():
                try:
                    await self.goes.wait()
                except asyncio.CancelledError:
                    self.told.set()
            for _ in range(3):
                yield ChunkEvent(chunk=TextDelta("t", " too late"))
        finally:
            self.gone.set()


async def test_an_agent_that_does_not_hear_is_left_behind(session: Session) -> None:
    agent = Stubborn()
    run = await session.start(agent, "t1", "Well?")
    await Watcher(session, run.id).until(TextDelta("t", "seen"))
    stopped = await session.stop(run.id, "enough")
    assert agent.told.is_set()
    assert not agent.gone.is_set()
    assert stopped.status == "cancelled"
    agent.goes.set()
    await agent.gone.wait()
    assert (await left_by(session.store, run.id)).words == "seen"
    assert (await session.start(Puppet(), "t1", "And now?")).status == "running"


class Flooding(Stubborn):
    """One that goes on talking, too."""

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        try:
            for chunk in talk("seen"):
                yield ChunkEvent(chunk=chunk)
            while True:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)
                yield ChunkEvent(chunk=TextDelta("t", "."))
        finally:
            self.gone.set()


async def test_an_agent_that_does_not_hear_and_goes_on_talking_is_cut_off(session: Session) -> None:
    agent = Flooding()
    run = await session.start(agent, "t1", "Well?")
    await Watcher(session, run.id).until(TextDelta("t", "seen"))
    assert (await session.stop(run.id, "enough")).status == "cancelled"
    await agent.gone.wait()
    left = await left_by(session.store, run.id)
    assert left.words.startswith("seen")
    log = await session.store.logs.read(run.id)
    assert log[-1].chunk == MessageAbort("enough")


class Broken:
    """An agent that cannot even be asked."""

    name = "broken"

    def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[AgentStreamEvent]:
        raise AgentError("the key is missing", hint="set it")


async def test_an_agent_that_cannot_be_asked_is_a_failed_run(session: Session) -> None:
    run = await session.wait((await session.start(Broken(), "t1", "Well?")).id)
    assert (run.status, run.error) == ("failed", "the key is missing; hint: set it")
    left = await left_by(session.store, run.id)
    assert left.ended == {"status": "failed", "reason": run.error}


async def test_a_chunk_that_does_not_fit_is_told_and_the_run_goes_on(session: Session) -> None:
    stray = TextDelta("nowhere", "?")
    puppet = Puppet(*talk("one "), ChunkEvent(chunk=stray, raw_text="stray\n"))
    puppet.end(TextDelta("t", "two"), *answer()[2:])
    run = await session.wait((await session.start(puppet, "t1", "Well?")).id)
    watcher = Watcher(session, run.id, everything=True)
    await watcher.task
    (note,) = notes(watcher.chunks, REFUSED)
    assert is_object(note.data)
    assert note.data["chunk"] == to_json(stray)
    assert "nowhere" in note.data["why"]
    assert stray not in watcher.chunks
    left = await left_by(session.store, run.id)
    assert (left.run.status, left.words) == ("completed", "one two")
    assert await raw_of(session.store, run.id) == b"stray\n"


RAW: dict[str, Callable[[str], AgentStreamEvent]] = {
    "with a chunk": lambda text: ChunkEvent(chunk=TextDelta("t", "x"), raw_text=text),
    "with nothing": lambda text: RawEvent(raw_text=text),
    "with the failure": lambda text: ErrorEvent(message="out of luck", raw_text=text),
    "with the end": lambda text: CompleteEvent(raw_text=text),
    "with the stop": lambda text: CancelledEvent(raw_text=text),
}


@pytest.mark.parametrize("event", RAW.values(), ids=RAW)
async def test_every_byte_of_the_agent_is_kept(
    session: Session, event: Callable[[str], AgentStreamEvent]
) -> None:
    sent = [b"data: {}\r\n\r\n", b"\xff\x00 no text\n", "größer\n".encode(), b""]
    puppet = Puppet(*talk())
    puppet.say(*(RawEvent(raw_text=raw_text(data)) for data in sent))
    puppet.say(event("the last\n"))
    puppet.stop()
    run = await session.wait((await session.start(puppet, "t1", "Well?")).id)
    assert await raw_of(session.store, run.id) == b"".join([*sent, b"the last\n"])


async def test_what_it_took_is_noted_with_the_run_and_its_price(session: Session) -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    puppet = Puppet(*answer("Hm."), CompleteEvent(usage=usage))
    puppet.stop()
    options = InvokeOptions(model="claude-sonnet-4-5")
    run = await session.wait((await session.start(puppet, "t1", "Well?", options=options)).id)
    assert (run.model, run.usage) == ("claude-sonnet-4-5", usage)
    assert run.cost is not None
    assert run.cost > 0


async def test_an_agent_s_own_name_for_the_talk_is_used_again(session: Session) -> None:
    class Named(Puppet):
        def invoke(self, prompt: Prompt, **how: Any) -> AsyncIterator[AgentStreamEvent]:
            asked.append(how["session_id"])
            return super().invoke(prompt, **how)

    asked: list[str | None] = []
    for _ in range(2):
        puppet = Named(*answer("Hm."), CompleteEvent(agent_result={"sessionId": "abc"}))
        puppet.stop()
        await session.wait((await session.start(puppet, "t1", "Well?")).id)
    assert asked == [None, "abc"]
