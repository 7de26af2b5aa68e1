"""Runs over HTTP: list, wait, stop, answer, compare and reproject."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from partita.runtime.agent.agent import Agent
from partita.runtime.principal import Principal
from partita.runtime.session.session import Session
from partita.runtime.tools.tool import client_tool, tool
from partita.server.app import PartitaApp, asgi
from partita.store.store import Store
from partita.types.chunks import CompleteEvent
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.threads import Run
from tests.runtime.agent.models import Model, calls_of, reply
from tests.runtime.session.controlled_agent import ControlledAgent, partial_reply, run_turn
from tests.server.conftest import client_of
from tests.tables import each_row


def session_of(app: PartitaApp) -> Session:
    return app.opened().session


async def json_of(response: httpx.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()


@pytest.fixture
async def ended_runs(app: PartitaApp) -> list[Run]:
    """Three runs that have ended, the newest last."""
    session = session_of(app)
    return [
        await run_turn(session, "lamp", "On."),
        await run_turn(session, "lamp", "Off."),
        await run_turn(session, "boat", "Afloat."),
    ]


async def test_the_result_of_the_agent_is_part_of_the_run(app: PartitaApp, client: httpx.AsyncClient) -> None:
    agent = ControlledAgent(*partial_reply("Lit."), CompleteEvent(agent_result={"turns": 3, "cost": None}))
    agent.end()
    session = session_of(app)
    run = await session.wait((await session.start(agent, "lamp", "Well?")).id)
    assert run.agent_result == {"turns": 3, "cost": None}
    found = await json_of(await client.get(f"/api/runs/{run.id}"))
    assert found["agentResult"] == {"turns": 3, "cost": None}


@pytest.fixture
async def agent(app: PartitaApp) -> AsyncIterator[ControlledAgent]:
    """An agent that has sent half a response."""
    agent = ControlledAgent(*partial_reply("Well, "))
    yield agent
    agent.end()


LISTED = {
    "": [2, 1, 0],
    "threadId=lamp": [1, 0],
    "threadId=nowhere": [],
    "status=completed": [2, 1, 0],
    "status=failed": [],
    "status=failed&status=completed": [2, 1, 0],
    "status=failed,completed&threadId=boat": [2],
    "agent=controlled": [2, 1, 0],
    "agent=nobody": [],
    "limit=2": [2, 1],
}


@each_row(("query", "places"), LISTED.items(), ids=LISTED)
async def test_runs_are_listed(
    client: httpx.AsyncClient, ended_runs: list[Run], query: str, places: list[int]
) -> None:
    page = await json_of(await client.get(f"/api/runs?{query}"))
    assert [run["id"] for run in page["items"]] == [ended_runs[place].id for place in places]


async def test_a_page_has_the_cursor_of_the_next(client: httpx.AsyncClient, ended_runs: list[Run]) -> None:
    first = await json_of(await client.get("/api/threads/lamp/runs?limit=1"))
    rest = await json_of(await client.get(f"/api/threads/lamp/runs?limit=1&cursor={first['next']}"))
    assert [run["id"] for page in (first, rest) for run in page["items"]] == [
        ended_runs[1].id,
        ended_runs[0].id,
    ]
    assert "next" not in rest


async def test_a_run_is_returned(client: httpx.AsyncClient, ended_runs: list[Run]) -> None:
    run = await json_of(await client.get(f"/api/runs/{ended_runs[2].id}"))
    assert (run["threadId"], run["status"], run["agent"]) == ("boat", "completed", "controlled")


REFUSED: dict[str, tuple[str, str, Json, int]] = {
    "an unknown status": ("GET", "/api/runs?status=lazy", None, 400),
    "an invalid cursor": ("GET", "/api/runs?cursor=abc", None, 400),
    "an empty page": ("GET", "/api/runs?limit=0", None, 400),
    "a text where a number is expected": ("GET", "/api/runs/RUN/wait?timeout=soon", None, 400),
    "a time that is NaN": ("GET", "/api/runs/RUN/wait?timeout=nan", None, 400),
    "a wait of a week": ("GET", "/api/runs/RUN/wait?timeout=604800", None, 400),
    "a reason that is not a text": ("POST", "/api/runs/RUN/stop", {"reason": 7}, 400),
    "an empty decision": ("POST", "/api/runs/RUN/approval", {"approvalId": "a"}, 400),
    "a decision that is a list": ("POST", "/api/runs/RUN/approval", [], 400),
    "a decision without a request": (
        "POST",
        "/api/runs/RUN/approval",
        {"approvalId": "a", "approved": True},
        409,
    ),
    "neither an output nor an error": ("POST", "/api/runs/RUN/output", {"toolCallId": "c"}, 400),
    "both": ("POST", "/api/runs/RUN/output", {"toolCallId": "c", "output": 1, "errorText": "no"}, 400),
    "an output without a call": ("POST", "/api/runs/RUN/output", {"toolCallId": "c", "output": None}, 409),
    "a missing thread": ("GET", "/api/threads/nowhere/runs", None, 404),
    "an invalid name": ("GET", "/api/runs/%00", None, 400),
}


@each_row(("method", "path", "body", "status"), REFUSED.values(), ids=REFUSED)
async def test_invalid_requests_are_refused(
    client: httpx.AsyncClient, ended_runs: list[Run], method: str, path: str, body: Json, status: int
) -> None:
    response = await client.request(method, path.replace("RUN", ended_runs[0].id), json=body)
    problem = await json_of(response, status)
    assert problem["status"] == status
    assert problem["detail"]


ROUTES: dict[str, JsonObject | None] = {
    "GET /api/runs/RUN": None,
    "GET /api/runs/RUN/wait": None,
    "GET /api/runs/RUN/diff/RUN": None,
    "GET /api/runs/RUN/log": None,
    "GET /api/runs/RUN/raw": None,
    "GET /api/runs/RUN/stream": None,
    "GET /api/runs/RUN/replay": None,
    "GET /api/runs/RUN/at": None,
    "GET /api/threads/lamp/runs": None,
    "POST /api/runs/RUN/stop": {},
    "POST /api/runs/RUN/approval": {"approvalId": "a", "approved": True},
    "POST /api/runs/RUN/output": {"toolCallId": "c", "output": 1},
    "POST /api/runs/RUN/reproject": {},
}


@each_row("run", ["RUN", "no-such-run"])
@each_row(("route", "body"), ROUTES.items(), ids=ROUTES)
async def test_runs_of_other_owners_are_not_found(
    store: Store, route: str, body: JsonObject | None, run: str
) -> None:
    app = asgi(
        None,
        store=store,
        user=lambda connection: Principal(connection.headers["x-user"], "admin"),
        routes="all",
    )
    async with app.lifespan():
        mine = await run_turn(session_of(app).scoped("ada"), "lamp")
        method, path = route.replace("RUN", mine.id if run == "RUN" else run).split()
        async with client_of(app, headers={"x-user": "bob"}) as client:
            response = await client.request(method, path, json=body)
            assert response.status_code == 404, response.text
            assert (await client.get("/api/runs")).json() == {"items": []}
        async with client_of(app, headers={"x-user": "ada"}) as client:
            assert (await client.get(f"/api/runs/{mine.id}")).status_code == 200


# Wait and stop


async def test_waiting_returns_the_ended_run(
    app: PartitaApp, client: httpx.AsyncClient, agent: ControlledAgent
) -> None:
    run = await session_of(app).start(agent, "t", "Well?")
    early = await json_of(await client.get(f"/api/runs/{run.id}/wait?timeout=0"))
    agent.complete()
    late = await json_of(await client.get(f"/api/runs/{run.id}/wait"))
    assert (early["status"], late["status"]) == ("running", "completed")


async def test_a_run_is_stopped_once(
    app: PartitaApp, client: httpx.AsyncClient, agent: ControlledAgent
) -> None:
    run = await session_of(app).start(agent, "t", "Well?")
    await agent.started.wait()
    stopped = await json_of(await client.post(f"/api/runs/{run.id}/stop", json={"reason": "enough"}))
    again = await json_of(await client.post(f"/api/runs/{run.id}/stop", json={"reason": "no, really"}))
    bare = await json_of(await client.post(f"/api/runs/{run.id}/stop"))
    assert (stopped["status"], stopped["error"]) == ("cancelled", "enough")
    assert again == bare == stopped


async def test_a_run_followed_from_a_log_cannot_be_stopped(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.create("t")
    run = await store.runs.open("t", metadata={"log": {"path": "x.jsonl", "format": "claude-code-log"}})
    for path, body in (
        ("stop", {}),
        ("approval", {"approvalId": "a", "approved": True}),
        ("output", {"toolCallId": "c", "output": 1}),
    ):
        problem = await json_of(await client.post(f"/api/runs/{run.id}/{path}", json=body), 409)
        assert "log" in problem["hint"]


# Answer


async def asking(store: Store) -> tuple[Agent, Run, ToolCallPart]:
    """An agent that has requested approval for a tool call."""

    @tool(approval="always")
    def launch(where: str) -> str:
        return f"launched to {where}"

    agent = Agent(Model(reply(("launch", {"where": "moon"})), reply("Gone.")), tools=[launch], store=store)
    return await _asked(agent)


async def _asked(agent: Agent) -> tuple[Agent, Run, ToolCallPart]:
    run = await agent.session.wait((await agent.start("t", "Go")).id)
    message = await agent.session.store.messages.get("t", run.message_id or "")
    assert isinstance(message, AssistantMessage)
    (call,) = calls_of(message)
    return agent, run, call


async def stored_call(store: Store, run: Run) -> ToolCallPart:
    message = await store.messages.get("t", run.message_id or "")
    assert isinstance(message, AssistantMessage)
    (call,) = calls_of(message)
    return call


async def test_a_call_is_approved_once_by_its_caller(client: httpx.AsyncClient, store: Store) -> None:
    agent, run, call = await asking(store)
    assert call.approval is not None
    decision = {"approvalId": call.approval.id, "approved": True, "reason": "clear skies"}
    other = {**decision, "input": {"where": "mars"}}
    assert (
        "input"
        in (await json_of(await client.post(f"/api/runs/{run.id}/approval", json=other), 409))["detail"]
    )
    shown = {**decision, "toolCallId": call.id, "toolName": "launch", "input": {"where": "moon"}}
    assert (await json_of(await client.post(f"/api/runs/{run.id}/approval", json=shown)))["id"] == run.id
    approval = (await stored_call(store, run)).approval
    assert approval is not None
    assert (approval.approved, approval.reason, approval.responded_by) == (True, "clear skies", "local")
    await json_of(await client.post(f"/api/runs/{run.id}/approval", json=decision), 409)
    await agent.session.close()


OUTPUTS: dict[str, tuple[JsonObject, str, Json]] = {
    "a text": ({"output": "red"}, "output-available", "red"),
    "a value": ({"output": {"picked": ["red"]}}, "output-available", {"picked": ["red"]}),
    "nothing": ({"output": None}, "output-available", None),
    "an error": ({"errorText": "nobody there"}, "output-error", "nobody there"),
}


@pytest.mark.parametrize(("body", "state", "value"), OUTPUTS.values(), ids=OUTPUTS)
async def test_a_client_sends_the_output_of_its_tool(
    client: httpx.AsyncClient, store: Store, body: JsonObject, state: str, value: Json
) -> None:
    pick = client_tool("pick", "Let the user pick.", {"type": "object"})
    agent = Agent(Model(reply(("pick", {"of": 2})), reply("Good.")), tools=[pick], store=store)
    agent, run, call = await _asked(agent)
    sent_output = {"toolCallId": call.id, **body}
    await json_of(
        await client.post(f"/api/runs/{run.id}/output", json={**sent_output, "input": {"of": 3}}), 409
    )
    await json_of(await client.post(f"/api/runs/{run.id}/output", json={**sent_output, "input": {"of": 2}}))
    stored = await stored_call(store, run)
    assert (stored.state, getattr(stored.output, "value", "?")) == (state, value)
    await json_of(await client.post(f"/api/runs/{run.id}/output", json=sent_output), 409)
    await agent.session.close()


# Compare and reproject


async def test_two_runs_are_compared(client: httpx.AsyncClient, ended_runs: list[Run]) -> None:
    one, other, _ = ended_runs
    same = await json_of(await client.get(f"/api/runs/{one.id}/diff/{one.id}"))
    differ = await json_of(await client.get(f"/api/runs/{one.id}/diff/{other.id}"))
    assert (same["same"], differ["same"]) == (True, False)
    (changed,) = [part for part in differ["parts"] if part["kind"] == "changed"]
    assert [piece["text"] for piece in changed["words"]] == ["On", "Off", "."]


async def test_only_admins_reproject_runs(store: Store) -> None:
    app = asgi(
        None,
        store=store,
        user=lambda connection: Principal("ada", "admin" if connection.query else "write"),
        routes="all",
    )
    async with app.lifespan():
        run = await run_turn(session_of(app).scoped("ada"), "lamp")
        async with client_of(app) as client:
            await json_of(await client.post(f"/api/runs/{run.id}/reproject"), 403)
            report = await json_of(await client.post(f"/api/runs/{run.id}/reproject?dryRun=true"))
    assert report["dryRun"] is True
    assert [one["runId"] for one in report["runs"]] == [run.id]
