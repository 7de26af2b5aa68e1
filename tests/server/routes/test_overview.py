"""The overview of a thread over HTTP."""

import httpx

from partita.store.store import Store
from partita.types.threads import Thread
from tests.store.examples import assistant_message, failed_call_message, user_message
from tests.tables import each_row

OVERVIEW = "/api/threads/t1/overview"


async def test_the_overview_of_a_session(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.create("t1", agent="claude-code", project="/app", metadata={"sessionId": "s 1"})
    await store.messages.save([user_message("m1"), failed_call_message("a1")], thread_id="t1")
    found = (await client.get(OVERVIEW)).json()
    assert [(one["messageId"], one["failed"], one["cost"]) for one in found["turns"]] == [("m1", 1, None)]
    assert found["calls"][0]["state"] == "failed"
    assert found["resume"] == {"command": "claude --resume 's 1'", "directory": "/app"}


async def test_the_overview_of_a_branch(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.create("t1")
    messages = [user_message("m1"), assistant_message("a1"), assistant_message("a2", parent_id="m1")]
    await store.messages.save(messages, thread_id="t1")
    for query, answer in (("", "a2"), ("?branch=a1", "a1")):
        found = (await client.get(f"{OVERVIEW}{query}")).json()
        assert found["turns"][0]["answerId"] == answer
        assert found["resume"] is None


@each_row("path", ["/api/threads/none/overview", f"{OVERVIEW}?branch=none"])
async def test_what_does_not_exist_is_not_found(client: httpx.AsyncClient, store: Store, path: str) -> None:
    await store.threads.save(Thread(id="t1"))
    reply = await client.get(path)
    assert reply.status_code == 404
    assert "none" in reply.json()["detail"]
