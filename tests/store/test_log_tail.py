"""The tail of the logs in SQLite: bounded, in order, gone when its run is."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine, select
from sqlalchemy.pool import StaticPool

from partita.errors import StoreError
from partita.store import runs, schema, threads
from partita.store.engines.engine import Engine
from partita.store.engines.location import locate
from partita.store.facade.facade import Facade
from partita.store.ids import new_id
from partita.store.log import run_log, sealing, tail
from partita.store.log.appender import Appender
from partita.store.log.following import follow
from partita.store.log.retention import Retention, drop_logs
from partita.store.log.run_log import Appended
from partita.store.opening import open_engine
from partita.store.transaction import Transaction
from partita.types.runs import Run
from partita.types.threads import Thread

from .running import NOON, batch, log, raws, scoped, start, tail_rows, with_thread

FILLED = tail.TOO_MANY


@pytest.fixture
async def store() -> AsyncIterator[Facade]:
    """The store of an owner who has a thread `t1`, in memory."""
    engine = await open_engine(locate("memory:"))
    yield await with_thread(engine)
    await engine.close()


async def spans(store: Facade, run_id: str = "r1") -> list[tuple[int, int]]:
    """The rows of a run in `run_log`: the first and the last entry of each."""
    query = "SELECT first_seq, last_seq FROM run_log WHERE run_id = ? ORDER BY first_seq"
    return [(row[0], row[-1]) for row in await store.read(lambda tx: tx.sql(query, (run_id,)).all())]


async def fill(store: Facade, run_id: str = "r1", rows: int = FILLED) -> None:
    for number in range(rows):
        await log(store, run_id, raws(b"%d" % number))


async def test_many_rows_are_folded_into_one_and_swept(store: Facade) -> None:
    await start(store)
    await fill(store, rows=FILLED - 1)
    assert (await spans(store), await tail_rows(store)) == ([], FILLED - 1)
    await fill(store, rows=1)
    assert (await spans(store), await tail_rows(store)) == ([(1, FILLED)], 0)
    await fill(store, rows=2)
    assert (await spans(store), await tail_rows(store)) == ([(1, FILLED)], 2)
    assert [record.raw for record in await store.read(run_log.read_log, "r1", after=FILLED - 1)] == [
        *(b"0", b"0", b"1")
    ]


async def test_runs_that_are_full_at_the_same_time_are_folded_one_after_the_other(store: Facade) -> None:
    ids = [f"r{number}" for number in range(20)]
    for run_id in ids:
        await start(store, run_id)
    folded: list[int] = []
    for _ in range(FILLED + 40):
        await store.write(run_log.append_many, [batch(run_id, raws(b"x")) for run_id in ids])
        folded.append(sum([len(await spans(store, run_id)) for run_id in ids]))
    assert max(after - before for before, after in pairwise(folded)) == 1
    assert folded[FILLED - 2] == 0
    assert folded[FILLED + 18] == 20


async def test_what_is_large_does_not_go_through_the_tail(store: Facade) -> None:
    await start(store)
    await log(store, "r1", raws(b"small"))
    await log(store, "r1", raws(b"large" * 1000, b"too"))
    await log(store, "r1", raws(b"after"))
    assert (await spans(store), await tail_rows(store)) == ([(1, 1), (2, 3)], 2)
    records = await store.read(run_log.read_log, "r1")
    assert [record.raw for record in records] == [b"small", b"large" * 1000, b"too", b"after"]


async def test_a_run_that_rests_does_not_keep_others_from_being_swept(
    store: Facade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "FAR", 2 * FILLED)
    await start(store, "resting")
    await log(store, "resting", raws(b"a word"))
    await start(store)
    await fill(store, rows=4 * FILLED)
    assert await spans(store, "resting") == [(1, 1)]
    assert await tail_rows(store) <= 2 * FILLED
    assert [record.raw for record in await store.read(run_log.read_log, "resting")] == [b"a word"]


async def half_swept(store: Facade) -> None:
    """A run `r1` with rows in the tail that were folded, behind one that was not, and some that were not."""
    await start(store, "resting")
    await log(store, "resting", raws(b"x"))
    await start(store)
    await fill(store, rows=FILLED + 3)
    assert await spans(store) == [(1, FILLED)]
    assert await tail_rows(store) >= FILLED + 4


async def test_a_sealed_run_leaves_nothing_in_the_tail(store: Facade) -> None:
    await half_swept(store)
    await store.write(runs.finish_run, "r1")
    before = await store.read(run_log.read_log, "r1")
    await store.write(sealing.seal_run, "r1")
    assert await tail_rows(store) == 1
    assert await store.read(run_log.read_log, "r1") == before


async def test_a_dropped_log_leaves_nothing_in_the_tail(store: Facade) -> None:
    await half_swept(store)
    await store.write(runs.finish_run, "r1")
    report = await store.write(drop_logs, Retention(max_bytes=0))
    assert (report.run_ids, report.entries) == (("r1",), FILLED + 3)
    assert await tail_rows(store) == 1


async def test_a_deleted_thread_leaves_nothing_in_the_tail(store: Facade) -> None:
    await store.write(threads.create, Thread(id="t2"))
    await store.write(runs.open_run, Run(id="other", thread_id="t2", status="running"))
    await log(store, "other", raws(b"stays"))
    await half_swept(store)
    await store.write(threads.delete_thread, "t1")
    assert await tail_rows(store) == 1
    assert len(await store.read(run_log.read_log, "other")) == 1


async def test_a_broken_link_stops_neither_the_run_nor_what_can_be_read(store: Facade) -> None:
    await start(store)
    await fill(store, rows=10)
    await store.write(lambda tx: tx.sql("DELETE FROM log_tail WHERE first_seq = 4"))
    await fill(store, rows=FILLED)
    assert await log(store, "r1", raws(b"large" * 1000)) == FILLED + 11
    assert await spans(store) == []
    assert len(await store.read(run_log.read_log, "r1", through=3)) == 3
    assert len(await store.read(run_log.read_log, "r1", after=4)) == FILLED + 7
    await store.write(runs.finish_run, "r1")
    with pytest.raises(StoreError, match=r"missing \(at run r1, entries 4-4\)"):
        await store.write(sealing.seal_run, "r1")
    assert await tail_rows(store) == FILLED + 10


async def test_a_broken_link_does_not_keep_other_runs_from_being_folded(store: Facade) -> None:
    await start(store, "broken")
    await fill(store, "broken", rows=10)
    await store.write(lambda tx: tx.sql("DELETE FROM log_tail WHERE first_seq = 4"))
    await fill(store, "broken")
    await start(store)
    for _ in range(FILLED + 1):
        await store.write(run_log.append_many, [batch(run_id, raws(b"x")) for run_id in ("broken", "r1")])
    assert await spans(store) == [(1, FILLED)]


async def test_two_processes_fold_the_same_run(tmp_path: Path) -> None:
    engines = [await open_engine(locate(f"sqlite:///{tmp_path / 'store.db'}")) for _ in range(2)]
    try:
        await start(store := await with_thread(engines[0]))
        appenders = [Appender(engine) for engine in engines]
        follower = asyncio.create_task(_follow(engines[1]))
        for turn in range(FILLED):
            await asyncio.gather(*(appender.append("u1", "r1", raws(b"%d" % turn)) for appender in appenders))
        await store.write(runs.finish_run, "r1")
        assert await follower == list(range(1, 2 * FILLED + 1))
        (first, *_) = await spans(store)
        assert first[1] >= tail.MANY
        assert await tail_rows(store) < FILLED
    finally:
        for engine in engines:
            await engine.close()


async def _follow(engine: Engine) -> list[int]:
    async with asyncio.timeout(30):
        return [record.seq async for records in follow(engine, "u1", "r1") for record in records]


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    """A database in memory, and limits so low that a few rows reach them."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with pytest.MonkeyPatch.context() as patch, engine.begin() as opened:
        for name, value in {"MANY": 2, "TOO_MANY": 4, "LARGE": 300, "FAR": 12}.items():
            patch.setattr(tail, name, value)
        schema.upgrade(opened)
        threads.create(Transaction(opened, "u1", NOON), Thread(id="t1"))
        yield opened
    engine.dispose()


lines = st.lists(st.binary(max_size=40) | st.binary(min_size=300, max_size=310), min_size=1, max_size=4)


@settings(deadline=None)
@given(
    st.lists(st.dictionaries(st.integers(0, 2), lines, min_size=1), min_size=1, max_size=25),
    st.integers(0, 30),
    st.none() | st.integers(0, 10),
)
def test_any_window_of_any_run_is_what_was_written(
    connection: Connection, groups: list[dict[int, list[bytes]]], after: int, limit: int | None
) -> None:
    tx = Transaction(connection, "u1", NOON)
    ids = [runs.open_run(tx, Run(id=new_id(), thread_id="t1", status="running")).id for _ in range(3)]
    written: dict[str, list[bytes]] = {run_id: [] for run_id in ids}
    for group in groups:
        results = run_log.append_many(tx, [batch(ids[run], raws(*said)) for run, said in group.items()])
        for run, said in group.items():
            written[ids[run]] += said
        assert [ended(result) for result in results] == [len(written[ids[run]]) for run in group]
    for run_id, said in written.items():
        records = run_log.read_log(tx, run_id, after=after, limit=limit)
        assert [(record.seq, record.raw) for record in records] == [
            (after + place, raw) for place, raw in enumerate(said[after:][:limit], 1)
        ]
        check_spans(tx, run_id, len(said))
        tail.settle(tx, ("u1", run_id))
        assert list(run_log.raw_lines(tx, run_id)) == said
        check_spans(tx, run_id, len(said))


def ended(result: Appended | StoreError) -> int:
    """The number of the last entry, which is where the log ends."""
    assert isinstance(result, Appended)
    assert result.end.last_seq == result.last_seq
    return result.last_seq


def check_spans(tx: Transaction, run_id: str, length: int) -> None:
    """The rows of a run follow each other, from the first entry to the last."""
    row = run_log.every_row(tx).c
    query = select(row.first_seq, row.last_seq).where(row.run_id == run_id).order_by(row.first_seq)
    found = [(row.first_seq, row.last_seq) for row in tx.rows(query)]
    sizes = [last + 1 - first for first, last in found]
    assert [first for first, _ in found] == [1, *(size + 1 for size in accumulate(sizes))][: len(found)]
    assert sum(sizes) == length


async def test_runs_are_found_without_their_owner(store: Facade) -> None:
    await start(store)
    everyone = scoped(store.engine, None)
    (result,) = await everyone.write(run_log.append_many, [batch("r1", raws(b"x"), owner=None)])
    assert ended(result) == 1
