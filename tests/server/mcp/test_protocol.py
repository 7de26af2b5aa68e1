"""The protocol, line by line: every version, every mistake a client can make."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.server.mcp.archive import Archive
from partita.server.mcp.connection import Connection
from partita.server.mcp.methods import METHODS, WITH_HANDSHAKE, WITHOUT
from partita.server.mcp.rpc import INTERNAL_ERROR
from partita.server.mcp.tools import BY_NAME
from partita.server.mcp.versions import CAPABILITIES, HANDSHAKE, STATELESS, VERSION
from partita.types.json import Json, JsonObject, dumps, loads
from tests.strategies_json import json_objects, json_values
from tests.tables import each_row

META: JsonObject = {VERSION: STATELESS[-1], CAPABILITIES: {}}


class Talk:
    """A connection, and what came back."""

    def __init__(self, archive: Archive) -> None:
        self.replies: list[Any] = []
        self.connection = Connection(archive, lambda line: self.replies.append(loads(line)))

    async def say(self, *lines: object) -> list[Any]:
        """What comes back to some lines, until all is answered."""
        self.replies.clear()
        for one in lines:
            self.connection.take(one if isinstance(one, bytes) else dumps(one))
        await self.connection.finish()
        return list(self.replies)

    async def ask(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """The answer to one request."""
        (reply,) = await self.say(request(method, params))
        assert reply["id"] == 1
        answer: JsonObject = reply
        return answer

    async def shake_hands(self, version: str) -> JsonObject:
        reply = await self.ask("initialize", {"protocolVersion": version, "capabilities": {}})
        result: JsonObject = reply["result"]
        return result


def request(method: str, params: JsonObject | None = None, id: object = 1) -> JsonObject:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


@pytest.fixture
async def talk(store_path: Path) -> AsyncIterator[Talk]:
    archive = Archive(str(store_path))
    yield Talk(archive)
    await archive.close()


@pytest.mark.parametrize("version", HANDSHAKE)
async def test_a_handshake_agrees_on_the_version_asked_for(talk: Talk, version: str) -> None:
    result = await talk.shake_hands(version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "partita"
    assert (await talk.ask("ping"))["result"] == {}
    assert (await talk.ask("logging/setLevel", {"level": "debug"}))["result"] == {}


async def test_a_version_that_nobody_knows_is_answered_with_the_newest(talk: Talk) -> None:
    assert (await talk.shake_hands("1999-01-01"))["protocolVersion"] == HANDSHAKE[-1]
    assert (await talk.shake_hands(STATELESS[0]))["protocolVersion"] == HANDSHAKE[-1]


FIELDS = {
    "2024-11-05": ({"name", "description", "inputSchema"}, False),
    "2025-03-26": ({"name", "description", "inputSchema", "annotations"}, False),
    "2025-06-18": ({"name", "title", "description", "inputSchema", "outputSchema", "annotations"}, True),
    "2025-11-25": ({"name", "title", "description", "inputSchema", "outputSchema", "annotations"}, True),
}


@pytest.mark.parametrize("version", FIELDS)
async def test_a_version_hears_only_what_it_has_words_for(talk: Talk, version: str) -> None:
    fields, structured = FIELDS[version]
    await talk.shake_hands(version)
    for tool in (await talk.ask("tools/list"))["result"]["tools"]:
        assert tool.keys() == fields
    called = await talk.ask("tools/call", {"name": "list_sessions"})
    assert ("structuredContent" in called["result"]) is structured


async def test_without_a_handshake_every_request_speaks_for_itself(talk: Talk) -> None:
    found = (await talk.ask("server/discover", {"_meta": META}))["result"]
    assert set(found["supportedVersions"]) == {*HANDSHAKE, *STATELESS}
    assert found["resultType"] == "complete"
    assert found["cacheScope"] == "private"
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "partita"
    called = await talk.ask("tools/call", {"name": "list_sessions", "_meta": META})
    assert called["result"]["resultType"] == "complete"
    assert (await talk.ask("ping", {"_meta": META}))["error"]["code"] == -32601


MISTAKES: dict[str, tuple[object, int]] = {
    "no JSON": (b'{"jsonrpc": "2.0", "id": 1, "method"', -32700),
    "no UTF-8": (b'"\xff"', -32700),
    "no object": ("hello", -32600),
    "no method": ({"jsonrpc": "2.0", "id": 1}, -32600),
    "another protocol": ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
    "params that are a list": ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32600),
    "an id that is null": (request("ping", id=None), -32600),
    "an id that is true": (request("ping", id=True), -32600),
    "a batch, in a version without": ([request("ping")], -32600),
    "an unknown method": (request("tools/write"), -32601),
    "a method of another era": (request("server/discover"), -32601),
    "an unknown tool": (request("tools/call", {"name": "write"}), -32602),
    "a tool without a name": (request("tools/call", {}), -32602),
    "arguments that are a list": (request("tools/call", {"name": "list_sessions", "arguments": []}), -32602),
    "an unknown resource": (request("resources/read", {"uri": "file:///etc/passwd"}), -32002),
    "an unknown session": (request("resources/read", {"uri": "partita://thread/nope"}), -32002),
    "the same, without a handshake": (
        request("resources/read", {"uri": "partita://thread/nope", "_meta": META}), -32602),
    "a cursor that was made up": (request("resources/list", {"cursor": "?"}), -32602),
    "an unknown prompt": (request("prompts/get", {"name": "forget"}), -32602),
    "a prompt without its argument": (request("prompts/get", {"name": "recall"}), -32602),
    "half an envelope": (request("tools/list", {"_meta": {VERSION: STATELESS[0]}}), -32602),
    "a version that is no text": (request("tools/list", {"_meta": {VERSION: 7, CAPABILITIES: {}}}), -32602),
    "a version of the future": (
        request("tools/list", {"_meta": {VERSION: "2099-01-01", CAPABILITIES: {}}}), -32022),
}  # fmt: skip


@each_row(("said", "code"), MISTAKES.values(), ids=MISTAKES)
async def test_mistakes(talk: Talk, said: object, code: int) -> None:
    (reply,) = await talk.say(said)
    assert reply["error"]["code"] == code
    assert reply["error"]["message"]
    assert (await talk.ask("ping"))["result"] == {}


async def test_nothing_is_said_to_what_asks_nothing(talk: Talk) -> None:
    unasked: list[object] = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/who/knows", "params": {"a": 1}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        b"\n",
    ]
    assert await talk.say(*unasked) == []


async def test_batches_in_the_version_that_has_them(talk: Talk) -> None:
    await talk.shake_hands("2025-03-26")
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    (replies,) = await talk.say([request("ping", id="a"), note, request("nope", id="b")])
    assert {reply["id"]: "result" in reply for reply in replies} == {"a": True, "b": False}
    assert await talk.say([note]) == []
    (empty,) = await talk.say([])
    assert empty["error"]["code"] == -32600


def cancel(id: object) -> JsonObject:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


async def test_a_cancelled_request_is_not_answered_and_the_others_are(talk: Talk) -> None:
    call = {"name": "search_sessions", "arguments": {"query": "harbour"}}
    requests = [request("tools/call", call, id=number) for number in range(20)]
    replies = await talk.say(*requests, cancel(3), cancel(19), cancel("3"))
    assert {reply["id"] for reply in replies} == set(range(20)) - {3, 19}
    assert (await talk.say(requests[3]))[0]["id"] == 3  # an id may be used again


async def test_a_request_that_is_at_work_can_be_cancelled(talk: Talk) -> None:
    talk.connection.take(dumps(request("tools/call", {"name": "list_sessions"}, id="slow")))
    await asyncio.sleep(0)  # it has begun to open the store
    assert await talk.say(cancel("slow"), request("ping")) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert not (await talk.ask("tools/call", {"name": "list_sessions"}))["result"]["isError"]


async def test_an_id_in_use_is_refused(talk: Talk) -> None:
    replies = await talk.say(request("tools/list"), request("tools/list"))
    assert sorted("error" in reply for reply in replies) == [False, True]


@given(
    method=st.sampled_from([*METHODS, *WITH_HANDSHAKE, *WITHOUT]),
    name=st.sampled_from([*BY_NAME, "recall"]),
    arguments=json_values(),
    params=json_objects(),
)
def test_whatever_is_asked_there_is_one_answer(
    tmp_path: Path, method: str, name: str, arguments: Json, params: JsonObject
) -> None:
    async def ask() -> list[Any]:
        talk = Talk(Archive(str(tmp_path / "none.db")))
        said = {"name": name, "arguments": arguments, "uri": arguments, "cursor": arguments}
        return [
            *await talk.say(request(method, params)),
            *await talk.say(request(method, said | params, id=2)),
            *await talk.say(request(method, {**said, "_meta": META}, id=3)),
        ]

    replies = asyncio.run(ask())
    assert [reply["id"] for reply in replies] == [1, 2, 3]
    assert all(reply.get("error", {}).get("code") != INTERNAL_ERROR for reply in replies)


async def test_a_mistake_of_ours_is_told_and_the_server_goes_on(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_asked: object) -> JsonObject:
        raise ZeroDivisionError

    monkeypatch.setitem(METHODS, "tools/list", broken)
    assert (await talk.ask("tools/list"))["error"] == {
        "code": -32603,
        "message": "ZeroDivisionError in the server",
    }
    assert "tools/list failed" in caplog.text
    assert (await talk.ask("ping"))["result"] == {}
