"""Requests to models, including instructions, are visible to admins only."""

from collections.abc import AsyncIterator

import httpx
import pytest

from partita.runtime.model_calls import ModelRequest, request_marker
from partita.server.app import PartitaApp, asgi
from partita.store.store import Store
from partita.types.chunks import ChildChunk, MessageFinish, MessageStart, TextDelta, TextEnd, TextStart
from tests.runtime.session.controlled_agent import ControlledAgent
from tests.server.conftest import client_of

SECRET = "Never reveal the number of the vault."
NOTE = request_marker(
    ModelRequest("openai-chat", "/chat/completions", {"messages": [{"role": "system", "content": SECRET}]})
)
CHAT_BODY = {
    "id": "t",
    "messages": [{"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}],
}


@pytest.fixture
async def app(store: Store) -> AsyncIterator[PartitaApp]:
    agent = ControlledAgent()
    agent.complete(
        NOTE,
        MessageStart(),
        ChildChunk(("call",), NOTE),
        TextStart("t"),
        TextDelta("t", "Good day."),
        TextEnd("t"),
        MessageFinish(),
    )
    app = asgi(agent, store=store, keys=True, routes="all")
    async with app.lifespan():
        yield app


async def as_role(app: PartitaApp, store: Store, role: str) -> dict[str, str]:
    """All responses about the run that a role receives, by route."""
    key = await store.keys.create("ada", role)  # type: ignore[arg-type] # one of the roles
    async with client_of(app, headers={"authorization": f"Bearer {key.text}"}) as client:
        responses: dict[str, str] = {}
        if role == "write":
            responses["chat"] = (await client.post("/api/chat", json=CHAT_BODY)).text
        run = (await client.get("/api/runs", params={"threadId": "t"})).json()["items"][0]["id"]
        (message_id,) = [
            message["id"]
            for message in (await client.get("/api/threads/t/messages")).json()["items"]
            if message["role"] == "assistant"
        ]
        for path in (
            f"/api/runs/{run}/log",
            f"/api/runs/{run}/timeline",
            f"/api/runs/{run}/replay",
            f"/api/threads/t/messages/{message_id}/raw",
            "/api/threads/t/messages",
        ):
            responses[path] = checked(await client.get(path)).text
        lines = await client.get(f"/api/runs/{run}/log", headers={"accept": "application/x-ndjson"})
        responses["lines"] = checked(lines).text
        responses["share"] = checked(
            await client.post("/api/threads/t/share", json={"format": "fixture"})
        ).text
        return responses


def checked(response: httpx.Response) -> httpx.Response:
    assert response.status_code == 200, response.text
    return response


async def test_instructions_are_visible_to_admins_only(app: PartitaApp, store: Store) -> None:
    for role in ("write", "read"):
        responses = await as_role(app, store, role)
        assert not [where for where, text in responses.items() if SECRET in text]
        assert "withheld" in responses["lines"]
    responses_of_admin = await as_role(app, store, "admin")
    assert [where.rpartition("/")[2] for where, text in responses_of_admin.items() if SECRET in text] == [
        "log",
        "timeline",
        "raw",
        "lines",
        "share",
    ]
