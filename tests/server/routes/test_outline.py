"""The outline of a thread over HTTP: one short row for each message of a branch."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from partita.store.store import Store
from partita.store.values import ConsumptionRecord
from partita.types.messages import AssistantMessage
from partita.types.parts import UnknownPart
from partita.types.value import Extra
from tests.store.examples import assistant_message, tool_call_message, user_message
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OUTLINE = "/api/threads/t1/outline"


@pytest.fixture(autouse=True)
async def conversation(store: Store) -> None:
    """Two responses to the first question, the second with later messages; and an internal message."""
    await store.threads.create("t1")
    stored = [
        user_message("m1", created_at=NOON),
        assistant_message("a1", parent_id="m1"),
        assistant_message("a2", parent_id="m1"),
        AssistantMessage(id="i1", content="Route it.", internal=True, parent_id="a2"),
        tool_call_message("w1", parent_id="i1"),
    ]
    await store.messages.save(stored, thread_id="t1")


async def outline(client: httpx.AsyncClient, query: str = "") -> dict[str, Any]:
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
async def test_the_outline_has_the_messages_of_a_branch(
    client: httpx.AsyncClient, query: str, ids: list[str]
) -> None:
    found = await outline(client, query)
    assert [row[0] for row in found["items"]] == ids
    assert found["total"] == len(set(ids) - {"i1"}), "messages that are not internal"


async def test_a_row_describes_its_message(client: httpx.AsyncClient) -> None:
    first, *_, last = (await outline(client))["items"]
    assert first[:5] == ["m1", 1, "user", "text", "2026-03-01T12:00:00Z"]
    assert last[2:4] == ["assistant", "tool"]
    assert last[5] > first[5] > len("How tall is the lighthouse?")


async def test_a_changed_message_has_another_version(client: httpx.AsyncClient, store: Store) -> None:
    before = {row[0]: row[6] for row in (await outline(client))["items"]}
    await store.messages.save([assistant_message("a2", "Fifty metres.")], thread_id="t1")
    after = {row[0]: row[6] for row in (await outline(client))["items"]}
    assert {name for name in before if before[name] != after[name]} == {"a2"}


@each_row(("query", "shown"), [("", "a2"), ("branch=a1", "a1")])
async def test_alternative_messages_are_listed(client: httpx.AsyncClient, query: str, shown: str) -> None:
    assert (await outline(client, query))["siblings"] == {shown: ["a1", "a2"]}


async def test_the_roots_of_a_thread_are_alternatives(client: httpx.AsyncClient, store: Store) -> None:
    await store.messages.save([user_message("m2", "Or the tower?", parent_id="")], thread_id="t1")
    found = await outline(client)
    assert [row[0] for row in found["items"]] == ["m2"]
    assert found["siblings"] == {"m2": ["m1", "m2"]}
    await store.messages.save([assistant_message("x1"), assistant_message("x2")], thread_id="t1")
    await store.threads.change("t1", metadata={"sessionId": "s1"})
    found = await outline(client, "messages=2")
    assert [row[0] for row in found["items"]] == ["m2", "x1"]
    assert found["siblings"] == {"m2": ["m1", "m2"]}


@each_row(
    ("metadata", "query", "ids"),
    [
        (None, "messages=0", None),
        (None, "messages=2", ["a2", "w1"]),
        (None, "messages=9", ["m1", "a2", "w1"]),
        (None, "messages=1&around=a2", ["a2"]),
        (None, "messages=2&around=m1", ["m1", "a2"]),
        (None, "messages=2&around=none", ["a2", "w1"]),
        (None, "messages=2&branch=a1", ["m1", "a1"]),
        ({"sessionId": "s1"}, "messages=2", ["m1", "a2"]),
        ({"sessionId": "s1", "clone": {}}, "messages=2", ["a2", "w1"]),
    ],
)
async def test_the_messages_that_are_displayed_first(
    client: httpx.AsyncClient,
    store: Store,
    metadata: dict[str, Any] | None,
    query: str,
    ids: list[str] | None,
) -> None:
    await store.threads.change("t1", metadata=metadata)
    page = (await outline(client, query))["page"]
    assert (page and [message["id"] for message in page["items"]]) == ids
    if page:
        asked = "&".join(f"ids={one}" for one in ids or ())
        url = f"/api/threads/t1/messages?blobs=reference&timings=true&views=true&{asked}"
        assert page == (await client.get(url)).json()


@each_row(
    ("metadata", "query", "ids"),
    [
        (None, "messages=1", ["w1"]),
        (None, "messages=2", ["a2", "w1"]),
        (None, "messages=2&internal=true", ["i1", "w1"]),
        (None, "messages=1&around=a2", ["m1", "a2", "w1"]),
        (None, "messages=1&branch=a1", ["m1", "a1"]),
        ({"sessionId": "s1"}, "messages=2", ["m1", "a2"]),
    ],
)
async def test_the_first_messages_come_with_their_rows(
    client: httpx.AsyncClient, store: Store, metadata: dict[str, Any] | None, query: str, ids: list[str]
) -> None:
    await store.threads.change("t1", metadata=metadata)
    whole = await outline(client, query.partition("&")[2])
    found = await outline(client, query)
    rows = {row[0]: row for row in whole["items"]}
    assert found["items"] == [rows[name] for name in ids]
    assert found["complete"] == (len(ids) == len(rows))
    assert found["siblings"] == {name: of for name, of in whole["siblings"].items() if name in ids}
    for field in ("total", "models", "usage", "running", "opensAtEnd"):
        assert found[field] == whole[field]


async def test_the_whole_thread_is_complete(client: httpx.AsyncClient) -> None:
    for query in ("", "messages=3", "messages=9"):
        found = await outline(client, query)
        assert found["complete"]
        assert len(found["items"]) == 3


async def test_large_messages_are_fewer(client: httpx.AsyncClient, store: Store) -> None:
    large = [assistant_message(f"x{number}", "word " * 30_000) for number in range(3)]
    await store.messages.save([*large, assistant_message("x3")], thread_id="t1")
    for query, ids in (("", ["x2", "x3"]), ("&around=x1", ["x1"]), ("&around=m1", ["m1", "a2", "w1", "x0"])):
        page = (await outline(client, f"messages=20{query}"))["page"]
        assert [message["id"] for message in page["items"]] == ids


async def test_the_messages_keep_unknown_members(client: httpx.AsyncClient, store: Store) -> None:
    message = AssistantMessage(
        id="x1",
        content=[UnknownPart(raw=Extra({"type": "lamp", "lit": True}))],
        extra=Extra({"mood": "calm"}),
    )
    await store.messages.save([message], thread_id="t1")
    [found] = (await outline(client, "messages=1"))["page"]["items"]
    assert found["content"]["parts"] == [{"type": "lamp", "lit": True}]
    assert found["mood"] == "calm"


async def test_a_session_that_is_running_opens_at_its_end(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.change("t1", metadata={"sessionId": "s1"})
    assert not (await outline(client))["opensAtEnd"]
    await store.runs.open("t1")
    found = await outline(client, "messages=1")
    assert found["opensAtEnd"]
    assert [message["id"] for message in found["page"]["items"]] == ["w1"]


async def test_models_and_usage_are_returned(client: httpx.AsyncClient, store: Store) -> None:
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
    found = await outline(client)
    assert found["models"] == ["large", "small"]
    assert (found["usage"]["responses"], found["usage"]["outputTokens"]) == (3, 6)


@each_row("path", ["/api/threads/none/outline", f"{OUTLINE}?branch=none"])
async def test_missing_threads_and_messages_are_not_found(client: httpx.AsyncClient, path: str) -> None:
    reply = await client.get(path)
    assert reply.status_code == 404
    assert "none" in reply.json()["detail"]


async def test_a_cycle_of_parents_ends_the_branch(client: httpx.AsyncClient, store: Store) -> None:
    await store.messages.save([user_message("m1", parent_id="w1")], thread_id="t1")
    assert {row[0] for row in (await outline(client, "branch=a2"))["items"]} == {"m1", "a2", "w1"}
