"""Budgets over HTTP: an owner over budget is refused."""

from partita import Agent
from partita.agents import Budget, Budgets, Principal
from partita.server.app import asgi
from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.usage import Usage
from tests.runtime.agent.models import Model, reply
from tests.server.conftest import client_of
from tests.tables import each_row

HELLO = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
CHAT = {"model": "agent", "messages": [{"role": "user", "content": "Hello"}]}
DIALECTS: list[tuple[str, JsonObject]] = [
    ("/api/chat", {"id": "c1", "message": HELLO}),
    ("/v1/chat/completions", CHAT),
    ("/v1/chat/completions", {**CHAT, "metadata": {"thread_id": "c2"}}),
]


@each_row("dialect", DIALECTS)
async def test_a_request_over_the_owners_budget_is_refused(
    store: Store, dialect: tuple[str, JsonObject]
) -> None:
    path, body = dialect
    model = Model(*[reply("Hello.", usage=Usage(input_tokens=900, output_tokens=100)) for _ in range(2)])
    budgets = Budgets(owner=Budget(tokens=1_000))
    current = {"name": f"ada {dialect}"}

    def user(_: object) -> Principal:
        return Principal(current["name"], "write")

    app = asgi(Agent(model, name="agent"), store=store, user=user, budgets=budgets, routes="all")
    async with app.lifespan(), client_of(app) as client:
        assert (await client.post(path, json=body)).status_code == 200
        refused = await client.post(path, json=body)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert "this owner may use 1000 tokens" in refused.text
        current["name"] = f"bob {dialect}"
        assert (await client.post(path, json=body)).status_code == 200
    assert len(model.options) == 2
