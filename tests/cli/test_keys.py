"""`partita keys`."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from partita.store.store import Store
from partita.store.values import ApiKey
from partita.types.codec import decode
from partita.types.json import loads
from tests.cli.sample_store import fill, new_store, on_terminal, partita


@pytest.fixture
def store(tmp_path: Path) -> str:
    return new_store(tmp_path / "store.db")


def create(store: str, *arguments: str) -> str:
    result = partita(store, "keys", "create", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout.strip()


def listed(store: str) -> list[ApiKey]:
    return [decode(line, ApiKey) for line in partita(store, "keys", "list", "--json").stdout.splitlines()]


def test_created_key_is_printed_and_valid(store: str) -> None:
    result = partita(store, "keys", "create", "--resource", "ada", "--name", "laptop")
    assert re.fullmatch(r"pk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}\n", result.stdout)
    assert "cannot be shown again" in result.stderr
    found: list[ApiKey | None] = []

    async def check(opened: Store) -> None:
        found.append(await opened.keys.check(result.stdout.strip()))

    fill(store, check)
    assert [key and (key.resource_id, key.role, key.name) for key in found] == [("ada", "write", "laptop")]


def test_key_without_owner_requires_the_role_admin(store: str) -> None:
    refused = partita(store, "keys", "create")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "hint: name the resource it is for, or make it an admin's" in refused.stderr
    create(store, "--role", "admin")
    assert [(key.resource_id, key.role) for key in listed(store)] == [(None, "admin")]


EXPIRES = {"30d": timedelta(days=30), "12h": timedelta(hours=12), "2w": timedelta(weeks=2)}


@pytest.mark.parametrize(("text", "later"), EXPIRES.items(), ids=EXPIRES)
def test_key_has_an_expiry_time(store: str, text: str, later: timedelta) -> None:
    before = datetime.now(UTC)
    create(store, "--resource", "ada", "--expires", text)
    (key,) = listed(store)
    assert key.expires_at is not None
    assert before + later <= key.expires_at <= datetime.now(UTC) + later


@pytest.mark.parametrize("text", ["soon", "", "999999w", "3d ago", "2001-01-01"])
def test_invalid_or_past_expiry_is_refused(store: str, text: str) -> None:
    result = partita(store, "keys", "create", "--resource", "ada", "--expires", text)
    assert result.exit_code != 0
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert listed(store) == []


def test_keys_are_listed_in_a_table(store: str) -> None:
    first = create(
        store, "--resource", "ada", "--role", "read", "--name", "laptop", "--expires", "2099-01-01"
    )
    second = create(store, "--role", "admin")
    revoked = partita(store, "keys", "revoke", second.split("_")[1])
    assert (revoked.exit_code, revoked.stdout) == (0, "")
    result = partita(store, "keys", "list")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["id", "resource", "role", "name", "created", "expires"]
    rows = {line[0]: line[1:] for line in lines[1:]}
    assert rows[first.split("_")[1]][:3] == ["ada", "read", "laptop"]
    assert rows[second.split("_")[1]][0] == "(all)"
    assert rows[second.split("_")[1]][-1] == "revoked"
    for text in (first, second):
        assert text[20:] not in result.output


def test_revoked_key_is_printed_as_json(store: str) -> None:
    key = create(store, "--role", "admin").split("_")[1]
    revoked = loads(partita(store, "keys", "revoke", key, "--json").stdout)
    assert revoked["id"] == key
    assert revoked["revokedAt"]


def test_empty_list_has_a_hint(store: str) -> None:
    result = partita(store, "keys", "list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "partita keys create" in result.stderr


def test_revoking_an_unknown_key_is_an_error(store: str) -> None:
    result = partita(store, "keys", "revoke", "nobody")
    assert result.exit_code == 1
    assert "no key 'nobody'" in result.stderr


def test_control_characters_in_names_are_escaped(store: str) -> None:
    create(store, "--resource", "a\x1b[2J", "--name", "\x1b]0;a\x07\u202e")
    shown = partita(store, "keys", "list").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\x1b]0" not in on_terminal(store, "keys", "list", "--json")


def test_command_does_not_import_the_store() -> None:
    code = "import sys, partita.cli.keys\nprint([n for n in ('sqlalchemy', 'rich') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
