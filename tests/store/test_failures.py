"""Failures of disks and files are errors that say what, where and what to do. Acknowledged data is kept."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from partita.errors import StoreError, UnavailableError
from partita.store.connection import open_store
from partita.store.doctor.doctor import check_store
from partita.store.engines.driver_errors import SQLITE, store_error
from partita.store.store import Store
from tests.store.examples import user_message
from tests.store.running import raws
from tests.store.workers import PROCESSES, fill_with_a_limit, fill_without_permission, started
from tests.tables import each_row


async def opening(place: str | Path, *, patience: float = 0.2) -> StoreError:
    """The error of opening a store."""
    with pytest.raises(StoreError) as caught:
        async with open_store(place, patience=patience):
            pass
    return caught.value


PAGE = 4096

# SQLite: the disk


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Store]:
    """A store whose disk is nearly full."""
    async with open_store(tmp_path / "store.db") as store:
        await store.threads.create("t1")
        await store.messages.save([user_message("before")], thread_id="t1")
        await store.engine.autocommit(
            lambda connection: pages(connection, 0)
        )  # its current pages and no more
        yield store


def pages(connection: Connection, most: int) -> None:
    """Limit the number of pages of the file."""
    connection.exec_driver_sql(f"PRAGMA max_page_count = {most or 1}")


@pytest.mark.parametrize("writers", [1, 20])
async def test_a_full_disk_is_an_error_until_there_is_space(small: Store, writers: int) -> None:
    """Writers that commit alone or together all get the error. Later writes succeed."""
    attempts = (
        small.messages.save([user_message(f"m{n}", "x" * 9000)], thread_id="t1") for n in range(writers)
    )
    for error in await asyncio.gather(*attempts, return_exceptions=True):
        assert isinstance(error, UnavailableError)
        assert error.what == "the disk is full"
        assert error.where == small.engine.where
        assert "free some space" in error.hint
    assert [message.id for message in await small.messages.list("t1")] == ["before"]
    await small.engine.autocommit(lambda connection: pages(connection, 100_000))
    await small.messages.save([user_message("after")], thread_id="t1")
    assert [message.id for message in await small.messages.list("t1")] == ["before", "after"]
    assert (await check_store(small, full=True)).healthy


async def test_a_full_disk_is_an_error_for_appends(small: Store) -> None:
    await small.engine.autocommit(lambda connection: pages(connection, 100_000))
    run = await small.runs.open("t1")
    await small.engine.autocommit(lambda connection: pages(connection, 0))
    with pytest.raises(UnavailableError, match="the disk is full"):
        await asyncio.gather(*(small.logs.append(run.id, raws(b"x" * 9000)) for _ in range(5)))
    await small.engine.autocommit(lambda connection: pages(connection, 100_000))
    assert await small.logs.append(run.id, raws(b"y")) == 1


def error_from(work: Callable[[str, Any], None], place: Path) -> str:
    """The error of a process that opens a store and writes to it."""
    ours, theirs = PROCESSES.Pipe(duplex=False)
    with ours:
        process = started(work, str(place), theirs)
        theirs.close()
        error = str(ours.recv())
        process.join(60)
    assert process.exitcode == 0
    return error


async def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with open_store(path) as store:
        await store.threads.create("t1")
    assert error_from(fill_with_a_limit, path).startswith("UnavailableError the disk ")
    async with open_store(path) as store:
        assert (await check_store(store, full=True)).healthy
        await store.messages.save([user_message("after")], thread_id="t1")


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other users can enter: those of pytest are private."""
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path
        path.chmod(0o755)


async def new_store(path: Path) -> None:
    """The path of a store with a thread."""
    async with open_store(path) as store:
        await store.threads.create("t1")


READ_ONLY = "UnavailableError the store can only be read"
RIGHTS: dict[str, tuple[int, int | None, str]] = {
    "neither file nor folder": (0o555, 0o444, READ_ONLY),
    "not the file": (0o777, 0o444, READ_ONLY),
    "not the folder": (0o555, 0o666, READ_ONLY),
    "not even read": (0o555, 0o000, "UnavailableError Permission denied (at "),
    "no file, and none can be made": (0o555, None, "UnavailableError Permission denied (at "),
}


@pytest.mark.skipif(os.getuid() != 0, reason="requires root")
@pytest.mark.parametrize(("folder", "file", "what"), RIGHTS.values(), ids=RIGHTS)
async def test_missing_permissions_are_an_error(
    shared: Path, folder: int, file: int | None, what: str
) -> None:
    path = shared / "store.db"
    if file is not None:
        await new_store(path)
        path.chmod(file)
    shared.chmod(folder)
    error = error_from(fill_without_permission, path)
    assert error.startswith(what)
    assert f" (at {path}); hint: " in error
    if file is not None:
        async with open_store(path) as store:
            assert await store.threads.count() == 1
            assert len(await store.messages.list("t1")) == 0


@pytest.mark.skipif(os.getuid() != 0, reason="requires root")
def test_a_folder_that_cannot_be_created(shared: Path) -> None:
    error = error_from(fill_without_permission, shared / "new" / "store.db")
    assert error.startswith(
        f"UnavailableError Permission denied (at {shared}/new/store.db: {shared}/new); hint: "
    )


# SQLite: the file


async def test_a_file_that_another_process_has_locked(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await new_store(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        async with open_store(path, patience=0.2) as store:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(UnavailableError, match="another process has locked the store") as caught:
                await store.messages.save([user_message("m1")], thread_id="t1")
            assert caught.value.where == str(path)
            assert await store.threads.count() == 1  # readers do not wait for a writer
            other.execute("COMMIT")
            await store.messages.save([user_message("m1")], thread_id="t1")


async def test_a_new_file_that_another_process_has_locked(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        error = await opening(path)
        other.execute("COMMIT")
    assert error.what == "another process has locked the store"
    await new_store(path)


NOT_A_STORE: dict[str, bytes] = {
    "text": b"Dear diary, today I opened a text file as a database.\n" * 100,
    "a short text": b"Dear diary.\n",  # less than a page: SQLite would overwrite it
    "a damaged head": b"SQLite format 3\x00" + b"\xff" * 8192,
}


@pytest.mark.parametrize("content", NOT_A_STORE.values(), ids=NOT_A_STORE)
async def test_a_file_that_is_not_a_store(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    error = await opening(path)
    assert isinstance(error, UnavailableError)
    assert (error.what, error.where) == ("this file is not a store", str(path))
    assert path.read_bytes() == content


FOREIGN: dict[str, str] = {
    "tables of another program": "CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup');",
    "another program that uses Alembic": (
        "CREATE TABLE recipes (name TEXT);"
        "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('1a2b3c4d5e6f')"
    ),
    "Alembic without a version": "CREATE TABLE alembic_version (version_num TEXT)",
}


@pytest.mark.parametrize("script", FOREIGN.values(), ids=FOREIGN)
async def test_a_database_of_another_program_is_not_changed(tmp_path: Path, script: str) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as other:
        other.executescript(script)
    before = path.read_bytes()
    error = await opening(path)
    assert error.what == "this database holds something else"
    assert "partita import" in error.hint
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["store.db"]


async def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    error = await opening(tmp_path)
    assert (error.what, error.where, error.hint) == ("this is a folder", str(tmp_path), "name a file in it")


async def test_a_file_instead_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    error = await opening(tmp_path / "file" / "store.db")
    assert isinstance(error, UnavailableError)
    assert error.where.endswith(f": {tmp_path / 'file'}")


async def test_a_damaged_file(tmp_path: Path) -> None:
    """Reading damaged pages is an error. The doctor reports it and does not fail."""
    path = await long_store(tmp_path)
    content = bytearray(path.read_bytes())
    half = len(content) // 2 // PAGE * PAGE
    content[half : half + 50 * PAGE] = b"\xa5" * 50 * PAGE
    path.write_bytes(content)
    async with open_store(path) as store:
        with pytest.raises(UnavailableError, match="the store is damaged") as caught:
            await store.messages.list("t1", limit=None)
        assert caught.value.where == str(path)
        assert ".recover" in caught.value.hint
        assert not (await check_store(store, full=True)).healthy


async def test_a_truncated_file(tmp_path: Path) -> None:
    path = await long_store(tmp_path)
    path.write_bytes(path.read_bytes()[: 20 * PAGE])
    assert (await opening(path)).what == "the store is damaged"


async def long_store(folder: Path) -> Path:
    """A file of many pages."""
    path = folder / "store.db"
    await new_store(path)
    async with open_store(path) as store:
        await store.messages.save([user_message(f"m{n}", f"{n} " * 500) for n in range(400)], thread_id="t1")
    return path


# Any engine


def operations(store: Store) -> list[Callable[[], Awaitable[Any]]]:
    """An operation for each method of the engine."""
    return [
        store.threads.count,
        lambda: store.threads.create("t2"),
        lambda: store.logs.append("r1", raws(b"x")),
        lambda: anext(aiter(store.logs.follow("r1"))),
        store.compact,
        store.scoped("u1").threads.count,
    ]


async def test_a_closed_store_refuses_all_operations(url: str) -> None:
    async with open_store(url) as store:
        await store.threads.create("t1")
        await store.runs.open("t1", id="r1")
    for use in operations(store):
        with pytest.raises(StoreError, match="is closed") as caught:
            await use()
        assert "open " in caught.value.hint
        assert caught.value.where
    await store.close()  # closing twice is allowed


async def test_statements_that_are_not_allowed_in_a_transaction(store: Store) -> None:
    await store.threads.create("t1")
    await store.messages.save([user_message("m1")], thread_id="t1")
    await store.compact()
    await store.messages.save([user_message("m2")], thread_id="t1")
    assert [message.seq for message in await store.messages.list("t1")] == [1, 2]


@each_row("name", SQLITE)
def test_errors_of_sqlite_are_explained(name: str) -> None:
    error = sqlite3.OperationalError("driver talk")
    error.sqlite_errorname = f"{name}_OF_SOME_KIND"
    shown = store_error(error, "store.db")
    assert (shown.what, shown.hint) == SQLITE[name]
    assert isinstance(shown, UnavailableError)


NO_DRIVER = """
import asyncio, sys
sys.modules["asyncpg"] = None
from partita.errors import StoreError
from partita.store.connection import open_store
try:
    asyncio.run(open_store("postgresql://u:p@localhost/db")._open())
except StoreError as error:
    print(error)
"""


def test_the_error_of_a_missing_driver_explains_how_to_install_it() -> None:
    result = subprocess.run(
        [sys.executable, "-c", NO_DRIVER], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.stderr == ""
    assert "PostgreSQL needs partita[postgres], which is not installed" in result.stdout
    assert "pip install 'partita[postgres]'" in result.stdout


# SQLite: the file


@pytest.mark.skipif(os.name == "nt", reason="Windows does not delete a file that is open")
@each_row("replaced", [False, True])
async def test_an_open_file_that_is_deleted_is_an_error(replaced: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        async with open_store(path) as store:
            await store.threads.create("t1")
            path.rename(path.with_suffix(".old"))
            if replaced:
                async with open_store(path):
                    pass
            for attempt in (
                store.threads.create("t2"),
                store.messages.save([user_message("lost")], thread_id="t1"),
                store.threads.list(),
            ):
                with pytest.raises(UnavailableError, match="deleted or replaced") as caught:
                    await attempt
                assert "start again" in caught.value.hint
