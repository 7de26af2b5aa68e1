"""Processes with runs are killed at random times: no received chunk is lost, and every run ends.

`PARTITA_CHAOS` is the number of kills on each engine, by default a few.
"""

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from partita.store.connection import open_store
from tests.processes import Forked
from tests.runtime.chaos import main
from tests.runtime.chaos_checks import check_end, check_round
from tests.store.empty_store import empty_store

REQUESTED_ROUNDS = os.environ.get("PARTITA_CHAOS")
ROUNDS = {"sqlite": 2, "postgresql": 1}
MAX_LIFETIME = 0.6 if REQUESTED_ROUNDS is None else 2.5
"""Each worker is killed within this many seconds after its first output: sometimes before leases expire."""


async def run_and_kill(url: str, file: Path, seed: str, random: Random) -> None:
    """Start a worker, and kill it some time after it is ready."""
    worker = Forked(main, url, str(file), seed)
    try:
        assert await worker.line() == b"ready\n", await worker.errors()
        await asyncio.sleep(random.uniform(0, MAX_LIFETIME))
        assert worker.code is None, await worker.errors()
    finally:
        await worker.kill()


@pytest.fixture(params=ROUNDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return empty_store(tmp_path)
    found: str = request.getfixturevalue("postgres_url")
    return found


async def test_a_killed_process_loses_no_sent_chunk(url: str, tmp_path: Path) -> None:
    """Kill one worker after the other on the same store. Later workers recover the runs of earlier ones."""
    engine = url.partition(":")[0]
    random = Random(f"{engine} {REQUESTED_ROUNDS}")
    received = 0
    for number in range(ROUNDS[engine] if REQUESTED_ROUNDS is None else int(REQUESTED_ROUNDS)):
        file = tmp_path / f"{number}.log"
        await run_and_kill(url, file, f"g{number}", random)
        async with open_store(url) as store:
            received += await check_round(store, file)
        file.unlink()
    async with open_store(url) as store:
        statuses = await check_end(store)
    assert received > 0
    assert statuses["interrupted"] > 0
