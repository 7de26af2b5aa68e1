"""`partita doctor`."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from partita.cli.doctor import doctor
from partita.cli.migrate import migrate
from partita.store.connection import open_store
from partita.types.json import loads
from tests.store.examples import tool_call_message, user_message
from tests.store.old_rows import network, second, without_checks


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "store.db")

    async def fill() -> None:
        async with open_store(path) as opened:
            await opened.threads.create("t1")
            await opened.messages.save([user_message("m1"), tool_call_message("m2")], thread_id="t1")

    asyncio.run(fill())
    return path


def damage(path: str, *statements: str) -> None:
    async def work() -> None:
        async with open_store(path) as opened:
            for statement in statements:
                await opened.write(without_checks, statement)

    asyncio.run(work())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(doctor, list(arguments))


def test_healthy_store_has_no_findings(store: str) -> None:
    result = run("--store", store)
    assert result.exit_code == 0, result.output
    assert "The store is healthy" in result.stdout
    assert all(line.startswith("✓") for line in result.stdout.splitlines()[:-2])


def test_findings_have_ids_and_hints(store: str) -> None:
    damage(
        store, "UPDATE threads SET message_count = 7", "UPDATE messages SET role = 'ghost' WHERE id = 'm1'"
    )
    result = run("--store", store)
    assert result.exit_code == 1
    assert "! Thread counters are correct: 1 problem" in result.stdout
    assert "(thread t1, message m1)" in result.stdout
    assert "→ --repair" in result.stdout
    assert "2 problems" in result.stdout


def test_audit_counts_json_in_strings_and_names_the_migration(store: str) -> None:
    content = second({"type": "text", "text": network()}).replace("'", "''")
    damage(store, f"UPDATE messages SET content = '{content}' WHERE id = 'm2'")
    result = run("--store", store, "--audit")
    assert result.exit_code == 1
    assert "! JSON in a string: network: 1 in 1 message\n" in result.stdout
    assert 't1 / m2 $.content.parts[0].text: {"isNetwork":true' in result.stdout
    assert "→ partita migrate --only network-strings" in result.stdout
    (entry,) = loads(run("--store", store, "--audit", "--json").stdout_bytes)["audit"]
    assert (entry["kind"], entry["count"], entry["migration"]) == ("network", 1, "network-strings")
    assert CliRunner().invoke(migrate, ["--store", store]).exit_code == 0
    assert run("--store", store, "--repair", "--audit").exit_code == 0


def test_damage_is_repaired(store: str) -> None:
    damage(store, "UPDATE threads SET message_count = 7", "DELETE FROM parts")
    result = run("--store", store, "--repair")
    assert result.exit_code == 0, result.output
    assert "✓ Thread counters are correct: 1 repaired" in result.stdout
    assert run("--store", store, "--full").exit_code == 0


def test_exit_code_is_1_if_damage_remains(store: str) -> None:
    damage(store, "UPDATE messages SET role = 'ghost' WHERE id = 'm1'")
    assert run("--store", store, "--repair").exit_code == 1


def test_at_most_ten_findings_are_shown(store: str) -> None:
    async def more() -> None:
        async with open_store(store) as opened:
            await opened.messages.save([user_message(f"x{number}") for number in range(30)], thread_id="t1")

    asyncio.run(more())
    damage(store, "UPDATE messages SET role = 'ghost'")
    result = run("--store", store)
    assert result.stdout.count("its role is") == 10
    assert "… and 22 more" in result.stdout


def test_report_is_json_on_request(store: str) -> None:
    damage(store, "UPDATE threads SET message_count = 7")
    result = run("--store", store, "--json")
    health = loads(result.stdout_bytes)
    assert (result.exit_code, health["healthy"]) == (1, False)
    (finding,) = next(check for check in health["checks"] if check["name"] == "counters")["findings"]
    assert (finding["thread_id"], finding["repairable"]) == ("t1", True)


def test_help_has_examples() -> None:
    assert "partita doctor --repair" in run("--help").stdout


def test_commands_import_no_database_at_start() -> None:
    code = "import sys, partita.cli.doctor, partita.cli.migrate; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
