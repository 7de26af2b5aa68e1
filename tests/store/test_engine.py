"""The behaviour that all engines share."""

import asyncio
import sqlite3
from pathlib import Path
from threading import Event
from time import sleep

import pytest
from sqlalchemy import text

from partita.store.connection import open_engine
from partita.store.engines import sqlite
from partita.store.engines.engine import Engine
from partita.store.engines.location import locate
from partita.store.store import Store
from tests.store.engines import in_memory_and_in_a_file


async def test_a_new_store_is_empty(engine: Engine) -> None:
    assert await engine.read(lambda c: c.execute(text("SELECT count(*) FROM threads")).scalar()) == 0


async def test_closing_waits_for_the_check_of_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking, seen = Event(), list[object]()
    look = sqlite.data_version

    def slowly(connection: sqlite3.Connection) -> int:
        looking.set()
        sleep(0.2)
        try:
            seen.append(version := look(connection))
        except sqlite3.Error as error:
            seen.append(error)
            raise
        return version

    monkeypatch.setattr(sqlite, "data_version", slowly)
    engine = await open_engine(locate(str(tmp_path / "store.db")))
    with engine.listen("anything"):
        await asyncio.to_thread(looking.wait, 10)
        await engine.close()
    assert [type(version) for version in seen] == [int]
    with engine.listen("anything"):  # a closed store is not checked
        await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


WAITING_JOBS = 50


@in_memory_and_in_a_file
async def test_urgent_work_does_not_wait_for_other_work(store: Store) -> None:
    done: list[str] = []

    def work(_: object) -> None:
        sleep(0.002)
        done.append("work")

    async def renew() -> None:
        await store.runs.renew_leases("holder", 15)
        done.append("beat")

    writes = [asyncio.create_task(store.engine.write(work)) for _ in range(WAITING_JOBS)]
    await asyncio.sleep(0)
    await asyncio.gather(renew(), *writes)
    assert done.count("work") == WAITING_JOBS
    assert done.index("beat") < WAITING_JOBS
