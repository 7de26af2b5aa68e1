"""The outline of a thread over HTTP: all of a branch in a few words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from partita.store.store import Store
from partita.store.values import ConsumptionRecord
from partita.types.messages import AssistantMessage
from tests.store.examples import answer, ask, worked
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OUTLINE = "/api/threads/t1/outline"


@pytest.fixture(autouse=True)
async def talk(store: Store) -> None:
    """Two answers to the first question, the second of which goes on; and an internal turn."""
    await store.threads.create("t1")
    said = [
        ask("m1", created_at=NOON),
        answer("a1", parent_id="m1"),
        answer("a2", parent_id="m1"),
        AssistantMessage(id="i1", content="Route it.", internal=True, parent_id="a2"),
        worked("w1", parent_id="i1"),
    ]
    await store.messages.save(said, thread_id="t1")


async def asked(client: httpx.AsyncClient, query: str = "") -> dict[str, Any]:
    reply = await client.get(f"{OUTLINE}?{query}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


@each_row(
    ("query", "ids"),
    [
        ("", ["m1", "a2", "w1"]),
        ("internal=true", ["m1", "a2", "i1", "w1"]),
        ("branch=a1", ["m1", "a1"]),
        ("branch=a2", ["m1", "a2", "w1"]),
        ("branch=m1&internal=true", ["m1", "a2", "i1", "w1"]),
    ],
)
async def test_the_rows_are_those_of_a_branch(client: httpx.AsyncClient, query: str, ids: list[str]) -> None:
    found = await asked(client, query)
    assert [row[0] for row in found["items"]] == ids
    assert found["total"] == len(ids)


async def test_a_row_says_what_a_message_is(client: httpx.AsyncClient) -> None:
    first, *_, last = (await asked(client))["items"]
    assert first[:5] == ["m1", 1, "user", "text", "2026-03-01T12:00:00Z"]
    assert last[2:4] == ["assistant", "tool"]
    assert last[5] > first[5] > len("How tall is the lighthouse?")


async def test_a_message_that_changed_has_another_version(client: httpx.AsyncClient, store: Store) -> None:
    before = {row[0]: row[6] for row in (await asked(client))["items"]}
    await store.messages.save([answer("a2", "Fifty metres.")], thread_id="t1")
    after = {row[0]: row[6] for row in (await asked(client))["items"]}
    assert {name for name in before if before[name] != after[name]} == {"a2"}


@each_row(("query", "shown"), [("", "a2"), ("branch=a1", "a1")])
async def test_messages_beside_each_other_are_told(client: httpx.AsyncClient, query: str, shown: str) -> None:
    assert (await asked(client, query))["siblings"] == {shown: ["a1", "a2"]}


async def test_the_roots_of_a_thread_stand_beside_each_other(client: httpx.AsyncClient, store: Store) -> None:
    await store.messages.save([ask("m2", "Or the tower?", parent_id="")], thread_id="t1")
    found = await asked(client)
    assert [row[0] for row in found["items"]] == ["m2"]
    assert found["siblings"] == {"m2": ["m1", "m2"]}


async def test_models_and_usage_are_told(client: httpx.AsyncClient, store: Store) -> None:
    responses = [("k1", "small"), ("k2", "large"), ("k3", "large")]
    await store.usage.record(
        [
            ConsumptionRecord(
                thread_id="t1",
                key=key,
                message_id="a2",
                model=model,
                time=NOON + timedelta(seconds=1),
                input_tokens=10,
                output_tokens=2,
            )
            for key, model in responses
        ]
    )
    found = await asked(client)
    assert found["models"] == ["large", "small"]
    assert (found["usage"]["responses"], found["usage"]["outputTokens"]) == (3, 6)


@each_row("path", ["/api/threads/none/outline", f"{OUTLINE}?branch=none"])
async def test_what_is_not_there_is_said_so(client: httpx.AsyncClient, path: str) -> None:
    reply = await client.get(path)
    assert reply.status_code == 404
    assert "none" in reply.json()["detail"]


async def test_a_circle_of_parents_ends_the_way(client: httpx.AsyncClient, store: Store) -> None:
    await store.messages.save([ask("m1", parent_id="w1")], thread_id="t1")
    assert {row[0] for row in (await asked(client, "branch=a2"))["items"]} == {"m1", "a2", "w1"}
