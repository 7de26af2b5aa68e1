"""Writers are killed at any moment; what they were told is there, and nothing is there by halves.

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
from tests.store.chaos_judge import Said, judge, settle

T = TypeVar("T")

KILLS = int(os.environ.get("PARTITA_CHAOS", "60" if FULL else "40"))
WORKERS = 2
ROUNDS = max(1, KILLS // (2 * WORKERS * (len(WORKS) + 1)))
"""How many rounds each kind of work gets on each of two engines."""

LATEST = 0.25
"""Within how many seconds after its start a worker is killed."""


class Pit:
    """Where workers are started and killed."""

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
        self, work: str, url: str, seeds: list[str], random: Random, latest: float = LATEST
    ) -> list[Said]:
        """Start a worker for every seed, kill each, and give what they said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(dumps([[work, url, seed] for seed in seeds]) + b"\n")
        self._process.stdin.flush()
        said: list[Said] = []
        while True:
            line = loads(self._process.stdout.readline())
            assert "failed" not in line, line["failed"]
            if "gone" in line:
                return said
            if "ready" in line:
                Timer(random.uniform(0, latest), os.kill, (line["pid"], signal.SIGKILL)).start()
            else:
                said.append(line)

    def close(self) -> None:
        """Start no more; after a failure, some may still be at work."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@pytest.fixture(scope="module")
def pit() -> Iterator[Pit]:
    opened = Pit()
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.mark.parametrize("work", WORKS)
async def test_killed(pit: Pit, place: str, work: str) -> None:
    """Round after round on the same store: later ones work on what earlier kills left."""
    random = Random(f"{work} {KILLS}")
    workers = 1 if work == "migrate" else WORKERS  # what a migration says is about all of it
    said: list[Said] = []
    rounds = ROUNDS * WORKERS // workers
    for number in range(rounds + 8):
        if number >= rounds and any("trying" in line or "seen" in line for line in said):
            return
        seeds = [f"{number}{letter}" for letter in "abc"[:workers]]
        # On a busy machine every kill may come before the first write: later ones follow, with more time.
        latest = LATEST * 2 ** max(0, number - rounds + 1)
        said += pit.round(work, place, seeds, random, latest=latest)
        async with open_store(place) as store:
            await judge(store, work, said)
    raise AssertionError("no worker wrote anything before it was killed")


async def test_killed_while_it_is_opened(pit: Pit, place: str) -> None:
    """A new database has no table or all of them, and whoever comes next opens it."""
    random = Random(KILLS)
    for number in range(ROUNDS * WORKERS):
        url = place.replace("store.db", f"{number}.db")
        if not url.startswith("sqlite"):
            await in_database(url, empty)
        said = pit.round("open", url, ["a"], random, latest=0.2)
        left = await in_database(url, tables)
        async with open_store(url) as store:
            await settle(store)
            await store.threads.create("t1")
        whole = await in_database(url, tables)
        assert left == whole or (left == set() and not said)


async def in_database(url: str, work: Callable[[Connection], T]) -> T:
    """What work gives in a database that is not opened as a store."""
    location = locate(url)
    engine = SqliteEngine(location.path) if location.path else PostgresEngine(location.url)
    try:
        return await engine.autocommit(work)
    finally:
        await engine.close()


def tables(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def empty(connection: Connection) -> None:
    """Take all tables away."""
    connection.execute(text("DROP SCHEMA public CASCADE"))
    connection.execute(text("CREATE SCHEMA public"))
