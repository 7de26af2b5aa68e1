"""Threads for a `RemoteThreadListAdapter` of assistant-ui."""

import httpx

from partita.server.app import asgi
from partita.store.store import Store
from partita.store.threads.lists import MAX_TITLE, first_words
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, UserMessage
from tests.server.conftest import client_of, scripted, text_part, user_in_header
from tests.tables import each_row

API = "/api/assistant-ui/threads"


async def make(client: httpx.AsyncClient, **body: object) -> JsonObject:
    made = await client.post(API, json=body)
    assert made.status_code == 201, made.text
    row: JsonObject = made.json()
    return row


async def test_a_thread_can_be_created_found_renamed_archived_and_deleted(client: httpx.AsyncClient) -> None:
    id_ = (await client.post(API)).json()["id"]
    place = f"{API}/{id_}"
    assert (await client.get(place)).json()["status"] == "regular"
    assert (await client.patch(place, json={"title": "Lamps"})).json()["title"] == "Lamps"
    assert (await client.patch(place, json={"status": "archived"})).json()["status"] == "archived"
    (row,) = (await client.get(API)).json()
    assert (row["id"], row["remoteId"], row["title"], row["status"]) == (id_, id_, "Lamps", "archived")
    assert (await client.patch(place, json={"status": "regular"})).json()["status"] == "regular"
    assert (await client.patch(place, json={"title": None})).json().get("title") is None
    assert (await client.delete(place)).status_code == 204
    for response in (await client.get(place), await client.delete(place), await client.patch(place, json={})):
        assert response.status_code == 404


async def test_creating_a_thread_again_returns_it(client: httpx.AsyncClient) -> None:
    first = await make(client, id="t1", title="Lamps", custom={"a": 1}, externalId="x1")
    assert (first["custom"], first["externalId"]) == ({"a": 1}, "x1")
    assert await make(client, id="t1", title="Boats") == first


async def test_custom_data_of_a_thread_is_replaced_as_a_whole(
    client: httpx.AsyncClient,
) -> None:
    await make(client, id="t1", custom={"a": 1, "b": None})
    assert (await client.get(f"{API}/t1")).json()["custom"] == {"a": 1, "b": None}
    assert (await client.patch(f"{API}/t1", json={"custom": {"c": 2}})).json()["custom"] == {"c": 2}
    assert "custom" not in (await client.patch(f"{API}/t1", json={"custom": None})).json()


async def test_invalid_threads_are_refused(client: httpx.AsyncClient) -> None:
    before = await make(client, id="t1")
    bodies: list[object] = [{"status": "gone"}, {"title": 5}, {"custom": []}, {"title": "x", "custom": 1}, []]
    for body in bodies:
        assert (await client.patch(f"{API}/t1", json=body)).status_code == 400, body
    assert (await client.get(f"{API}/t1")).json() == before


async def test_the_list_is_paginated(client: httpx.AsyncClient) -> None:
    for number in range(5):
        await make(client, id=f"t{number}")
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        query = {"limit": "2", **({"after": after} if after else {})}
        rows = await client.get(API, params=query)
        page = (await client.get(API, params={**query, "shape": "page"})).json()
        assert page["threads"] == rows.json()
        after = page.get("nextCursor")
        assert rows.headers.get("x-next-cursor") == after
        found += [row["id"] for row in rows.json()]
    assert found == ["t4", "t3", "t2", "t1", "t0"]


async def test_threads_of_other_owners_are_not_found(store: Store) -> None:
    app = asgi(scripted([text_part("Yes.")]), store=store, user=user_in_header, routes=["assistant-ui"])
    async with (
        app.lifespan(),
        client_of(app, headers={"x-user": "u1"}) as one,
        client_of(app, headers={"x-user": "u2"}) as other,
    ):
        await make(one, id="t1")
        assert (await other.get(API)).json() == []
        row: JsonObject = {"id": "m1", "parent_id": None, "content": {"role": "user", "parts": []}}
        responses = [
            await other.get(f"{API}/t1"),
            await other.patch(f"{API}/t1", json={"title": "Mine"}),
            await other.delete(f"{API}/t1"),
            await other.post(f"{API}/t1/title"),
            await other.get(f"{API}/t1/messages"),
            await other.post(f"{API}/t1/messages", json=row),
            await other.put(f"{API}/t1/messages/m1", json=row),
            await other.delete(f"{API}/t1/messages/m1"),
        ]
        assert [response.status_code for response in responses] == [404] * 8
        assert [row["id"] for row in (await one.get(API)).json()] == ["t1"]


async def test_a_title_is_generated_from_the_first_question(client: httpx.AsyncClient, store: Store) -> None:
    await make(client, id="t1")
    greeting = AssistantMessage(id="m1", content="Good morning.")
    await store.messages.save([greeting, UserMessage(id="m2", content="How tall\nis it?")], thread_id="t1")
    assert (await client.post(f"{API}/t1/title", json={"messages": []})).json() == {
        "title": "How tall is it?"
    }
    assert (await client.get(f"{API}/t1")).json()["title"] == "How tall is it?"


async def test_an_existing_title_is_kept(client: httpx.AsyncClient) -> None:
    await make(client, id="t1", title="Lamps")
    title_messages = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "How tall?"}]}]}
    assert (await client.post(f"{API}/t1/title", json=title_messages)).json() == {"title": "Lamps"}


TITLE_REQUESTS: dict[str, tuple[list[object], str]] = {
    "UI messages": ([{"role": "user", "parts": [{"type": "text", "text": "How tall?"}]}], "How tall?"),
    "messages of assistant-ui": (
        [
            {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
            {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "How tall?"}]},
        ],
        "How tall?",
    ),
    "nothing": ([], ""),
    "no messages at all": ([5, {"role": "user", "content": 7}, {"role": "user", "parts": [None]}], ""),
}


async def test_a_client_may_send_the_messages_for_the_title(client: httpx.AsyncClient) -> None:
    for name, (title_messages, title) in TITLE_REQUESTS.items():
        place = f"{API}/{(await make(client))['id']}"
        given = await client.post(f"{place}/title", json={"messages": title_messages})
        assert given.json() == {"title": title}, name
        assert (await client.get(place)).json().get("title", "") == title, name


async def test_a_title_may_be_read_as_a_stream_of_plain_text(client: httpx.AsyncClient) -> None:
    await make(client, id="t1", title="Lamps")
    response = await client.post(f"{API}/t1/title", headers={"accept": "text/plain"})
    assert (response.headers["content-type"].partition(";")[0], response.text) == ("text/plain", "Lamps")


TITLES = {
    "short": ("Lamps", "Lamps"),
    "on several lines": (" a\n\tb ", "a b"),
    "cut between words": ("lamp " * 20, " ".join(["lamp"] * 12) + "…"),
    "cut in a word": ("a" + " lamps" * 20, "a" + " lamps" * 9 + "…"),
    "one very long word": ("x" * 100, "x" * (MAX_TITLE - 1) + "…"),
    "nothing": ("  ", ""),
}


@each_row(("text", "title"), TITLES.values(), ids=TITLES)
def test_titles_are_shortened_to_whole_words(text: str, title: str) -> None:
    assert first_words(text) == title
    assert len(title) <= MAX_TITLE
