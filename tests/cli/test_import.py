"""`partita import`, as a person meets it."""

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from partita.cli.import_ import SYSTEMS as NAMES
from partita.cli.import_ import import_anything
from partita.errors import PartitaError
from partita.store.imports.registry import SYSTEMS
from partita.store.opening import open_store
from partita.types.json import dumps, loads
from tests.store.import_examples import MASTRA, make_sqlite, mastra_message, said


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


@pytest.fixture
def hive(tmp_path: Path) -> str:
    return str(make_sqlite(tmp_path / "mastra.db", MASTRA))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(import_anything, list(arguments))


def test_the_systems_are_those_that_the_store_knows() -> None:
    assert set(NAMES) == set(SYSTEMS)


def kept(store: str, thread: str, owner: str | None = None) -> int:
    async def count() -> int:
        async with open_store(store) as opened:
            return len(await said(opened, thread, owner))

    return asyncio.run(count())


def test_an_import_tells_what_it_did(store: str, hive: str) -> None:
    result = run(hive, "--from", "mastra", "--store", store)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "Mastra: mastra_messages, mastra_threads",
        "  threads           2  2 new",
        "  messages          5  5 new, 0 changed, 0 unchanged",
    ]
    assert result.stderr == ""
    assert kept(store, "t1") == 4
    assert "0 new, 0 changed, 5 unchanged" in run(hive, "--from", "mastra", "--store", store).stdout


def test_a_dry_run_says_so(store: str, hive: str) -> None:
    result = run(hive, "--from", "mastra", "--store", store, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "5 new" in result.stdout
    assert result.stdout.endswith("\nNothing was written: this was a dry run.\n")
    assert "5 new" in run(hive, "--from", "mastra", "--store", store).stdout


def test_everything_goes_to_a_resource(store: str, hive: str) -> None:
    assert run(hive, "--from", "mastra", "--store", store, "--resource", "eve").exit_code == 0
    assert kept(store, "t1", "eve") == 4


def test_failed_rows_and_losses_are_told(store: str, tmp_path: Path) -> None:
    rows = [
        mastra_message("good", 1),
        mastra_message("cut", 2, content='{"format":2,"parts":[{"type'),
        *(mastra_message(f"bad-{number:02}", 3, role="weather") for number in range(12)),
    ]
    source = str(make_sqlite(tmp_path / "m.db", {"mastra_messages": rows}))
    result = run(source, "--from", "mastra", "--store", store)
    assert result.exit_code == 1
    assert "1 threads without a row of their own, made from their messages:\n    t1\n" in result.stdout
    assert "1 things could not be carried:\n    1 × " in result.stdout
    assert "12 rows failed:\n    mastra_messages bad-00: unknown role 'weather'" in result.stdout
    assert "bad-09" in result.stdout
    assert "bad-10" not in result.stdout
    assert "… and 2 more" in result.stdout


def test_the_report_as_json(store: str, hive: str) -> None:
    result = run(hive, "--from", "mastra", "--store", store, "--json")
    report = loads(result.stdout_bytes)
    assert (report["system"], report["source"], report["rows"], report["new"]) == ("mastra", hive, 5, 5)
    assert (report["failures"], report["losses"], report["dryRun"]) == ([], [], False)


def test_failures_as_json(store: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(dumps([mastra_message("a", 1), mastra_message("b", 2, role="weather")]))
    result = run(str(path), "--from", "mastra", "--store", store, "--json")
    assert result.exit_code == 1
    report = loads(result.stdout_bytes)
    assert [(one["table"], one["id"]) for one in report["failures"]] == [("mastra_messages", "b")]


def test_what_is_no_source_is_an_error(store: str, tmp_path: Path) -> None:
    result = run(str(tmp_path / "gone.db"), "--from", "mastra", "--store", store)
    assert isinstance(result.exception, PartitaError)
    assert "No such file" in result.exception.what


def test_a_system_nobody_knows_is_refused(hive: str) -> None:
    result = run(hive, "--from", "elsewhere")
    assert result.exit_code == 2
    for name in SYSTEMS:
        assert name in result.stderr


def test_the_help_has_examples() -> None:
    assert "partita import mastra.db --from mastra --dry-run" in run("--help").stdout
