"""A server that restarts: writers wait and continue, and nothing is lost or done twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from random import Random
from typing import get_args

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from partita.errors import UnavailableError
from partita.server.app_state import Readiness
from partita.store.connection import open_store
from partita.store.engines.location import locate
from partita.store.store import Store
from partita.types.json import JsonObject
from tests.sampling import FULL
from tests.store.chaos import WRITERS, append_to_runs, save_batches
from tests.store.chaos_checks import check_work
from tests.store.examples import user_message
from tests.store.running import raws
from tests.store.server import Cut, Server, proxy_to, running_server

PATIENCE = 60.0
RESTARTS = 3 if FULL else 2
ENDED = 40 if FULL else 20
CUTS = 20 if FULL else 10
CONNECTIONS = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'partita'"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


class Writers:
    """Eight or more concurrent writers of a store, and their reports."""

    def __init__(self, store: Store) -> None:
        self.saves: list[JsonObject] = []
        self.appends: list[JsonObject] = []
        self._tasks = [
            asyncio.create_task(save_batches(store, "s", self.saves.append)),
            asyncio.create_task(append_to_runs(store, "a", self.appends.append)),
            asyncio.create_task(append_to_runs(store, "b", self.appends.append)),
        ]
        assert len(self._tasks) * WRITERS >= 8

    def acknowledged(self) -> tuple[int, int]:
        """The number of batches that were saved, and of those that were appended."""
        return sum("saved" in line for line in self.saves), sum("appended" in line for line in self.appends)

    async def wait_for_more(self, some: int = 10) -> None:
        """Wait until this many more of each are acknowledged. An error of a writer is raised."""
        saved, appended = self.acknowledged()
        while min(self.acknowledged()[0] - saved, self.acknowledged()[1] - appended) < some:
            for task in self._tasks:
                if task.done():
                    await task
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Cancel all writers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def writers_at(url: str, checked_at: str) -> AsyncGenerator[Writers, None]:
    """Writers, whose data is checked at the end."""
    async with open_store(url, patience=PATIENCE) as store:
        writers = Writers(store)
        try:
            await writers.wait_for_more()
            yield writers
            await writers.wait_for_more()
        finally:
            await writers.stop()
    async with open_store(checked_at) as store:
        await check_work(store, "save", writers.saves)
        await check_work(store, "append", writers.appends)


@pytest.mark.parametrize("mode", ["immediate", "fast"])
async def test_writers_survive_a_restart(server: Server, mode: str) -> None:
    url = await fresh_database(server, f"restart_{mode}")
    async with writers_at(url, url) as writers:
        for _ in range(RESTARTS):
            await asyncio.to_thread(server.restart, mode)
            await writers.wait_for_more()


async def test_writers_survive_the_end_of_their_connections(server: Server) -> None:
    url = await fresh_database(server, "terminated")
    random = Random(7)
    engine = create_async_engine(locate(url).url, isolation_level="AUTOCOMMIT")
    async with writers_at(url, url) as writers, engine.connect() as connection:
        for _ in range(ENDED):
            pids = [pid for (pid,) in await connection.execute(text(CONNECTIONS))]
            if pids:
                await connection.execute(
                    text("SELECT pg_terminate_backend(:pid)"), {"pid": random.choice(pids)}
                )
            await asyncio.sleep(random.uniform(0, 0.02))
        await writers.wait_for_more()
    await engine.dispose()


@pytest.mark.parametrize("kind", get_args(Cut))
async def test_a_commit_whose_response_is_lost_happens_once(server: Server, kind: Cut) -> None:
    direct = await fresh_database(server, f"doubt_{kind.replace(' ', '_')}")
    random = Random(kind)
    cuts: Counter[Cut | None] = Counter()

    def cut() -> Cut | None:
        chosen = kind if random.random() < 0.3 else None
        cuts[chosen] += 1
        return chosen

    async with proxy_to(direct, cut) as (_, url), writers_at(url, direct) as writers:
        while cuts[kind] < CUTS:
            await writers.wait_for_more(1)


async def test_an_outage_is_reported_as_not_ready_and_logged_once(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    direct = await fresh_database(server, "readiness")
    async with proxy_to(direct) as (line, url), open_store(url, patience=0.2) as store:
        readiness = Readiness(store, cache_seconds=0)
        assert await readiness.check()
        line.take_down()
        assert [await readiness.check() for _ in range(3)] == [False] * 3
        line.bring_up()
        while not await readiness.check():  # until it is, or the test times out
            await asyncio.sleep(0.05)
        assert store.engine.health.retries > 0
    lines = [one.getMessage() for one in caplog.records if one.name == "partita.store"]
    assert [line.partition(" for reading")[0] for line in lines] == [
        "the store is not available",
        "the store is available again",
    ]


async def test_the_end_of_the_patience_is_an_error_and_the_store_recovers(server: Server) -> None:
    direct = await fresh_database(server, "patience")
    async with proxy_to(direct) as (line, url), open_store(url, patience=0.3) as store:
        await store.threads.create("t1")
        run = await store.runs.open("t1")
        line.take_down()
        attempts: list[Callable[[], Awaitable[object]]] = [
            store.threads.count,
            lambda: store.messages.save([user_message("m1")], thread_id="t1"),
            lambda: store.logs.append(run.id, raws(b"lost")),
            store.compact,
        ]
        for attempt in attempts:
            with pytest.raises(UnavailableError, match="the server does not respond") as caught:
                await attempt()
            assert caught.value.where == url.replace("postgres:@", "postgres@")
            assert caught.value.hint == "is it running, and reachable from here?"
        line.bring_up()
        await store.messages.save([user_message("m2")], thread_id="t1")
        assert [message.id for message in await store.messages.list("t1")] == ["m2"]


async def fresh_database(server: Server, name: str) -> str:
    """The URL of an empty database."""
    engine = create_async_engine(locate(server.url).url, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(text(f"CREATE DATABASE {name}"))
    await engine.dispose()
    return server.url.replace("/postgres?", f"/{name}?")
