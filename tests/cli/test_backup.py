"""`partita backup`, as a person or a script meets it."""

from pathlib import Path

import pytest
from click.testing import Result

from partita.types.json import loads
from tests.cli.view_store import CLOCK, fill, partita, threads


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, threads)
    return path


def backup(store: str, *arguments: str | Path) -> Result:
    result = partita(store, "backup", *map(str, arguments))
    assert result.exit_code == 0, result.stderr
    return result


def test_there_and_back(store: str, tmp_path: Path) -> None:
    file, new = tmp_path / "a.backup", str(tmp_path / "new.db")
    made = backup(store, file)
    assert made.stdout == f"{file}\n"
    assert made.stderr.startswith("partita: written: 3 threads, 9 messages, 0 runs, 0 blobs; ")
    checked = backup(store, "--check", file)
    assert (checked.stdout, checked.stderr[:27]) == ("", "partita: whole: 3 threads, ")
    restored = backup(store, "--restore", file, "--store", new)
    assert restored.stderr.startswith("partita: restored: 3 threads, ")
    for arguments in (["threads", "--all", "--json"], ["show", CLOCK, "--json"]):
        assert partita(new, *arguments).stdout == partita(store, *arguments).stdout


def test_a_file_named_by_the_time(store: str, tmp_path: Path) -> None:
    made = backup(store, tmp_path)
    (file,) = tmp_path.iterdir()
    assert made.stdout == f"{file}\n"
    assert file.name.startswith("partita-2")
    assert file.suffix == ".backup"


def test_what_it_holds_as_json(store: str, tmp_path: Path) -> None:
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


def test_what_cannot_be_done_is_told(store: str, tmp_path: Path) -> None:
    def refused(*arguments: str | Path) -> str:
        result = partita(store, "backup", *map(str, arguments))
        assert (result.exit_code != 0, result.stdout) == (True, "")
        return result.stderr

    file, broken = tmp_path / "a.backup", tmp_path / "broken.backup"
    backup(store, file)
    broken.write_bytes(file.read_bytes()[:-40])
    assert "--force writes over it" in refused(file)
    assert "this store is not empty: it has threads" in refused("--restore", file)
    assert "the backup is damaged" in refused("--check", broken)
    assert "the backup is damaged" in refused("--restore", broken, "--store", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
    assert "no such file" in refused("--restore", tmp_path / "none", "--store", tmp_path / "new.db")
    assert "there is no store to copy" in refused("--store", tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    assert "exclude each other" in refused(file, "--check", file)
    backup(store, file, "--force")
