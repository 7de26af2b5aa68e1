"""The import of logs while they are written has the result of one import at the end."""

import asyncio
import random
import sys
from pathlib import Path

import pytest

from partita.importers.logs.importer import import_logs
from partita.importers.logs.plan import LogImportReport
from partita.importers.logs.watch import sessions_of, watch_logs
from partita.importers.logs.workers import Workers
from partita.logs.files import find_logs
from partita.store.connection import open_store
from partita.store.store import Store

from .log_files import SESSION, ClaudeLog, gardening, just_now
from .test_logs import messages_of, raw_lines_of, set_old_mtime, without_seq

PATIENCE = 60.0

WRITER = """
import random, sys, time
path, source, seed = sys.argv[1:]
data, chance = open(source, "rb").read(), random.Random(int(seed))
with open(path, "ab", buffering=0) as file:
    while data:
        size = chance.choice([1, 7, 60, 400, 3000])
        file.write(data[:size])
        data = data[size:]
        time.sleep(chance.choice([0, 0, 0.002, 0.02]))
"""


def long_session() -> ClaudeLog:
    log = ClaudeLog()
    for number in range(12):
        log.prompt(f"Bed {number}: what grows there?")
        call = {"id": f"toolu_{number}", "name": "Bash", "input": {"command": f"bed {number}"}}
        log.answer("I look.", call=call)
        log.result(f"toolu_{number}", "beans — ünd peas " * 20)
        log.answer("Beans and peas.", output=number)
    return log


async def until(store: Store, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while await store.threads.get(SESSION) is None or len(await messages_of(store)) < count:
            await asyncio.sleep(0.05)


async def test_a_cut_last_line_is_reported_unless_the_file_is_followed(tmp_path: Path) -> None:
    path = gardening(began=just_now()).write(tmp_path / "logs")
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    async with open_store("memory:") as store:
        with Workers(1) as workers:

            async def findings(*, followed: bool) -> list[str]:
                files = find_logs([path]).files
                report = await import_logs(store, files, workers=workers, followed=followed)
                return [finding.what for each in report.unknown_records.values() for finding in each]

            assert await findings(followed=True) == []
            set_old_mtime(path)  # the agent is gone
            assert await findings(followed=True) == ["cut last line"]
            path.write_bytes(whole[:-20])
            assert await findings(followed=False) == ["cut last line"]
            path.write_bytes(whole)
            assert await findings(followed=False) == []


@pytest.mark.parametrize("polling", [False, True], ids=["events", "polling"])
async def test_a_session_written_in_random_chunks_is_followed(tmp_path: Path, polling: bool) -> None:
    log = long_session()
    source = log.write(tmp_path / "source")
    folder = tmp_path / "projects" / "-work-garden"
    folder.mkdir(parents=True)
    path = folder / f"{SESSION}.jsonl"
    stop = asyncio.Event()
    async with open_store(f"sqlite:///{tmp_path}/live.db") as store:
        following = asyncio.create_task(
            watch_logs(
                store,
                lambda: find_logs([folder]).files,
                [folder],
                workers=Workers(1),
                force_polling=polling,
                stop=stop,
            )
        )
        seed = str(random.randrange(10**6))
        writer = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(path), str(source), seed
        )
        await writer.wait()
        await until(store, 36)
        async with asyncio.timeout(PATIENCE):
            while await raw_lines_of(store) != log.lines():
                await asyncio.sleep(0.05)
        stop.set()
        await following
        set_old_mtime(path)
        await import_logs(store, find_logs([folder]).files, workers=Workers(1))
        live = without_seq(await messages_of(store))
    async with open_store(f"sqlite:///{tmp_path}/batch.db") as store:
        await import_logs(store, find_logs([folder]).files, workers=Workers(1))
        assert without_seq(await messages_of(store)) == live, f"seed {seed}"


async def test_files_that_are_created_later_are_followed(tmp_path: Path) -> None:
    folder = tmp_path / "projects"
    stop, reports = asyncio.Event(), list[LogImportReport]()
    async with open_store(f"sqlite:///{tmp_path}/live.db") as store:
        following = asyncio.create_task(
            watch_logs(store, lambda: (), [folder], workers=Workers(1), on_import=reports.append, stop=stop)
        )
        await asyncio.sleep(0.2)
        gardening().write(folder / "-work-garden")
        await until(store, 6)
        stop.set()
        await following
    assert sum(report.counts.new for report in reports) == 6


def test_a_change_of_a_sub_agent_imports_its_session(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-work-garden"
    session = gardening().write(folder)
    agent = ClaudeLog(agent="a1").prompt("Look.").write(folder / SESSION / "subagents", "agent-a1.jsonl")
    other = gardening("77c1a1b6-55b1-4a4c-8c57-0f5f3b0f1c22").write(folder)
    assert {file.path for file in sessions_of([agent])} == {session, agent}
    assert {file.path for file in sessions_of([other, tmp_path / "gone.jsonl"])} == {other}
