"""A thread has one active run: a second one is refused or queued."""

import asyncio

import pytest

from partita.errors import AgentError, BusyError, StoreError
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.runs import rows as runs
from partita.store.runs.rows import RunEnd
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.messages import text_of
from partita.types.threads import Run
from tests.runtime.engines import on_both_engines
from tests.runtime.session.conftest import Pair
from tests.runtime.session.controlled_agent import (
    ControlledAgent,
    Follower,
    checked_run,
    full_reply,
    partial_reply,
    run_turn,
)
from tests.store.running import NOON, Clock


async def texts_of(store: Store, thread_id: str) -> list[str]:
    """The texts of a thread, in order."""
    return [text_of(message) for message in await store.messages.list(thread_id)]


async def test_a_second_run_is_refused_and_stores_nothing(session: Session) -> None:
    first, second = ControlledAgent(), ControlledAgent()
    run = await session.start(first, "t1", "one?")
    with pytest.raises(BusyError, match=run.id):
        await session.start(second, "t1", "two?")
    first.complete(*full_reply("one."))
    await session.wait(run.id)
    assert await texts_of(session.store, "t1") == ["one?", "one."]
    assert len((await session.store.runs.list(RunFilter(thread_id="t1"))).items) == 1
    assert second.prompts == []


async def test_queued_runs_start_one_after_the_other(session: Session) -> None:
    agents = [ControlledAgent(), ControlledAgent(), ControlledAgent()]
    started = [
        await session.start(agent, "t1", f"{number}?", busy="queue") for number, agent in enumerate(agents)
    ]
    assert [run.status for run in started] == ["running", "pending", "pending"]
    assert await texts_of(session.store, "t1") == ["0?"]
    for number, agent in enumerate(agents):
        await agent.started.wait()
        assert not any(later.started.is_set() for later in agents[number + 1 :])
        prompt = [text_of(message) for message in agent.prompts[0]]
        assert prompt[-1] == f"{number}?"
        assert len(prompt) == 2 * number + 1
        agent.complete(*full_reply(f"{number}."))
    for run in started:
        assert (await session.wait(run.id)).status == "completed"
    assert await texts_of(session.store, "t1") == ["0?", "0.", "1?", "1.", "2?", "2."]
    ended = await session.store.runs.get(started[1].id)
    assert ended is not None
    assert ended.metadata is None


async def test_a_stopped_queued_run_keeps_the_message_of_the_user(session: Session) -> None:
    first, second, third = ControlledAgent(), ControlledAgent(), ControlledAgent()
    one = await session.start(first, "t1", "one?")
    two = await session.start(second, "t1", "two?", busy="queue")
    three = await session.start(third, "t1", "three?", busy="queue")
    stopped = await session.stop(two.id, "never mind")
    assert (stopped.status, stopped.error, stopped.metadata) == ("cancelled", "never mind", None)
    assert await texts_of(session.store, "t1") == ["one?"]
    first.complete(*full_reply("one."))
    third.complete(*full_reply("three."))
    await session.wait(one.id)
    assert (await session.wait(three.id)).status == "completed"
    assert second.prompts == []
    assert await texts_of(session.store, "t1") == ["one?", "one.", "two?", "three?", "three."]


async def test_a_queued_run_keeps_the_message_of_the_user_at_shutdown(store: Store) -> None:
    async with Session(store) as session:
        first = ControlledAgent(*partial_reply("on"))
        one = await session.start(first, "t1", "one?")
        two = await session.start(ControlledAgent(), "t1", "two?", busy="queue")
        await Follower(session, one.id).until(partial_reply("on")[-1])
    for run_id in (one.id, two.id):
        run = await store.runs.get(run_id)
        assert run is not None
        assert (run.status, run.error) == ("interrupted", "the service was shut down")
    assert await texts_of(store, "t1") == ["one?", "on", "two?"]
    with pytest.raises(StoreError, match="the session is closed"):
        await session.start(ControlledAgent(), "t1", "three?")


@on_both_engines
async def test_exactly_one_of_two_concurrent_runs_starts(pair: Pair) -> None:
    for number in range(10):
        thread = f"t{number}"
        agents = {session: ControlledAgent(*full_reply("mine")) for session in pair}
        results = await asyncio.gather(
            *(session.start(agent, thread, "Who?") for session, agent in agents.items()),
            return_exceptions=True,
        )
        won = [
            session
            for session, result in zip(pair, results, strict=True)
            if not isinstance(result, Exception)
        ]
        assert len(won) == 1
        assert sum(isinstance(result, BusyError) for result in results) == 1
        agents[won[0]].complete()
        for result in results:
            if not isinstance(result, BaseException):
                await won[0].wait(result.id)
        assert await texts_of(pair.one.store, thread) == ["Who?", "mine"]


@on_both_engines
async def test_a_queued_run_of_a_process_with_a_slow_clock_does_not_overtake(url: str) -> None:
    late, early = Clock(), Clock()
    late.advance(60)
    async with (
        open_store(url, clock=late) as one,
        open_store(url, clock=early) as other,
        Session(one, recover=False) as first,
        Session(other, recover=False) as second,
    ):
        ahead, behind = ControlledAgent(), ControlledAgent()
        run = await first.start(ahead, "t1", "one?")
        waiting = await second.start(behind, "t1", "two?", busy="queue")
        assert await other.runs.start_queued(waiting.id) is None
        ahead.complete(*full_reply("one."))
        behind.complete(*full_reply("two."))
        await first.wait(run.id)
        assert (await second.wait(waiting.id)).status == "completed"
        assert await texts_of(one, "t1") == ["one?", "one.", "two?", "two."]


@on_both_engines
async def test_the_queue_is_ordered_by_arrival_and_not_by_time(url: str) -> None:
    late, early = Clock(), Clock()
    late.advance(60)
    async with open_store(url, clock=late) as one, open_store(url, clock=early) as other:
        await one.threads.create("t1")
        first = (await one.runs.start_turn("t1")).run
        second = (await one.runs.start_turn("t1", busy="queue")).run
        third = (await other.runs.start_turn("t1", busy="queue")).run
        await one.runs.end_turn(first.id, (), RunEnd("completed"))
        assert await other.runs.start_queued(third.id) is None
        started = await one.runs.start_queued(second.id)
        assert started is not None
        assert started.status == "running"


@on_both_engines
async def test_a_pending_run_with_an_older_time_does_not_start_beside_the_active_run(store: Store) -> None:
    await store.threads.create("t1")
    await store.runs.start_turn("t1")
    older = Run(id="older", thread_id="t1", status="pending", created_at=NOON)
    await store.write(runs.open_run, older)
    assert await store.runs.start_queued("older") is None


@on_both_engines
async def test_a_queued_run_starts_in_its_process_when_a_run_of_another_process_ends(pair: Pair) -> None:
    ahead, behind = ControlledAgent(), ControlledAgent()
    run = await pair.one.start(ahead, "t1", "one?")
    waiting = await pair.other.start(behind, "t1", "two?", busy="queue")
    behind.complete(*full_reply("two."))
    ahead.complete(*full_reply("one."))
    await pair.other.wait(waiting.id)
    await pair.one.wait(run.id)
    assert await texts_of(pair.one.store, "t1") == ["one?", "one.", "two?", "two."]


async def test_a_turn_without_input_needs_a_message_to_respond_to(session: Session) -> None:
    with pytest.raises(AgentError, match="has no messages"):
        await session.start(ControlledAgent(), "t1")
    await run_turn(session, "t1")
    with pytest.raises(AgentError, match="ends with a complete response"):
        await session.start(ControlledAgent(), "t1")


async def test_a_turn_after_an_earlier_message_creates_a_branch(session: Session) -> None:
    store = session.store
    await run_turn(session, "t1", "Blue.", "Which colour?")
    await run_turn(session, "t1", "Because.", "Why?")
    prompt, *_ = await store.messages.list("t1")
    agent = ControlledAgent()
    agent.complete(*full_reply("Red."))
    run = await session.wait((await session.start(agent, "t1", after=prompt.id)).id)
    assert await texts_of(store, "t1") == ["Which colour?", "Red."]
    result = await checked_run(store, run.id)
    assert result.message.parent_id == prompt.id
    assert [text_of(message) for message in agent.prompts[0]] == ["Which colour?"]
