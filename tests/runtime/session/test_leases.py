"""A process that goes away loses its runs: another one ends them, with what their logs hold."""

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
from tests.runtime.session.gates import GatedEngine, gated
from tests.runtime.session.puppets import Puppet, Watcher, answer, left_by, speak, talk
from tests.store.running import Clock
from tests.tables import each_row

LEASE = 30.0


class Processes(NamedTuple):
    """Two processes, one of which can be frozen for a while."""

    lost: Session
    other: Session
    clock: Clock
    engine: GatedEngine

    def freeze(self) -> None:
        """Let the one be silent for longer than its lease."""
        self.engine.gate.clear()
        self.clock.advance(LEASE + 1)

    def thaw(self) -> None:
        """Let it go on, as if nothing had happened."""
        self.engine.gate.set()


@asynccontextmanager
async def processes(url: str) -> AsyncGenerator[Processes, None]:
    """Two processes with one clock."""
    clock = Clock()
    async with open_store(url, clock=clock) as one, open_store(url, clock=clock) as two:
        store, engine = gated(one)
        lost, other = (
            Session(one, lease=LEASE, heartbeat=3600, grace=0.2, recover=False) for one in (store, two)
        )
        yield Processes(lost, other, clock, engine)
        engine.gate.set()
        await lost.close()
        await other.close()


async def begun(session: Session, puppet: Puppet, thread_id: str = "t1", **how: str) -> Run:
    """A run that has said something."""
    puppet.say(*talk("so far"))
    run = await session.start(puppet, thread_id, how.get("input"), after=how.get("after"))
    await Watcher(session, run.id).until(TextDelta("t", "so far"))
    return run


@on_both_engines
async def test_a_run_whose_process_is_silent_is_ended_by_another(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        puppet = Puppet()
        run = await begun(lost, puppet, input="Well?")
        there = Watcher(other, run.id)
        assert await recover_runs(other.store) == []
        both.freeze()
        (ended,) = await recover_runs(other.store)
        assert (ended.id, ended.status, ended.error) == (run.id, "interrupted", LOST)
        left = await left_by(other.store, run.id)
        assert (left.words, left.ended) == ("so far", {"status": "interrupted", "reason": LOST})
        await there.task

        before = await other.store.logs.read(run.id)
        both.thaw()
        puppet.say(TextDelta("t", " and more"))  # it does not know yet
        await puppet.left.wait()
        assert (await lost.wait(run.id)).status == "interrupted"
        assert lost.counts.failures == {"lease": 1}
        assert f"run {run.id} is no longer held by this process" in caplog.text
        assert await other.store.logs.read(run.id) == before
        assert await left_by(other.store, run.id) == left
        assert (await speak(other, "t1", "Again.")).status == "completed"


@on_both_engines
async def test_who_beats_keeps_its_runs(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        puppet = Puppet()
        run = await begun(lost, puppet, input="Well?")
        for _ in range(3):
            both.clock.advance(LEASE - 1)
            assert await lost.store.runs.renew_leases(lost.owner, LEASE) == []
            assert await recover_runs(other.store) == []
        with pytest.raises(ConflictError, match="is held by"):
            await end_from_log(other.store, run.id, RunEnd("interrupted"))
        puppet.end(*answer()[2:])
        assert (await lost.wait(run.id)).status == "completed"


async def test_a_run_that_waited_in_line_keeps_what_the_user_said(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        run = await begun(lost, Puppet(), input="one?")
        waiting = await lost.start(Puppet(), "t1", "two?", busy="queue")
        both.freeze()
        ended = {one.id: one for one in await recover_runs(other.store)}
        assert {one.status for one in ended.values()} == {"interrupted"}
        assert ended[waiting.id].metadata is None
        assert [text_of(one) for one in await other.store.messages.list("t1")] == ["one?", "so far", "two?"]
        assert ended[run.id].message_id == run.message_id


async def test_an_answer_after_an_earlier_message_is_found_in_its_branch(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        await speak(lost, "t1", "Blue.", "Which colour?")
        asked, _ = await lost.store.messages.list("t1")
        run = await begun(lost, Puppet(), after=asked.id)
        both.freeze()
        await recover_runs(other.store)
        left = await left_by(other.store, run.id)
        assert left.message.parent_id == asked.id
        assert [text_of(one) for one in await other.store.messages.list("t1")] == ["Which colour?", "so far"]


@on_both_engines
async def test_many_runs_are_ended_by_whoever_comes_each_once(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        runs = [await begun(lost, Puppet(), f"t{number}", input="Well?") for number in range(7)]
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
async def test_a_log_that_cannot_be_read_does_not_keep_the_others(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        store = other.store
        broken = await begun(lost, Puppet(), "t1", input="Well?")
        both.clock.advance(1)
        whole = await begun(lost, Puppet(), "t2", input="Well?")
        more = "UPDATE runs SET last_seq = last_seq + 5 WHERE id = ?"  # its log has a hole at the end
        await store.write(lambda tx: tx.sql(more, (broken.id,)).close())
        both.freeze()
        ended = {run.id: run.status for run in await recover_runs(store)}
        assert ended == {broken.id: "interrupted", whole.id: "interrupted"}
        assert (await left_by(store, whole.id)).words == "so far"


@on_both_engines
async def test_a_session_recovers_what_others_left_when_it_is_opened(url: str) -> None:
    async with processes(url) as both:
        lost, other = both.lost, both.other
        run = await begun(lost, Puppet(), input="Well?")
        both.freeze()
        watcher = Watcher(other, run.id)
        async with Session(other.store):
            await watcher.task
        assert (await left_by(other.store, run.id)).words == "so far"


async def test_who_is_late_with_his_leases_does_not_end_his_own_runs(url: str) -> None:
    clock, puppet = Clock(), Puppet(*talk("one "))
    async with (
        open_store(url, clock=clock) as store,
        Session(store, owner="me", lease=LEASE, heartbeat=1000.0, recover=False) as session,
    ):
        run = await session.start(puppet, "t1", "Go on.")
        await puppet.begun.wait()
        clock.advance(LEASE + 1)
        assert await recover_runs(store, owner="me") == []
        puppet.end(TextDelta("t", "two"))
        assert (await session.wait(run.id)).status == "completed"


@pytest.mark.skipif(not recovery.PROC.exists(), reason="only Linux says whether a process is alive")
async def test_a_run_whose_process_was_killed_is_ended_at_once(url: str) -> None:
    """Whatever the lease says: the clock may have been set back since."""
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
def test_of_other_machines_nobody_knows_who_is_alive(name: str | None) -> None:
    assert not recovery.is_dead(name)


async def test_a_clock_that_is_set_forward_ends_no_run_that_is_alive(url: str) -> None:
    clock, puppet = Clock(), Puppet(*talk("one "))
    async with (
        open_store(url, clock=clock) as one,
        open_store(url, clock=clock) as two,
        Session(one, lease=LEASE, heartbeat=0.3, recover=False) as alive,
    ):
        run = await alive.start(puppet, "t1", "Go on.")
        await puppet.begun.wait()
        clock.advance(3600)
        async with Session(two, lease=LEASE, heartbeat=0.3):  # looks at once, before the lease is renewed
            await asyncio.sleep(0.8)
        puppet.end(TextDelta("t", "two"))
        assert (await alive.wait(run.id)).status == "completed"


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # one machine has one clock
async def test_leases_are_kept_by_the_clock_of_the_database(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process whose clock is an hour ahead neither keeps its own runs nor ends those of others."""

    def ahead() -> datetime:
        return datetime.now(UTC) + timedelta(hours=1)

    async with open_store(url) as right:
        await right.threads.create("t1")
        await right.threads.create("t2")
        held = (await right.runs.start_turn("t1", lease_owner="right", lease_seconds=60)).run
        monkeypatch.setattr(facade, "utc_now", ahead)
        async with open_store(url, clock=ahead) as wrong:
            lost = (await wrong.runs.start_turn("t2", lease_owner="wrong", lease_seconds=0.05)).run
            await asyncio.sleep(0.1)
            assert [run.id for run in await recover_runs(wrong)] == [lost.id]
            found = await wrong.runs.get(held.id)
            assert found is not None
            assert found.status == "running"
