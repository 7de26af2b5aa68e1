"""The appender: many writers, few commits, nothing lost, duplicated or reordered; and followers of logs."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

import pytest
from sqlalchemy import Connection

from partita.errors import ConflictError, NotFoundError, StoreError, UnavailableError
from partita.store.connection import open_engine
from partita.store.engines.engine import Engine, Listener
from partita.store.engines.location import locate
from partita.store.logs import run_log
from partita.store.logs.appender import Appender
from partita.store.logs.run_log import LogEntry, LogRecord, follow
from partita.store.runs import rows as runs
from partita.store.runs.rows import RunEnd
from partita.store.store import Store
from tests.store.emptying import in_empty_store
from tests.store.engines import in_a_file_and_on_a_server
from tests.store.workers import PROCESSES, append_lines, exit_code, started
from tests.tables import each_row

from .running import COMPLETED, NOON, log, raws, scoped, start, with_thread

T = TypeVar("T")
SOON = 30.0
"""The seconds after which an operation counts as hanging."""


class CountingEngine:
    """An engine that counts writes, and can block them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.where = engine.where
        self.health = engine.health
        self.writes = 0
        self.leave = asyncio.Event()
        self.leave.set()

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._engine.read(work)

    async def write(self, work: Callable[[Connection], T], *, urgent: bool = False) -> T:
        self.writes += 1
        await self.leave.wait()
        return await self._engine.write(work, urgent=urgent)

    async def write_statement(self, work: Callable[[Connection], T]) -> T:
        self.writes += 1
        await self.leave.wait()
        return await self._engine.write_statement(work)

    async def change_schema(self, work: Callable[[Connection], None]) -> None:
        await self._engine.change_schema(work)

    async def autocommit(self, work: Callable[[Connection], T]) -> T:
        return await self._engine.autocommit(work)

    def listen(self, topic: str) -> AbstractContextManager[Listener]:
        return self._engine.listen(topic)

    def notify(self, topic: str) -> None:
        self._engine.notify(topic)

    def change_mark(self) -> object | None:
        return self._engine.change_mark()

    async def close(self) -> None:
        await self._engine.close()


async def lines_of(engine: Engine, run_id: str) -> list[bytes | None]:
    return [record.raw for record in await scoped(engine).read(run_log.read_log, run_id)]


async def test_an_append_returns_the_number_of_its_last_entry(engine: Engine) -> None:
    await start(await with_thread(engine))
    appender = Appender(engine)
    assert await appender.append("u1", "r1", raws(b"1")) == 1
    assert await appender.append(None, "r1", raws(b"2", b"3")) == 3
    assert await lines_of(engine, "r1") == [b"1", b"2", b"3"]


@each_row("many", [1, 8], ids=["one run", "many runs"])
@in_empty_store
async def test_concurrent_appends_keep_order_and_numbers(engine: Engine, many: int) -> None:
    store = await with_thread(engine)
    for number in range(many):
        await start(store, f"r{number}")
    appender = Appender(engine)
    numbers: dict[tuple[str, bytes], int] = {}

    async def work(writer: int) -> None:
        run_id = f"r{writer % many}"
        for turn in range(12):
            lines = [f"{writer}.{turn}.{place}".encode() for place in range(1 + (writer + turn) % 3)]
            last = await appender.append("u1", run_id, raws(*lines))
            for place, line in enumerate(reversed(lines)):
                numbers[run_id, line] = last - place

    await asyncio.gather(*map(work, range(32)))
    for number in range(many):
        run_id = f"r{number}"
        records = await store.read(run_log.read_log, run_id)
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        expected = {line: seq for (run, line), seq in numbers.items() if run == run_id}
        assert {record.raw: record.seq for record in records} == expected
        assert len(records) == len(expected)
    for writer in range(32):
        own = [seq for (_, line), seq in numbers.items() if line.split(b".")[0] == b"%d" % writer]
        assert len(own) == len(set(own))


async def test_appends_of_one_writer_stay_in_order_without_waiting(engine: Engine) -> None:
    await start(await with_thread(engine))
    appender = Appender(engine)
    lines = [b"%d" % number for number in range(40)]
    numbers = await asyncio.gather(*(appender.append("u1", "r1", raws(line)) for line in lines))
    assert numbers == list(range(1, 41))
    assert await lines_of(engine, "r1") == lines


async def test_appends_during_a_write_form_the_next_group(engine: Engine) -> None:
    store = await with_thread(engine)
    for number in range(50):
        await start(store, f"r{number}")
    counting = CountingEngine(engine)
    counting.leave.clear()
    appender = Appender(counting)
    first = asyncio.create_task(appender.append("u1", "r0", raws(b"first")))
    while not counting.writes:
        await asyncio.sleep(0)
    others = [asyncio.create_task(appender.append("u1", f"r{n}", raws(b"other"))) for n in range(50)]
    await asyncio.sleep(0)
    counting.leave.set()
    assert await first == 1
    assert await asyncio.gather(*others) == [2] + [1] * 49
    assert counting.writes == 2


async def test_a_run_that_refuses_entries_stops_only_its_writers(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store, "good")
    await start(store, "over")
    await store.write(runs.end, "over", RunEnd("cancelled"))
    appender = Appender(engine)
    results = await asyncio.gather(
        appender.append("u1", "good", raws(b"1")),
        appender.append("u1", "over", raws(b"late")),
        appender.append("u1", "over", raws(b"later")),
        appender.append("u1", "missing", raws(b"x")),
        appender.append("u2", "good", raws(b"not mine")),
        appender.append("u1", "b\x00d", raws(b"x")),
        appender.append("u1", "good", raws(b"2")),
        return_exceptions=True,
    )
    kinds = [result if isinstance(result, int) else type(result) for result in results]
    assert kinds == [1, ConflictError, ConflictError, NotFoundError, NotFoundError, StoreError, 2]
    assert results[1] is not results[2]
    assert await lines_of(engine, "good") == [b"1", b"2"]


BAD: dict[str, Sequence[LogEntry]] = {
    "no entries": [],
    "without a zone": [LogEntry(NOON.replace(tzinfo=None))],
}


@each_row(("what", "entries"), BAD.items(), ids=BAD)
async def test_invalid_entries_are_refused_at_once(
    engine: Engine, what: str, entries: Sequence[LogEntry]
) -> None:
    counting = CountingEngine(engine)
    with pytest.raises(StoreError, match=what):
        await Appender(counting).append("u1", "r1", entries)
    assert counting.writes == 0


async def test_a_cancelled_append_is_written_and_affects_no_other(engine: Engine) -> None:
    await start(await with_thread(engine))
    counting = CountingEngine(engine)
    counting.leave.clear()
    appender = Appender(counting)
    tasks = [asyncio.create_task(appender.append("u1", "r1", raws(b"%d" % number))) for number in range(6)]
    while not counting.writes:
        await asyncio.sleep(0)
    late = [asyncio.create_task(appender.append("u1", "r1", raws(b"%d" % number))) for number in (6, 7)]
    await asyncio.sleep(0)
    for task in (tasks[0], tasks[3], late[0]):
        task.cancel()
    await asyncio.sleep(0)
    assert tasks[0].cancelled()
    counting.leave.set()
    assert [await task for task in (tasks[1], tasks[2], tasks[4], tasks[5], late[1])] == [2, 3, 5, 6, 8]
    assert await lines_of(engine, "r1") == [b"%d" % number for number in range(8)]


async def test_an_append_waits_while_the_queue_is_full(engine: Engine) -> None:
    await start(await with_thread(engine))
    counting = CountingEngine(engine)
    counting.leave.clear()
    appender = Appender(counting, max_waiting=1000)
    sizes = [300, 300, 900, 10, 5000, 10, 700]
    tasks = [
        asyncio.create_task(appender.append("u1", "r1", raws(b"%d" % n * size)))
        for n, size in enumerate(sizes)
    ]
    for _ in range(20):
        await asyncio.sleep(0)
    assert appender.waiting < 1000
    tasks[3].cancel()
    counting.leave.set()
    done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), SOON)
    assert [number for number in done if isinstance(number, int)] == [1, 2, 3, 4, 5, 6]
    assert appender.waiting == 0
    assert await lines_of(engine, "r1") == [b"%d" % n * size for n, size in enumerate(sizes) if n != 3]


async def test_closing_writes_pending_entries(engine: Engine) -> None:
    await start(await with_thread(engine))
    appender = Appender(engine)
    waiting = [asyncio.create_task(appender.append("u1", "r1", raws(b"x"))) for _ in range(5)]
    await asyncio.sleep(0)
    await appender.close()
    assert await asyncio.gather(*waiting) == [1, 2, 3, 4, 5]
    with pytest.raises(StoreError, match="closed"):
        await appender.append("u1", "r1", raws(b"y"))
    await appender.close()


async def test_all_pending_appends_fail_when_the_store_is_closed(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store, "a")
    await start(store, "b")
    appender = Appender(engine)
    await engine.close()
    results = await asyncio.gather(
        *(appender.append("u1", run_id, raws(b"x")) for run_id in "aab"), return_exceptions=True
    )
    assert [str(result).partition(" (")[0] for result in results] == ["the store is closed"] * 3
    assert len({id(result) for result in results}) == 3


@in_a_file_and_on_a_server
async def test_two_processes_may_write_to_the_same_runs(url: str) -> None:
    engines = [await open_engine(locate(url)) for _ in range(2)]
    try:
        store = await with_thread(engines[0])
        for number in range(6):
            await start(store, f"r{number}")
        appenders = [Appender(engine) for engine in engines]
        numbers = await asyncio.gather(
            *(
                appender.append("u1", f"r{(turn * step) % 6}", raws(b"x"))
                for turn in range(60)
                for appender, step in zip(appenders, (1, 5), strict=True)
            )
        )
        assert len(numbers) == 120
        for number in range(6):
            records = await store.read(run_log.read_log, f"r{number}")
            assert [record.seq for record in records] == list(range(1, 21))
    finally:
        for engine in engines:
            await engine.close()


async def followed(engine: Engine, run_id: str = "r1", after: int = 0) -> list[LogRecord]:
    """All records of a followed run."""
    async with asyncio.timeout(SOON):
        return [record async for records in follow(engine, "u1", run_id, after=after) for record in records]


async def test_following_returns_stored_and_new_records(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    appender = Appender(engine)
    await appender.append("u1", "r1", raws(b"1", b"2"))
    followers = [asyncio.create_task(followed(engine, after=after)) for after in (0, 1, 4)]
    for number in range(3, 30):
        await appender.append("u1", "r1", raws(b"%d" % number))
    assert not any(follower.done() for follower in followers)
    await store.write(runs.end, "r1", COMPLETED)
    engine.notify("r1")
    for after, follower in zip((0, 1, 4), followers, strict=True):
        records = await follower
        assert [record.seq for record in records] == list(range(after + 1, 30))
        assert [record.raw for record in records] == [b"%d" % record.seq for record in records]


@each_row("end", ["finish", "fail", "cancel", "interrupt"])
async def test_a_follower_ends_as_soon_as_the_run_has_ended(
    store: Store, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita.store.logs.run_log.POLL_SECONDS", 10 * SOON)
    thread = await store.threads.create()
    run = await store.runs.open(thread.id)
    follower = asyncio.create_task(anext(aiter(store.logs.follow(run.id)), None))
    await asyncio.sleep(0.1)
    assert not follower.done()
    match end:
        case "finish":
            await store.runs.finish(run.id)
        case "fail":
            await store.runs.fail(run.id, "no")
        case "cancel":
            await store.runs.cancel(run.id)
        case _:
            await store.runs.interrupt(run.id, "gone")
    assert await asyncio.wait_for(follower, SOON) is None


async def test_following_an_ended_run_ends(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    await log(store, "r1", raws(*[b"x"] * 2500))
    await store.write(runs.end, "r1", RunEnd("failed", "no"))
    assert len(await followed(engine)) == 2500
    assert await followed(engine, after=2500) == []


async def test_a_run_of_another_owner_cannot_be_followed(engine: Engine) -> None:
    await with_thread(engine)
    await start(await with_thread(engine, "u2"), "theirs")
    with pytest.raises(NotFoundError):
        await followed(engine, "theirs")


@in_a_file_and_on_a_server
async def test_entries_of_another_process_are_followed(url: str) -> None:
    engine = await open_engine(locate(url))
    theirs, ours = PROCESSES.Pipe(duplex=False)
    writer = started(append_lines, url, theirs)
    try:
        await start(await with_thread(engine))
        seen: list[bytes | None] = []
        async with asyncio.timeout(SOON):
            ours.send_bytes(b"line 1")
            async for records in follow(engine, "u1", "r1"):
                seen += [record.raw for record in records]
                ours.send_bytes(b"line %d" % (len(seen) + 1) if len(seen) < 5 else b"")
            assert seen == [b"line %d" % number for number in range(1, 6)]
            assert await exit_code(writer) == 0
    finally:
        writer.kill()
        for end in (theirs, ours):
            end.close()
        await engine.close()


async def test_submit_does_not_wait(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    appender = Appender(engine)
    futures = [appender.submit("u1", "r1", [LogEntry(NOON, raw=b"%d" % n)]) for n in range(50)]
    last = await asyncio.gather(*map(asyncio.shield, futures))
    assert last == sorted(last)
    assert last[-1] == 50
    records = await store.read(run_log.read_log, "r1")
    assert [record.raw for record in records] == [b"%d" % n for n in range(50)]
    with pytest.raises(NotFoundError):
        await appender.submit("u1", "unknown", [LogEntry(NOON, raw=b"x")])
    await appender.close()


async def test_submit_is_refused_while_the_queue_is_full(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    appender = Appender(engine, max_waiting=100)
    first = appender.submit("u1", "r1", [LogEntry(NOON, raw=b"x" * 200)])
    with pytest.raises(UnavailableError, match="too many log entries wait"):
        appender.submit("u1", "r1", [LogEntry(NOON, raw=b"y")])
    assert await first == 1
    await appender.close()
