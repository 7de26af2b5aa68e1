"""Summaries of threads, and facets to filter them, over HTTP."""

import asyncio

import httpx
import pytest

from partita.server.app import PartitaApp, asgi
from partita.store.store import Store
from partita.store.values import ConsumptionRecord
from partita.types.messages import UserMessage
from tests.server.clients.agents import ApprovalAgent
from tests.server.conftest import client_of
from tests.server.routes.paging import paged
from tests.store.examples import failed_call_message, tool_call_message, user_message
from tests.tables import each_row


@pytest.fixture
async def threads(store: Store) -> None:
    await store.threads.create("lamp", title="Lamps", agent="keeper", metadata={"pinned": True})
    await store.threads.create("boat", agent="smith", project="harbour")
    await store.messages.save([user_message("m1", "Is it dry?"), tool_call_message("m2")], thread_id="boat")
    await store.messages.save([failed_call_message("m3", tool="saw")], thread_id="lamp")
    await store.usage.record([ConsumptionRecord(thread_id="boat", key="r", model="opus", cost=0.5)])


LISTED = {
    "": {"lamp", "boat"},
    "model=opus": {"boat"},
    "tool=saw": {"lamp"},
    "pinned=true": {"lamp"},
    "active=true": set[str](),
    "active=false": {"lamp", "boat"},
    "pinned=false": {"boat"},
    "hasErrors=true": {"lamp"},
    "ids=boat,nothing": {"boat"},
    "ids=boat&ids=lamp": {"lamp", "boat"},
    "text=dry": {"boat"},
    "agent=keeper&tool=measure": set[str](),
    "since=2020-01-01&until=2021-01-01": set[str](),
}


@each_row("path", ["/api/summaries", "/api/threads"])
async def test_summaries_are_filtered(client: httpx.AsyncClient, threads: None, path: str) -> None:
    for query, ids in LISTED.items():
        reply = await client.get(f"{path}?{query}")
        assert reply.status_code == 200, query
        assert {one.get("thread", one)["id"] for one in reply.json()["items"]} == ids, query


async def test_a_summary_is_returned(client: httpx.AsyncClient, threads: None) -> None:
    (boat,) = (await client.get("/api/summaries?ids=boat")).json()["items"]
    assert boat["thread"]["project"] == "harbour"
    assert {name: value for name, value in boat.items() if name != "thread"} == {
        "title": "Is it dry?",
        "repository": "harbour",
        "models": ["opus"],
        "cost": 0.5,
    }


async def test_summaries_are_paginated(client: httpx.AsyncClient, store: Store) -> None:
    made = [f"t{number}" for number in range(5)]
    for name in made:
        await store.threads.create(name)
    found = [one["thread"]["id"] for one in await paged(client, "/api/summaries", 2)]
    assert found == made[::-1]


async def test_facets_are_returned(client: httpx.AsyncClient, threads: None) -> None:
    found = (await client.get("/api/facets?agent=smith")).json()
    assert found["threads"] == 1
    assert found["agents"] == [{"value": "keeper", "threads": 1}, {"value": "smith", "threads": 1}]
    assert (found["tools"], found["models"]) == (
        [{"value": "measure", "threads": 1}],
        [{"value": "opus", "threads": 1}],
    )
    assert found["dates"] == {"today": 1, "week": 0, "month": 0, "older": 0}


async def test_a_run_with_an_approval_request_is_shown_as_waiting(store: Store) -> None:
    app: PartitaApp = asgi({"asking": ApprovalAgent()}, store=store)
    async with app.lifespan(), client_of(app) as client:
        session = app.opened().session
        run = await session.start(ApprovalAgent(), "t", [UserMessage(id="q", content="May I?")])
        while not session.awaiting_approval():
            await asyncio.sleep(0.005)
        (summary,) = (await client.get("/api/summaries")).json()["items"]
        assert (summary["runId"], summary["waiting"]) == (run.id, True)
        assert (await client.get("/api/facets")).json()["running"] == 1
        assert len((await client.get("/api/summaries?active=true")).json()["items"]) == 1
        await session.stop(run.id)
        (summary,) = (await client.get("/api/summaries")).json()["items"]
        assert "runId" not in summary
        assert (await client.get("/api/summaries?active=true")).json()["items"] == []
