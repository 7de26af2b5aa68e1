"""`partita retention`: what a policy removes, and that nothing is removed without one."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from partita.runtime.retention import DailyRetention
from partita.server.app import asgi
from partita.server.settings import Settings
from partita.store.connection import open_store
from partita.store.logs.maintenance import Retention
from partita.store.logs.run_log import LogEntry
from partita.store.runs import rows as runs
from partita.store.store import Store
from partita.types.json import loads
from partita.types.messages import UserMessage
from partita.types.threads import Thread
from tests.cli.sample_store import fill, partita
from tests.cli.test_rm import SESSION, line
from tests.store.running import COMPLETED

NOW = datetime.now(UTC)


async def add_threads(store: Store) -> None:
    """Add threads of different ages, each with a run that has a log."""
    for name, days, metadata in (
        ("new", 1, None),
        ("old", 100, None),
        ("older", 400, None),
        ("pinned", 500, {"pinned": True}),
        ("active", 600, None),
    ):
        await store.threads.create(name, title=f"The {name} one", metadata=metadata)
        await store.messages.save([UserMessage(id="m", content=name)], thread_id=name)
        run = await store.runs.open(name)
        await store.logs.append(run.id, [LogEntry(NOW, raw=b"x" * 1000)])
        if name != "active":
            await store.write(runs.end, run.id, COMPLETED)
        thread = await store.threads.get(name)
        assert isinstance(thread, Thread)
        await store.threads.save(
            Thread(id=name, title=thread.title, metadata=metadata, updated_at=NOW - timedelta(days=days))
        )


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "store.db")
    fill(path, add_threads)
    return path


def names(path: str) -> set[str]:
    return {loads(line)["id"] for line in partita(path, "threads", "--all", "--json").stdout.splitlines()}


EVERYTHING = {"new", "old", "older", "pinned", "active"}


def test_without_a_policy_everything_is_kept(store: str) -> None:
    for arguments in ((), ("--apply",)):
        result = partita(store, "retention", *arguments)
        assert (result.exit_code, result.stdout) == (0, "")
        assert "no policy is set: everything is kept" in result.stderr
    assert names(store) == EVERYTHING


def test_a_dry_run_lists_what_a_policy_removes(store: str) -> None:
    result = partita(store, "retention", "--threads", "365d", "--logs", "0d")
    assert result.exit_code == 0, result.output
    (first, thread, logs) = result.stdout.splitlines()
    assert first == "threads to remove: 1"
    assert thread.endswith("older  The older one  (1 message)")
    assert logs.startswith("raw logs to remove: ")
    assert logs.endswith(" of 2 runs")  # not of the removed, the pinned and the active thread
    assert "nothing was removed; --apply removes it" in result.stderr
    assert names(store) == EVERYTHING


def test_a_policy_is_applied(store: str) -> None:
    result = partita(store, "retention", "--threads", "90d", "--logs-mb", "0", "--apply", "--json")
    assert result.exit_code == 0, result.output
    report = loads(result.stdout_bytes)
    assert [one["id"] for one in report["threads"]] == ["older", "old"]
    assert (len(report["logs"]["runs"]), report["applied"]) == (1, True)
    assert report["policy"] == {"threadSeconds": 90 * 86_400, "logSeconds": None, "logBytes": 0}
    assert names(store) == {"new", "pinned", "active"}
    again = loads(partita(store, "retention", "--threads", "90d", "--logs-mb", "0", "--json").stdout_bytes)
    assert (again["threads"], again["logs"]["runs"]) == ([], [])
    assert partita(store, "doctor", "--full", "--json").exit_code == 0


def test_the_policy_is_read_from_the_settings(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_RETENTION_THREADS", "52w")
    assert "threads to remove: 1\n" in partita(store, "retention").stdout
    monkeypatch.setenv("PARTITA_RETENTION_THREADS", "a year")
    result = partita(store, "retention")
    assert result.exit_code == 2
    assert "is not an age" in result.stderr
    result = partita(store, "watch", "--json")
    assert result.exit_code == 1
    assert "retention.threads must be an age, not 'a year'" in result.stderr


def test_the_session_of_a_removed_thread_is_imported_again_if_its_file_changes(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text(line(1, "Which beds need water?"))
    old = (NOW - timedelta(days=30)).timestamp()
    os.utime(log, (old, old))
    folder = str(tmp_path)
    assert partita(store, "import", folder).exit_code == 0
    assert "threads removed: 1\n" in partita(store, "retention", "--threads", "2d", "--apply").stdout
    assert partita(store, "import", folder).exit_code == 0
    assert names(store) == set()
    with log.open("a") as file:
        file.write(line(2, "And now?"))
    assert partita(store, "import", folder).exit_code == 0
    assert names(store) == {SESSION}
    shown = partita(store, "show", SESSION).stdout
    assert "Which beds need water?" in shown
    assert "And now?" in shown


async def until_gone(store: Store, thread_id: str) -> None:
    async with asyncio.timeout(20):
        while await store.threads.get(thread_id) is not None:
            await asyncio.sleep(0.01)


def test_a_server_and_a_watcher_apply_a_policy_again_and_again(store: str) -> None:
    policy = Retention(thread_age=timedelta(days=90))

    async def work() -> None:
        app = asgi({}, store=store, settings=Settings(retention=policy))
        async with open_store(store) as opened:
            async with app.lifespan():
                await until_gone(opened, "old")
            async with DailyRetention(opened, policy, interval=0.01):
                for _ in range(2):
                    await opened.threads.save(Thread(id="late", updated_at=NOW - timedelta(days=91)))
                    await until_gone(opened, "late")
            async with DailyRetention(opened, Retention()), DailyRetention(opened, None):
                await asyncio.sleep(0.05)
            assert await opened.threads.count() == 3

    asyncio.run(work())


def test_removed_raw_logs_are_reported_by_show_and_export(store: str) -> None:
    for before, name in ((True, "old"), (False, "pinned")):
        if not before:
            assert partita(store, "retention", "--logs", "0d", "--apply").exit_code == 0
        for arguments in (["show", name, "--raw"], ["export", name, "--to", "raw"]):
            assert partita(store, *arguments).stdout_bytes == b"x" * 1000 + b"\n", arguments
    for arguments in (["show", "old", "--raw"], ["export", "old", "--to", "raw"]):
        result = partita(store, *arguments)
        assert (result.exit_code, result.stdout) == (0, ""), arguments
        assert result.stderr == "partita: 1 raw log was removed earlier\n"
