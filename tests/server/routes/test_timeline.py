"""The events of a run and their times, over HTTP."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from partita.server.app import PartitaApp
from partita.server.routes import timeline
from partita.store.logs.maintenance import Retention
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.chunks import MessageStart, TextDelta, TextStart
from partita.types.codec import to_json
from partita.types.messages import AssistantMessage, ToolCallPart, text_of
from tests.logs.claude_session import Session as Log
from tests.logs.claude_session import use
from tests.runtime.session.controlled_agent import ControlledAgent, full_reply, partial_reply
from tests.tables import each_row

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHUNKS = [MessageStart("m"), TextStart("t"), TextDelta("t", "Forty"), None, TextDelta("t", " metres.")]


async def run_with(store: Store, chunks: list[Any]) -> str:
    await store.threads.create("t")
    run = await store.runs.open("t")
    began = run.started_at or run.created_at or START
    entries = [
        LogEntry(began + timedelta(seconds=place), chunk, b"x%d" % place if place % 2 else None)
        for place, chunk in enumerate(chunks)
    ]
    await store.logs.append(run.id, entries)
    return run.id


async def read(client: httpx.AsyncClient, run: str, **query: str | int) -> Any:
    response = await client.get(f"/api/runs/{run}/timeline", params=query)
    assert response.status_code == 200, response.text
    return response.json()


async def pages(client: httpx.AsyncClient, run: str, limit: int) -> list[Any]:
    found: list[Any] = []
    after: int | None = 0
    while after is not None:
        page = await read(client, run, after=after, limit=limit)
        assert len(page["items"]) <= limit
        found += page["items"]
        after = page.get("next")
    return found


@pytest.fixture
async def whole_run(store: Store) -> str:
    return await run_with(store, CHUNKS)


async def test_every_event_has_its_time(client: httpx.AsyncClient, store: Store) -> None:
    run = await run_with(store, CHUNKS)
    page = await read(client, run)
    assert [item["time"] for item in page["items"]] == [0, 1000, 2000, 3000, 4000]
    assert [item.get("chunk") for item in page["items"]] == [chunk and to_json(chunk) for chunk in CHUNKS]
    assert [item.get("raw") for item in page["items"]] == [None, 2, None, 4, None]
    assert (page["total"], page["active"], page["imported"]) == (5, True, False)
    assert "next" not in page


@each_row("limit", [1, 2, 3, 5])
async def test_all_pages_together_are_the_timeline(
    client: httpx.AsyncClient, whole_run: str, limit: int
) -> None:
    assert await pages(client, whole_run, limit) == (await read(client, whole_run))["items"]


async def test_a_page_with_large_chunks_is_shorter(
    client: httpx.AsyncClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "PAGE_BYTES", 100)
    run = await run_with(store, [MessageStart("m"), *(TextDelta("t", "x" * 200) for _ in range(4))])
    assert len((await read(client, run))["items"]) == 2
    assert [item["seq"] for item in await pages(client, run, 5)] == [1, 2, 3, 4, 5]


async def test_the_timeline_of_an_active_run_has_its_events_so_far(
    app: PartitaApp, client: httpx.AsyncClient
) -> None:
    session, agent = app.opened().session, ControlledAgent(*partial_reply("It "))
    run = await session.start(agent, "t", "How tall?")
    seen: list[Any] = []
    reading = asyncio.create_task(read(client, run.id, after=3, wait=20))
    agent.complete(*full_reply("forty.")[2:])
    async with asyncio.timeout(10):
        seen += (await reading)["items"]
        while (page := await read(client, run.id, after=seen[-1]["seq"], wait=20))["active"]:
            seen += page["items"]
    whole = await read(client, run.id)
    assert seen + page["items"] == whole["items"][3:]
    assert not whole["active"]


async def imported(client: httpx.AsyncClient, store: Store) -> str:
    log = Log().prompt("Bake").answer(text="Kneading now.", calls=[use("c1")])
    log.time += timedelta(minutes=5)
    data = log.result("c1", "hot").answer(text="Done.").data
    headers = {"content-type": "application/x-ndjson"}
    assert (await client.post("/api/import", content=data, headers=headers)).status_code == 200
    (run,) = (await store.runs.list()).items
    return run.id


async def test_an_imported_run_has_the_known_pauses(client: httpx.AsyncClient, store: Store) -> None:
    run = await imported(client, store)
    page = await read(client, run)
    assert page["imported"]
    times = {item["chunk"]["type"]: item["time"] for item in page["items"]}
    assert times["tool-output-typed"] - times["tool-input-available"] == 301_000
    assert [item["time"] for item in page["items"]] == sorted(item["time"] for item in page["items"])
    moment = (await client.get(f"/api/runs/{run}/at")).json()
    assert moment["place"] == len(page["items"]) == page["total"]
    assert await pages(client, run, 2) == page["items"]
    question = await store.messages.get((await store.runs.list()).items[0].thread_id, moment["question"])
    assert question is not None
    assert text_of(question) == "Bake"


async def test_an_event_of_an_imported_run_has_its_log_line(client: httpx.AsyncClient, store: Store) -> None:
    run = await imported(client, store)
    for item in (await read(client, run))["items"]:
        if item["chunk"]["type"] == "tool-output-typed":
            log = await client.get(f"/api/runs/{run}/log", params={"after": item["raw"] - 1, "limit": 1})
            assert "hot" in log.json()["items"][0]["raw"]


async def test_a_dropped_log_is_an_error(client: httpx.AsyncClient, store: Store) -> None:
    run = await run_with(store, CHUNKS)
    await store.runs.finish(run)
    await store.logs.drop(Retention(max_age=timedelta(0)))
    response = await client.get(f"/api/runs/{run}/timeline")
    assert response.status_code == 404
    assert "dropped" in response.json()["detail"]


@each_row("query", ["limit=0", "limit=5001", "after=-1", "after=x", "wait=-1", "wait=61"])
async def test_invalid_queries_are_refused(client: httpx.AsyncClient, whole_run: str, query: str) -> None:
    assert (await client.get(f"/api/runs/{whole_run}/timeline?{query}")).status_code == 400


async def test_the_run_of_a_sub_agent_has_a_timeline(client: httpx.AsyncClient, store: Store) -> None:
    run = await imported(client, store)
    stored = await store.runs.get(run)
    assert stored is not None
    own = await store.runs.open(stored.thread_id, metadata={"log": {"path": "b.jsonl"}})
    await store.runs.finish(own.id)
    below = AssistantMessage(id="below", content="I knead.", run_id=own.id)
    call = ToolCallPart(id="c9", name="Task", state="input-available", input={}, children=(below,))
    above = AssistantMessage(id="above", content=[call], run_id=run)
    await store.messages.save([above], thread_id=stored.thread_id)
    page = await read(client, own.id)
    assert "".join(item["chunk"].get("delta", "") for item in page["items"]) == "I knead."
    diff = (await client.get(f"/api/runs/{own.id}/diff/{run}")).json()
    assert "I knead." in str(diff["parts"])


async def test_an_imported_run_without_messages_is_not_an_error(
    client: httpx.AsyncClient, store: Store
) -> None:
    await store.threads.create("t")
    run = await store.runs.open("t", metadata={"log": {"path": "b.jsonl"}})
    assert (await read(client, run.id))["items"] == []
