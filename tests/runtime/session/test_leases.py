"""Leases: runs of a process that stops renewing are ended by another one, with the messages of their logs."""

import asyncio
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from partita.errors import ConflictError
from partita.runtime.session import recovery
from partita.runtime.session.recovery import LOST, end_from_log, recover_runs
from partita.runtime.session.session import Session
from partita.store import context as facade
from partita.store.connection import open_store
from partita.store.runs.rows import RunEnd
from partita.types.chunks import MessageAbort, TextDelta
from partita.types.messages import text_of
from partita.types.threads import Run
from tests.runtime.engines import on_both_engines
from tests.runtime.session.controlled_agent import (
    ControlledAgent,
    Follower,
    checked_run,
    full_reply,
    partial_reply,
    run_turn,
)
from tests.runtime.session.controlled_engine import ControlledEngine, with_controlled_engine
from tests.store.running import Clock
from tests.tables import each_row

LEASE = 30.0


class Processes(NamedTuple):
    """Two sessions like two processes; the first can be frozen for a while."""

    lost: Session
    other: Session
    clock: Clock
    engine: ControlledEngine

    def freeze(self) -> None:
        """Stop the writes of the first session until its leases have expired."""
        self.engine.gate.clear()
        self.clock.advance(LEASE + 1)

    def thaw(self) -> None:
        """Let the first session continue."""
        self.engine.gate.set()


@asynccontextmanager
async def processes(url: str) -> AsyncGenerator[Processes, None]:
    """Two processes with one clock."""
    clock = Clock()
    async with open_store(url, clock=clock) as one, open_store(url, clock=clock) as two:
        store, engine = with_controlled_engine(one)
        lost, other = (
            Session(one, lease=LEASE, heartbeat=3600, grace=0.2, recover=False) for one in (store, two)
        )
        yield Processes(lost, other, clock, engine)
        engine.gate.set()
        await lost.close()
        await other.close()


async def started_run(session: Session, agent: ControlledAgent, thread_id: str = "t1", **how: str) -> Run:
    """A run that has emitted some text."""
    agent.emit(*partial_reply("so far"))
    run = await session.start(agent, thread_id, how.get("input"), after=how.get("after"))
    await Follower(session, run.id).until(TextDelta("t", "so far"))
    return run


@on_both_engines
async def test_a_run_whose_lease_expired_is_ended_by_another_process(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        agent = ControlledAgent()
        run = await started_run(lost, agent, input="Well?")
        there = Follower(other, run.id)
        assert await recover_runs(other.store) == []
        both.freeze()
        (ended,) = await recover_runs(other.store)
        assert (ended.id, ended.status, ended.error) == (run.id, "interrupted", LOST)
        result = await checked_run(other.store, run.id)
        assert (result.text, result.ending) == ("so far", {"status": "interrupted", "reason": LOST})
        await there.task

        before = await other.store.logs.read(run.id)
        both.thaw()
        agent.emit(TextDelta("t", " and more"))  # it does not know yet that it lost the run
        await agent.stopped.wait()
        assert (await lost.wait(run.id)).status == "interrupted"
        assert lost.counts.failures == {"lease": 1}
        assert f"run {run.id} is no longer held by this process" in caplog.text
        assert await other.store.logs.read(run.id) == before
        assert await checked_run(other.store, run.id) == result
        assert (await run_turn(other, "t1", "Again.")).status == "completed"


@on_both_engines
async def test_a_process_that_renews_its_leases_keeps_its_runs(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        agent = ControlledAgent()
        run = await started_run(lost, agent, input="Well?")
        for _ in range(3):
            both.clock.advance(LEASE - 1)
            assert await lost.store.runs.renew_leases(lost.owner, LEASE) == []
            assert await recover_runs(other.store) == []
        with pytest.raises(ConflictError, match="is held by"):
            await end_from_log(other.store, run.id, RunEnd("interrupted"))
        agent.complete(*full_reply()[2:])
        assert (await lost.wait(run.id)).status == "completed"


async def test_a_queued_run_of_a_lost_process_keeps_the_message_of_the_user(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        run = await started_run(lost, ControlledAgent(), input="one?")
        waiting = await lost.start(ControlledAgent(), "t1", "two?", busy="queue")
        both.freeze()
        ended = {one.id: one for one in await recover_runs(other.store)}
        assert {one.status for one in ended.values()} == {"interrupted"}
        assert ended[waiting.id].metadata is None
        assert [text_of(one) for one in await other.store.messages.list("t1")] == ["one?", "so far", "two?"]
        assert ended[run.id].message_id == run.message_id


async def test_a_recovered_response_stays_in_its_branch(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        await run_turn(lost, "t1", "Blue.", "Which colour?")
        question, _ = await lost.store.messages.list("t1")
        run = await started_run(lost, ControlledAgent(), after=question.id)
        both.freeze()
        await recover_runs(other.store)
        result = await checked_run(other.store, run.id)
        assert result.message.parent_id == question.id
        assert [text_of(one) for one in await other.store.messages.list("t1")] == ["Which colour?", "so far"]


@on_both_engines
async def test_concurrent_recoveries_end_each_run_once(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        runs = [
            await started_run(lost, ControlledAgent(), f"t{number}", input="Well?") for number in range(7)
        ]
        both.freeze()
        async with open_store(url, clock=both.clock) as third:
            found = await asyncio.gather(recover_runs(other.store, limit=2), recover_runs(third, limit=2))
        statuses = [await other.store.runs.get(run.id) for run in runs]
        assert {run.status for run in statuses if run is not None} == {"interrupted"}
        assert {run.id for ended in found for run in ended} == {run.id for run in runs}
        for run in runs:
            log = await other.store.logs.read(run.id)
            assert not any(isinstance(record.chunk, MessageAbort) for record in log)


@on_both_engines
async def test_an_unreadable_log_does_not_prevent_the_recovery_of_other_runs(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        store = other.store
        broken = await started_run(lost, ControlledAgent(), "t1", input="Well?")
        both.clock.advance(1)
        whole = await started_run(lost, ControlledAgent(), "t2", input="Well?")
        more = "UPDATE runs SET last_seq = last_seq + 5 WHERE id = ?"  # its log has a hole at the end
        await store.write(lambda tx: tx.sql(more, (broken.id,)).close())
        both.freeze()
        ended = {run.id: run.status for run in await recover_runs(store)}
        assert ended == {broken.id: "interrupted", whole.id: "interrupted"}
        assert (await checked_run(store, whole.id)).text == "so far"


@on_both_engines
async def test_a_session_recovers_abandoned_runs_when_it_opens(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        run = await started_run(lost, ControlledAgent(), input="Well?")
        both.freeze()
        follower = Follower(other, run.id)
        async with Session(other.store):
            await follower.task
        assert (await checked_run(other.store, run.id)).text == "so far"


async def test_a_process_that_renews_late_does_not_end_its_own_runs(url: str) -> None:
    clock, agent = Clock(), ControlledAgent(*partial_reply("one "))
    async with (
        open_store(url, clock=clock) as store,
        Session(store, owner="me", lease=LEASE, heartbeat=1000.0, recover=False) as session,
    ):
        run = await session.start(agent, "t1", "Go on.")
        await agent.started.wait()
        clock.advance(LEASE + 1)
        assert await recover_runs(store, owner="me") == []
        agent.complete(TextDelta("t", "two"))
        assert (await session.wait(run.id)).status == "completed"


@pytest.mark.skipif(not recovery.PROC.exists(), reason="only Linux says whether a process is alive")
async def test_a_run_of_a_killed_process_is_ended_at_once(url: str) -> None:
    """The lease does not matter: the clock may have been set back since."""
    with subprocess.Popen(["sleep", "60"]) as process:
        stat = recovery._stat(process.pid)
        assert stat is not None
        own = recovery.new_lease_owner()
        name = f"x@{process.pid}.{stat[recovery.START_TIME]}.{own.rpartition('.')[2]}"
        async with open_store(url) as store:
            await store.threads.create("t1")
            run = (await store.runs.start_turn("t1", lease_owner=name, lease_seconds=3600)).run
            assert not recovery.is_dead(own)
            assert await recover_runs(store) == []
            process.kill()
            process.wait()
            async with Session(store, lease=1.0) as session, asyncio.timeout(5):
                assert (await session.wait(run.id)).status == "interrupted"


NOT_KNOWN = ["", "me", "me@1.2", "@", "x@1..", "x@a.b.c", "x@99999999.1.another-machine"]


@each_row("name", [None, *NOT_KNOWN])
def test_a_process_of_another_machine_is_not_considered_dead(name: str | None) -> None:
    assert not recovery.is_dead(name)


async def test_a_clock_that_is_set_forward_ends_no_active_run(url: str) -> None:
    clock, agent = Clock(), ControlledAgent(*partial_reply("one "))
    async with (
        open_store(url, clock=clock) as one,
        open_store(url, clock=clock) as two,
        Session(one, lease=LEASE, heartbeat=0.3, recover=False) as alive,
    ):
        run = await alive.start(agent, "t1", "Go on.")
        await agent.started.wait()
        clock.advance(3600)
        async with Session(two, lease=LEASE, heartbeat=0.3):  # recovers at once, before the lease is renewed
            await asyncio.sleep(0.8)
        agent.complete(TextDelta("t", "two"))
        assert (await alive.wait(run.id)).status == "completed"


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # one machine has one clock
async def test_leases_use_the_clock_of_the_database(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process whose clock is an hour ahead neither keeps its own runs nor ends those of others."""

    def ahead() -> datetime:
        return datetime.now(UTC) + timedelta(hours=1)

    async with open_store(url) as accurate:
        await accurate.threads.create("t1")
        await accurate.threads.create("t2")
        held = (await accurate.runs.start_turn("t1", lease_owner="accurate", lease_seconds=60)).run
        monkeypatch.setattr(facade, "utc_now", ahead)
        async with open_store(url, clock=ahead) as wrong:
            lost = (await wrong.runs.start_turn("t2", lease_owner="wrong", lease_seconds=0.05)).run
            await asyncio.sleep(0.1)
            assert [run.id for run in await recover_runs(wrong)] == [lost.id]
            found = await wrong.runs.get(held.id)
            assert found is not None
            assert found.status == "running"
