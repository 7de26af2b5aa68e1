"""`partita backup`."""

from pathlib import Path

import pytest
from click.testing import Result

from partita.types.json import loads
from tests.cli.sample_store import CLOCK, add_threads, fill, partita


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, add_threads)
    return path


def backup(store: str, *arguments: str | Path) -> Result:
    result = partita(store, "backup", *map(str, arguments))
    assert result.exit_code == 0, result.stderr
    return result


def test_backup_is_checked_and_restored(store: str, tmp_path: Path) -> None:
    file, new = tmp_path / "a.backup", str(tmp_path / "new.db")
    made = backup(store, file)
    assert made.stdout == f"{file}\n"
    assert made.stderr.startswith("partita: written: 3 threads, 9 messages, 0 runs, 0 blobs; ")
    checked = backup(store, "--check", file)
    assert (checked.stdout, checked.stderr[:27]) == ("", "partita: complete: 3 thread")
    restored = backup(store, "--restore", file, "--store", new)
    assert restored.stderr.startswith("partita: restored: 3 threads, ")
    for arguments in (["threads", "--all", "--json"], ["show", CLOCK, "--json"]):
        assert partita(new, *arguments).stdout == partita(store, *arguments).stdout


def test_file_in_a_folder_is_named_after_the_time(store: str, tmp_path: Path) -> None:
    made = backup(store, tmp_path)
    (file,) = tmp_path.iterdir()
    assert made.stdout == f"{file}\n"
    assert file.name.startswith("partita-2")
    assert file.suffix == ".backup"


def test_report_is_json_on_request(store: str, tmp_path: Path) -> None:
    made = loads(backup(store, tmp_path / "a.backup", "--json").stdout)
    assert made["rows"]["messages"] == 9
    assert made["bytes"] == Path(made["file"]).stat().st_size
    assert loads(backup(store, "--check", tmp_path / "a.backup", "--json").stdout) == made
    assert (
        loads(
            backup(store, "--restore", tmp_path / "a.backup", "--store", tmp_path / "b.db", "--json").stdout
        )
        == made
    )


def test_invalid_requests_are_refused(store: str, tmp_path: Path) -> None:
    def refused(*arguments: str | Path) -> str:
        result = partita(store, "backup", *map(str, arguments))
        assert (result.exit_code != 0, result.stdout) == (True, "")
        return result.stderr

    file, broken = tmp_path / "a.backup", tmp_path / "broken.backup"
    backup(store, file)
    broken.write_bytes(file.read_bytes()[:-40])
    assert "--force overwrites it" in refused(file)
    assert "this store is not empty: it has threads" in refused("--restore", file)
    assert "the backup is damaged" in refused("--check", broken)
    assert "the backup is damaged" in refused("--restore", broken, "--store", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
    assert "no such file" in refused("--restore", tmp_path / "none", "--store", tmp_path / "new.db")
    assert "the store does not exist" in refused("--store", tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    assert "exclude each other" in refused(file, "--check", file)
    backup(store, file, "--force")
