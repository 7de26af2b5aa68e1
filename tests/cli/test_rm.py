"""`partita rm` and `partita compact`: nothing is left of what was removed."""

import asyncio
import base64
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from partita.importers.logs.importer import import_logs
from partita.logs.files import find_logs
from partita.store.connection import open_store
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.json import Json, dumps, loads
from partita.types.messages import AssistantMessage, FilePart, UserMessage
from tests.cli.sample_store import BUILD, CLOCK, add_threads, fill, partita
from tests.processes import Terminal
from tests.store.running import NOON

SECRET = "marmalade"
SESSION = "3f1c9a52-0b7e-4d7c-8f0e-5a1d2c3b4e5f"
PICTURE = base64.b64encode(SECRET.encode() * 2000).decode()


def line(number: int, text: str, **fields: Json) -> str:
    """A record of a log of Claude Code."""
    record = {
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "sessionId": SESSION,
        "cwd": "/home/ada/garden",
        "version": "2.1.98",
        "isSidechain": False,
        "timestamp": f"2026-03-02T09:00:0{number}.000Z",
        "message": {"role": "user", "content": text},
    }
    return dumps({**record, **fields}).decode() + "\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log of a session of Claude Code."""
    folder = tmp_path / "projects" / "-home-ada-garden"
    folder.mkdir(parents=True)
    path = folder / f"{SESSION}.jsonl"
    path.write_text(line(1, f"Where is the {SECRET}?"))
    return path


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "store.db")
    fill(path, add_threads)
    return path


async def add_secrets(store: Store) -> None:
    """Add a thread and an owner with a secret in every table."""
    for owner in (None, "ada"):
        own = store if owner is None else store.scoped(owner)
        thread_id = f"secret-{owner}"
        await own.threads.create(
            thread_id, title=f"{SECRET} jam", metadata={"topic": SECRET}, resource_id=owner
        )
        picture = FilePart(media_type="image/png", url=f"data:image/png;base64,{PICTURE}")
        await own.messages.save(
            [UserMessage(id="q", content=[picture]), AssistantMessage(id="a", content=f"{SECRET} again")],
            thread_id=thread_id,
        )
        run = await own.runs.open(thread_id, metadata={"note": SECRET})
        await own.logs.append(run.id, [LogEntry(NOON, raw=SECRET.encode())])
    await store.keys.create("ada", name=SECRET)
    await store.blobs.put(SECRET.encode(), resource_id="ada")


def rows(path: str) -> Iterator[tuple[str, object]]:
    """The rows of all tables."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                yield table, row


def places(path: str, text: str) -> set[str]:
    """The tables that have a text, and the files that have it as bytes."""
    data = text.encode()
    tables = {table for table, row in rows(path) if text in str(row)}
    files = {file.name for file in Path(path).parent.glob("store.db*") if data in file.read_bytes()}
    return tables | files


def doctor(path: str) -> None:
    result = partita(path, "doctor", "--full", "--json")
    assert result.exit_code == 0, result.output
    found = {check["name"] for check in loads(result.stdout_bytes)["checks"] if check["notices"]}
    assert found <= {"permissions", "open-calls", "abandoned-runs", "unsealed-runs"}


def test_nothing_is_left_of_a_removed_thread_and_an_owner(store: str) -> None:
    fill(store, add_secrets)
    assert {"threads", "messages", "runs", "api_keys", "thread_labels", "store.db"} <= places(store, SECRET)
    assert partita(store, "rm", "secret-None", "--yes").exit_code == 0
    assert "ada" in places(store, "ada") or places(store, SECRET)
    result = partita(store, "rm", "--owner", "ada", "--yes")
    assert result.exit_code == 0, result.output
    assert result.stdout == "removed 1 thread, 2 messages, 1 run, 2 blobs, 1 key of 'ada'\n"
    assert places(store, SECRET) <= {"store.db", "store.db-wal"}
    compacted = partita(store, "compact", "--json")
    sizes = loads(compacted.stdout_bytes)
    assert 0 < sizes["after"] <= sizes["before"]
    assert places(store, SECRET) == set()
    assert places(store, "secret-") == set()
    doctor(store)
    assert len(partita(store, "threads", "--empty", "--json").stdout.splitlines()) == 3


def test_blobs_that_another_thread_refers_to_are_kept(store: str) -> None:
    async def work(opened: Store) -> None:
        for thread_id in ("one", "two"):
            picture = FilePart(media_type="image/png", url=f"data:image/png;base64,{PICTURE}")
            await opened.threads.create(thread_id)
            await opened.messages.save([UserMessage(id="q", content=[picture])], thread_id=thread_id)

    fill(store, work)
    for thread_id, blobs in (("one", 1), ("two", 0)):
        assert partita(store, "rm", thread_id, "--yes").exit_code == 0
        assert sum(table == "blobs" for table, _ in rows(store)) == blobs
    doctor(store)


def test_threads_are_named_by_the_beginning_of_their_ids(store: str) -> None:
    result = partita(store, "rm", CLOCK[:14], BUILD, BUILD, "--yes", "--json")
    assert result.exit_code == 0, result.output
    assert [one["id"] for one in loads(result.stdout_bytes)] == [CLOCK, BUILD]
    assert partita(store, "show", CLOCK).exit_code == 1


REFUSED: dict[str, tuple[list[str], int, str]] = {
    "no name": ([], 2, "name threads, or use --owner"),
    "both": (["x", "--owner", "ada", "--yes"], 2, "name threads, or use --owner"),
    "no confirmation": ([BUILD], 2, "use --yes without a terminal"),
    "last, not confirmed": (["last", "--yes"], 2, "last requires a confirmation"),
    "an unknown thread": ([BUILD, "nothing", "--yes"], 1, "no thread 'nothing'"),
    "an unknown owner": (["--owner", "nobody", "--yes"], 1, "no owner 'nobody'"),
}


@pytest.mark.parametrize(("arguments", "code", "what"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_removes_nothing(arguments: list[str], code: int, what: str, store: str) -> None:
    result = partita(store, "rm", *arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert what in result.stderr
    assert len(partita(store, "threads", "--empty", "--json").stdout.splitlines()) == 3


def test_a_terminal_asks(store: str, tmp_path: Path) -> None:
    for answer, left in (("n", 3), ("y", 2)):
        environment = {"PARTITA_STORE": store, "TERM": "xterm", "COLUMNS": "100", "PATH": "/usr/bin:/bin"}
        with Terminal("rm", BUILD, environment=environment, folder=tmp_path) as terminal:
            terminal.wait_for("Remove 1 thread? [y/N]")
            terminal.type(f"{answer}\r")
            shown = terminal.end().text
        assert "The build is slow  (2 messages)" in shown
        assert len(partita(store, "threads", "--empty", "--json").stdout.splitlines()) == left


# Sessions of agents


def titles(path: str) -> list[str]:
    return [
        loads(line).get("title", "")
        for line in partita(path, "threads", "--empty", "--json").stdout.splitlines()
    ]


def test_a_removed_session_is_only_imported_again_if_its_file_is_named(log: Path, tmp_path: Path) -> None:
    path, folder = str(tmp_path / "store.db"), str(tmp_path / "projects")
    assert partita(path, "import", folder).exit_code == 0
    removed = partita(path, "rm", SESSION, "--yes")
    assert f"still on disk, and not imported again: {log}" in removed.stderr
    partita(path, "compact")
    assert places(path, SECRET) == set()
    with log.open("a") as file:
        file.write(line(2, "And now?"))
    renamed = log.rename(log.with_name(f"4{SESSION[1:]}.jsonl"))  # it is still the same session
    copy = tmp_path / "projects" / "-home-ada-other" / log.name  # and so is a copy
    copy.parent.mkdir()
    copy.write_bytes(renamed.read_bytes())
    for _ in range(2):
        result = partita(path, "import", folder)
        assert result.exit_code == 0, result.output
        assert "removed" in result.stdout
    assert places(path, SECRET) == set()
    assert not partita(path, "threads").stdout
    assert partita(path, "import", str(renamed)).exit_code == 0
    assert "And now?" in partita(path, "show", "last").stdout
    assert partita(path, "import", folder).exit_code == 0
    assert len(partita(path, "threads", "--empty", "--json").stdout.splitlines()) == 1


def test_a_session_that_is_removed_through_the_store_is_not_watched(log: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with open_store(tmp_path / "store.db") as store:
            await import_logs(store, find_logs([log]).files, followed=True)
            assert await store.threads.delete(SESSION)
            with log.open("a") as file:
                file.write(line(2, "And now?"))
            report = await import_logs(store, find_logs([log]).files, followed=True)
            assert report.agents["claude-code"].removed == 1
            assert await store.threads.count() == 0
            await import_logs(store, find_logs([log]).files, restore=True)
            assert len(await store.messages.list(SESSION)) == 2

    asyncio.run(work())
