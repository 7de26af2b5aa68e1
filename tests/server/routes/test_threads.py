"""Threads over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from partita.server.app import asgi
from partita.store.store import Store
from partita.store.values import ConsumptionRecord
from partita.types.messages import SystemMessage, UserMessage
from partita.types.parts import FilePart
from partita.types.threads import Thread
from partita.types.value import Extra
from tests.server.conftest import client_of, scripted, user_in_header
from tests.server.routes.paging import paged
from tests.store.examples import assistant_message, failed_call_message, user_message

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def ids(client: httpx.AsyncClient, query: str) -> list[str]:
    reply = await client.get(f"/api/threads?{query}")
    assert reply.status_code == 200, reply.text
    return [thread["id"] for thread in reply.json()["items"]]


@pytest.fixture
async def threads(store: Store) -> None:
    """Three threads, an hour apart: `lamp` is the latest."""
    given: dict[str, dict[str, Any]] = {
        "tower": {"title": "Towers", "agent": "keeper", "metadata": {"height": 41, "old": True}},
        "boat": {"title": "Boats", "project": "harbour", "metadata": {"height": 3}},
        "lamp": {"title": "Lamps", "agent": "keeper", "project": "harbour"},
    }
    for hours, (name, fields) in enumerate(given.items()):
        moment = NOON + timedelta(hours=hours)
        await store.threads.save(Thread(id=name, created_at=moment, updated_at=moment, **fields))


LISTED: dict[str, list[str]] = {
    "": ["lamp", "boat", "tower"],
    "order=asc": ["tower", "boat", "lamp"],
    "limit=2": ["lamp", "boat"],
    "agent=keeper": ["lamp", "tower"],
    "project=harbour": ["lamp", "boat"],
    "agent=keeper&project=harbour": ["lamp"],
    "agent=nobody": [],
    "text=boats": ["boat"],
    "text=boats OR tower": ["boat", "tower"],
    "text=project:harbour -boats": [],
    "since=2026-03-01T13:00:00Z": ["lamp", "boat"],
    "since=2026-03-01T13:00": ["lamp", "boat"],  # without a zone: UTC
    "since=2026-03-01T14:00%2B01:00": ["lamp", "boat"],
    "until=2026-03-01T13:00:00Z": ["tower"],
    "since=2026-03-02": [],
    "hasErrors=false": ["lamp", "boat", "tower"],
    "hasErrors=true": [],
    'metadata={"height":41}': ["tower"],
    'metadata={"height":41,"old":false}': [],
    "metadata={}": ["lamp", "boat", "tower"],
    "agent=%00": [],
    "agent=%ED%A0%80": [],
}


async def test_threads_are_listed_and_filtered(client: httpx.AsyncClient, threads: None) -> None:
    assert {query: await ids(client, query) for query in LISTED} == LISTED


async def test_threads_with_errors_can_be_filtered(
    client: httpx.AsyncClient, store: Store, threads: None
) -> None:
    await store.messages.save([user_message("m1"), failed_call_message("m2")], thread_id="boat")
    assert await ids(client, "hasErrors=true") == ["boat"]
    assert "boat" not in await ids(client, "hasErrors=false")


REFUSED = {
    "limit=0": "limit",
    "limit=-1": "limit",
    "limit=501": "limit",
    "limit=99999999999999999999": "limit",
    "limit=many": "limit",
    "order=up": "order",
    "cursor=": "cursor",
    "cursor=nonsense": "cursor",
    "cursor=%ED%A0%80": "cursor",
    "cursor=WzEsMl0": "cursor",
    "since=yesterday": "since",
    "since=": "since",
    "since=%00": "since",
    "since=0001-01-01T00:00%2B14:00": "range",
    "until=9999-12-31T23:59-14:00": "range",
    "since=2026-03-01T14:00+01:00": "%2B",  # a + in a query is a space
    "hasErrors=perhaps": "rrors",
    "metadata=[]": "metadata",
    "metadata=1": "metadata",
    "metadata={": "JSON",
    'metadata={"a":[1]}': "scalar",
    'metadata={"a":1e999}': "range",
    'metadata={"\\ud800":1}': "surrogate",
    "resourceId=%00": "resource",
    "text=": "nothing to search for",
    "text=%00": "nothing to search for",
    "text=-boats": "nothing to search for",
    "text=boats before:soon": "not a time",
}


async def test_invalid_queries_are_refused(client: httpx.AsyncClient) -> None:
    for query, expected in REFUSED.items():
        reply = await client.get(f"/api/threads?{query}")
        assert reply.status_code == 400, query
        assert reply.headers["content-type"] == "application/problem+json"
        assert expected in reply.text, query


@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_pages_of_any_size_give_every_thread_once(
    client: httpx.AsyncClient, store: Store, order: str
) -> None:
    made = [f"t{number}" for number in range(7)]
    for number, name in enumerate(made):  # two have the same time: the id breaks the tie
        await store.threads.save(Thread(id=name, updated_at=NOON + timedelta(hours=number // 2)))
    for size in (1, 2, 3, 7, 500):
        found = await paged(client, f"/api/threads?order={order}", size)
        assert [thread["id"] for thread in found] == (made if order == "asc" else made[::-1])


async def test_a_thread_is_created_with_the_given_members(client: httpx.AsyncClient) -> None:
    given = {"id": "t1", "title": "Lamps", "metadata": {"a": [1]}, "agent": "keeper", "project": "harbour"}
    made = await client.post("/api/threads", json=given)
    assert made.status_code == 201
    assert made.json().items() >= given.items()
    assert (await client.get("/api/threads/t1")).json() == made.json()
    assert (await client.post("/api/threads", json={"id": "t1"})).status_code == 409


async def test_a_thread_without_members_gets_an_id(client: httpx.AsyncClient) -> None:
    first, second = [(await client.post("/api/threads", json={})).json() for _ in range(2)]
    assert first["id"] != second["id"]


BODIES = {
    "nothing": b"",
    "not JSON": b"{",
    "not UTF-8": b'{"title":"\xff"}',
    "not an object": b"[1]",
    "a title that is a number": b'{"title":5}',
    "a title with a lone surrogate": b'{"title":"\\ud800"}',
    "an id with a NUL": b'{"id":"\\u0000"}',
    "an empty id": b'{"id":""}',
    "an id with a slash": b'{"id":"a/b"}',
    "metadata that is not an object": b'{"metadata":[1]}',
    "an unknown member": b'{"meta":{}}',
    "deep nesting": b'{"metadata":' + b'{"a":' * 3000 + b"1" + b"}" * 3001,
}


async def test_invalid_threads_are_refused(client: httpx.AsyncClient) -> None:
    for case, body in BODIES.items():
        reply = await client.post("/api/threads", content=body, headers={"content-type": "application/json"})
        assert reply.status_code == 400, case
    assert (await client.get("/api/threads")).json()["items"] == []


async def test_metadata_can_be_any_json(client: httpx.AsyncClient) -> None:
    body = b'{"id":"t1","metadata":{"half":"\\ud83d","large":123456789012345678901234567890}}'
    await client.post("/api/threads", content=body, headers={"content-type": "application/json"})
    found = (await client.get("/api/threads")).json()["items"][0]
    assert found["metadata"] == {"half": "\ud83d", "large": 123456789012345678901234567890}


CHANGES: dict[str, tuple[dict[str, Any], str | None, dict[str, Any]]] = {
    "nothing": ({}, "Lamps", {"a": 1, "b": 2}),
    "the title": ({"title": "Towers"}, "Towers", {"a": 1, "b": 2}),
    "no title": ({"title": None}, None, {"a": 1, "b": 2}),
    "a member": ({"metadata": {"a": "x"}}, "Lamps", {"a": "x", "b": 2}),
    "a removed member": ({"metadata": {"a": None}}, "Lamps", {"b": 2}),
    "both": (
        {"title": "Towers", "metadata": {"c": {"d": None}}},
        "Towers",
        {"a": 1, "b": 2, "c": {"d": None}},
    ),
}


@pytest.mark.parametrize(("change", "title", "metadata"), CHANGES.values(), ids=CHANGES)
async def test_a_change_keeps_other_members(
    client: httpx.AsyncClient, change: dict[str, Any], title: str | None, metadata: dict[str, Any]
) -> None:
    await client.post("/api/threads", json={"id": "t1", "title": "Lamps", "metadata": {"a": 1, "b": 2}})
    changed = await client.patch("/api/threads/t1", json=change)
    assert changed.status_code == 200
    assert (changed.json().get("title"), changed.json()["metadata"]) == (title, metadata)
    assert (await client.get("/api/threads/t1")).json() == changed.json()


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"a": 2}, "title": "half \x00"},
        {"metadata": None},
        {"metadata": [], "title": "x"},
        {"title": 1},
        {"id": "x"},
    ],
)
async def test_an_invalid_change_has_no_effect(client: httpx.AsyncClient, change: dict[str, Any]) -> None:
    made = await client.post("/api/threads", json={"id": "t1", "title": "Lamps", "metadata": {"a": 1}})
    assert (await client.patch("/api/threads/t1", json=change)).status_code == 400
    assert (await client.get("/api/threads/t1")).json() == made.json()


async def test_a_deleted_thread_is_gone(client: httpx.AsyncClient, store: Store, threads: None) -> None:
    await store.messages.save([user_message("m1")], thread_id="boat")
    gone = await client.delete("/api/threads/boat")
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get("/api/threads/boat")).status_code == 404
    assert (await client.delete("/api/threads/boat")).status_code == 404


@pytest.fixture
async def branched(store: Store) -> None:
    """`m1`, with the responses `m2` and, on the active branch, `m3`."""
    await store.threads.create("t1", title="Lamps")
    await store.messages.save(
        [user_message("m1"), assistant_message("m2"), assistant_message("m3", parent_id="m1")], thread_id="t1"
    )


async def shown(client: httpx.AsyncClient, thread_id: str) -> list[str]:
    return [item["id"] for item in (await client.get(f"/api/threads/{thread_id}/messages")).json()["items"]]


async def test_a_clone_has_all_branches(client: httpx.AsyncClient, branched: None) -> None:
    copied = await client.post("/api/threads/t1/clone")
    assert copied.status_code == 201
    assert (copied.json()["title"], copied.json()["messageCount"]) == ("Lamps", 2)
    assert copied.json()["metadata"] == {"clone": {"threadId": "t1"}}
    named = await client.post("/api/threads/t1/clone", json={"id": "t2", "title": "Again"})
    assert (named.json()["id"], named.json()["title"]) == ("t2", "Again")
    assert (await client.post("/api/threads/t1/clone", json={"id": "t2"})).status_code == 409
    assert (await client.post("/api/threads/nowhere/clone")).status_code == 404


async def test_a_fork_ends_with_its_message(client: httpx.AsyncClient, branched: None) -> None:
    forked = await client.post("/api/threads/t1/fork", json={"messageId": "m2", "id": "t2"})
    assert forked.status_code == 201
    assert await shown(client, "t2") == ["m1", "m2"]
    assert (await client.post("/api/threads/t1/fork", json={"messageId": "m9"})).status_code == 404
    assert (await client.post("/api/threads/t1/fork", json={})).status_code == 400


async def test_another_branch_becomes_active(client: httpx.AsyncClient, branched: None) -> None:
    assert await shown(client, "t1") == ["m1", "m3"]
    switched = await client.post("/api/threads/t1/branch", json={"messageId": "m2"})
    assert (switched.status_code, switched.json()["activeLeafId"]) == (200, "m2")
    assert await shown(client, "t1") == ["m1", "m2"]
    assert (await client.post("/api/threads/t1/branch", json={"messageId": "m9"})).status_code == 404


async def test_usage_is_summed(client: httpx.AsyncClient, store: Store, branched: None) -> None:
    await store.usage.record(
        [
            ConsumptionRecord(thread_id="t1", key=key, model="m", time=NOON, input_tokens=10, output_tokens=4)
            for key in ("r1", "r2")
        ]
    )
    usage = (await client.get("/api/threads/t1/usage")).json()
    assert (usage["responses"], usage["inputTokens"], usage["outputTokens"]) == (2, 20, 8)
    assert (await client.get("/api/threads/nowhere/usage")).status_code == 404


async def test_metadata_of_an_import_is_returned(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.save(Thread(id="t1", extra=Extra({"pinned": True})))
    assert (await client.get("/api/threads/t1")).json()["pinned"] is True
    assert (await client.get("/api/threads")).json()["items"][0]["pinned"] is True


async def test_tags_are_changed_and_select_threads(client: httpx.AsyncClient) -> None:
    for name, tags in {"t1": ["oil", "night"], "t2": ["oil"], "t3": []}.items():
        await client.post("/api/threads", json={"id": name})
        changed = await client.patch(f"/api/threads/{name}", json={"metadata": {"tags": tags}})
        assert changed.json()["metadata"] == {"tags": tags}
    for query, ids in {"tag=oil": {"t1", "t2"}, "tag=oil&tag=night": {"t1"}, "tag=oil,night": {"t1"}}.items():
        assert {one["id"] for one in (await client.get(f"/api/threads?{query}")).json()["items"]} == ids
    (summary,) = (await client.get("/api/summaries?tag=night")).json()["items"]
    assert summary["tags"] == ["oil", "night"]


async def test_threads_of_other_owners_are_not_found(store: Store) -> None:
    app = asgi(scripted(), store=store, user=user_in_header, routes="all")
    async with app.lifespan(), client_of(app, headers={"x-user": "ann"}) as ann:
        await ann.post("/api/threads", json={"id": "t1", "title": "Secrets"})
        await store.scoped("ann").messages.save([user_message("m1")], thread_id="t1")
        async with client_of(app, headers={"x-user": "bob"}) as bob:
            for method, path, body in TOUCHED:
                there = await bob.request(method, f"/api/threads/t1{path}", json=body)
                nowhere = await bob.request(method, f"/api/threads/t0{path}", json=body)
                assert there.status_code == nowhere.status_code == 404, path
                assert there.text == nowhere.text.replace("t0", "t1")
            assert (await bob.get("/api/threads")).json()["items"] == []
            assert (await bob.get("/api/threads?text=secrets")).json()["items"] == []
            assert (await bob.get("/api/threads?resourceId=ann")).status_code == 403
            assert (await bob.post("/api/threads?resourceId=ann", json={})).status_code == 403
            made = await bob.post("/api/threads", json={"id": "t1"})
            assert (made.status_code, made.json()["resourceId"]) == (201, "bob")
        assert (await ann.get("/api/threads/t1")).json()["title"] == "Secrets"


TOUCHED: list[tuple[str, str, Any]] = [
    ("GET", "", None),
    ("PATCH", "", {"title": "mine"}),
    ("DELETE", "", None),
    ("POST", "/clone", {}),
    ("POST", "/fork", {"messageId": "m1"}),
    ("POST", "/branch", {"messageId": "m1"}),
    ("GET", "/usage", None),
    ("GET", "/messages", None),
    ("PUT", "/messages", [{"id": "m1", "role": "user", "content": "mine"}]),
    ("GET", "/messages/m1", None),
    ("DELETE", "/messages/m1", None),
    ("POST", "/messages/delete", {"ids": ["m1"]}),
    ("PUT", "/messages/m1/parts/0", {"type": "text", "text": "mine"}),
]


async def test_a_caller_for_all_owners_can_name_one(client: httpx.AsyncClient, store: Store) -> None:
    for owner in ("ann", "bob"):
        await client.post(f"/api/threads?resourceId={owner}", json={"id": "t1", "title": f"of {owner}"})
    assert await ids(client, "") == ["t1", "t1"]
    assert await ids(client, "resourceId=ann") == ["t1"]
    assert (await client.get("/api/threads/t1")).status_code == 409
    assert (await client.get("/api/threads/t1?resourceId=ann")).json()["title"] == "of ann"
    await client.delete("/api/threads/t1?resourceId=ann")
    assert (await client.get("/api/threads/t1")).json()["resourceId"] == "bob"


QUESTION = "  How tall is\n\tthe lighthouse  " + "of the old harbour, " * 20


async def test_a_thread_without_a_title_is_listed_with_its_first_question(
    client: httpx.AsyncClient, store: Store
) -> None:
    await store.threads.create("t1")
    secret = UserMessage(id="i1", content="Internal.", internal=True)
    file = FilePart(url="data:image/png;base64,iVBORw0KGgo=", media_type="image/png")
    picture = UserMessage(id="f1", content=[file])
    system = SystemMessage(id="s1", content="Obey.")
    questions = [UserMessage(id="u1", content=QUESTION), UserMessage(id="u2", content="Later.")]
    await store.messages.save([system, secret, picture, *questions], thread_id="t1")
    title = "How tall is the lighthouse of the old harbour, of the old…"
    listed = {
        "/api/threads": lambda expected: expected["items"][0]["title"],
        "/api/threads/t1": lambda expected: expected["title"],
        "/api/summaries": lambda expected: expected["items"][0]["title"][:30],
        "/api/assistant-ui/threads": lambda expected: expected[0]["title"],
        "/api/assistant-ui/threads/t1": lambda expected: expected["title"],
        "/api/memory/threads": lambda expected: expected["threads"][0]["title"],
        "/api/memory/threads/t1": lambda expected: expected["title"],
    }
    for path, title_in in listed.items():
        shown = title_in((await client.get(path)).json())
        assert shown in (title, title[:30]), path
    stored = await store.threads.get("t1")
    assert stored is not None
    assert stored.title is None
    await client.patch("/api/threads/t1", json={"title": "Lights"})
    assert (await client.get("/api/threads")).json()["items"][0]["title"] == "Lights"


async def test_everything_of_an_owner_is_deleted(client: httpx.AsyncClient, store: Store) -> None:
    for owner in ("ann", "bob"):
        await client.post(f"/api/threads?resourceId={owner}", json={"id": f"of {owner}"})
    response = await client.delete("/api/owners/ann")
    assert (response.status_code, response.json()["threads"]) == (200, 1)
    assert await ids(client, "") == ["of bob"]
    assert (await client.delete("/api/owners/ann")).json()["threads"] == 0
    assert (await store.scoped("ann").threads.get("of ann")) is None
