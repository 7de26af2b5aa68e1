"""The request as agents and their tools see it, in every dialect."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from partita import Agent, tool
from partita.agents import AgentRequest, Principal, ToolContext
from partita.server.app import asgi
from partita.server.guard.auth import Connection
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.json import JsonObject
from tests.runtime.agent.models import Model, reply
from tests.server.conftest import client_of
from tests.tables import each_row

HELLO = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
AG_UI = {"threadId": "c3", "runId": "r1", "messages": [{"id": "u1", "role": "user", "content": "Hello"}]}
CHAT = {"model": "agent", "messages": [{"role": "user", "content": "Hello"}]}
IN_THREAD = {**CHAT, "metadata": {"thread_id": "c4"}}
MAP = {"description": "Shows a place.", "parameters": {"type": "object", "properties": {}}}

DIALECTS: list[tuple[str, JsonObject, JsonObject, str | None]] = [
    ("/api/chat", {"id": "c1", "messages": [HELLO]}, {"mode": "fast", "nested": {"a": [1]}}, "c1"),
    ("/api/chat", {"id": "c2", "message": HELLO}, {"callSettings": {"temperature": 0}}, "c2"),
    ("/api/ag-ui/agent", AG_UI, {"forwardedProps": {"a": 1}, "state": {"b": 2}, "context": []}, "c3"),
    ("/v1/chat/completions", IN_THREAD, {"temperature": 0.5}, "c4"),
    ("/v1/chat/completions", CHAT, {"temperature": 0.5}, None),
]


def user(connection: Connection) -> Principal:
    return Principal(connection.headers["x-user"], "write", claims={"plan": "pro"})


@each_row("dialect", DIALECTS)
async def test_an_agent_receives_its_caller(
    store: Store, dialect: tuple[str, JsonObject, JsonObject, str | None]
) -> None:
    path, body, extra, thread_id = dialect
    seen: list[AgentRequest] = []

    async def agent(request: AgentRequest) -> AsyncIterator[str]:
        seen.append(request)
        yield "Hello."

    app = asgi(agent, store=store, user=user, routes="all")
    async with app.lifespan(), client_of(app) as client:
        for name in ("ada", "bob"):
            headers = {"x-user": name, "x-tenant": "harbour"}
            response = await client.post(path, json={**body, **extra}, headers=headers)
            assert response.status_code == 200, response.text
    ada, bob = seen
    assert (ada.owner, ada.caller.resource_id, ada.caller.role) == ("ada", "ada", "write")
    assert ada.caller.claims == {"plan": "pro"}
    assert ada.headers["x-tenant"] == "harbour"
    assert ada.body == extra
    assert ada.thread_id == bob.thread_id == thread_id
    assert ada.conversation_key != bob.conversation_key or thread_id is None
    assert ada.store is not None
    assert ada.store.owner == "ada"
    assert "x-user" not in repr(ada.options)


@pytest.fixture
async def client(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    model = Model(reply(("look", {})), reply("Done."))

    @tool
    async def look(context: ToolContext) -> Any:
        """Look at the request."""
        threads = await context.store.threads.list() if context.store else None
        return {
            "owner": context.owner,
            "claims": context.caller.claims,
            "tenant": context.headers.get("x-tenant"),
            "body": context.body,
            "threads": [thread.id for thread in threads.items] if threads else [],
            "key": context.conversation_key,
        }

    await store.scoped("bob").threads.create("hidden")
    app = asgi(Agent(model, tools=[look], name="agent"), store=store, user=user, routes="all")
    headers = {"x-user": "ada", "x-tenant": "harbour"}
    async with app.lifespan(), client_of(app, headers=headers) as client:
        yield client


async def test_a_tool_receives_its_caller(client: httpx.AsyncClient, store: Store) -> None:
    body = {"id": "c1", "messages": [HELLO], "mode": "fast"}
    assert (await client.post("/api/chat", json=body)).status_code == 200
    page = await store.scoped("ada").messages.list("c1", MessageFilter(roles=("assistant",)))
    (part, _) = [one for one in page.items[0].parts if one.type in ("tool-call", "text")]
    seen: JsonObject = part.output.value  # type: ignore[union-attr] # the call
    assert seen.pop("key")
    assert seen == {
        "owner": "ada",
        "claims": {"plan": "pro"},
        "tenant": "harbour",
        "body": {"mode": "fast"},
        "threads": ["c1"],
    }


async def test_an_agent_receives_tools_and_instructions_of_the_client(store: Store) -> None:
    model = Model(reply(("show_map", {"place": "Bell"})))
    app = asgi(Agent(model, name="agent"), store=store)
    async with app.lifespan(), client_of(app) as client:
        body = {"id": "c1", "messages": [HELLO], "tools": {"show_map": MAP}, "system": "Be brief."}
        response = await client.post("/api/chat", json=body)
        assert response.status_code == 200, response.text
    (options,) = model.options
    assert [(one.name, one.description) for one in options.tools] == [("show_map", "Shows a place.")]
    assert options.instructions == "Be brief."


async def test_a_client_tool_with_the_name_of_an_agent_tool_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/chat", json={"id": "c1", "messages": [HELLO], "tools": {"look": MAP}})
    assert response.status_code == 400
    assert "already has a tool 'look'" in response.text


@each_row("allowed", [False, True])
async def test_instructions_of_an_end_user_are_refused_unless_allowed(store: Store, allowed: bool) -> None:
    model = Model(reply("Done."))
    app = asgi(
        Agent(model, name="agent"),
        store=store,
        user=lambda _: Principal("ada", "chat"),
        client_system=allowed,
    )
    async with app.lifespan(), client_of(app) as client:
        body = {"id": "c1", "messages": [HELLO], "system": "Obey me."}
        response = await client.post("/api/chat", json=body)
    assert response.status_code == (200 if allowed else 403)
    assert [one.instructions for one in model.options] == (["Obey me."] if allowed else [])
