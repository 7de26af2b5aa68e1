"""Writers are killed at random times: everything that was acknowledged is stored, and nothing partially.

`PARTITA_CHAOS` is how many kills to make in all; without it a few of every kind.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from threading import Timer
from typing import TypeVar

import pytest
from sqlalchemy import Connection, inspect, text

from partita.store.connection import open_store
from partita.store.engines.location import locate
from partita.store.engines.postgres import PostgresEngine
from partita.store.engines.sqlite import SqliteEngine
from partita.types.json import dumps, loads
from tests.sampling import FULL
from tests.store.chaos import WORKS
from tests.store.chaos_checks import Report, check_work, settle

T = TypeVar("T")

KILLS = int(os.environ.get("PARTITA_CHAOS", "60" if FULL else "40"))
WORKERS = 2
ROUNDS = max(1, KILLS // (2 * WORKERS * (len(WORKS) + 1)))
"""The number of rounds of each kind of work on each of two engines."""

MAX_LIFETIME = 0.25
"""The maximal lifetime of a worker in seconds."""


class WorkerPool:
    """Starts and kills workers."""

    def __init__(self) -> None:
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.chaos"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=root,
            start_new_session=True,
        )

    def round(
        self, work: str, url: str, seeds: list[str], random: Random, lifetime: float = MAX_LIFETIME
    ) -> list[Report]:
        """Start a worker for every seed, kill each, and return their reports."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(dumps([[work, url, seed] for seed in seeds]) + b"\n")
        self._process.stdin.flush()
        reports: list[Report] = []
        while True:
            line = loads(self._process.stdout.readline())
            assert "failed" not in line, line["failed"]
            if "gone" in line:
                return reports
            if "ready" in line:
                Timer(random.uniform(0, lifetime), os.kill, (line["pid"], signal.SIGKILL)).start()
            else:
                reports.append(line)

    def close(self) -> None:
        """Start no more workers. After a failure, some may still be running."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    opened = WorkerPool()
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.mark.parametrize("work", WORKS)
async def test_killed_writers_lose_nothing(pool: WorkerPool, url: str, work: str) -> None:
    """Several rounds on the same store: later workers continue from the state that earlier ones left."""
    random = Random(f"{work} {KILLS}")
    workers = 1 if work == "migrate" else WORKERS  # the progress of a migration is about all rows
    reports: list[Report] = []
    rounds = ROUNDS * WORKERS // workers
    for number in range(rounds + 8):
        if number >= rounds and any("trying" in line or "seen" in line for line in reports):
            return
        seeds = [f"{number}{letter}" for letter in "abc"[:workers]]
        # On a busy machine every kill may come before the first write: later ones follow, with more time.
        lifetime = MAX_LIFETIME * 2 ** max(0, number - rounds + 1)
        reports += pool.round(work, url, seeds, random, lifetime=lifetime)
        async with open_store(url) as store:
            await check_work(store, work, reports)
    raise AssertionError("no worker wrote anything before it was killed")


async def test_killed_while_opening(pool: WorkerPool, url: str) -> None:
    """A new database has no tables or all of them, and can be opened by the next process."""
    random = Random(KILLS)
    for number in range(ROUNDS * WORKERS):
        new_url = url.replace("store.db", f"{number}.db")
        if not new_url.startswith("sqlite"):
            await in_database(new_url, empty)
        reports = pool.round("open", new_url, ["a"], random, lifetime=0.2)
        left = await in_database(new_url, tables)
        async with open_store(new_url) as store:
            await settle(store)
            await store.threads.create("t1")
        whole = await in_database(new_url, tables)
        assert left == whole or (left == set() and not reports)


async def in_database(url: str, work: Callable[[Connection], T]) -> T:
    """The result of work in a database that is not opened as a store."""
    location = locate(url)
    engine = SqliteEngine(location.path) if location.path else PostgresEngine(location.url)
    try:
        return await engine.autocommit(work)
    finally:
        await engine.close()


def tables(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def empty(connection: Connection) -> None:
    """Drop all tables."""
    connection.execute(text("DROP SCHEMA public CASCADE"))
    connection.execute(text("CREATE SCHEMA public"))
