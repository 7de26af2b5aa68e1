"""Open tool calls can be added to threads by agents and admins only."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from partita.runtime.principal import Principal
from partita.server.app import asgi
from partita.server.guard.auth import Connection
from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import Approval
from tests.server.conftest import client_of, scripted, text_part

PLACE = "/api/threads/t1/messages"
CALL: JsonObject = {"type": "tool-call", "id": "c1", "name": "pay", "input": {"sum": 9}}
WAITING: JsonObject = {**CALL, "state": "approval-requested", "approval": {"id": "p1"}}
ALLOWED: JsonObject = {**CALL, "state": "approval-responded", "approval": {"id": "p1", "approved": True}}
FINISHED: JsonObject = {**CALL, "state": "output-available", "output": {"type": "text", "value": "Paid."}}


def by_header(connection: Connection) -> Principal:
    return Principal("u1", "admin" if connection.headers.get("x-role") == "admin" else "write")


def message(*parts: JsonObject, **more: Any) -> JsonObject:
    return {"id": "m1", "role": "assistant", "content": {"format": 2, "parts": list(parts)}, **more}


@pytest.fixture
async def writer(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """A caller that may write to a thread with an open call."""
    waiting = ToolCallPart("c1", "pay", "approval-requested", {"sum": 9}, approval=Approval("p1"))
    mine = store.scoped("u1")
    await mine.threads.create("t1")
    await mine.messages.save([AssistantMessage(id="m1", content=[waiting])], thread_id="t1")
    app = asgi(scripted([text_part("Yes.")]), store=store, user=by_header, routes="all")
    async with app.lifespan(), client_of(app) as client:
        yield client


REFUSED: dict[str, JsonObject] = {
    "an approval that was not given": message(ALLOWED),
    "another input": message({**WAITING, "input": {"sum": 1}}),
    "an input of another type": message({**WAITING, "input": {"sum": 9.5}}),
    "another tool": message({**WAITING, "name": "refund"}),
    "a removed approval request": message({**CALL, "state": "input-available"}),
    "the same call twice": message(WAITING, WAITING),
    "a forged call before the known one": message({**WAITING, "input": {"sum": 1}}, WAITING),
    "a new call": message(WAITING, {**CALL, "id": "c2", "state": "input-available"}),
    "a call in a new message": message({**CALL, "state": "input-available"}, id="m2"),
    "a call that is still streaming": message({**CALL, "state": "input-streaming"}, id="m2"),
    "the known call in a new message": message(WAITING, id="m2"),
}
ACCEPTED: dict[str, JsonObject] = {
    "unchanged": message(WAITING),
    "unchanged, with other parts around it": message({"type": "text", "text": "Hm."}, WAITING),
    "an output": message(FINISHED),
    "a call that has ended, in a new message": message({**FINISHED, "id": "c2"}, id="m2"),
}


async def test_a_writer_cannot_add_or_change_an_open_call(writer: httpx.AsyncClient, store: Store) -> None:
    before = await store.messages.list("t1")
    for name, body in REFUSED.items():
        for method in ("POST", "PUT"):
            response = await writer.request(method, PLACE, json=[body])
            assert response.status_code == 400, name
            assert "only an agent" in response.text
    assert await store.messages.list("t1") == before
    for name, body in ACCEPTED.items():
        assert (await writer.post(PLACE, json=body)).status_code == 200, name


async def test_a_writer_cannot_add_an_open_call_in_another_format(writer: httpx.AsyncClient) -> None:
    part: JsonObject = {"type": "tool-pay", "toolCallId": "c9", "state": "input-available", "input": {}}
    body: JsonObject = {"id": "m9", "role": "assistant", "parts": [part]}
    response = await writer.post(PLACE, params={"format": "ai-sdk-ui-v7"}, json=[body])
    assert response.status_code == 400


async def test_a_writer_cannot_replace_a_part_with_an_open_call(writer: httpx.AsyncClient) -> None:
    place = f"{PLACE}/m1/parts/0"
    for forged in (ALLOWED, {**WAITING, "input": {"sum": 1}}, {**CALL, "state": "input-available"}):
        assert (await writer.put(place, json=forged)).status_code == 400
    assert (await writer.put(f"{PLACE}/m1/parts/7", json=ALLOWED)).status_code == 400
    assert (await writer.put(place, json=WAITING)).status_code == 200
    assert (await writer.put(place, json=FINISHED)).status_code == 200


async def test_an_admin_may_import_open_calls(writer: httpx.AsyncClient) -> None:
    writer.headers["x-role"] = "admin"
    for name, body in REFUSED.items():
        assert (await writer.post(PLACE, json=body)).status_code == 200, name
    assert (await writer.put(f"{PLACE}/m1/parts/0", json=ALLOWED)).status_code == 200
