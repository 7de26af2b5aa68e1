"""Threads by Mastra's memory API: calls and their responses."""

from typing import Any

import httpx
import pytest

from partita.server.app import asgi
from partita.store.store import Store
from partita.types.json import dumps
from tests.server.conftest import client_of, scripted, text_part, user_in_header
from tests.tables import each_row

from .mastra_site import API, ids, listed, make_thread, minute, row, save

LISTS: dict[str, tuple[dict[str, str], list[str], dict[str, Any]]] = {
    "the newest first": ({}, ["t3", "t2", "t1"], {"total": 3, "page": 0, "perPage": 100, "hasMore": False}),
    "of one resource": ({"resourceId": "u1"}, ["t2", "t1"], {"total": 2}),
    "an order in brackets": (
        {"orderBy[field]": "createdAt", "orderBy[direction]": "ASC"},
        ["t1", "t2", "t3"],
        {},
    ),
    "an order as JSON": ({"orderBy": '{"field":"updatedAt","direction":"DESC"}'}, ["t1", "t3", "t2"], {}),
    "an order of old clients": (
        {"orderBy": "createdAt", "sortDirection": "ASC"},
        ["t1", "t2", "t3"],
        {},
    ),
    "an invalid order": ({"orderBy": "{"}, ["t3", "t2", "t1"], {}),
    "an unknown field": ({"orderBy[field]": "title"}, ["t3", "t2", "t1"], {}),
    "a page": (
        {"page": "1", "perPage": "2"},
        ["t1"],
        {"total": 3, "page": 1, "perPage": 2, "hasMore": False},
    ),
    "a page with more after it": ({"perPage": "2"}, ["t3", "t2"], {"total": 3, "hasMore": True}),
    "everything": ({"perPage": "false"}, ["t3", "t2", "t1"], {"perPage": False, "hasMore": False}),
    "an empty page": ({"perPage": "0"}, [], {"total": 3, "perPage": 0, "hasMore": True}),
    "by metadata": ({"metadata": '{"topic":"lamps"}'}, ["t3", "t1"], {"total": 2}),
    "by metadata with one type": ({"metadata": '{"n":1}'}, ["t1"], {"total": 1}),
    "by metadata in brackets": ({"metadata[topic]": "boats"}, ["t2"], {"total": 1}),
}


@pytest.mark.asyncio(loop_scope="package")
@each_row(("query", "found", "result"), LISTS.values(), ids=LISTS)
async def test_lists_of_threads(
    library: httpx.AsyncClient, query: dict[str, str], found: list[str], result: dict[str, Any]
) -> None:
    response = await library.get(f"{API}/threads", params=query)
    page = response.json()
    assert ids(page, "threads") == found
    assert {name: page[name] for name in result} == result
    assert (await library.get(f"{API}/network/threads", params=query)).content == response.content


REFUSED: dict[str, dict[str, str]] = {
    "a page below zero": {"page": "-1"},
    "a page that is not a number": {"page": "one"},
    "a fraction": {"perPage": "1.5"},
    "a page that is too large": {"page": "9" * 30},
    "metadata that is not JSON": {"metadata": "{"},
    "metadata that is not an object": {"metadata": "[1]"},
    "metadata with an invalid name": {"metadata": '{"a b":1}'},
    "metadata with a prototype": {"metadata": '{"__proto__":1}'},
    "metadata compared with a list": {"metadata": '{"a":[1]}'},
}


@pytest.mark.asyncio(loop_scope="package")
@each_row("query", REFUSED.values(), ids=REFUSED)
async def test_invalid_lists_are_refused(library: httpx.AsyncClient, query: dict[str, str]) -> None:
    response = await library.get(f"{API}/threads", params=query)
    assert response.status_code == 400
    assert response.json()["detail"]


async def test_a_thread_is_created_read_changed_and_deleted(client: httpx.AsyncClient) -> None:
    made = await client.post(
        f"{API}/threads", json={"resourceId": "u1", "title": "Lamps", "metadata": {"a": 1}}
    )
    thread = made.json()
    assert made.status_code == 200
    assert (thread["resourceId"], thread["title"], thread["metadata"]) == ("u1", "Lamps", {"a": 1})
    place = f"{API}/threads/{thread['id']}"
    assert (await client.get(place)).json() == thread
    changed = (await client.patch(place, json={"title": "Boats", "metadata": {"b": 2}})).json()
    assert (changed["title"], changed["metadata"]) == ("Boats", {"a": 1, "b": 2})
    assert (await client.delete(place)).json() == {"result": "Thread deleted"}
    assert (await client.get(place)).status_code == 404
    assert (await client.delete(place)).status_code == 404


async def test_creating_a_thread_again_keeps_other_members(client: httpx.AsyncClient) -> None:
    await make_thread(client, title="Lamps", metadata={"a": 1})
    await save(client, row("m1", "Hello."))
    await make_thread(client, metadata={"b": 2})
    thread = (await client.get(f"{API}/threads/t1")).json()
    assert (thread["title"], thread["metadata"]) == ("Lamps", {"a": 1, "b": 2})
    assert ids(await listed(client)) == ["m1"]


async def test_a_thread_needs_an_owner(client: httpx.AsyncClient) -> None:
    assert (await client.post(f"{API}/threads", json={"title": "Lamps"})).status_code == 400


CLONES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "everything": ({}, ["one", "two", "three"]),
    "the last ones": ({"messageLimit": 2}, ["two", "three"]),
    "none": ({"messageLimit": 0}, []),
    "some by id": ({"messageFilter": {"messageIds": ["m1", "m3", "nobody"]}}, ["one", "three"]),
    "from a time on": ({"messageFilter": {"startDate": minute(2)}}, ["two", "three"]),
    "up to a time": ({"messageFilter": {"endDate": minute(2)}}, ["one", "two"]),
}


async def test_threads_are_cloned(client: httpx.AsyncClient) -> None:
    await make_thread(client, title="Lamps", metadata={"a": 1})
    await save(client, row("m1", "one", 1), row("m2", "two", 2, role="assistant"), row("m3", "three", 3))
    for name, (options, texts) in CLONES.items():
        body = {"newThreadId": name, "metadata": {"b": 2}, "options": options}
        cloned = (await client.post(f"{API}/threads/t1/clone", json=body)).json()
        assert [message["content"]["content"] for message in cloned["clonedMessages"]] == texts, name
        assert (cloned["thread"]["id"], cloned["thread"]["title"]) == (name, "Lamps")
        origin = cloned["thread"]["metadata"].pop("clone")
        assert cloned["thread"]["metadata"] == {"a": 1, "b": 2}
        assert origin["sourceThreadId"] == "t1"
        assert ids(await listed(client, name)) == ids(cloned, "clonedMessages")
        assert not set(ids(cloned, "clonedMessages")) & set(ids(await listed(client)))


async def test_a_clone_needs_no_body(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    assert (await client.post(f"{API}/threads/t1/clone")).status_code == 200


OTHER_OWNER: dict[str, tuple[str, str, Any]] = {
    "look at it": ("GET", "threads/t1", None),
    "read it": ("GET", "threads/t1/messages", None),
    "change it": ("PATCH", "threads/t1", {"title": "Mine"}),
    "delete it": ("DELETE", "threads/t1", None),
    "copy it": ("POST", "threads/t1/clone", {}),
    "set its memory": ("POST", "threads/t1/working-memory", {"workingMemory": "x"}),
    "search it": ("GET", "search?searchQuery=hello&threadId=t1", None),
    "write to it": ("POST", "save-messages", {"messages": [row("m9", "Mine.", owner="u2")]}),
}


JSON = {"content-type": "application/json"}


async def test_threads_of_other_owners_are_not_found(store: Store) -> None:
    app = asgi(scripted([text_part("Yes.")]), store=store, user=user_in_header, routes="all")
    async with app.lifespan(), client_of(app, headers={"x-user": "u1"}) as one:
        await make_thread(one)
        await save(one, row("m1", "Hello."))
        async with client_of(app, headers={"x-user": "u2"}) as other:
            for name, (method, path, body) in OTHER_OWNER.items():
                content = None if body is None else dumps(body)
                response = await other.request(method, f"{API}/{path}", content=content, headers=JSON)
                nowhere = None if content is None else content.replace(b"t1", b"t0")
                place = f"{API}/{path.replace('t1', 't0')}"
                missing = await other.request(method, place, content=nowhere, headers=JSON)
                assert response.status_code == missing.status_code == 404, name
                assert response.text.replace("t1", "t0") == missing.text, name
        assert ids(await listed(one)) == ["m1"]
        assert (await one.get(f"{API}/threads/t1")).json()[
            "title"
        ] == "Hello."  # the first words of a message


async def test_a_caller_for_all_owners_must_name_the_right_owner(
    client: httpx.AsyncClient,
) -> None:
    await make_thread(client)
    await save(client, row("m1", "Hello."))
    for name, (method, path, body) in OTHER_OWNER.items():
        with_owner = None if body is None else {**body, "resourceId": "u2"}
        place = f"{API}/{path}{'&' if '?' in path else '?'}resourceId=u2"
        assert (await client.request(method, place, json=with_owner)).status_code == 403, name
    assert ids(await listed(client)) == ["m1"]


async def test_a_caller_with_an_owner_cannot_name_another(store: Store) -> None:
    app = asgi(scripted([text_part("Yes.")]), store=store, user=user_in_header, routes="all")
    async with app.lifespan(), client_of(app, headers={"x-user": "u1"}) as client:
        assert (await client.get(f"{API}/threads", params={"resourceId": "u2"})).status_code == 403
        made = await client.post(f"{API}/threads", json={"resourceId": "u2"})
        assert made.status_code == 403


async def test_a_thread_without_an_owner_is_visible_to_callers_for_all_owners(
    client: httpx.AsyncClient, store: Store
) -> None:
    await store.threads.create("free")
    await save(client, row("m1", "Hello.", thread="free"))
    assert ids(await listed(client, "free", resourceId="u1")) == ["m1"]


async def test_working_memory_is_stored(client: httpx.AsyncClient) -> None:
    place = f"{API}/threads/t1/working-memory"
    nothing = {"workingMemory": None, "source": "thread", "workingMemoryTemplate": None}
    assert (await client.get(place)).json() == {**nothing, "threadExists": False}
    await make_thread(client, metadata={"a": 1})
    assert (await client.get(place)).json() == {**nothing, "threadExists": True}
    kept = await client.post(place, json={"workingMemory": "- Name: Ada", "resourceId": "u1"})
    assert (kept.status_code, kept.json()) == (200, {"success": True})
    found = (await client.get(place, params={"resourceId": "u1"})).json()
    assert found == {**nothing, "workingMemory": "- Name: Ada", "threadExists": True}
    assert (await client.get(f"{API}/threads/t1")).json()["metadata"]["a"] == 1


async def test_the_status_is_returned(client: httpx.AsyncClient) -> None:
    for path in ("status", "network/status"):
        assert (await client.get(f"{API}/{path}", params={"agentId": "any"})).json()["result"] is True
    config = (await client.get(f"{API}/config", params={"agentId": "any"})).json()["config"]
    assert (config["semanticRecall"], config["workingMemory"]["enabled"]) == (False, True)


async def test_messages_are_searched(client: httpx.AsyncClient) -> None:
    await make_thread(client, title="Coast")
    await make_thread(client, "t2", "u2")
    await save(
        client,
        row("m1", "Where is the lighthouse?", 1),
        row("m2", "On the cliff.", 2, role="assistant"),
        row("m3", "Another lighthouse.", 1, thread="t2", owner="u2"),
    )
    found = (
        await client.get(f"{API}/search", params={"searchQuery": "lighthouse", "resourceId": "u1"})
    ).json()
    (result,) = found.pop("results")
    assert found == {"count": 1, "query": "lighthouse", "searchScope": "resource", "searchType": "text"}
    assert (result["id"], result["role"], result["content"]) == ("m1", "user", "Where is the lighthouse?")
    assert (result["threadId"], result["threadTitle"]) == ("t1", "Coast")
    assert [message["content"] for message in result["context"]["after"]] == ["On the cliff."]
    assert result["context"]["before"] == []
    in_thread = await client.get(f"{API}/search", params={"searchQuery": "lighthouse", "threadId": "t2"})
    assert (in_thread.json()["searchScope"], ids(in_thread.json(), "results")) == ("thread", ["m3"])
    assert (await client.get(f"{API}/search")).status_code == 400
