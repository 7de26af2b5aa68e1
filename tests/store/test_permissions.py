"""Files that hold messages are created for their owner alone, whatever the umask allows."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from partita.cli.main import cli
from partita.store.backup.backup import create_backup
from partita.store.connection import open_store
from partita.store.doctor.doctor import check_store
from partita.store.engines.location import default_path
from tests.store.examples import user_message
from tests.store.test_connection import later, with_message

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no file modes")


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """A umask that removes no permission."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """The modes of all files and folders below a folder."""
    return {str(one.relative_to(folder)): one.stat().st_mode & 0o777 for one in folder.rglob("*")}


async def test_a_store_and_its_write_ahead_log_are_created_for_the_owner_alone(tmp_path: Path) -> None:
    async with open_store(tmp_path / "new" / "inner" / "store.db") as store:
        await store.threads.create("t1")
        await store.messages.save([user_message("m1")], thread_id="t1")
        assert modes(tmp_path) == {
            "new": 0o700,
            "new/inner": 0o700,
            "new/inner/store.db": 0o600,
            "new/inner/store.db-wal": 0o600,
            "new/inner/store.db-shm": 0o600,
        }


async def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o775)
    async with open_store(tmp_path / "shared" / "store.db"):
        assert modes(tmp_path)["shared"] == 0o775


async def test_a_link_to_a_file_that_does_not_exist_creates_a_private_file(tmp_path: Path) -> None:
    (tmp_path / "store.db").symlink_to(tmp_path / "elsewhere.db")
    async with open_store(tmp_path / "store.db"):
        assert modes(tmp_path)["elsewhere.db"] == 0o600


async def test_the_copy_before_an_upgrade_is_private_even_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await with_message(str(path))
    path.chmod(0o644)
    seen: set[int] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            for copy in tmp_path.glob("*.bak*"):
                try:
                    seen.add(copy.stat().st_mode & 0o777)
                except FileNotFoundError:
                    continue

    watching = threading.Thread(target=look)
    watching.start()
    try:
        engine = await later(str(path))
        await engine.close()
    finally:
        stop.set()
        watching.join()
    copies = {name: mode for name, mode in modes(tmp_path).items() if ".bak" in name}
    assert list(copies.values()) == [0o600]
    assert seen <= {0o600}


async def test_a_backup_is_private(tmp_path: Path) -> None:
    async with open_store("memory:") as store:
        await create_backup(store, tmp_path / "backups" / "all.backup")
    assert modes(tmp_path) == {"backups": 0o700, "backups/all.backup": 0o600}


def test_exports_and_recordings_are_private(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    runner = CliRunner()
    assert runner.invoke(cli, ["import", "--demo", "--store", store]).exit_code == 0
    (tmp_path / "out").mkdir(mode=0o700)
    for name, command in {"one.html": "export", "one.json": "fixture"}.items():
        result = runner.invoke(cli, [command, "last", "--store", store, "-o", f"{tmp_path}/out/{name}"])
        assert result.exit_code == 0, result.output
    assert modes(tmp_path / "out") == {"one.html": 0o600, "one.json": 0o600}


def test_opening_restricts_only_the_default_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "PARTITA_CONFIG", "PARTITA_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    own = default_path()
    assert own.is_relative_to(tmp_path)

    async def opened(path: Path | None) -> None:
        async with open_store(path):
            pass

    for path in (own, tmp_path / "team.db"):
        asyncio.run(opened(path))
        path.chmod(0o664)
    copy = own.with_name(f"{own.name}.schema-0001.bak")
    copy.write_bytes(b"")
    asyncio.run(opened(None))
    asyncio.run(opened(tmp_path / "team.db"))
    assert own.stat().st_mode & 0o777 == copy.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "team.db").stat().st_mode & 0o777 == 0o664  # it may be shared on purpose


async def test_the_doctor_lists_files_that_other_users_can_open(tmp_path: Path) -> None:
    path = tmp_path / "a store.db"
    async with open_store(path) as store:
        path.chmod(0o640)
        health = await check_store(store)
    [found] = [one for check in health.checks for one in check.findings]
    assert found.what == "other users can open a store.db (mode 640)"
    assert found.hint == f"unless you share it on purpose: chmod go= '{path}'"
    assert health.healthy
