"""Mastra's client against the server: threads, messages, networks."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from partita.server.app import asgi
from partita.store.store import Store
from tests.node import node
from tests.server.conftest import Serve, scripted, text_part

from .mastra_site import row

Ask = Callable[..., Awaitable[Any]]
"""Call a method of the client, of the thread `of`, or of an agent, and return its result or error."""

AGENT = "scripted"
THREAD = {"threadId": "t1", "agentId": AGENT}


@pytest.fixture
async def ask(store: Store, serve: Serve) -> AsyncIterator[Ask]:
    url = await serve(asgi(scripted([text_part("Yes.")]), store=store))
    process = await asyncio.create_subprocess_exec(
        node(),
        str(Path(__file__).with_name("client.mjs")),
        url,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    async def call(
        name: str, *args: Any, of: dict[str, str] | None = None, agent: str | None = None, status: int = 200
    ) -> Any:
        stdin.write(json.dumps({"call": name, "args": args, "of": of, "agent": agent}).encode() + b"\n")
        line = await asyncio.wait_for(stdout.readline(), 30)
        response = json.loads(line)
        if status != 200:
            assert response["status"] == status, response
            return response["error"]
        assert "error" not in response, response
        return response["value"]

    yield call
    stdin.close()
    await process.wait()


async def test_the_client_of_mastra_stores_threads_messages_and_networks(ask: Ask) -> None:
    made = await ask(
        "createMemoryThread", {"agentId": AGENT, "threadId": "t1", "resourceId": "u1", "title": "Tides"}
    )
    assert (made["id"], made["resourceId"], made["title"]) == ("t1", "u1", "Tides")
    await ask("createMemoryThread", {"agentId": AGENT, "threadId": "t2", "resourceId": "u1"})

    listed = await ask("listMemoryThreads", {"agentId": AGENT, "resourceId": "u1", "perPage": 1})
    assert (listed["total"], listed["hasMore"], len(listed["threads"])) == (2, True, 1)
    await ask("update", {"title": "High tides", "metadata": {"sea": True}, "resourceId": "u1"}, of=THREAD)
    found = await ask("get", of=THREAD)
    assert (found["title"], found["metadata"]) == ("High tides", {"sea": True})
    assert found["updatedAt"] > made["updatedAt"], "a change counts as an update"
    assert found["createdAt"] == made["createdAt"]

    call = {"toolCallId": "c1", "toolName": "table", "args": {"at": 12}, "result": {"metres": 2}}
    network = {
        "isNetwork": True,
        "selectionReason": "it has the table",
        "primitiveType": "agent",
        "primitiveId": "pilot",
        "finalResult": {"text": "Two metres.", "toolCalls": [call]},
    }
    in_field = row("n2", "Two metres.", 3, role="assistant")
    in_field["content"]["networkExecution"] = network
    rows = [row("m1", "How high?", 1), row("n1", json.dumps(network), 2, role="assistant"), in_field]
    saved = await ask("saveMessageToMemory", {"agentId": AGENT, "messages": rows})
    assert [message["id"] for message in saved["messages"]] == ["m1", "n1", "n2"]

    page = await ask("listMessages", {"page": 0, "perPage": 10}, of=THREAD)
    assert (page["total"], page["hasMore"]) == (3, False)
    assert [message["content"]["format"] for message in page["messages"]] == [2, 2, 2]
    for message in page["uiMessages"][1:]:
        part = message["parts"][-1]
        assert (part["type"], part["toolName"], part["output"]) == ("dynamic-tool", "agent", "Two metres.")
        (inner,) = [inner for child in part["childMessages"] for inner in child["parts"]]
        assert (inner["toolName"], inner["output"]) == ("table", {"metres": 2})

    again = await ask("saveMessageToMemory", {"agentId": AGENT, "messages": page["messages"]})
    assert again["messages"] == page["messages"]
    newest = {"perPage": 1, "orderBy": {"field": "createdAt", "direction": "DESC"}}
    last = await ask("listMessages", newest, of=THREAD)
    assert [message["id"] for message in last["messages"]] == ["n2"]

    await ask("deleteMessages", ["n2"], of=THREAD)
    assert (await ask("listMessages", {}, of=THREAD))["total"] == 2
    cloned = await ask("clone", {"newThreadId": "t3"}, of=THREAD)
    assert (cloned["thread"]["id"], len(cloned["clonedMessages"])) == ("t3", 2)
    await ask("delete", of=THREAD)
    left = await ask("listMemoryThreads", {"agentId": AGENT, "resourceId": "u1"})
    assert sorted(thread["id"] for thread in left["threads"]) == ["t2", "t3"]

    for refused in (
        await ask("generate", "How high?", agent=AGENT, status=404),
        await ask("stream", "How high?", agent=AGENT, status=404),
        await ask("details", agent=AGENT, status=404),
        await ask("transfer", {"resourceId": "u2"}, of={**THREAD, "threadId": "t2"}, status=404),
    ):
        assert "POST /api/chat" in refused
        assert "/api/memory" in refused
