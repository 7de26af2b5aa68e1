"""MCP over HTTP: the official client, and requests that the guard or the package refuses."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import TextContent
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from partita.server.app import PartitaApp, asgi
from partita.server.mcp.server import TOOLS
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import UserMessage
from tests.server.conftest import Serve

from .conftest import until

NEWEST = {"auto": LATEST_MODERN_VERSION, "legacy": LATEST_HANDSHAKE_VERSION}
HERE = "http://localhost"
TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path / "store.db") as store:
        for owner in ("ada", "bob"):
            await store.threads.create(f"of-{owner}", resource_id=owner, title=f"The lamp of {owner}")
            message = UserMessage(id=f"m-{owner}", content=f"The lamp of {owner} uses {TOKEN}")
            await store.messages.save([message], thread_id=f"of-{owner}")
        yield store


@asynccontextmanager
async def connected(url: str, key: str = "", mode: str = "auto") -> AsyncGenerator[Client, None]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    http = create_mcp_http_client(headers)
    async with http, Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client:
        yield client


async def titles(client: Client) -> list[str]:
    result = await client.call_tool("list_sessions")
    assert not result.is_error, result
    return sorted(one["title"] for one in result.structured_content["sessions"])


def request(method: str, params: JsonObject | None = None) -> JsonObject:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


async def post(app: PartitaApp, body: Any = None, **options: Any) -> httpx.Response:
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 5000))
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        return await client.post("/mcp", json=body or request("tools/list"), **options)


@pytest.mark.parametrize("mode", NEWEST)
async def test_tools_resources_and_prompts(store: Store, serve: Serve, mode: str) -> None:
    url = await serve(asgi(store=store))
    async with connected(url, mode=mode) as client:
        assert client.protocol_version == NEWEST[mode]
        assert "untrusted" in (client.instructions or "")
        assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
        assert await titles(client) == ["The lamp of ada", "The lamp of bob"]
        read = await client.call_tool("read_session", {"session": "of-ada"})
        (content,) = read.content
        assert isinstance(content, TextContent)
        assert TOKEN not in content.text
        assert "[redacted: github token 1]" in content.text
        missing = await client.call_tool("read_session", {"session": "nope"})
        assert missing.is_error
        assert len((await client.list_resources()).resources) == 2
        assert len((await client.read_resource("partita://thread/of-ada")).contents) == 1
        assert len((await client.get_prompt("recall", {"about": "lamps"})).messages) == 1


async def test_a_client_session_of_an_older_program_is_served(store: Store, serve: Serve) -> None:
    url = await serve(asgi(store=store))
    async with streamable_http_client(f"{url}/mcp") as streams, ClientSession(*streams) as session:
        assert (await session.initialize()).protocol_version == LATEST_HANDSHAKE_VERSION
        assert len((await session.list_tools()).tools) == len(TOOLS)


async def test_a_key_sees_only_the_data_of_its_owner(store: Store, serve: Serve) -> None:
    url = await serve(asgi(store=store, keys=True, routes=["mcp"]))
    ada, everyone = await store.keys.create("ada", "read"), await store.keys.create(None, "admin")
    async with connected(url, ada.text) as one, connected(url, everyone.text) as other:
        assert await titles(one) == ["The lamp of ada"]
        assert len(await titles(other)) == 2
        assert (await one.call_tool("read_session", {"session": "of-bob"})).is_error


async def test_requests_need_no_session_and_no_handshake(store: Store) -> None:
    response = await post(asgi(store=store))
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in response.headers
    assert len(response.json()["result"]["tools"]) == len(TOOLS)
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await post(asgi(store=store), note)).status_code == 202


async def test_the_guard_is_in_front(store: Store) -> None:
    app = asgi(store=store)
    for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
        response = await post(app, headers=headers)
        assert response.status_code == 403
        assert response.headers["content-type"] == "application/problem+json"
    with_keys = asgi(store=store, keys=True, routes="all")
    assert (await post(with_keys)).status_code == 401
    chat = await store.keys.create("ada", "chat")
    refused = await post(with_keys, headers={"authorization": f"Bearer {chat.text}"})
    assert refused.status_code == 403
    assert "may not POST /mcp" in refused.json()["detail"]
    app.require_token("secret")
    assert (await post(app)).status_code == 401
    assert (await post(app, headers={"authorization": "Bearer secret"})).status_code == 200


async def test_the_route_is_published_only_on_request(store: Store) -> None:
    key = await store.keys.create("ada", "admin")
    headers = {"authorization": f"Bearer {key.text}"}
    assert (await post(asgi(store=store, keys=True), headers=headers)).status_code == 404
    assert (await post(asgi(store=store, keys=True, routes=["mcp"]), headers=headers)).status_code == 200


async def test_only_post_is_allowed(store: Store) -> None:
    transport = httpx.ASGITransport(asgi(store=store), client=("127.0.0.1", 5000))
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        for method in ("GET", "DELETE"):
            response = await client.request(method, "/mcp")
            assert (response.status_code, response.headers["allow"]) == (405, "OPTIONS, POST")


@pytest.mark.parametrize("version", NEWEST.values(), ids=NEWEST)
async def test_a_request_is_cancelled_when_the_client_disconnects(
    store: Store, serve: Serve, blocked: Callable[[], int], version: str
) -> None:
    url = await serve(asgi(store=store))
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: JsonObject = {"name": "list_sessions", "_meta": meta if version == LATEST_MODERN_VERSION else {}}
    headers = {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "list_sessions"}
    async with httpx.AsyncClient(headers=headers) as client:
        asking = asyncio.create_task(client.post(f"{url}/mcp", json=request("tools/call", params)))
        await until(lambda: blocked() == 1)
        asking.cancel()
        await until(lambda: blocked() == 0)


async def test_nothing_runs_after_a_response(store: Store, serve: Serve) -> None:
    url = await serve(asgi(store=store))
    async with connected(url) as client:
        await titles(client)
    before = {thread.name for thread in threading.enumerate()}, len(asyncio.all_tasks())
    async with connected(url) as client:
        await titles(client)
    after = {thread.name for thread in threading.enumerate()}, len(asyncio.all_tasks())
    assert after[1] <= before[1]
    assert after[0] <= before[0]


WITHOUT_EXTRA = """
import asyncio, importlib.abc, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("mcp", "mcp_types"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import httpx, partita
from partita.server.app import asgi

async def main():
    app = asgi(store="memory:")
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 5000))
    async with app.lifespan(), httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get("/api/threads")).status_code == 200
        response = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        print(response.status_code, response.headers["content-type"], response.text)

asyncio.run(main())
"""


def test_without_the_extra_the_response_says_how_to_install_it() -> None:
    command = [sys.executable, "-c", WITHOUT_EXTRA]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("501 application/problem+json ")
    assert "/mcp needs partita[mcp], which is not installed" in done.stdout
    assert "pip install 'partita[mcp]'" in done.stdout
