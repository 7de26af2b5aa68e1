"""Statistics over HTTP."""

from datetime import UTC, datetime

import httpx
import pytest

from partita.server.app import asgi
from partita.store.store import Store
from partita.store.values import ConsumptionRecord
from tests.server.conftest import client_of, user_in_header
from tests.store.examples import tool_call_message, user_message

EVENING = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)
MORNING = datetime(2026, 7, 2, 8, tzinfo=UTC)


@pytest.fixture
async def ledger(store: Store) -> None:
    """Usage of two threads on an evening and the next morning."""
    await store.threads.create("tower", agent="keeper", project="coast")
    await store.threads.create("boat", agent="sailor", project="harbour")
    await store.messages.save(
        [user_message("m1", created_at=EVENING), tool_call_message("m2", created_at=EVENING)],
        thread_id="tower",
    )
    totals = [
        ("tower", "m2", "big", EVENING, 100),
        ("tower", None, "small", MORNING, 10),
        ("boat", None, "big", MORNING, 1),
    ]
    await store.usage.record(
        [
            ConsumptionRecord(
                thread_id=thread,
                message_id=message,
                key=f"r{number}",
                model=model,
                time=time,
                input_tokens=tokens,
                cost=tokens / 100,
            )
            for number, (thread, message, model, time, tokens) in enumerate(totals)
        ]
    )


ACCEPTED = {
    "": {"": 111},
    "by=total": {"": 111},
    "by=model": {"big": 101, "small": 10},
    "by=agent": {"keeper": 110, "sailor": 1},
    "by=project": {"coast": 110, "harbour": 1},
    "by=day": {"2026-07-01": 100, "2026-07-02": 11},
    "by=day&zone=Europe/Oslo": {"2026-07-02": 111},
    "by=week": {"2026-06-29": 111},
    "by=month": {"2026-07": 111},
    "by=day,model": {"2026-07-01 big": 100, "2026-07-02 small": 10, "2026-07-02 big": 1},
    "by=model&by=day": {"big 2026-07-01": 100, "small 2026-07-02": 10, "big 2026-07-02": 1},
    "since=2026-07-02": {"": 11},
    "since=2026-07-02T00:00%2B02:00": {"": 111},
    "until=2026-07-02": {"": 100},
    "agent=sailor": {"": 1},
    "project=coast": {"": 110},
    "model=small": {"": 10},
    "thread=tower": {"": 110},
    "model=none": {"": 0},
}


async def test_statistics_are_grouped_and_filtered(client: httpx.AsyncClient, ledger: None) -> None:
    for query, tokens in ACCEPTED.items():
        reply = await client.get(f"/api/stats?{query}")
        assert reply.status_code == 200, reply.text
        totals = [(" ".join(row["key"]), row["inputTokens"]) for row in reply.json()["items"]]
        assert totals == list(tokens.items()), query


async def test_tools_and_messages_are_counted(client: httpx.AsyncClient, ledger: None) -> None:
    (total,) = (await client.get("/api/stats")).json()["items"]
    assert (total["messages"], total["toolCalls"], total["responses"]) == (2, 1, 3)
    assert total["cost"] == pytest.approx(1.11)
    (messages,) = (await client.get("/api/stats?measures=messages,runs")).json()["items"]
    assert (messages["messages"], messages["toolCalls"], messages["responses"]) == (2, 0, 0)
    (tool,) = (await client.get("/api/stats?by=tool")).json()["items"]
    assert (tool["key"], tool["toolCalls"], tool["toolErrors"]) == (["measure"], 1, 0)


async def test_threads_have_titles_on_request(client: httpx.AsyncClient, ledger: None) -> None:
    rows = (await client.get("/api/stats?by=agent&ids=true")).json()["items"]
    assert [(row["key"], row["threadIds"]) for row in rows] == [
        (["keeper"], ["tower"]),
        (["sailor"], ["boat"]),
    ]
    (total,) = (await client.get("/api/stats")).json()["items"]
    assert "threadIds" not in total


async def test_statistics_of_tools_runs_threads_and_growth(
    client: httpx.AsyncClient, store: Store, ledger: None
) -> None:
    await store.runs.open("boat", id="trip", model="big")
    (tool,) = (await client.get("/api/stats/tools?agent=keeper")).json()["items"]
    assert (tool["tool"], tool["calls"], tool["threadIds"]) == ("measure", 1, ["tower"])
    (run,) = (await client.get("/api/stats/runs?order=duration&model=big")).json()["items"]
    assert (run["id"], run["threadId"], run["status"], run["agent"]) == ("trip", "boat", "running", "sailor")
    threads = (await client.get("/api/stats/threads?order=tokens&limit=1")).json()["items"]
    assert [(one["id"], one["inputTokens"], one["messages"]) for one in threads] == [("tower", 110, 2)]
    grown = (await client.get("/api/threads/tower/growth")).json()["items"]
    assert [(one["inputTokens"], one.get("seq"), one["totalTokens"]) for one in grown] == [
        (100, 2, 100),
        (10, None, 110),
    ]


UNAVAILABLE = {
    "/api/stats/tools?since=soon": 400,
    "/api/stats/tools?model=%00": 400,
    "/api/stats/runs?order=colour": 400,
    "/api/stats/runs?limit=0": 400,
    "/api/stats/threads?order=%00": 400,
    "/api/stats/threads?limit=501": 400,
    "/api/stats?ids=perhaps": 400,
    "/api/threads/nowhere/growth": 404,
}


async def test_unavailable_statistics_are_not_found(client: httpx.AsyncClient, ledger: None) -> None:
    for path, status in UNAVAILABLE.items():
        reply = await client.get(path)
        assert reply.status_code == status, (path, reply.text)
        assert reply.headers["content-type"] == "application/problem+json"


REFUSED = {
    "zone=Nowhere/Else": 400,
    "zone=": 400,
    "zone=Europe": 400,  # a folder
    "zone=../../etc/passwd": 400,
    "zone=/etc/passwd": 400,
    "zone=%00": 400,
    "zone=%ED%A0%80": 400,
    f"zone={'x' * 5000}": 400,
    "by=minute": 400,
    "by=day,model,tool": 400,
    "measures=colours": 400,
    "since=soon": 400,
    "model=%00": 400,
    "thread=nowhere": 404,
    "thread=%00": 400,
}


async def test_invalid_parameters_are_refused(client: httpx.AsyncClient, ledger: None) -> None:
    for query, status in REFUSED.items():
        reply = await client.get(f"/api/stats?{query}")
        assert reply.status_code == status, (query, reply.text)
        assert reply.headers["content-type"] == "application/problem+json"


async def test_callers_see_statistics_of_their_own_data(store: Store) -> None:
    for owner, tokens in (("ann", 5), ("bob", 7)):
        await store.threads.create("t1", resource_id=owner)
        record = ConsumptionRecord(thread_id="t1", key="r1", model="m", time=EVENING, input_tokens=tokens)
        await store.scoped(owner).usage.record([record])
    app = asgi(None, store=store, user=user_in_header, routes="all")
    async with app.lifespan(), client_of(app, headers={"x-user": "ann"}) as ann:
        for query in ("", "thread=t1", "by=model"):
            (row,) = (await ann.get(f"/api/stats?{query}")).json()["items"]
            assert row["inputTokens"] == 5
        assert (await ann.get("/api/stats?resourceId=bob")).status_code == 403
    async with client_of(asgi(None, store=store)) as admin:
        assert (await admin.get("/api/stats?resourceId=bob")).json()["items"][0]["inputTokens"] == 7
