"""Runs: opened once, held by one process, ended once."""

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from msgspec import UNSET

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.store.engines.engine import Engine
from partita.store.logs import maintenance, run_log, timings
from partita.store.logs.run_log import LogEntry
from partita.store.runs import rows as runs
from partita.store.runs.rows import RunEnd
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.json import Json
from partita.types.threads import Run, RunStatus
from partita.types.usage import Usage
from partita.types.value import Extra
from tests.store.emptying import in_empty_store
from tests.tables import each_row

from .running import COMPLETED, NOON, Clock, log, raws, scoped, start, with_thread


async def test_an_opened_run_is_running(engine: Engine) -> None:
    store = await with_thread(engine)
    run = await start(store)
    assert run == Run(id="r1", thread_id="t1", status="running", created_at=NOON, started_at=NOON)
    assert await store.read(runs.get, "r1") == run


async def test_a_pending_run_has_not_started(engine: Engine) -> None:
    store = await with_thread(engine)
    assert (await start(store, status="pending")).started_at is None


async def test_every_field_is_read_as_it_was_written(engine: Engine) -> None:
    store = await with_thread(engine)
    run = Run(
        id="r1",
        thread_id="t1",
        status="running",
        message_id="m1",
        agent="coder",
        model="large",
        usage=Usage(input_tokens=3, raw={"in": 3}),
        cost=0.25,
        error="a NUL \x00 and half a pair \ud800",
        metadata={"deep": {"a\x00": [None, 1.5, "\ud800"]}},
        agent_result={"output": ["\x00", None]},
        created_at=NOON - timedelta(days=1),
        started_at=NOON - timedelta(hours=1),
        extra=Extra({"retries": 2}),
    )
    assert await store.write(runs.open_run, run) == run
    assert await store.read(runs.get, "r1") == run


@each_row("result", [None, {"turns": 3, "text": "a\x00b"}, "done", []])
@in_empty_store
async def test_the_result_of_an_agent_is_stored(store: Store, result: Json) -> None:
    await store.threads.create("t1")
    run = await store.runs.open("t1")
    assert run.agent_result is UNSET
    await store.runs.finish(run.id, agent_result=result)
    found = await store.runs.get(run.id)
    assert found is not None
    assert found.agent_result == result


async def test_an_unreadable_result_is_refused(store: Store) -> None:
    await store.threads.create("t1")
    run = await store.runs.open("t1")
    with pytest.raises(StoreError) as refused:
        await store.runs.finish(run.id, agent_result={"score": float("inf")})
    assert refused.value.where == "$.agentResult.score"
    assert (await store.runs.get(run.id)) == run


BAD_RUNS = {
    "no id": Run(id="", thread_id="t1", status="running"),
    "an id with a NUL": Run(id="a\x00", thread_id="t1", status="running"),
    "an id with half a pair": Run(id="\ud800", thread_id="t1", status="running"),
    "an id that is too long": Run(id="r" * 256, thread_id="t1", status="running"),
    "a thread id with a NUL": Run(id="r1", thread_id="t\x00", status="running"),
    "an agent with a NUL": Run(id="r1", thread_id="t1", status="running", agent="\x00"),
    "a model with half a pair": Run(id="r1", thread_id="t1", status="running", model="\udfff"),
    "a message id with a NUL": Run(id="r1", thread_id="t1", status="running", message_id="\x00"),
    "a cost that is not a number": Run(id="r1", thread_id="t1", status="running", cost=float("nan")),
}


@each_row("run", BAD_RUNS.values(), ids=BAD_RUNS)
@in_empty_store
async def test_invalid_fields_are_refused(engine: Engine, run: Run) -> None:
    store = await with_thread(engine)
    with pytest.raises(StoreError, match=r"hint|no run id"):
        await store.write(runs.open_run, run)
    assert not (await store.read(runs.list_runs)).items


async def test_an_id_cannot_be_used_twice(engine: Engine) -> None:
    store = await with_thread(engine)
    first = await start(store)
    with pytest.raises(ConflictError, match="already"):
        await store.write(runs.open_run, Run(id="r1", thread_id="t1", status="pending", agent="other"))
    assert await store.read(runs.get, "r1") == first


async def test_a_run_needs_a_thread_of_its_owner(engine: Engine) -> None:
    await with_thread(engine, "u1")
    for store, thread_id in ((scoped(engine, "u1"), "t2"), (scoped(engine, "u2"), "t1")):
        with pytest.raises(NotFoundError, match="no thread"):
            await store.write(runs.open_run, Run(id="r1", thread_id=thread_id, status="running"))


async def test_without_an_owner_the_run_belongs_to_the_owner_of_its_thread(engine: Engine) -> None:
    await with_thread(engine, "u1")
    await with_thread(engine, "u2")
    everyone = scoped(engine, None)
    run = Run(id="r1", thread_id="t1", status="running")
    with pytest.raises(ConflictError, match="several owners"):
        await everyone.write(runs.open_run, run)
    for owner in ("u1", "u2"):
        await everyone.write(runs.open_run, run, resource_id=owner)
        assert (await scoped(engine, owner).read(runs.find, "r1")).id == "r1"
    with pytest.raises(ConflictError, match="several owners"):
        await everyone.read(runs.get, "r1")


async def test_pages_of_runs_are_ordered_newest_first(engine: Engine) -> None:
    clock = Clock()
    store = await with_thread(engine, clock=clock)
    for number in range(7):
        await start(store, f"r{number}")
        clock.advance(number % 2)  # some with the same time
    listed: list[str] = []
    cursor = None
    while True:
        page = await store.read(runs.list_runs, limit=3, cursor=cursor)
        listed += [run.id for run in page]
        if (cursor := page.next) is None:
            break
    assert listed == [f"r{number}" for number in reversed(range(7))]


async def test_a_list_can_be_filtered(engine: Engine) -> None:
    store = await with_thread(engine)
    await store.write(runs.open_run, Run(id="a", thread_id="t1", status="running", agent="coder"))
    await store.write(runs.open_run, Run(id="b", thread_id="t1", status="pending"))
    await start(store, "c")
    await store.write(runs.end, "c", COMPLETED)
    for wanted, found in (
        ({"status": ["completed", "pending"]}, ["c", "b"]),
        ({"agent": "coder"}, ["a"]),
        ({"thread_id": "t1"}, ["c", "b", "a"]),
        ({"thread_id": "t2"}, []),
    ):
        arguments: dict[str, Any] = dict(wanted)
        page = await store.read(runs.list_runs, RunFilter(**arguments))
        assert [run.id for run in page] == found
        assert page.next is None


async def test_a_cursor_of_another_list_is_refused(engine: Engine) -> None:
    store = await with_thread(engine)
    with pytest.raises(StoreError, match="not a cursor of this list"):
        await store.read(runs.list_runs, cursor="WzFd")


async def test_saving_changes_the_fields_of_a_run(engine: Engine) -> None:
    clock = Clock()
    store = await with_thread(engine, clock=clock)
    await start(store, status="pending")
    clock.advance(5)
    run = Run(id="r1", thread_id="t1", status="running", model="small", extra=Extra({"x": 1}))
    saved = await store.write(runs.save_run, run)
    assert saved.status == "running"
    assert saved.started_at == NOON + timedelta(seconds=5)
    assert (saved.model, saved.extra, saved.created_at) == ("small", Extra({"x": 1}), NOON)
    assert await store.read(runs.get, "r1") == saved


REFUSED = {
    "an end": Run(id="r1", thread_id="t1", status="completed"),
    "back to pending": Run(id="r1", thread_id="t1", status="pending"),
    "another thread": Run(id="r1", thread_id="t2", status="running"),
}


@each_row("run", REFUSED.values(), ids=REFUSED)
@in_empty_store
async def test_saving_changes_neither_status_nor_thread(engine: Engine, run: Run) -> None:
    store = await with_thread(engine)
    before = await start(store)
    with pytest.raises(ConflictError):
        await store.write(runs.save_run, run)
    assert await store.read(runs.get, "r1") == before


ENDS: dict[RunStatus, RunEnd] = {
    "completed": COMPLETED,
    "failed": RunEnd("failed", "out of \x00 tokens"),
    "cancelled": RunEnd("cancelled", "no longer needed"),
    "interrupted": RunEnd("interrupted", "its owner went away"),
}


@each_row(("before", "status"), list(product(("pending", "running"), ENDS)))
@in_empty_store
async def test_a_run_ends_once(engine: Engine, before: RunStatus, status: RunStatus) -> None:
    clock = Clock()
    store = await with_thread(engine, clock=clock)
    run = Run(id="r1", thread_id="t1", status=before)
    await store.write(runs.open_run, run, lease_owner="p1", lease_seconds=10)
    clock.advance(3)
    ended = await store.write(runs.end, "r1", ENDS[status])
    assert (ended.status, ended.finished_at) == (status, clock.now)
    assert ended.error == ENDS[status].reason
    assert (ended.lease_owner, ended.lease_expires_at) == (None, None)
    clock.advance(3)
    assert await store.write(runs.end, "r1", ENDS[status]) == ended
    for other, ending in ENDS.items():
        if other != status:
            with pytest.raises(ConflictError, match=f"is {status}, it does not become {other}"):
                await store.write(runs.end, "r1", ending)
    assert await store.read(runs.get, "r1") == ended


async def test_the_end_of_a_run_stores_usage_and_result(engine: Engine) -> None:
    store = await with_thread(engine)
    for run_id in ("well", "badly"):
        run = Run(id=run_id, thread_id="t1", status="running", message_id="m0", cost=0.5)
        await store.write(runs.open_run, run)
    usage = Usage(output_tokens=7)
    for ended in (
        await store.write(runs.end, "well", RunEnd("completed", usage=usage), message_id="m1"),
        await store.write(runs.end, "badly", RunEnd("failed", "no", usage), message_id="m1"),
    ):
        assert (ended.usage, ended.cost, ended.message_id) == (usage, 0.5, "m1")


async def held(engine: Engine, seconds: float | None = 10) -> tuple[Any, Clock]:
    clock = Clock()
    store = await with_thread(engine, clock=clock)
    run = Run(id="r1", thread_id="t1", status="running")
    await store.write(runs.open_run, run, lease_owner="p1", lease_seconds=seconds)
    return store, clock


# What happens to a lease of p1 over ten seconds: who does what, after how long, and who holds the run then.
LEASES = {
    "renewed in time": (runs.renew_lease, "p1", 9, "p1"),
    "renewed late, but not taken": (runs.renew_lease, "p1", 60, "p1"),
    "renewed by another": (runs.renew_lease, "p2", 9, None),
    "renewed by another, late": (runs.renew_lease, "p2", 60, None),
    "taken by its owner": (runs.take_lease, "p1", 9, "p1"),
    "taken by another in time": (runs.take_lease, "p2", 9.999999, None),
    "taken by another after its expiry": (runs.take_lease, "p2", 10, "p2"),
}


@each_row(("act", "process", "after", "holder"), LEASES.values(), ids=LEASES)
@in_empty_store
async def test_the_holder_of_a_lease(
    engine: Engine, act: Callable[..., Run], process: str, after: float, holder: str | None
) -> None:
    store, clock = await held(engine)
    clock.advance(after)
    if holder is None:
        with pytest.raises(ConflictError, match=r"held by 'p1'.*hint"):
            await store.write(act, "r1", process, 30)
        assert (await store.read(runs.get, "r1")).lease_owner == "p1"
    else:
        run = await store.write(act, "r1", process, 30)
        assert (run.lease_owner, run.lease_expires_at) == (holder, clock.now + timedelta(seconds=30))


async def test_the_former_holder_gets_an_error_when_renewing(engine: Engine) -> None:
    store, clock = await held(engine)
    clock.advance(11)
    await store.write(runs.take_lease, "r1", "p2", 10)
    with pytest.raises(ConflictError, match="held by 'p2'"):
        await store.write(runs.renew_lease, "r1", "p1", 10)


async def test_a_run_without_a_lease_is_never_abandoned(engine: Engine) -> None:
    store, clock = await held(engine, None)
    clock.advance(10**7)
    assert await store.read(runs.abandoned_runs) == []
    with pytest.raises(ConflictError):
        await store.write(runs.take_lease, "r1", "p2", 10)


async def test_a_released_lease_can_be_taken(engine: Engine) -> None:
    store, _ = await held(engine)
    with pytest.raises(ConflictError, match="only the owner of a lease"):
        await store.write(runs.release_lease, "r1", "p2")
    for _ in range(2):
        assert (await store.write(runs.release_lease, "r1", "p1")).lease_owner is None
    with pytest.raises(ConflictError, match="has no lease"):
        await store.write(runs.renew_lease, "r1", "p1", 10)
    assert (await store.write(runs.take_lease, "r1", "p2", 10)).lease_owner == "p2"


async def test_an_ended_run_has_no_lease(engine: Engine) -> None:
    store, _ = await held(engine)
    await store.write(runs.end, "r1", COMPLETED)
    for act in (runs.renew_lease, runs.take_lease):
        with pytest.raises(ConflictError, match="has ended"):
            await store.write(act, "r1", "p1", 10)
    assert (await store.write(runs.release_lease, "r1", "p1")).lease_owner is None


async def test_active_runs_with_an_expired_lease_are_abandoned(engine: Engine) -> None:
    clock = Clock()
    store = await with_thread(engine, clock=clock)
    for run_id, seconds in (("late", 20), ("first", 5), ("second", 10), ("ended", 5)):
        await store.write(
            runs.open_run,
            Run(id=run_id, thread_id="t1", status="pending" if run_id == "second" else "running"),
            lease_owner="p1",
            lease_seconds=seconds,
        )
    await start(store, "free")
    await store.write(runs.end, "ended", RunEnd("cancelled"))
    clock.advance(15)
    assert [run.id for run in await store.read(runs.abandoned_runs)] == ["first", "second"]
    assert [run.id for run in await store.read(runs.abandoned_runs, limit=1)] == ["first"]


OTHERS: dict[str, tuple[Callable[..., object], tuple[Any, ...]]] = {
    "find": (runs.find, ("r1",)),
    "save": (runs.save_run, (Run(id="r1", thread_id="t1", status="running"),)),
    "end": (runs.end, ("r1", COMPLETED)),
    "renew the lease": (runs.renew_lease, ("r1", "p1", 10)),
    "take the lease": (runs.take_lease, ("r1", "p1", 10)),
    "release the lease": (runs.release_lease, ("r1", "p1")),
    "status of": (run_log.status_of, ("r1",)),
    "read the log": (run_log.read_log, ("r1",)),
    "read raw lines": (run_log.raw_lines, ("r1",)),
    "seal": (maintenance.seal_run, ("r1",)),
    "record timings": (timings.record_timings, ("r1",)),
}


@each_row(("act", "arguments"), OTHERS.values(), ids=OTHERS)
@in_empty_store
async def test_runs_of_other_owners_are_not_found(
    engine: Engine, act: Callable[..., object], arguments: tuple[Any, ...]
) -> None:
    store = await with_thread(engine, "u1")
    before = await start(store)
    await log(store, "r1", raws(b"mine"))
    for other in ("u2", ""):
        with pytest.raises(NotFoundError, match="no run 'r1'"):
            await scoped(engine, other).write(act, *arguments)
    assert await store.read(runs.get, "r1") == before


async def test_lists_have_no_rows_of_other_owners(engine: Engine) -> None:
    clock = Clock()
    store = await with_thread(engine, "u1", clock)
    await store.write(
        runs.open_run, Run(id="r1", thread_id="t1", status="running"), lease_owner="p1", lease_seconds=1
    )
    await start(store, "r2")
    await log(store, "r2", raws(b"mine"))
    await store.write(runs.end, "r2", COMPLETED)
    clock.advance(10)
    other = scoped(engine, "u2", clock)
    assert not (await other.read(runs.list_runs)).items
    assert not await other.read(runs.abandoned_runs)
    assert not await other.read(maintenance.runs_to_seal)
    everything = maintenance.Retention(max_bytes=0)
    assert not (await other.write(maintenance.drop_logs, everything)).run_ids
    for owner in ("u2", ""):
        with pytest.raises(NotFoundError, match="no run 'r1'"):
            await scoped(engine, owner, clock).logs.append("r1", [LogEntry(NOON, raw=b"not mine")])
    assert (await store.read(run_log.status_of, "r1")).last_seq == 0
    assert list(await store.read(lambda tx: list(run_log.raw_lines(tx, "r2")))) == [b"mine"]
