"""Full-text search and search of parts over HTTP."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from partita.server.app import asgi
from partita.store.store import Store
from partita.types.messages import AssistantMessage
from partita.types.parts import ReasoningPart, TextPart
from partita.types.threads import Thread
from tests.server.conftest import client_of, user_in_header
from tests.server.routes.paging import paged
from tests.store.examples import assistant_message, failed_call_message, tool_call_message, user_message

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def conversation(store: Store) -> None:
    """Two threads, the second a day later."""
    for thread_id, title, agent, project in (
        ("tower", "The old lighthouse", "keeper", "coast"),
        ("boat", "Boats", "sailor", "harbour"),
    ):
        thread = Thread(id=thread_id, title=title, agent=agent, project=project, created_at=NOON)
        await store.threads.save(thread)
    day = NOON + timedelta(days=1)
    await store.messages.save(
        [user_message("t1", "Who painted it?", created_at=NOON), tool_call_message("t2", created_at=NOON)],
        thread_id="tower",
    )
    await store.messages.save(
        [
            user_message("b1", "Does the lighthouse guide it?", created_at=day),
            AssistantMessage(
                id="b2",
                content=[ReasoningPart(text="A lantern, perhaps."), TextPart("It shines.")],
                created_at=day,
            ),
            failed_call_message("b3", tool="sail", created_at=day),
        ],
        thread_id="boat",
    )


async def found(client: httpx.AsyncClient, query: str) -> list[str]:
    """The sorted ids of the hits; a title has the id of its thread."""
    reply = await client.get(f"/api/search?{query}")
    assert reply.status_code == 200, reply.text
    return sorted(hit.get("messageId") or hit["threadId"] for hit in reply.json()["items"])


async def test_the_totals_of_all_pages_are_returned(client: httpx.AsyncClient, conversation: None) -> None:
    for query in ("q=lighthouse", "q=lighthouse&limit=1", "q=lighthouse&perThread=1"):
        page = (await client.get(f"/api/search?{query}")).json()
        assert (page["threads"], page["matches"]) == (2, 2), query
        assert "complete" not in page, query
    nothing = (await client.get("/api/search?q=zanzibar")).json()
    assert (nothing.get("threads", 0), nothing.get("matches", 0)) == (0, 0)


SEARCHED = {
    "q=lighthouse": ["b1", "t2", "tower"],
    "q=lighthouse&thread=boat": ["b1"],
    "q=lighthouse&roles=user": ["b1"],
    "q=lighthouse&roles=user,assistant": ["b1", "t2"],
    "q=lighthouse&fields=title": ["tower"],
    "q=lighthouse&fields=title,text": ["b1", "tower"],
    "q=lighthouse&fields=tool-input": ["t2"],
    "q=lighthouse&agent=sailor": ["b1"],
    "q=lighthouse&project=coast": ["t2", "tower"],
    "q=lighthouse&tool=measure": ["t2"],
    "q=lighthouse&since=2026-03-02": ["b1"],
    "q=lighthouse&until=2026-03-02": ["t2", "tower"],
    "q=lantern": ["b2"],
    "q=lantern&fields=text": [],
    'q="guide it"': ["b1"],
    "q=lighthouse -guide": ["t2", "tower"],
    "q=paint*": ["t1"],
    "q=' OR 1=1 --": [],
    "q=lantern OR guide": ["b1", "b2"],
    "q=lighthouse project:coast": ["t2", "tower"],
    "q=lighthouse -project:coast": ["b1"],
    "q=tool:SAIL": ["b3"],
    "q=file:nothing": [],
    "q=l": ["b1", "b2", "t2", "tower"],
    "q=after:2026-03-02": ["b1", "b2", "b3"],
    "q=lighthouse&agent=nobody": [],
    "q=lighthouse&pinned=true": [],
    "q=lighthouse&hasErrors=true": ["b1"],
    "q=lighthouse&hasErrors=false": ["t2", "tower"],
    "q=lighthouse&active=true": [],
    "q=lighthouse&tag=none": [],
    "q=lighthouse&model=none": [],
    "q=lighthouse&ids=boat,none": ["b1"],
    "q=lighthouse&ids=boat&hasErrors=true&agent=sailor": ["b1"],
}


async def test_messages_and_titles_are_found(client: httpx.AsyncClient, conversation: None) -> None:
    assert {query: await found(client, query) for query in SEARCHED} == SEARCHED


async def test_a_hit_has_its_highlights(client: httpx.AsyncClient, conversation: None) -> None:
    (hit,) = (await client.get("/api/search?q=guide")).json()["items"]
    assert (hit["threadId"], hit["messageId"], hit["field"], hit["title"]) == ("boat", "b1", "text", "Boats")
    assert [hit["snippet"][start:end] for start, end in hit["highlights"]] == ["guide"]


async def test_hits_can_be_grouped_by_thread(client: httpx.AsyncClient, conversation: None) -> None:
    reply = (await client.get("/api/search?q=i OR it&perThread=1")).json()
    counts = {hit["threadId"]: hit["threadMatches"] for hit in reply["items"]}
    assert counts == {"boat": 2, "tower": 2}
    assert len(reply["items"]) == 2
    flat = (await client.get("/api/search?q=i OR it")).json()["items"]
    assert len(flat) == 4


async def test_the_occurrences_in_a_thread_are_found(client: httpx.AsyncClient, conversation: None) -> None:
    reply = (await client.get("/api/threads/boat/find?q=guide OR lantern")).json()
    assert reply == {
        "items": [
            {"messageId": "b1", "part": "0", "count": 1, "words": ["guide"]},
            {"messageId": "b2", "part": "0", "count": 1, "words": ["lantern"]},
        ],
        "complete": True,
    }
    assert (await client.get("/api/threads/boat/find?q=Guide&matchCase=true")).json()["items"] == []
    assert (await client.get("/api/threads/boat/find?q=-x")).status_code == 400
    assert (await client.get("/api/threads/nowhere/find?q=guide")).status_code == 404


REFUSED = [
    "",
    "q=",
    "q=%00",
    "q=%ED%A0%80",
    "q=%22",
    "q=-lighthouse",
    "q=lighthouse before:soon",
    "q=x&perThread=0",
    "q=x&limit=0",
    "q=x&limit=501",
    "q=x&cursor=x",
    "q=x&roles=king",
    "q=x&fields=smell",
    "q=x&since=soon",
    "q=x&agent=%00",
    "q=x&thread=%00",
    "q=x&tool=%00",
    "q=x&model=%00",
    "q=x&pinned=perhaps",
    "q=x&text=",
]


async def test_invalid_searches_are_refused(client: httpx.AsyncClient) -> None:
    for query in REFUSED:
        reply = await client.get(f"/api/search?{query}")
        assert reply.status_code == 400, query
        assert reply.headers["content-type"] == "application/problem+json"


async def test_pages_of_any_size_give_every_hit_once(client: httpx.AsyncClient, conversation: None) -> None:
    for size in (1, 2, 3, 500):
        hits = await paged(client, "/api/search?q=lighthouse", size)
        assert sorted(hit.get("messageId") or hit["threadId"] for hit in hits) == ["b1", "t2", "tower"]


async def parts(client: httpx.AsyncClient, query: str) -> list[tuple[str, str]]:
    reply = await client.get(f"/api/parts?{query}")
    assert reply.status_code == 200, reply.text
    return [(part["messageId"], part["type"]) for part in reply.json()["items"]]


EVERYTHING = [
    ("b3", "tool-call"),
    ("b2", "reasoning"),
    ("b2", "text"),
    ("b1", "text"),
    ("t2", "reasoning"),
    ("t2", "tool-call"),
    ("t2", "text"),
    ("t1", "text"),
]

PARTS = {
    "": EVERYTHING,
    "limit=1": EVERYTHING[:1],
    "types=tool-call": [("b3", "tool-call"), ("t2", "tool-call")],
    "types=tool-call,reasoning&thread=tower": [("t2", "reasoning"), ("t2", "tool-call")],
    "tool=sail": [("b3", "tool-call")],
    "states=output-error": [("b3", "tool-call")],
    "states=output-error,output-available": [("b3", "tool-call"), ("t2", "tool-call")],
    "hasError=true": [("b3", "tool-call")],
    "hasError=false&types=tool-call": [("t2", "tool-call")],
    "agent=sailor&types=reasoning": [("b2", "reasoning")],
    "project=coast&types=text": [("t2", "text"), ("t1", "text")],
    "since=2026-03-02&types=text": [("b2", "text"), ("b1", "text")],
    "until=2026-03-02&types=text": [("t2", "text"), ("t1", "text")],
    "longerThan=0": [],  # their duration is unknown
    "thread=nowhere": [],
}


async def test_parts_are_filtered(client: httpx.AsyncClient, conversation: None) -> None:
    assert {query: await parts(client, query) for query in PARTS} == PARTS


async def test_a_part_has_its_place_and_outcome(client: httpx.AsyncClient, conversation: None) -> None:
    (part,) = (await client.get("/api/parts?tool=sail")).json()["items"]
    assert part == {
        "threadId": "boat",
        "messageId": "b3",
        "seq": 3,
        "path": "0",
        "type": "tool-call",
        "toolName": "sail",
        "callId": "b3-call",
        "state": "output-error",
        "error": "tape too short",
    }


REFUSED_PARTS = [
    "limit=0",
    "cursor=x",
    "cursor=W10",
    "hasError=perhaps",
    "longerThan=-1",
    "longerThan=nan",
    "shorterThan=inf",
    "longerThan=1e300",
    "shorterThan=soon",
    "since=soon",
    "until=9999-12-31T23:59-14:00",
]


async def test_invalid_searches_of_parts_are_refused(client: httpx.AsyncClient) -> None:
    for query in REFUSED_PARTS:
        assert (await client.get(f"/api/parts?{query}")).status_code == 400, query


async def test_pages_of_any_size_give_every_part_once(client: httpx.AsyncClient, conversation: None) -> None:
    for size in (1, 3, 8):
        seen = await paged(client, "/api/parts?", size)
        assert [(part["messageId"], part["type"]) for part in seen] == EVERYTHING


async def test_data_of_other_owners_is_not_found(store: Store) -> None:
    for owner in ("ann", "bob"):
        await store.threads.create("t1", title=f"{owner} and the lighthouse", resource_id=owner)
        await store.scoped(owner).messages.save(
            [user_message(f"{owner}-1"), assistant_message(f"{owner}-2")], thread_id="t1"
        )
    app = asgi(None, store=store, user=user_in_header, routes="all")
    async with app.lifespan(), client_of(app, headers={"x-user": "ann"}) as ann:
        for query in ("q=lighthouse", "q=lighthouse&thread=t1"):
            hits = (await ann.get(f"/api/search?{query}")).json()["items"]
            assert [hit["resourceId"] for hit in hits] == ["ann", "ann"]
        for query in ("", "thread=t1"):
            assert await parts(ann, query) == [("ann-2", "text"), ("ann-1", "text")]
        assert (await ann.get("/api/search?q=bob")).json()["items"] == []
        assert (await ann.get("/api/search?q=bob&resourceId=bob")).status_code == 403
    async with client_of(asgi(None, store=store)) as admin:
        assert len(await parts(admin, "")) == 4
        assert await parts(admin, "resourceId=bob") == [("bob-2", "text"), ("bob-1", "text")]
