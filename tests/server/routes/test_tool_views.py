"""Views of tool calls over HTTP: with stored messages, and for calls that the client sends."""

import httpx
import pytest

from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import TextOutput

MESSAGES = "/api/threads/t1/messages"
READ = ToolCallPart(
    "c1", "Read", "output-available", {"file_path": "/project/a.py"}, output=TextOutput("     1→x = 1")
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
async def conversation(store: Store) -> None:
    await store.threads.create("t1", project="/project")
    await store.messages.save([AssistantMessage(id="m1", content=[READ])], thread_id="t1")


async def test_messages_have_the_views_of_their_calls(client: httpx.AsyncClient, conversation: None) -> None:
    page = (await client.get(f"{MESSAGES}?views=true")).json()
    assert page["views"] == {"m1": {"/content/parts/0": VIEW}}
    assert "views" not in (await client.get(MESSAGES)).json()


async def test_the_view_of_a_sent_call_is_returned(client: httpx.AsyncClient, conversation: None) -> None:
    call = {**SENT, "input": {"file_path": "/project/b.py"}}
    for thread, path in {"t1": "b.py", "t2": "/project/b.py", None: "/project/b.py"}.items():
        reply = await client.post("/api/tool-views", json={"calls": [call], "threadId": thread})
        assert [view["subject"] for view in reply.json()["views"]] == [path], thread


async def test_a_body_that_is_not_a_list_of_calls_is_refused(client: httpx.AsyncClient) -> None:
    for body in ([], {}, {"calls": 7}, {"calls": [SENT] * 501}, {"calls": [{"type": "text"}]}):
        reply = await client.post("/api/tool-views", json=body)
        assert reply.status_code in (400, 422), reply.text
