"""The agents of a server, over HTTP."""

from partita.runtime.agent.agent import Agent
from partita.runtime.registry import UnavailableAgent
from partita.server.app import asgi
from partita.store.store import Store
from tests.runtime.agent.models import Model, reply
from tests.server.conftest import client_of, says, scripted


class Described:
    """An agent that says something of itself."""

    name = "keeper"
    model = "keeper-1"
    description = "Keeps the lighthouse."

    def invoke(self, *_: object, **__: object) -> None:
        """Nobody asks it here."""


async def test_agents_are_listed_in_their_order(store: Store) -> None:
    agents = {
        "first": scripted([says("Yes.")]),
        "keeper": Described(),
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


async def test_an_agent_that_cannot_be_asked_says_what_is_missing(store: Store) -> None:
    missing = UnavailableAgent("anthropic", "set ANTHROPIC_API_KEY", "Claude, over its API.")
    app = asgi({"first": scripted([says("Yes.")]), "anthropic": missing}, store=store)
    async with app.lifespan(), client_of(app) as client:
        first, other = (await client.get("/api/agents")).json()["items"]
        words = [{"type": "text", "text": "Hello"}]
        body = {"id": "t", "agent": "anthropic", "message": {"id": "u", "role": "user", "parts": words}}
        answer = await client.post("/api/chat", json=body)
    assert "available" not in first
    assert other == {
        "name": "anthropic",
        "kind": "anthropic",
        "description": "Claude, over its API.",
        "available": False,
        "missing": "set ANTHROPIC_API_KEY",
    }
    assert "anthropic is not available: set ANTHROPIC_API_KEY" in answer.text


async def test_a_server_without_agents_says_so(store: Store) -> None:
    app = asgi(None, store=store)
    async with app.lifespan(), client_of(app) as client:
        assert (await client.get("/api/agents")).json() == {"items": []}
