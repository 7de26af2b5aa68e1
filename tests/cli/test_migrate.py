"""`partita migrate`."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from partita.cli.migrate import migrate
from partita.store.connection import open_store
from partita.types.json import loads
from tests.store.old_rows import network, second, with_rows

ROWS: dict[str, tuple[str, str]] = {
    "plain": ("user", "Is the library open?"),
    "network": ("assistant", second({"type": "text", "text": network()})),
}


@pytest.fixture
def store(tmp_path: Path) -> str:
    return filled(tmp_path, ROWS)


def filled(tmp_path: Path, rows: Mapping[str, tuple[str, str]]) -> str:
    path = str(tmp_path / "store.db")

    async def fill() -> None:
        async with open_store(path) as opened:
            await with_rows(opened, rows)

    asyncio.run(fill())
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(migrate, list(arguments))


def test_dry_run_shows_changes_and_writes_nothing(store: str) -> None:
    for _ in range(2):  # the second result shows that the first run changed nothing
        result = run("--store", store, "--dry-run")
        assert result.exit_code == 0, result.output
        assert "would change" in result.stdout
        assert "before  Is the library open?" in result.stdout
        assert """after   {"parts":[{"type":"text","text":"Is the library open?"}]""" in result.stdout


def test_migration_prints_a_report(store: str) -> None:
    result = run("--store", store)
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line.split()[1:6] for line in result.stdout.splitlines()[1:4]}
    assert lines == {
        "plain-text": ["done", "2", "1", "0", "2"],
        "version-4-content": ["done", "2", "0", "0", "2"],
        "network-strings": ["done", "2", "1", "0", "2"],
    }
    assert "before" not in result.stdout
    assert run("--store", store, "--again").stdout.splitlines()[1].split()[3] == "0"


def test_single_migration_is_run_and_listed_as_done(store: str) -> None:
    assert run("--store", store, "--only", "network-strings").exit_code == 0
    listed = run("--store", store, "--list").stdout.splitlines()
    assert [line.split()[:2] for line in listed[1:]] == [
        ["plain-text", "pending"],
        ["version-4-content", "pending"],
        ["network-strings", "done"],
        ["stringified-values", "pending"],
    ]


def test_report_is_json_on_request(store: str) -> None:
    reports = loads(run("--store", store, "--json").stdout_bytes)
    assert [(report["name"], report["changed"]) for report in reports] == [
        ("plain-text", 1),
        ("version-4-content", 0),
        ("network-strings", 1),
        ("stringified-values", 0),
    ]


def test_exit_code_is_1_if_a_message_fails(tmp_path: Path) -> None:
    store = filled(tmp_path, {"cut": ("assistant", '{"format":2,"parts":[{')})
    result = run("--store", store)
    assert result.exit_code == 1
    assert "  1 could not be converted and were not changed:\n" in result.stdout
    assert "         1  the content is damaged; hint: " in result.stdout
    assert "            in t1 / cut\n" in result.stdout


def test_dry_run_summarises_and_its_json_has_everything(tmp_path: Path) -> None:
    results = {
        f"n{number}": ("assistant", second({"type": "text", "text": network(id=f"a{number}")}))
        for number in range(8)
    }
    cut = {f"c{number}": ("assistant", '{"format":2,"parts":[{') for number in range(40)}
    store = filled(tmp_path, {**results, **cut})
    result = run("--store", store, "--dry-run")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) < 40
    assert "  8 messages in 1 thread would change:\n" in result.stdout
    assert "         3  of 3 more kinds\n" in result.stdout
    assert result.stdout.count("  example: ") == 3
    assert "  40 could not be converted and were not changed:\n        40  the content is" in result.stdout
    assert "in t1 / c0, t1 / c1, t1 / c2, …\n" in result.stdout
    (damaged,) = [
        one for one in loads(run("--store", store, "--dry-run", "--json").stdout_bytes) if one["failed"]
    ]
    assert [one["message_id"] for one in damaged["failures"]] == list(cut)


def test_unknown_migration_is_refused(store: str) -> None:
    result = run("--store", store, "--only", "nonsense")
    assert "nonsense" in str(result.exception)


@pytest.mark.parametrize("option", ["--rate=0", "--batch-size=0"])
def test_invalid_numbers_are_refused(store: str, option: str) -> None:
    assert run("--store", store, option).exit_code == 2


def test_help_has_examples() -> None:
    assert "partita migrate --dry-run" in run("--help").stdout
