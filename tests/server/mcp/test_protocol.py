"""The protocol: every version, invalid requests, cancellation and errors of the server."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client._transport import TransportStreams
from mcp.client.client import InMemoryTransport
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, JSONRPCNotification, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from partita.server.mcp import server as server_module
from partita.server.mcp.archive import Archive
from partita.server.mcp.server import CONCURRENCY, TOOLS, create_server
from partita.types.json import Json, JsonObject
from tests.strategies_json import json_objects, json_values
from tests.tables import each_row

from .conftest import until

MODERN = MODERN_PROTOCOL_VERSIONS[-1]
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META: JsonObject = {VERSION: MODERN, CAPABILITIES: {}}
METHODS = (
    "initialize",
    "ping",
    "logging/setLevel",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "tools/write",
)


class Connection:
    """A connection to a server in this process, which sends messages as they are."""

    def __init__(self, streams: TransportStreams) -> None:
        self._received, self._sent = streams

    async def send(self, method: str, params: JsonObject | None = None, *, id: str | int = 1) -> None:
        request = JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params or {})
        await self._sent.send(SessionMessage(request))

    async def notify(self, method: str, **params: Json) -> None:
        await self._sent.send(
            SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=method, params=params))
        )

    async def receive(self) -> Any:
        message = await self._received.receive()
        assert isinstance(message, SessionMessage)
        return message.message.model_dump(by_alias=True, exclude_unset=True)

    async def ask(self, method: str, params: JsonObject | None = None) -> Any:
        """The response to one request."""
        await self.send(method, params)
        response = await self.receive()
        assert response["id"] == 1
        return response

    async def initialize(self, version: str) -> Any:
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        result = (await self.ask("initialize", params))["result"]
        await self.notify("notifications/initialized")
        return result


@asynccontextmanager
async def connected(archive: Archive) -> AsyncGenerator[Connection, None]:
    async with InMemoryTransport(create_server(archive)) as streams:
        yield Connection(streams)


@pytest.fixture
async def archive(store_path: Path) -> AsyncIterator[Archive]:
    archive = Archive(str(store_path))
    yield archive
    await archive.close()


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
async def test_every_version_with_a_handshake_is_served(archive: Archive, version: str) -> None:
    async with connected(archive) as connection:
        result = await connection.initialize(version)
        assert result["protocolVersion"] == version
        assert result["serverInfo"]["name"] == "partita"
        assert "search_sessions" in result["instructions"]
        assert result["capabilities"].keys() == {"tools", "resources", "prompts", "logging"}
        tools = (await connection.ask("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in tools] == list(TOOLS)
        called = await connection.ask("tools/call", {"name": "list_sessions"})
        assert not called["result"]["isError"]
        assert (await connection.ask("logging/setLevel", {"level": "info"}))["result"] == {}
        assert (await connection.ask("ping"))["result"] == {}


async def test_an_unknown_version_is_answered_with_the_newest(archive: Archive) -> None:
    async with connected(archive) as connection:
        result = await connection.initialize("2099-01-01")
        assert result["protocolVersion"] == LATEST_HANDSHAKE_VERSION


async def test_the_version_without_a_handshake_is_served(archive: Archive) -> None:
    async with connected(archive) as connection:
        found = (await connection.ask("server/discover", {"_meta": META}))["result"]
        assert found["supportedVersions"] == [MODERN]
        assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "partita"
        called = await connection.ask("tools/call", {"name": "list_sessions", "_meta": META})
        assert called["result"]["resultType"] == "complete"


CACHED = {
    "server/discover": 300_000,
    "tools/list": 300_000,
    "prompts/list": 300_000,
    "resources/templates/list": 300_000,
    "resources/list": 0,
}


async def test_lists_say_how_long_they_may_be_cached(archive: Archive) -> None:
    async with connected(archive) as connection:
        for method, milliseconds in CACHED.items():
            result = (await connection.ask(method, {"_meta": META}))["result"]
            assert (result["ttlMs"], result["cacheScope"]) == (milliseconds, "private"), method


INVALID: dict[str, tuple[str, JsonObject, int, str]] = {
    "an unknown method": ("tools/write", {}, -32601, ""),
    "an unknown tool": ("tools/call", {"name": "write"}, -32602, "no tool 'write': there are search_"),
    "a tool without a name": ("tools/call", {}, -32602, ""),
    "arguments that are a list": ("tools/call", {"name": "list_sessions", "arguments": []}, -32602, ""),
    "an unknown resource": (
        "resources/read", {"uri": "file:///etc/passwd"}, -32002, "there is partita://thread/{id}"),
    "an unknown session": ("resources/read", {"uri": "partita://thread/nope"}, -32002, "no session 'nope'"),
    "a resource without a URI": ("resources/read", {}, -32602, ""),
    "an invalid cursor": ("resources/list", {"cursor": "?"}, -32602, "not a cursor"),
    "an unknown prompt": ("prompts/get", {"name": "forget"}, -32602, "no prompt 'forget': there is recall"),
    "a prompt without its argument": ("prompts/get", {"name": "recall"}, -32602, "recall takes `about`"),
    "an empty argument": (
        "prompts/get", {"name": "recall", "arguments": {"about": " "}}, -32602, "recall takes `about`"),
}  # fmt: skip


@each_row(("method", "params", "code", "message"), INVALID.values(), ids=INVALID)
async def test_invalid_requests(
    archive: Archive, method: str, params: JsonObject, code: int, message: str
) -> None:
    async with connected(archive) as connection:
        await connection.initialize(LATEST_HANDSHAKE_VERSION)
        error = (await connection.ask(method, params))["error"]
        assert error["code"] == code
        assert message in error["message"]
    async with connected(archive) as connection:
        error = (await connection.ask(method, params | {"_meta": META}))["error"]
        assert error["code"] == (-32602 if code == -32002 else code)
        assert message in error["message"]


async def test_unknown_notifications_are_ignored(archive: Archive) -> None:
    async with connected(archive) as connection:
        await connection.initialize(LATEST_HANDSHAKE_VERSION)
        await connection.notify("notifications/unknown", a=1)
        await connection.notify("notifications/cancelled", requestId=99)
        assert (await connection.ask("ping"))["result"] == {}


async def test_a_cancelled_request_is_stopped_without_a_response(
    archive: Archive, blocked: Callable[[], int]
) -> None:
    async with connected(archive) as connection:
        await connection.initialize(LATEST_HANDSHAKE_VERSION)
        await connection.send("tools/call", {"name": "list_sessions"}, id="slow")
        await until(lambda: blocked() == 1)
        await connection.notify("notifications/cancelled", requestId="slow")
        await until(lambda: blocked() == 0)
        assert (await connection.ask("ping"))["result"] == {}


async def test_requests_run_concurrently_up_to_a_limit(archive: Archive, blocked: Callable[[], int]) -> None:
    async with connected(archive) as connection:
        await connection.initialize(LATEST_HANDSHAKE_VERSION)
        for number in range(CONCURRENCY + 1):
            await connection.send("tools/call", {"name": "list_sessions"}, id=number)
        await until(lambda: blocked() == CONCURRENCY)
        await connection.send("ping", id="waiting")
        for number in range(2):
            await connection.notify("notifications/cancelled", requestId=number)
        assert (await connection.receive())["id"] == "waiting"
        assert blocked() == CONCURRENCY - 1


@given(
    method=st.sampled_from(METHODS),
    name=st.sampled_from([*TOOLS, "recall"]),
    arguments=json_values(),
    params=json_objects(),
)
def test_every_request_gets_one_response_without_an_internal_error(
    tmp_path: Path, method: str, name: str, arguments: Json, params: JsonObject
) -> None:
    values = {"name": name, "arguments": arguments, "uri": arguments, "cursor": arguments}

    async def responses() -> list[Any]:
        archive = Archive(str(tmp_path / "none.db"))
        async with connected(archive) as connection:
            await connection.initialize(LATEST_HANDSHAKE_VERSION)
            legacy = [await connection.ask(method, params), await connection.ask(method, values | params)]
        async with connected(archive) as connection:
            return [*legacy, await connection.ask(method, {**values, "_meta": META})]

    for response in asyncio.run(responses()):
        assert ("result" in response) is not ("error" in response)
        assert response.get("error", {}).get("code") not in (INTERNAL_ERROR, 0)


@pytest.mark.parametrize("params", [{}, {"_meta": META}], ids=["with a handshake", "without"])
async def test_an_unexpected_error_is_reported_without_its_text(
    archive: Archive,
    params: JsonObject,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(*_arguments: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(server_module, "call_tool", fail)
    async with connected(archive) as connection:
        if not params:
            await connection.initialize(LATEST_HANDSHAKE_VERSION)
        response = await connection.ask("tools/call", {"name": "list_sessions", **params})
        assert response["error"] == {"code": INTERNAL_ERROR, "message": "ZeroDivisionError in the server"}
        assert "tools/call failed" in caplog.text
        assert "result" in await connection.ask("tools/list", params)
