"""The quick way into the logs: the same as the long way, whatever others do to the same runs meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from partita.errors import ConflictError, NotFoundError, StoreError, UnavailableError
from partita.store import runs
from partita.store.engines.location import locate
from partita.store.facade.facade import Facade
from partita.store.log import quick, run_log, sealing, tail
from partita.store.log.appender import Appender
from partita.store.log.run_log import Appended, Batch
from partita.store.opening import open_engine, open_store
from partita.store.transaction import Transaction
from tests.sampling import FULL
from tests.store.empty_store import empty_store

from .running import log, raws, start, tail_rows, with_thread
from .test_log_tail import check_spans

LONG = 3 * quick.FULL_ROWS


@pytest.fixture
async def store() -> AsyncIterator[Facade]:
    """The store of an owner who has a thread `t1` and a run `r1`, in memory."""
    engine = await open_engine(locate("memory:"))
    opened = await with_thread(engine)
    await start(opened)
    yield opened
    await engine.close()


@pytest.fixture
def long_ways(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each group brought that was written the long way."""
    counts: list[int] = []
    append_many = run_log.append_many

    def counting(tx: Transaction, batches: Sequence[Batch]) -> list[Appended | StoreError]:
        counts.append(len(batches))
        return append_many(tx, batches)

    monkeypatch.setattr("partita.store.log.appender.append_many", counting)
    return counts


async def lines_of(store: Facade, run_id: str = "r1") -> list[bytes | None]:
    """The log of a run; its rows follow each other."""
    records = await store.read(run_log.read_log, run_id)
    await store.read(check_spans, run_id, len(records))
    return [record.raw for record in records]


async def test_a_run_that_begins_here_is_never_written_the_long_way(long_ways: list[int]) -> None:
    async with await open_store("memory:") as store:
        await store.create_thread("t1", resource_id="u1")
        for owner in ("u1", None):
            mine = store if owner is None else store.scoped(owner)
            run = await mine.begin_turn("t1")
            assert [await mine.append(run.id, raws(line)) for line in (b"a", b"b")] == [1, 2]
            assert [record.raw for record in await mine.read_log(run.id)] == [b"a", b"b"]
            await mine.finish_run(run.id)
            with pytest.raises(ConflictError, match="has ended"):
                await mine.append(run.id, raws(b"c"))
    assert long_ways == [1, 1]  # those that were refused


async def test_short_runs_do_not_make_the_tail_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "FAR", 50)
    monkeypatch.setattr("partita.store.log.appender.SELDOM", 40)
    async with await open_store("memory:") as store:
        for number in range(400):
            run = (await store.start_turn(f"t{number}")).run
            await store.append(run.id, raws(b"all there is to say"))
            await store.finish_run(run.id)
        assert await tail_rows(store) <= 50 + 2 * 40
        page = await store.list_runs(limit=400)
        assert {len(await store.read_log(run.id)) for run in page.items} == {1}


async def test_a_run_is_written_the_long_way_once(store: Facade, long_ways: list[int]) -> None:
    appender = Appender(store.engine)
    said = [b"%d" % number for number in range(LONG)]
    assert [await appender.append("u1", "r1", raws(line)) for line in said] == list(range(1, LONG + 1))
    assert long_ways == [1]
    assert await lines_of(store) == said


async def test_the_tail_stays_short(store: Facade) -> None:
    appender = Appender(store.engine)
    ids = ["r1", *(f"more{number}" for number in range(60))]
    for run_id in ids[1:]:
        await start(store, run_id)
    most = 0
    for number in range(LONG):
        await asyncio.gather(*(appender.append("u1", run_id, raws(b"%d" % number)) for run_id in ids))
        most = max(most, await tail_rows(store))
    assert most < 2 * len(ids) * quick.FULL_ROWS
    for run_id in ids:
        assert await lines_of(store, run_id) == [b"%d" % number for number in range(LONG)]


async def test_what_is_large_takes_the_quick_way_too(store: Facade, long_ways: list[int]) -> None:
    appender = Appender(store.engine)
    said = [b"a", b"b", b"c" * tail.LARGE, b"d" * tail.LARGE, b"e"]
    for line in said:
        await appender.append("u1", "r1", raws(line))
    assert (long_ways, await tail_rows(store)) == ([1], 1)
    assert await lines_of(store) == said


async def test_a_run_that_has_ended_or_gone_takes_nothing(store: Facade) -> None:
    appender = Appender(store.engine)
    await start(store, "other")
    for run_id in ("r1", "other"):
        await appender.append("u1", run_id, raws(b"1"))
    await store.write(runs.finish_run, "r1")
    late, well = await asyncio.gather(
        appender.append("u1", "r1", raws(b"late")),
        appender.append("u1", "other", raws(b"2")),
        return_exceptions=True,
    )
    assert (type(late), well) == (ConflictError, 2)
    await store.write(lambda tx: tx.sql("DELETE FROM runs WHERE id = 'other'"))
    await start(store, "newcomer")
    with pytest.raises(NotFoundError):
        await appender.append("u1", "other", raws(b"3"))
    assert await lines_of(store, "newcomer") == []


async def test_one_run_under_two_names_is_still_one(store: Facade) -> None:
    appender = Appender(store.engine)
    for owner in ("u1", None):
        await appender.append(owner, "r1", raws(b"x"))
    numbers = [
        await asyncio.gather(*(appender.append(owner, "r1", raws(b"x")) for owner in ("u1", None)))
        for _ in range(5)
    ]
    assert sorted(number for pair in numbers for number in pair) == list(range(3, 13))
    assert len(await lines_of(store)) == 12


async def test_a_run_that_rests_does_not_keep_the_tail_long(
    store: Facade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "FAR", 200)
    monkeypatch.setattr("partita.store.log.appender.SELDOM", 16)
    await start(store, "resting")
    appender = Appender(store.engine)
    await appender.append("u1", "resting", raws(b"before"))
    for number in range(400):
        await appender.append("u1", "r1", raws(b"%d" % number))
    assert await tail_rows(store) < 300
    await appender.append("u1", "resting", raws(b"after"))
    assert await lines_of(store, "resting") == [b"before", b"after"]
    assert len(await lines_of(store)) == 400


async def test_rows_that_are_not_swept_yet_do_not_come_back(store: Facade) -> None:
    appender = Appender(store.engine)
    for run_id in ("resting", "folded"):
        await start(store, run_id)
        await appender.append("u1", run_id, raws(b"0"))
    for number in range(1, quick.FULL_ROWS + 1):
        await appender.append("u1", "folded", raws(b"%d" % number))
    for _ in range(2):  # nothing goes into the tail
        await appender.append("u1", "r1", raws(b"large" * tail.LARGE))
    await appender.append("u1", "folded", raws(b"more"))
    assert (await lines_of(store, "folded"))[-2:] == [b"%d" % quick.FULL_ROWS, b"more"]
    assert await lines_of(store, "resting") == [b"0"]


async def test_no_more_runs_are_remembered_than_is_good(
    store: Facade, monkeypatch: pytest.MonkeyPatch, long_ways: list[int]
) -> None:
    monkeypatch.setattr(quick, "MOST_KNOWN", 2)
    await start(store, "r2")
    await start(store, "r3")
    appender = Appender(store.engine)
    for _ in range(2):
        for run_id in ("r1", "r2", "r3"):
            await appender.append("u1", run_id, raws(b"x"))
    assert len(long_ways) > 3
    assert [await lines_of(store, run_id) for run_id in ("r1", "r2", "r3")] == [[b"x", b"x"]] * 3


async def test_a_run_that_another_process_began_is_folded_too(store: Facade, long_ways: list[int]) -> None:
    begun = Appender(store.engine)
    for _ in range(3):
        await begun.append("u1", "r1", raws(b"before"))
    heir = Appender(store.engine)
    most = 0
    for number in range(3 * tail.TOO_MANY):
        await heir.append("u1", "r1", raws(b"%d" % number))
        most = max(most, await tail_rows(store))
    assert most <= 2 * tail.TOO_MANY
    assert len(long_ways) < 6
    assert len(await lines_of(store)) == 3 + 3 * tail.TOO_MANY


async def test_a_run_that_has_ended_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []
    append = quick.append

    def counting(connection: Connection, *, plan: quick.Plan[object]) -> bool:
        tries.append(len(plan))
        return append(connection, plan=plan)

    monkeypatch.setattr(quick, "append", counting)
    async with open_store("memory:") as store:
        run = await store.open_run((await store.create_thread()).id)
        for line in (b"1", b"2"):
            await store.append(run.id, raws(line))
        await store.finish_run(run.id)
        with pytest.raises(ConflictError):
            await store.append(run.id, raws(b"late"))
    assert tries == [1]


async def test_only_those_whose_entries_failed_are_told_so(
    store: Facade, monkeypatch: pytest.MonkeyPatch
) -> None:
    appender = Appender(store.engine)
    await appender.append("u1", "r1", raws(b"1"))
    await start(store, "new")

    def full(*_: object) -> None:
        raise UnavailableError("the disk is full")

    monkeypatch.setattr("partita.store.log.appender.append_many", full)
    known, new = await asyncio.gather(
        appender.append("u1", "r1", raws(b"2")),
        appender.append("u1", "new", raws(b"1")),
        return_exceptions=True,
    )
    assert (known, str(new)) == (2, "the disk is full")
    assert (await lines_of(store), await lines_of(store, "new")) == ([b"1", b"2"], [])


@pytest.fixture(scope="module")
def low_limits() -> Iterator[None]:
    """Limits so low that a few rows reach them."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (tail, "FAR", 12),
            (tail, "TIDIED", 2),
            (tail, "MANY", 2),
            (tail, "TOO_MANY", 8),
            (quick, "LARGE", 300),
            (quick, "FULL_ROWS", 3),
            (quick, "FULL_BYTES", 200),
            (quick, "MOST_KNOWN", 4),
        ):
            patch.setattr(module, name, value)
        patch.setattr("partita.store.log.appender.SELDOM", 3)
        yield


lines = st.lists(st.binary(max_size=40) | st.binary(min_size=300, max_size=310), min_size=1, max_size=3)
groups = st.dictionaries(st.integers(0, 2), lines, min_size=1)
Group: TypeAlias = dict[int, list[bytes]]
Deed: TypeAlias = tuple[str, Group]
NOTHING: Group = {}
deeds: st.SearchStrategy[Deed] = st.tuples(
    st.sampled_from(["one", "one", "two", "long"]), groups
) | st.tuples(st.sampled_from(["settle", "tidy"]), st.just(NOTHING))


@settings(deadline=None, max_examples=200 if FULL else 20)
@given(st.lists(deeds, min_size=1, max_size=30))
def test_two_processes_and_a_housekeeper_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    low_limits: None,
    deeds: list[Deed],
) -> None:
    asyncio.run(_work_together(empty_store(tmp_path_factory.mktemp("log")), deeds))


async def _work_together(url: str, deeds: list[Deed]) -> None:
    engines = [await open_engine(locate(url)) for _ in range(2)]
    try:
        store = await with_thread(engines[0])
        appenders = {name: Appender(engine) for name, engine in zip(("one", "two"), engines, strict=True)}
        said: dict[str, list[bytes]] = {f"r{number}": [] for number in range(3)}
        for run_id in said:
            await start(store, run_id)
        for who, group in deeds:
            if who == "settle":
                await store.write(lambda tx: tail.settle(tx, ("u1", "r0")))
            if who == "tidy":
                await store.write(tail.tidy)
            for number, given in group.items():
                said[f"r{number}"] += given
            ends = await asyncio.gather(
                *(
                    log(store, f"r{number}", raws(*given))
                    if who == "long"
                    else appenders[who].append("u1", f"r{number}", raws(*given))
                    for number, given in group.items()
                )
            )
            assert ends == [len(said[f"r{number}"]) for number in group]
        for run_id, given in said.items():
            assert await lines_of(store, run_id) == given
            await store.write(runs.finish_run, run_id)
            await store.write(sealing.seal_run, run_id)
            assert await lines_of(store, run_id) == given
    finally:
        for engine in engines:
            await engine.close()
