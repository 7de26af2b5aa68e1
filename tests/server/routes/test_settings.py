"""The settings of the user of this machine over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from partita.formats.redaction.defaults import clear_defaults
from partita.logs.pricing.own_prices import own_prices
from partita.logs.pricing.prices import price_of
from partita.runtime.principal import Principal
from partita.server.app import asgi
from partita.store.store import Store
from partita.store.values import ConsumptionRecord
from partita.types.messages import UserMessage
from partita.types.usage import Usage
from tests.server.conftest import client_of, scripted
from tests.tables import each_row

ROUTES = (
    ("GET", "/api/settings"),
    ("PATCH", "/api/settings"),
    ("GET", "/api/sources"),
    ("POST", "/api/sources/import"),
    ("GET", "/api/prices"),
    ("GET", "/api/redaction"),
    ("POST", "/api/redaction/test"),
)

BODIES = {"/api/settings": {}, "/api/redaction/test": {"text": ""}}


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The settings file of the user, with a comment."""
    path = tmp_path / "partita.toml"
    monkeypatch.setenv("PARTITA_CONFIG", str(path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    path.write_text("# mine\n")
    yield path
    own_prices.cache_clear()
    clear_defaults()


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
        ({"prices": ["my-model"]}, "prices", "per million"),
        ({"prices": ["my-model 1 x"]}, "prices", "per million"),
        ({"prices": ["my-model -1 2"]}, "prices", "per million"),
        ({"prices": ["my-model 1 2", "My-Model 1 3"]}, "prices", "remove one"),
        ({"export.secrets": ["colour"]}, "export.secrets", "private-key"),
        ({"export.replace": ["/(a+)+/"]}, "export.replace", "groups are not"),
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
            refused = await client.request(method, path, json=BODIES.get(path))
            assert (path, refused.status_code) == (path, 403)


async def test_other_sites_may_not_change_them(client: httpx.AsyncClient, file: Path) -> None:
    refused = await client.patch(
        "/api/settings", json={"import.agents": ["codex"]}, headers={"origin": "https://evil.example"}
    )
    assert refused.status_code == 403
    assert file.read_text() == "# mine\n"


async def test_own_prices_apply_to_new_costs(client: httpx.AsyncClient, store: Store) -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000, cached_input_tokens=500_000)
    await store.threads.create("t1")
    for key, model in (("a", "lamp-1"), ("b", "gpt-4o")):
        await store.usage.record([ConsumptionRecord(thread_id="t1", key=key, model=model, input_tokens=10)])
    before = {one["model"]: one for one in (await client.get("/api/prices")).json()["items"]}
    assert (before["lamp-1"]["source"], before["lamp-1"]["unpriced"]) == (None, 1)
    assert before["gpt-4o"]["source"] == "list"
    assert before["gpt-4o"]["rates"]["input"] == 2.5
    assert price_of("lamp-1", None, usage, None) is None
    changes = {"prices": ["Lamp-1 2 4 1", "gpt-4o 1 2", "unused 1 1"]}
    assert (await client.patch("/api/settings", json=changes)).status_code == 200
    after = {one["model"]: one for one in (await client.get("/api/prices")).json()["items"]}
    assert after["lamp-1"]["rates"] == {"input": 2, "output": 4, "cachedInput": 1}
    assert (after["gpt-4o"]["source"], after["gpt-4o"]["listed"]["input"]) == ("settings", 2.5)
    assert after["unused"]["responses"] == 0
    for provider in (None, "ollama"):
        priced = price_of("lamp-1", provider, usage, None)
        assert priced is not None
        assert priced.cost == 0.5 * 2 + 0.5 * 1 + 4
        assert priced.snapshot["source"] == "settings"
    await client.patch("/api/settings", json={"prices": None})
    assert price_of("lamp-1", None, usage, None) is None


async def test_the_defaults_of_redaction_apply_to_shared_files(
    client: httpx.AsyncClient, store: Store
) -> None:
    said = "Write to ada@lamps.example about CUST-42, password=hunter22hunter22"
    await store.threads.create("t1")
    await store.messages.save([UserMessage(id="m1", content=said)], thread_id="t1")

    async def shared(request: object) -> str:
        return (await client.post("/api/threads/t1/share", json=request)).text

    before = await shared({"format": "markdown"})
    assert "ada@" in before
    assert "CUST-42" in before
    assert "hunter22" not in before
    changes = {"export.secrets": ["email"], "export.replace": ["/CUST-[0-9]+/"]}
    assert (await client.patch("/api/settings", json=changes)).status_code == 200
    kinds = {one["name"]: one for one in (await client.get("/api/redaction")).json()["items"]}
    assert (kinds["email"]["isAlways"], kinds["email"]["isRedacted"]) == (False, True)
    assert not kinds["home"]["isRedacted"]
    after = await shared({"format": "markdown"})
    assert not [secret for secret in ("ada@", "CUST-42", "hunter22") if secret in after]
    assert "CUST-42" in await shared({"format": "markdown", "redact": {"kinds": []}})
    tried = await client.post("/api/redaction/test", json={"text": said, "texts": ["about"]})
    assert tried.json()["replaced"] == 3
    assert "CUST-42" in tried.json()["text"]
    assert "about" not in tried.json()["text"]
    wrong = await client.post("/api/redaction/test", json={"text": said, "texts": ["/(a)/"]})
    assert (wrong.status_code, wrong.json()["where"]) == (400, "export.replace")
