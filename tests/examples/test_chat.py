"""The chat example of the guide: its server, and the types of its web app."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.docs.blocks import ROOT, blocks_of
from tests.docs.test_scripts import CLIENT

CHAT = ROOT / "examples" / "chat"
PACKAGES = ROOT / "web" / "node_modules"
VISITOR = "4b0d0d36-7a53-4c3a-9a2e-6f6a0b1d8f11"
THROUGH_NEXT = {
    "origin": "http://localhost:3000",
    "x-forwarded-host": "localhost:3000",
    "cookie": f"visitor={VISITOR}",
}
"""The headers that the server receives from the web app through the proxy of Next.js."""


@pytest.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the example's application with an empty store."""
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/chat.db")
    monkeypatch.delenv("MODEL", raising=False)
    spec = spec_from_file_location("harbour", CHAT / "server" / "main.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "harbour", module)
    spec.loader.exec_module(module)
    transport = httpx.ASGITransport(app=module.app)
    async with (
        module.chat.lifespan(),
        httpx.AsyncClient(
            transport=transport, base_url="http://localhost:8000", headers=THROUGH_NEXT
        ) as client,
    ):
        yield client


def user_message(text: str) -> dict[str, Any]:
    return {"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]}


async def ask(client: httpx.AsyncClient, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    response = await client.post("/api/chat", json={"id": "c1", "messages": messages})
    assert response.status_code == 200, response.text
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


async def test_tide_is_looked_up_with_a_tool(client: httpx.AsyncClient) -> None:
    chunks = await ask(client, user_message("When is the tide?"))
    outputs = [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]
    assert outputs == [{"harbour": "Vardvik", "high": "14:20", "low": "20:35"}]
    assert chunks[-1]["type"] == "finish"


@pytest.mark.parametrize(
    ("approved", "state"), [(True, "output-available"), (False, "output-denied")], ids=["approved", "denied"]
)
async def test_booking_waits_for_approval(client: httpx.AsyncClient, approved: bool, state: str) -> None:
    await ask(client, user_message("Have you a berth?"))
    history = (await client.get("/api/threads/c1/messages?format=ui&bare=true")).json()
    call = history[-1]["parts"][-1]
    assert call["state"] == "approval-requested"

    call.update(state="approval-responded", approval={"id": call["approval"]["id"], "approved": approved})
    await ask(client, *history)
    parts = (await client.get("/api/threads/c1/messages?format=ui&bare=true")).json()[-1]["parts"]
    assert [part["state"] for part in parts if part["type"] == "tool-book_berth"] == [state]
    assert parts[-1]["text"] == "All right. Is there anything else?"


async def test_other_origins_are_refused(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/summaries", headers={"origin": "http://localhost:3001"})
    assert response.status_code == 403


async def test_chats_are_separate_for_each_browser(client: httpx.AsyncClient) -> None:
    """Also for browsers on other machines, which reach the server through the page."""
    await ask(client, user_message("When is the tide?"))
    assert len((await client.get("/api/summaries")).json()["items"]) == 1
    other = {"cookie": f"visitor={VISITOR[::-1]}", "x-forwarded-host": "192.0.2.7:3000"}
    assert (await client.get("/api/summaries", headers=other)).json()["items"] == []
    assert (await client.get("/api/threads/c1/messages", headers=other)).status_code == 404
    for cookie in ("", "visitor=ada", "other=1"):
        for path in ("/api/summaries", "/api/threads", "/api/agents", "/api/chat/c1/stream"):
            response = await client.get(path, headers={"cookie": cookie})
            assert response.status_code == 401, path


async def test_only_chat_routes_are_published(client: httpx.AsyncClient) -> None:
    assert (await client.get("/")).status_code == 404
    for path in ("/api/stats", "/api/search?q=tide", "/api/docs", "/v1/models", "/api/memory/threads"):
        assert (await client.get(path)).status_code == 404, path


def test_page_is_served_on_localhost_only() -> None:
    scripts = json.loads((CHAT / "web" / "package.json").read_text("utf-8"))["scripts"]
    assert all("-H 127.0.0.1" in scripts[name] for name in ("dev", "start"))


NEXT = Path(__file__).with_name("next.d.ts")
"""The types of Next.js that the page uses. The real package has 400 MB; `make walk` builds with it."""


def test_page_compiles_with_its_packages(tmp_path: Path) -> None:
    shutil.copytree(
        CHAT / "web", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", ".next")
    )
    shutil.copy(NEXT, tmp_path / "next-env.d.ts")
    packages = tmp_path / "node_modules"
    for place in [*PACKAGES.iterdir(), *(PACKAGES / "@types").iterdir()]:
        if place.name != "@types":
            link = packages / place.relative_to(PACKAGES)
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(place)
    for name, place in CLIENT.items():
        (packages / name).parent.mkdir(exist_ok=True)
        (packages / name).symlink_to(place)
    compiler = ["node", str(PACKAGES / "typescript/bin/tsc"), "-p", str(tmp_path), "--pretty", "false"]
    result = subprocess.run(compiler, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_page_has_the_same_package_versions_as_the_web_ui() -> None:
    ours = json.loads((ROOT / "web" / "package.json").read_text("utf-8"))
    theirs = json.loads((CHAT / "web" / "package.json").read_text("utf-8"))
    for kind in ("dependencies", "devDependencies"):
        same = theirs[kind].keys() & ours[kind].keys()
        assert {name: theirs[kind][name] for name in same} == {name: ours[kind][name] for name in same}
    tested = json.loads((ROOT / "tests" / "package.json").read_text("utf-8"))["dependencies"]
    for name, place in CLIENT.items():
        assert tested[place.name] == f"npm:{name}@{theirs['dependencies'][name]}"


def test_packages_of_the_page_are_pinned() -> None:
    packages = json.loads((CHAT / "web" / "package.json").read_text("utf-8"))
    for version in (packages["dependencies"] | packages["devDependencies"]).values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), version


def test_guide_names_every_file() -> None:
    guide = (ROOT / "docs/apps/start.md").read_text("utf-8")
    files = [*CHAT.glob("server/*.*"), *CHAT.glob("web/*.ts"), *CHAT.glob("web/app/**/*.*")]
    names = {file.relative_to(CHAT).as_posix() for file in files if not file.name.startswith("chat.db")}
    assert {name for name in names if f"`{name}`" not in guide} == {"web/next-env.d.ts"} & names


async def test_web_apps_on_port_3000_can_use_the_server_of_the_quick_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (app,) = [block for block in blocks_of(ROOT / "docs/server.md") if block.file == "app.py"]
    names: dict[str, Any] = {"__name__": "app"}
    exec(compile(app.text, str(app), "exec"), names)
    transport = httpx.ASGITransport(app=names["app"])
    async with (
        names["chat"].lifespan(),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        for origin in ("http://localhost:3000", "http://127.0.0.1:3000"):
            client.headers["origin"] = origin
            preflight = {
                "access-control-request-method": "POST",
                "access-control-request-headers": "content-type",
            }
            assert (await client.options("/api/chat", headers=preflight)).is_success
            chunks = await ask(client, user_message("How tall?"))
            assert "".join(chunk.get("delta", "") for chunk in chunks).startswith("You asked: How tall?")
