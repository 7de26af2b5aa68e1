"""What tool calls are, over HTTP: beside stored messages, and for calls that the client sends."""

import httpx
import pytest

from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import TextOutput

TALK = "/api/threads/t1/messages"
READ = ToolCallPart(
    "c1", "Read", "output-available", {"file_path": "/work/a.py"}, output=TextOutput("     1→x = 1")
)
VIEW: JsonObject = {
    "kind": "read",
    "title": "Read",
    "subject": "a.py",
    "subjectIsCode": True,
    "path": "a.py",
    "text": {"path": ["output"], "lineCount": 1, "separator": "→"},
}
SENT: JsonObject = {"type": "tool-call", "id": "c", "name": "Read", "state": "input-available"}


@pytest.fixture
async def talk(store: Store) -> None:
    await store.threads.create("t1", project="/work")
    await store.messages.save([AssistantMessage(id="m1", content=[READ])], thread_id="t1")


async def test_views_come_with_their_messages(client: httpx.AsyncClient, talk: None) -> None:
    page = (await client.get(f"{TALK}?views=true")).json()
    assert page["views"] == {"m1": {"/content/parts/0": VIEW}}
    assert "views" not in (await client.get(TALK)).json()


async def test_a_call_that_the_client_sends(client: httpx.AsyncClient, talk: None) -> None:
    call = {**SENT, "input": {"file_path": "/work/b.py"}}
    for thread, path in {"t1": "b.py", "t2": "/work/b.py", None: "/work/b.py"}.items():
        reply = await client.post("/api/tool-views", json={"calls": [call], "threadId": thread})
        assert [view["subject"] for view in reply.json()["views"]] == [path], thread


async def test_a_body_that_is_not_a_list_of_calls(client: httpx.AsyncClient) -> None:
    for body in ([], {}, {"calls": 7}, {"calls": [SENT] * 501}, {"calls": [{"type": "text"}]}):
        reply = await client.post("/api/tool-views", json=body)
        assert reply.status_code in (400, 422), reply.text
