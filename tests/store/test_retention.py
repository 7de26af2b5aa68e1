"""Dropping logs: only on request, only of ended runs, and nothing else."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from partita.errors import NotFoundError
from partita.store.context import StoreContext
from partita.store.engines.engine import Engine
from partita.store.logs import maintenance, run_log
from partita.store.logs.maintenance import Retention, RetentionReport, drop_logs
from partita.store.logs.run_log import LogEntry, follow
from partita.store.messages.prepared import prepare
from partita.store.messages.writer import save
from partita.store.retention import RemovalReport, apply_retention
from partita.store.runs import rows as runs
from partita.store.schema import messages, parts
from partita.store.threads import rows as threads
from partita.types.chunks import ToolInputAvailable, ToolOutputAvailable
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.threads import Thread
from tests.store.emptying import in_empty_store
from tests.tables import each_row

from .running import COMPLETED, NOON, Clock, log, raws, start, with_thread

DAY = 24 * 3600


async def store_with_old_runs(engine: Engine) -> tuple[StoreContext, Clock]:
    """Runs that ended 3, 2 and 1 days ago, each with a log of about 1000 bytes, and one active for 4 days."""
    clock = Clock()
    store = await with_thread(engine, clock=clock)
    await start(store, "active")
    await log(store, "active", raws(bytes(990)))
    for run_id in ("old", "older than new", "new"):
        clock.advance(DAY)
        await start(store, run_id)
        await log(store, run_id, raws(bytes(990)))
        await store.write(runs.end, run_id, COMPLETED)
    clock.advance(DAY)
    return store, clock


POLICIES: dict[str, tuple[Retention, list[str]]] = {
    "an empty policy": (Retention(), []),
    "by age": (Retention(max_age=timedelta(days=1, hours=12)), ["old", "older than new"]),
    "nothing old enough": (Retention(max_age=timedelta(days=9)), []),
    "by size, the oldest first": (Retention(max_bytes=3500), ["old"]),
    "everything that may be dropped": (Retention(max_bytes=0), ["old", "older than new", "new"]),
    "nothing too large": (Retention(max_bytes=10**6), []),
    "both conditions": (
        Retention(max_age=timedelta(days=2, hours=12), max_bytes=2500),
        ["old", "older than new"],
    ),
}


@each_row(("policy", "dropped"), POLICIES.values(), ids=POLICIES)
@in_empty_store
async def test_logs_are_dropped_by_policy(engine: Engine, policy: Retention, dropped: list[str]) -> None:
    store, clock = await store_with_old_runs(engine)
    rehearsal = await store.write(drop_logs, policy, dry_run=True)
    assert await left(store) == 4
    report = await store.write(drop_logs, policy)
    assert report == rehearsal
    assert (report.run_ids, report.entries, report.more) == (tuple(dropped), len(dropped), False)
    assert report.bytes == pytest.approx(1000 * len(dropped), rel=0.05)
    assert await left(store) == 4 - len(dropped)
    for run_id in dropped:
        with pytest.raises(NotFoundError, match=rf"dropped on {clock.now:%Y-%m-%d %H:%M} UTC"):
            await store.read(run_log.read_log, run_id)
        assert (await store.read(runs.find, run_id)).status == "completed"
    assert (await store.write(drop_logs, policy)) == RetentionReport()


async def left(store: StoreContext) -> int:
    return await store.read(
        lambda tx: int(tx.run(select(func.count(func.distinct(run_log.every_row(tx).c.run_id)))).scalar_one())
    )


async def test_the_report_shows_when_the_limit_was_reached(engine: Engine) -> None:
    store, _ = await store_with_old_runs(engine)
    everything = Retention(max_bytes=0)
    report = await store.write(drop_logs, everything, limit=2)
    assert (report.run_ids, report.more) == (("old", "older than new"), True)
    report = await store.write(drop_logs, everything, limit=2)
    assert (report.run_ids, report.more) == (("new",), False)


async def test_a_dropped_log_is_neither_sealed_nor_followed(engine: Engine) -> None:
    store, _ = await store_with_old_runs(engine)
    await store.write(drop_logs, Retention(max_bytes=0))
    assert await store.read(maintenance.runs_to_seal) == []
    assert (await store.write(maintenance.seal_run, "old")).blocks == 0
    with pytest.raises(NotFoundError, match="was dropped"):
        async for _ in follow(engine, "u1", "old"):
            pass


async def test_messages_and_the_times_of_calls_are_kept(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    call = ToolCallPart(id="c", name="sum", state="output-available", input={})
    await store.write(save, [prepare(AssistantMessage(id="m", content=[call], run_id="r1"), "t1")])
    later = NOON + timedelta(seconds=2)
    begun = ToolInputAvailable(tool_call_id="c", tool_name="sum", input={})
    ended = ToolOutputAvailable(tool_call_id="c", output=3)
    await log(store, "r1", [LogEntry(NOON, begun), LogEntry(later, ended)])
    await store.write(runs.end, "r1", COMPLETED)
    await store.write(maintenance.seal_run, "r1")
    assert (await store.write(drop_logs, Retention(max_bytes=0))).run_ids == ("r1",)
    query = select(messages.c.id, parts.c.started_at, parts.c.ended_at).join(
        parts, parts.c.message == messages.c.key
    )
    assert [tuple(row) for row in await store.read(lambda tx: tx.rows(query))] == [("m", NOON, later)]


@in_empty_store
async def test_old_threads_are_removed_unless_they_are_pinned_or_active(engine: Engine) -> None:
    store, _ = await store_with_old_runs(engine)
    await store.write(threads.create, Thread(id="old", updated_at=NOON))
    await store.write(threads.create, Thread(id="pinned", metadata={"pinned": True}, updated_at=NOON))
    policy = Retention(thread_age=timedelta(days=1), max_age=timedelta(0))
    planned = await apply_retention(store, policy, dry_run=True)
    assert [one.id for one in planned.threads] == ["old"]
    assert await apply_retention(store, policy) == planned
    assert await apply_retention(store, policy) == RemovalReport(threads=[])
    assert await store.read(threads.get, "pinned") is not None
