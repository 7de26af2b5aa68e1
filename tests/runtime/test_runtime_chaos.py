"""Whoever owns runs is killed at any moment: nothing that anyone saw is lost, and every run ends.

`PARTITA_CHAOS` is how many kills to make on each engine; without it a few.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Timer

import pytest

from partita.store.opening import open_store
from partita.types.json import dumps, loads
from tests.runtime.chaos_judge import judge_end, judge_round

GIVEN = os.environ.get("PARTITA_CHAOS")
ROUNDS = {"sqlite": 2, "postgresql": 1}
LATEST = 1.0 if GIVEN is None else 2.5
"""Within how many seconds after its first word a worker is killed: some before what others left is free."""


class Pit:
    """Where workers are started and killed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.runtime.chaos"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            start_new_session=True,
        )

    def round(self, url: str, file: Path, seed: str, random: Random) -> None:
        """Start a worker, and kill it some time after it has begun."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(dumps([url, str(file), seed]) + b"\n")
        self._process.stdin.flush()
        while True:
            line = loads(self._process.stdout.readline())
            assert "failed" not in line, line["failed"]
            if "gone" in line:
                return
            Timer(random.uniform(0, LATEST), os.kill, (line["ready"], signal.SIGKILL)).start()

    def close(self) -> None:
        """Start no more; after a failure, one may still be at work."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@pytest.fixture
def pit() -> Iterator[Pit]:
    opened = Pit()
    yield opened
    opened.close()


@pytest.fixture(params=ROUNDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


async def test_killed(pit: Pit, place: str, tmp_path: Path) -> None:
    """Generation after generation on the same store: later ones go on with what earlier kills left."""
    kind = place.partition(":")[0]
    random = Random(f"{kind} {GIVEN}")
    shown = 0
    for number in range(ROUNDS[kind] if GIVEN is None else int(GIVEN)):
        file = tmp_path / f"{number}.log"
        pit.round(place, file, f"g{number}", random)
        async with open_store(place) as store:
            shown += await judge_round(store, file)
        file.unlink()
    async with open_store(place) as store:
        statuses = await judge_end(store)
    assert shown > 0
    assert statuses["interrupted"] > 0
