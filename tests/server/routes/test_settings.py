"""The settings of the user of this machine over HTTP."""

from pathlib import Path

import httpx
import pytest

from partita.runtime.principal import Principal
from partita.server.app import asgi
from partita.store.store import Store
from tests.server.conftest import client_of, scripted
from tests.tables import each_row

ROUTES = (
    ("GET", "/api/settings"),
    ("PATCH", "/api/settings"),
    ("GET", "/api/sources"),
    ("POST", "/api/sources/import"),
)


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file of the user, which does not exist yet."""
    path = tmp_path / "partita.toml"
    monkeypatch.setenv("PARTITA_CONFIG", str(path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    path.write_text("# mine\n")
    return path


async def value_of(client: httpx.AsyncClient, key: str) -> tuple[object, str]:
    found = (await client.get("/api/settings")).json()["settings"]
    (one,) = [one for one in found if one["key"] == key]
    return one["value"], one["source"]


async def test_a_setting_is_written_into_the_file_of_the_user(client: httpx.AsyncClient, file: Path) -> None:
    assert (await client.get("/api/settings")).json()["file"] == str(file)
    assert await value_of(client, "import.agents") == ([], "default")
    changed = await client.patch("/api/settings", json={"import.agents": ["codex"]})
    assert changed.status_code == 200
    assert await value_of(client, "import.agents") == (["codex"], "user")
    assert file.read_text() == '# mine\n\n[import]\nagents = ["codex"]\n'
    await client.patch("/api/settings", json={"import.agents": None})
    assert await value_of(client, "import.agents") == ([], "default")


@each_row(
    ("changes", "where", "hint"),
    [
        ({"import.agents": "codex"}, "import.agents", "write agents"),
        ({"import.agents": ["cobol"]}, "import.agents", "agents: claude-code"),
        ({"import.folders": ["old"]}, "import.folders", "whole path"),
        ({"import.folders": ["/does/not/exist"]}, "import.folders", "spelling"),
        ({"import.agents": ["codex"], "import.folders": [1]}, "import.folders", "write folders"),
        ({"serve.agents": ["module:attribute"]}, "serve.agents", "partita config set"),
        ({"store": "other.db"}, "store", "partita config set"),
        ({"no.such": 1}, "no.such", "partita config set"),
    ],
)
async def test_a_wrong_value_changes_nothing(
    client: httpx.AsyncClient, file: Path, changes: object, where: str, hint: str
) -> None:
    refused = await client.patch("/api/settings", json=changes)
    assert refused.status_code == 400
    assert refused.json()["where"] == where
    assert hint in refused.json()["hint"]
    assert file.read_text() == "# mine\n"


async def test_a_variable_of_the_environment_is_read_only(
    client: httpx.AsyncClient, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_IMPORT_AGENTS", "codex")
    (found,) = [
        one for one in (await client.get("/api/settings")).json()["settings"] if one["key"] == "import.agents"
    ]
    assert (found["isReadOnly"], found["sourceName"]) == (True, "PARTITA_IMPORT_AGENTS")
    refused = await client.patch("/api/settings", json={"import.agents": ["codex"]})
    assert refused.status_code == 400
    assert "PARTITA_IMPORT_AGENTS" in refused.json()["detail"]


async def test_a_damaged_file_is_an_error_with_its_line(client: httpx.AsyncClient, file: Path) -> None:
    file.write_text("[import\n")
    for refused in (
        await client.get("/api/settings"),
        await client.patch("/api/settings", json={"import.agents": ["codex"]}),
    ):
        assert refused.status_code == 400
    assert (await client.get("/api/settings")).json()["where"].startswith(f"{file}:1")
    assert file.read_text() == "[import\n"


async def test_only_the_user_of_this_machine_may_use_them(store: Store) -> None:
    app = asgi(scripted([]), store=store, user=lambda _: Principal(None, "admin"), routes="all")
    async with app.lifespan(), client_of(app) as client:
        for method, path in ROUTES:
            refused = await client.request(method, path, json={} if method == "PATCH" else None)
            assert (path, refused.status_code) == (path, 403)


async def test_other_sites_may_not_change_them(client: httpx.AsyncClient, file: Path) -> None:
    refused = await client.patch(
        "/api/settings", json={"import.agents": ["codex"]}, headers={"origin": "https://evil.example"}
    )
    assert refused.status_code == 403
    assert file.read_text() == "# mine\n"
