"""Requests that caused a server error or leaked data of other owners before a fix."""

from typing import Any

import httpx

from partita.server.app import asgi
from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import UserMessage
from tests.server.conftest import client_of, user_in_header
from tests.tables import each_row

FOLD: JsonObject = {"chunks": [{"type": {}}]}
CONVERT: JsonObject = {"payload": [{"role": "user", "content": [{"type": []}]}], "to": "canonical"}
MASTRA: JsonObject = {
    "id": "m",
    "role": "user",
    "threadId": "t",
    "resourceId": "r",
    "content": {"format": 2, "parts": [{"type": []}]},
}
V4: JsonObject = {
    "payload": [{"id": "m", "role": "user", "content": "", "parts": [{"type": {}}]}],
    "from": "ai-sdk-ui-v4",
}

ONCE_FAILED: dict[str, tuple[str, str, Any]] = {
    "a slash in an id before a number": ("PUT", "/api/threads/a%2Fb/messages/m/parts/0", {"type": "text"}),
    "a type that is an object": ("POST", "/api/fold", FOLD),
    "a type that is a list": ("POST", "/api/convert", CONVERT),
    "a part of Mastra's that has a list for a type": (
        "POST",
        "/api/memory/save-messages",
        {"messages": [MASTRA]},
    ),
    "a part of version 4 that has an object for a type": ("POST", "/api/convert", {**V4, "to": "canonical"}),
}


@each_row(("method", "path", "body"), ONCE_FAILED.values(), ids=ONCE_FAILED)
async def test_an_unusual_request_causes_no_server_error(
    client: httpx.AsyncClient, method: str, path: str, body: Any
) -> None:
    assert (await client.request(method, path, json=body)).status_code < 500


async def test_files_with_names_of_internal_folders_are_accepted(client: httpx.AsyncClient) -> None:
    files = [("file", (name, b"{}", "application/json")) for name in ("2", "x", "x", ".2", "x")]
    assert (await client.post("/api/import", files=files)).status_code < 500


async def test_search_scores_do_not_depend_on_data_of_other_owners(store: Store) -> None:
    async def score() -> float:
        async with client_of(app) as client:
            found = (await client.get("/api/search?q=lighthouse", headers={"x-user": "bob"})).json()
        (hit,) = found["items"]
        return float(hit["score"])

    app = asgi(store=store, user=user_in_header, routes="all")
    await _store_messages(store, "bob", "the lighthouse", *["the harbour"] * 20)  # so that the word is rare
    async with app.lifespan():
        alone = await score()
        await _store_messages(store, "alice", *["the lighthouse"] * 50)
        assert await score() == alone


async def _store_messages(store: Store, owner: str, *words: str) -> None:
    own = store.scoped(owner)
    await own.threads.create("t")
    user_messages = [UserMessage(id=f"m{number}", content=text) for number, text in enumerate(words)]
    await own.messages.save(user_messages, thread_id="t")
