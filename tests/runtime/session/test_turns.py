"""One run a thread: who comes second is refused, or waits in line."""

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
from tests.runtime.session.puppets import Puppet, Watcher, answer, left_by, speak, talk
from tests.store.running import NOON, Clock


async def words_of(store: Store, thread_id: str) -> list[str]:
    """What a thread says, in order."""
    return [text_of(message) for message in await store.messages.list(thread_id)]


async def test_a_second_run_is_refused_and_leaves_no_trace(session: Session) -> None:
    first, second = Puppet(), Puppet()
    run = await session.start(first, "t1", "one?")
    with pytest.raises(BusyError, match=run.id):
        await session.start(second, "t1", "two?")
    first.end(*answer("one."))
    await session.wait(run.id)
    assert await words_of(session.store, "t1") == ["one?", "one."]
    assert len((await session.store.runs.list(RunFilter(thread_id="t1"))).items) == 1
    assert second.asked == []


async def test_queued_runs_begin_one_after_the_other_behind_each_answer(session: Session) -> None:
    puppets = [Puppet(), Puppet(), Puppet()]
    started = [
        await session.start(puppet, "t1", f"{number}?", busy="queue") for number, puppet in enumerate(puppets)
    ]
    assert [run.status for run in started] == ["running", "pending", "pending"]
    assert await words_of(session.store, "t1") == ["0?"]
    for number, puppet in enumerate(puppets):
        await puppet.begun.wait()
        assert not any(later.begun.is_set() for later in puppets[number + 1 :])
        asked = [text_of(message) for message in puppet.asked[0]]
        assert asked[-1] == f"{number}?"
        assert len(asked) == 2 * number + 1
        puppet.end(*answer(f"{number}."))
    for run in started:
        assert (await session.wait(run.id)).status == "completed"
    assert await words_of(session.store, "t1") == ["0?", "0.", "1?", "1.", "2?", "2."]
    ended = await session.store.runs.get(started[1].id)
    assert ended is not None
    assert ended.metadata is None


async def test_a_queued_run_that_is_stopped_keeps_what_the_user_said(session: Session) -> None:
    first, second, third = Puppet(), Puppet(), Puppet()
    one = await session.start(first, "t1", "one?")
    two = await session.start(second, "t1", "two?", busy="queue")
    three = await session.start(third, "t1", "three?", busy="queue")
    stopped = await session.stop(two.id, "never mind")
    assert (stopped.status, stopped.error, stopped.metadata) == ("cancelled", "never mind", None)
    assert await words_of(session.store, "t1") == ["one?"]
    first.end(*answer("one."))
    third.end(*answer("three."))
    await session.wait(one.id)
    assert (await session.wait(three.id)).status == "completed"
    assert second.asked == []
    assert await words_of(session.store, "t1") == ["one?", "one.", "two?", "three?", "three."]


async def test_what_waits_when_the_service_shuts_down_keeps_what_the_user_said(store: Store) -> None:
    async with Session(store) as session:
        first = Puppet(*talk("on"))
        one = await session.start(first, "t1", "one?")
        two = await session.start(Puppet(), "t1", "two?", busy="queue")
        await Watcher(session, one.id).until(talk("on")[-1])
    for run_id in (one.id, two.id):
        run = await store.runs.get(run_id)
        assert run is not None
        assert (run.status, run.error) == ("interrupted", "the service was shut down")
    assert await words_of(store, "t1") == ["one?", "on", "two?"]
    with pytest.raises(StoreError, match="the session is closed"):
        await session.start(Puppet(), "t1", "three?")


@on_both_engines
async def test_of_two_sessions_that_race_exactly_one_wins(pair: Pair) -> None:
    for number in range(10):
        thread = f"t{number}"
        puppets = {session: Puppet(*answer("mine")) for session in pair}
        results = await asyncio.gather(
            *(session.start(puppet, thread, "Who?") for session, puppet in puppets.items()),
            return_exceptions=True,
        )
        won = [
            session
            for session, result in zip(pair, results, strict=True)
            if not isinstance(result, Exception)
        ]
        assert len(won) == 1
        assert sum(isinstance(result, BusyError) for result in results) == 1
        puppets[won[0]].end()
        for result in results:
            if not isinstance(result, BaseException):
                await won[0].wait(result.id)
        assert await words_of(pair.one.store, thread) == ["Who?", "mine"]


@on_both_engines
async def test_who_queues_with_a_clock_that_is_slow_does_not_overtake(url: str) -> None:
    late, early = Clock(), Clock()
    late.advance(60)
    async with (
        open_store(url, clock=late) as one,
        open_store(url, clock=early) as other,
        Session(one, recover=False) as first,
        Session(other, recover=False) as second,
    ):
        ahead, behind = Puppet(), Puppet()
        run = await first.start(ahead, "t1", "one?")
        waiting = await second.start(behind, "t1", "two?", busy="queue")
        assert await other.runs.start_queued(waiting.id) is None
        ahead.end(*answer("one."))
        behind.end(*answer("two."))
        await first.wait(run.id)
        assert (await second.wait(waiting.id)).status == "completed"
        assert await words_of(one, "t1") == ["one?", "one.", "two?", "two."]


@on_both_engines
async def test_the_line_is_by_arrival_whatever_the_clocks_say(url: str) -> None:
    late, early = Clock(), Clock()
    late.advance(60)
    async with open_store(url, clock=late) as one, open_store(url, clock=early) as other:
        await one.threads.create("t1")
        first = (await one.runs.start_turn("t1")).run
        second = (await one.runs.start_turn("t1", busy="queue")).run
        third = (await other.runs.start_turn("t1", busy="queue")).run
        await one.runs.end_turn(first.id, (), RunEnd("completed"))
        assert await other.runs.start_queued(third.id) is None
        begun = await one.runs.start_queued(second.id)
        assert begun is not None
        assert begun.status == "running"


@on_both_engines
async def test_a_run_that_seems_older_does_not_begin_beside_the_one_at_work(store: Store) -> None:
    await store.threads.create("t1")
    await store.runs.start_turn("t1")
    older = Run(id="older", thread_id="t1", status="pending", created_at=NOON)
    await store.write(runs.open_run, older)
    assert await store.runs.start_queued("older") is None


@on_both_engines
async def test_a_queued_run_begins_in_its_own_process_when_the_other_one_ends(pair: Pair) -> None:
    ahead, behind = Puppet(), Puppet()
    run = await pair.one.start(ahead, "t1", "one?")
    waiting = await pair.other.start(behind, "t1", "two?", busy="queue")
    behind.end(*answer("two."))
    ahead.end(*answer("one."))
    await pair.other.wait(waiting.id)
    await pair.one.wait(run.id)
    assert await words_of(pair.one.store, "t1") == ["one?", "one.", "two?", "two."]


async def test_a_thread_without_anything_to_answer_says_so(session: Session) -> None:
    with pytest.raises(AgentError, match="has no messages"):
        await session.start(Puppet(), "t1")
    await speak(session, "t1")
    with pytest.raises(AgentError, match="ends with a complete response"):
        await session.start(Puppet(), "t1")


async def test_a_turn_after_an_earlier_message_makes_a_branch(session: Session) -> None:
    store = session.store
    await speak(session, "t1", "Blue.", "Which colour?")
    await speak(session, "t1", "Because.", "Why?")
    asked, *_ = await store.messages.list("t1")
    puppet = Puppet()
    puppet.end(*answer("Red."))
    run = await session.wait((await session.start(puppet, "t1", after=asked.id)).id)
    assert await words_of(store, "t1") == ["Which colour?", "Red."]
    left = await left_by(store, run.id)
    assert left.message.parent_id == asked.id
    assert [text_of(message) for message in puppet.asked[0]] == ["Which colour?"]
