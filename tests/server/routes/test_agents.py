"""Agents of a server over HTTP."""

from partita.runtime.agent.agent import Agent
from partita.runtime.registry import UnavailableAgent
from partita.server.app import asgi
from partita.store.store import Store
from tests.runtime.agent.models import Model, reply
from tests.server.conftest import client_of, scripted, text_part


class DescribedAgent:
    """An agent with a description."""

    name = "keeper"
    model = "keeper-1"
    description = "Keeps the lighthouse."

    def invoke(self, *_: object, **__: object) -> None:
        """Not called in these tests."""


async def test_agents_are_listed_in_order(store: Store) -> None:
    agents = {
        "first": scripted([text_part("Yes.")]),
        "keeper": DescribedAgent(),
        "worker": Agent(Model(reply("Yes.")), name="worker", store=store),
    }
    app = asgi(agents, store=store)
    async with app.lifespan(), client_of(app) as client:
        first, keeper, worker = (await client.get("/api/agents")).json()["items"]
    assert first == {"name": "first", "kind": "scripted", "isDefault": True, "model": "scripted"}
    assert keeper == {
        "name": "keeper",
        "kind": "keeper",
        "description": "Keeps the lighthouse.",
        "model": "keeper-1",
    }
    assert worker["kind"] == "worker"


async def test_an_unavailable_agent_names_what_is_missing(store: Store) -> None:
    missing = UnavailableAgent("anthropic", "set ANTHROPIC_API_KEY", "Claude, over its API.")
    app = asgi({"first": scripted([text_part("Yes.")]), "anthropic": missing}, store=store)
    async with app.lifespan(), client_of(app) as client:
        first, other = (await client.get("/api/agents")).json()["items"]
        words = [{"type": "text", "text": "Hello"}]
        body = {"id": "t", "agent": "anthropic", "message": {"id": "u", "role": "user", "parts": words}}
        response = await client.post("/api/chat", json=body)
    assert "available" not in first
    assert other == {
        "name": "anthropic",
        "kind": "anthropic",
        "description": "Claude, over its API.",
        "available": False,
        "missing": "set ANTHROPIC_API_KEY",
    }
    assert "anthropic is not available: set ANTHROPIC_API_KEY" in response.text


async def test_a_server_without_agents_returns_an_empty_list(store: Store) -> None:
    app = asgi(None, store=store)
    async with app.lifespan(), client_of(app) as client:
        assert (await client.get("/api/agents")).json() == {"items": []}
