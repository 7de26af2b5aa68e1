"""Whoever owns runs is killed at any moment: nothing that anyone saw is lost, and every run ends.

`PARTITA_CHAOS` is how many kills to make on each engine; without it a few.
"""

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from partita.store.connection import open_store
from tests.processes import Forked
from tests.runtime.chaos import main
from tests.runtime.chaos_judge import judge_end, judge_round
from tests.store.empty_store import empty_store

GIVEN = os.environ.get("PARTITA_CHAOS")
ROUNDS = {"sqlite": 2, "postgresql": 1}
LATEST = 0.6 if GIVEN is None else 2.5
"""Within how many seconds after its first word a worker is killed: some before what others left is free."""


async def run_and_kill(url: str, file: Path, seed: str, random: Random) -> None:
    """Start a worker, and kill it some time after it has begun."""
    worker = Forked(main, url, str(file), seed)
    try:
        assert await worker.line() == b"ready\n", await worker.errors()
        await asyncio.sleep(random.uniform(0, LATEST))
        assert worker.code is None, await worker.errors()
    finally:
        await worker.kill()


@pytest.fixture(params=ROUNDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return empty_store(tmp_path)
    found: str = request.getfixturevalue("postgres_url")
    return found


async def test_killed(place: str, tmp_path: Path) -> None:
    """Generation after generation on the same store: later ones go on with what earlier kills left."""
    kind = place.partition(":")[0]
    random = Random(f"{kind} {GIVEN}")
    shown = 0
    for number in range(ROUNDS[kind] if GIVEN is None else int(GIVEN)):
        file = tmp_path / f"{number}.log"
        await run_and_kill(place, file, f"g{number}", random)
        async with open_store(place) as store:
            shown += await judge_round(store, file)
        file.unlink()
    async with open_store(place) as store:
        statuses = await judge_end(store)
    assert shown > 0
    assert statuses["interrupted"] > 0
