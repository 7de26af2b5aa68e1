"""How SQLite appends to logs: new rows go to `log_tail`, which stays short whatever runs and processes do."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine, select
from sqlalchemy.pool import StaticPool

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.store.connection import open_engine, open_store
from partita.store.context import StoreContext
from partita.store.engines.engine import Engine
from partita.store.engines.location import locate
from partita.store.ids import new_id
from partita.store.logs import maintenance, run_log
from partita.store.logs.appender import Appender, append
from partita.store.logs.maintenance import Retention, drop_logs
from partita.store.logs.run_log import follow
from partita.store.migrations import upgrade
from partita.store.runs import rows as runs
from partita.store.schema import SQLITE_LOG, split_statements
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as threads
from partita.types.threads import Run, Thread
from tests.sampling import FULL
from tests.store.empty_store import empty_store

from .running import COMPLETED, NOON, append_to_all, batches_of, log, raws, start, tail_rows, with_thread

FOLDED = 24 + 256
"""The number of rows after which a run that is appended to alone is folded."""

LARGE = 4096


@pytest.fixture
async def store() -> AsyncIterator[StoreContext]:
    """The store of an owner who has a thread `t1`, in memory."""
    engine = await open_engine(locate("memory:"))
    yield await with_thread(engine)
    await engine.close()


async def spans(store: StoreContext, run_id: str = "r1") -> list[tuple[int, int]]:
    """The rows of a run in `run_log`: the first and the last entry of each."""
    query = "SELECT first_seq, last_seq FROM run_log WHERE run_id = ? ORDER BY first_seq"
    return [(row[0], row[-1]) for row in await store.read(lambda tx: tx.sql(query, (run_id,)).all())]


async def fill(store: StoreContext, run_id: str = "r1", rows: int = FOLDED) -> None:
    for number in range(rows):
        await log(store, run_id, raws(b"%d" % number))


async def lines_of(store: StoreContext, run_id: str = "r1") -> list[bytes | None]:
    """The log of a run. Its rows must have every entry once."""
    records = await store.read(run_log.read_log, run_id)
    await store.read(check_spans, run_id, len(records))
    return [record.raw for record in records]


def check_spans(tx: Transaction, run_id: str, length: int) -> None:
    """Check that the rows of a run have all entries from the first to the last."""
    row = run_log.every_row(tx).c
    query = select(row.first_seq, row.last_seq).where(row.run_id == run_id).order_by(row.first_seq)
    found = [(row.first_seq, row.last_seq) for row in tx.rows(query)]
    sizes = [last + 1 - first for first, last in found]
    assert [first for first, _ in found] == [1, *(size + 1 for size in accumulate(sizes))][: len(found)]
    assert sum(sizes) == length


async def test_many_rows_become_one_and_are_deleted(store: StoreContext) -> None:
    await start(store)
    await fill(store, rows=FOLDED)
    assert (await spans(store), await tail_rows(store)) == ([], FOLDED)
    await fill(store, rows=1)
    assert await spans(store) == [(1, FOLDED + 1)]
    await fill(store, rows=FOLDED)
    assert await spans(store) == [(1, FOLDED + 1)]
    assert await tail_rows(store) <= FOLDED
    assert await lines_of(store) == [b"%d" % n for n in [*range(FOLDED), 0, *range(FOLDED)]]


async def test_runs_that_are_appended_to_together_are_folded_one_after_the_other(store: StoreContext) -> None:
    ids = [f"r{number}" for number in range(20)]
    for run_id in ids:
        await start(store, run_id)
    folded: list[int] = []
    for _ in range(80):
        await append_to_all(store.engine, {("u1", run_id): raws(b"x") for run_id in ids})
        folded.append(sum([len(await spans(store, run_id)) for run_id in ids]))
    assert max(after - before for before, after in pairwise(folded)) <= 2
    assert folded[24] == 0
    assert folded[-1] >= 20
    assert [await lines_of(store, run_id) for run_id in ids] == [[b"x"] * 80] * 20


@pytest.mark.parametrize("count", [1, 10, 100])
async def test_the_tail_stays_short(store: StoreContext, count: int) -> None:
    ids = [f"r{number}" for number in range(count)]
    for run_id in ids:
        await start(store, run_id)
    longest = 0
    for number in range(20_000 // count if FULL else 4_000 // count):
        await append_to_all(store.engine, {("u1", run_id): raws(b"%d" % number) for run_id in ids})
        longest = max(longest, await tail_rows(store))
    assert longest < 50 * count + 512
    for run_id in ids:
        assert await lines_of(store, run_id) == [b"%d" % n for n in range(number + 1)]


async def test_short_runs_do_not_make_the_tail_long() -> None:
    async with await open_store("memory:") as store:
        for number in range(400):
            run = (await store.runs.start_turn(f"t{number}")).run
            await store.logs.append(run.id, raws(b"the only entry"))
            await store.runs.finish(run.id)
        assert await tail_rows(store) <= FOLDED + 1
        page = await store.runs.list(limit=400)
        assert {len(await store.logs.read(run.id)) for run in page.items} == {1}


async def test_an_idle_run_does_not_keep_the_tail_long(store: StoreContext) -> None:
    await start(store, "idle")
    await log(store, "idle", raws(b"before"))
    await start(store)
    await fill(store, rows=4 * FOLDED)
    assert await spans(store, "idle") == [(1, 1)]
    assert await tail_rows(store) <= 2 * FOLDED
    await log(store, "idle", raws(b"after"))
    assert await lines_of(store, "idle") == [b"before", b"after"]


async def test_large_entries_do_not_go_through_the_tail(store: StoreContext) -> None:
    await start(store)
    await log(store, "r1", raws(b"small"))
    await log(store, "r1", raws(b"large" * 1000, b"too"))
    await log(store, "r1", raws(b"after"))
    assert (await spans(store), await tail_rows(store)) == ([(1, 1), (2, 3)], 1)
    assert await lines_of(store) == [b"small", b"large" * 1000, b"too", b"after"]


async def test_an_ended_or_deleted_run_accepts_no_entries(store: StoreContext) -> None:
    appender = Appender(store.engine)
    for run_id in ("r1", "other"):
        await start(store, run_id)
        await appender.append("u1", run_id, raws(b"1"))
    await store.write(runs.end, "r1", COMPLETED)
    late, taken = await asyncio.gather(
        appender.append("u1", "r1", raws(b"late")),
        appender.append("u1", "other", raws(b"2")),
        return_exceptions=True,
    )
    assert (type(late), taken) == (ConflictError, 2)
    await store.write(lambda tx: tx.sql("DELETE FROM runs WHERE id = 'other'"))
    await start(store, "new")
    with pytest.raises(NotFoundError):
        await appender.append("u1", "other", raws(b"3"))
    await start(store, "other")
    assert await appender.append("u1", "other", raws(b"new")) == 1
    assert (await lines_of(store, "new"), await lines_of(store, "other")) == ([], [b"new"])


async def test_appends_with_and_without_the_owner_are_numbered_together(store: StoreContext) -> None:
    await start(store)
    appender = Appender(store.engine)
    numbers = [
        await asyncio.gather(*(appender.append(owner, "r1", raws(b"x")) for owner in ("u1", None)))
        for _ in range(5)
    ]
    assert sorted(number for pair in numbers for number in pair) == list(range(1, 11))
    assert len(await lines_of(store)) == 10


async def partly_folded(store: StoreContext) -> None:
    """A run `r1` whose first rows are folded but not deleted, because an older row is not."""
    before = await tail_rows(store)
    await start(store, "idle")
    await log(store, "idle", raws(b"x"))
    await start(store)
    await fill(store, rows=10)
    await store.write(lambda tx: tx.sql("INSERT INTO log_fold (run) SELECT key FROM runs WHERE id = 'r1'"))
    await fill(store, rows=3)
    assert (await spans(store), await tail_rows(store)) == ([(1, 10)], before + 14)
    assert len(await lines_of(store)) == 13


async def test_a_sealed_run_has_no_rows_in_the_tail(store: StoreContext) -> None:
    await partly_folded(store)
    await store.write(runs.end, "r1", COMPLETED)
    before = await store.read(run_log.read_log, "r1")
    await store.write(maintenance.seal_run, "r1")
    assert await tail_rows(store) == 1
    assert await store.read(run_log.read_log, "r1") == before


async def test_a_dropped_log_has_no_rows_in_the_tail(store: StoreContext) -> None:
    await partly_folded(store)
    await store.write(runs.end, "r1", COMPLETED)
    report = await store.write(drop_logs, Retention(max_bytes=0))
    assert (report.run_ids, report.entries) == (("r1",), 13)
    assert await tail_rows(store) == 1


async def test_a_deleted_thread_has_no_rows_in_the_tail(store: StoreContext) -> None:
    await store.write(threads.create, Thread(id="t2"))
    await store.write(runs.open_run, Run(id="other", thread_id="t2", status="running"))
    await log(store, "other", raws(b"stays"))
    await partly_folded(store)
    await store.write(threads.delete_thread, "t1")
    assert await tail_rows(store) == 1
    assert len(await store.read(run_log.read_log, "other")) == 1


async def test_a_missing_row_affects_neither_appending_nor_reading_other_rows(store: StoreContext) -> None:
    await start(store)
    await fill(store, rows=10)
    await store.write(lambda tx: tx.sql("DELETE FROM log_tail WHERE first_seq = 4"))
    assert len(await store.read(run_log.read_log, "r1", after=4)) == 6
    await fill(store, rows=FOLDED)
    assert len(await spans(store)) == FOLDED  # each row alone
    assert await log(store, "r1", raws(b"large" * 1000)) == FOLDED + 11
    assert len(await store.read(run_log.read_log, "r1", through=3)) == 3
    assert len(await store.read(run_log.read_log, "r1", after=4)) == FOLDED + 7
    await store.write(runs.end, "r1", COMPLETED)
    with pytest.raises(StoreError, match=r"missing \(at run r1, entries 4-4\)"):
        await store.write(maintenance.seal_run, "r1")
    assert len(await store.read(run_log.read_log, "r1", after=4)) == FOLDED + 7


async def test_two_processes_append_to_the_same_run(tmp_path: Path) -> None:
    engines = [await open_engine(locate(f"sqlite:///{tmp_path / 'store.db'}")) for _ in range(2)]
    try:
        await start(store := await with_thread(engines[0]))
        appenders = [Appender(engine) for engine in engines]
        follower = asyncio.create_task(_follow(engines[1]))
        for turn in range(FOLDED):
            await asyncio.gather(*(appender.append("u1", "r1", raws(b"%d" % turn)) for appender in appenders))
        await store.write(runs.end, "r1", COMPLETED)
        assert await follower == list(range(1, 2 * FOLDED + 1))
        assert await spans(store) == [(1, FOLDED + 1)]
        assert len(await lines_of(store)) == 2 * FOLDED
    finally:
        for engine in engines:
            await engine.close()


async def _follow(engine: Engine) -> list[int]:
    async with asyncio.timeout(30):
        return [record.seq async for records in follow(engine, "u1", "r1") for record in records]


def lower_limits(connection: Connection) -> None:
    """Limits so low that a few rows reach them."""
    limits = {"24 *": "1 *", "/ 256": "/ 2", "4096": "300"}
    for statement in split_statements(SQLITE_LOG):
        _, kind, name, *_ = statement.split()
        if kind == "INDEX":
            continue
        for limit, low in limits.items():
            statement = statement.replace(limit, low)  # noqa: PLW2901
        connection.exec_driver_sql(f"DROP {kind} IF EXISTS {name}")  # dropping a view drops its trigger
        connection.exec_driver_sql(statement)


lines = st.lists(st.binary(max_size=40) | st.binary(min_size=300, max_size=310), min_size=1, max_size=4)
Group: TypeAlias = dict[int, list[bytes]]
groups = st.dictionaries(st.integers(0, 2), lines, min_size=1)


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    """A database in memory with low limits."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as opened:
        upgrade(opened)
        lower_limits(opened)
        threads.create(Transaction(opened, "u1", NOON), Thread(id="t1"))
        yield opened
    engine.dispose()


@settings(deadline=None)
@given(st.lists(groups, min_size=1, max_size=25), st.integers(0, 30), st.none() | st.integers(0, 10))
def test_any_window_of_any_run_has_the_written_entries(
    connection: Connection, groups: list[Group], after: int, limit: int | None
) -> None:
    tx = Transaction(connection, "u1", NOON)
    ids = [runs.open_run(tx, Run(id=new_id(), thread_id="t1", status="running")).id for _ in range(3)]
    written: dict[str, list[bytes]] = {run_id: [] for run_id in ids}
    for group in groups:
        ends = append(
            connection, batches=batches_of({("u1", ids[run]): raws(*lines) for run, lines in group.items()})
        )
        for run, lines in group.items():
            written[ids[run]] += lines
        assert ends == {("u1", ids[run]): len(written[ids[run]]) for run in group}
    for run_id, lines in written.items():
        records = run_log.read_log(tx, run_id, after=after, limit=limit)
        assert [(record.seq, record.raw) for record in records] == [
            (after + number, raw) for number, raw in enumerate(lines[after:][:limit], 1)
        ]
        check_spans(tx, run_id, len(lines))


NOTHING: Group = {}
Action: TypeAlias = tuple[str, Group]
actions: st.SearchStrategy[Action] = st.tuples(st.sampled_from(["one", "one", "two"]), groups) | st.tuples(
    st.just("fold"), st.just(NOTHING)
)


@settings(deadline=None, max_examples=200 if FULL else 20)
@given(st.lists(actions, min_size=1, max_size=30))
def test_two_processes_lose_nothing(tmp_path_factory: pytest.TempPathFactory, actions: list[Action]) -> None:
    asyncio.run(_work_together(empty_store(tmp_path_factory.mktemp("log")), actions))


async def _work_together(url: str, actions: list[Action]) -> None:
    engines = [await open_engine(locate(url)) for _ in range(2)]
    try:
        await engines[0].change_schema(lower_limits)
        store = await with_thread(engines[0])
        appenders = {name: Appender(engine) for name, engine in zip(("one", "two"), engines, strict=True)}
        written: dict[str, list[bytes]] = {f"r{number}": [] for number in range(3)}
        for run_id in written:
            await start(store, run_id)
        for action, group in actions:
            if action == "fold":
                await store.write(
                    lambda tx: tx.sql("INSERT INTO log_fold (run) SELECT key FROM runs LIMIT 1")
                )
                continue
            for number, lines in group.items():
                written[f"r{number}"] += lines
            ends = await asyncio.gather(
                *(appenders[action].append("u1", f"r{run}", raws(*lines)) for run, lines in group.items())
            )
            assert ends == [len(written[f"r{number}"]) for number in group]
        for run_id, lines in written.items():
            assert await lines_of(store, run_id) == lines
            await store.write(runs.end, run_id, COMPLETED)
            await store.write(maintenance.seal_run, run_id)
            assert await lines_of(store, run_id) == lines
    finally:
        for engine in engines:
            await engine.close()
