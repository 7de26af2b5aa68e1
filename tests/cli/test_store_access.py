"""Commands on a store that does not exist, and on one that can only be read."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner

from partita.cli.main import cli
from partita.store.connection import open_engine
from partita.store.engines.location import default_path, locate
from partita.store.migrations import HEAD
from tests.cli.sample_store import BUILD, add_threads, fill, partita
from tests.cli.test_config import STORE_COMMANDS
from tests.store.test_connection import LATER_SCHEMA
from tests.tables import each_row

READING = [command for command in STORE_COMMANDS if command.split()[0] not in ("import", "mcp")]
OTHER_USER = 65534


# No store


@each_row("command", [*READING, "mcp"], ids=[*READING, "mcp"])
def test_only_commands_that_import_or_serve_create_a_store(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "folder" / "mistyped.db"
    result = partita(str(path), *command.split())
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: the store does not exist\n   at: {path}\n hint: check the path;")
    assert list(tmp_path.iterdir()) == []


EMPTY = {
    "an empty file": (b"", "the file of the store is empty"),
    "a database without tables": (None, "the database has no tables of Partita"),
}


@pytest.mark.parametrize(("content", "what"), EMPTY.values(), ids=EMPTY)
def test_a_file_without_tables_is_not_a_store(content: bytes | None, what: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    if content is None:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE a (b); DROP TABLE a")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    result = partita(str(path), "threads")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {what}\n   at: {path}\n hint: check the path;")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"empty.db": before}
    assert partita(str(path), "import", "--demo").exit_code == 0


def test_without_the_default_store_the_hint_is_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PARTITA_STORE", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    result = CliRunner().invoke(cli, ["threads"], env={"COLUMNS": "200"})
    assert result.exit_code == 1
    assert result.stderr == (
        f"error: the store does not exist\n   at: {default_path()}\n"
        " hint: `partita import` creates it, with the sessions of the agents on this machine\n"
    )
    assert not default_path().parent.exists()


# A store that can only be read


@contextmanager
def without_permission(folder: Path, *, folder_mode: int = 0o555) -> Generator[None]:
    """As another user than root, who may read the files in a folder but not write them."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(folder_mode)
    os.seteuid(OTHER_USER)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shared() -> Generator[Path]:
    """A folder that other users can read: those of pytest are private."""
    with TemporaryDirectory(prefix="partita-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def write_store(folder: Path, suffixes: Sequence[str]) -> Path:
    """A store whose rows are in its write-ahead log, with those of its files that have the suffixes."""
    path = folder / "store.db"
    with TemporaryDirectory() as name:
        source = Path(name) / "store.db"
        fill(str(source), _nothing)
        with closing(sqlite3.connect(source)) as reader:
            reader.execute(
                "SELECT count(*) FROM threads"
            ).fetchone()  # keeps the log when the store is closed
            fill(str(source), add_threads)
            if "-wal" not in suffixes:
                reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for suffix in ("", *suffixes):
                shutil.copy(f"{source}{suffix}", f"{path}{suffix}")
    return path


async def _nothing(_store: object) -> None:
    pass


FILES: dict[str, tuple[Sequence[str], int]] = {
    "closed": ((), 0o555),
    "closed, in a folder that can be written to": ((), 0o777),
    "with a log": (("-wal",), 0o555),
    "with a log, in a folder that can be written to": (("-wal",), 0o777),
    "in use": (("-wal", "-shm"), 0o555),
}


READS = {
    "threads": "Fix the flaky clock test",
    f"show {BUILD}": "The linker.",
    "search linker": "linker",
    "stats": "",
    "runs --json": "",
    "migrate --list": "network-strings",
    "doctor --full": "The store is healthy",
}
WRITES = ("import --demo", f"fork {BUILD} 1", "keys create --resource ada", "migrate")


def load_modules(folder: Path) -> None:
    """Run all commands once: another user may not read the modules that they import."""
    (folder / "copy").mkdir()
    path = write_store(folder / "copy", ())
    for arguments in (*READS, *WRITES):
        result = partita(str(path), *arguments.split())
        assert result.exit_code == 0, result.output


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="requires root")
@pytest.mark.parametrize(("suffixes", "mode"), FILES.values(), ids=FILES)
def test_a_store_that_can_only_be_read_is_read(suffixes: Sequence[str], mode: int, shared: Path) -> None:
    path = str(write_store(shared, suffixes))
    before = contents(shared)
    with TemporaryDirectory() as name:
        load_modules(Path(name))
        with without_permission(shared, folder_mode=mode):
            for arguments, expected in READS.items():
                result = partita(path, *arguments.split())
                assert (result.exit_code, result.stderr) == (0, ""), arguments
                assert expected in result.stdout
            for arguments in WRITES:
                result = partita(path, *arguments.split())
                assert (result.exit_code, result.stdout) == (1, ""), arguments
                assert result.stderr.startswith(f"error: the store can only be read\n   at: {path}\n hint: ")
            assert contents(shared) == before


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="requires root")
def test_an_old_store_that_can_only_be_read_is_an_error(shared: Path) -> None:
    path = write_store(shared, ())

    async def open_later() -> None:
        engine = await open_engine(locate(path), schema=LATER_SCHEMA)
        await engine.close()

    with without_permission(shared), pytest.raises(Exception, match="can only be read") as caught:
        asyncio.run(open_later())
    assert f"the store has schema {HEAD} and can only be read, so it cannot be upgraded" in str(caught.value)
    assert list(contents(shared)) == ["store.db"]
