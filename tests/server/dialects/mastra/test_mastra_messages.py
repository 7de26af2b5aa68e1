"""Messages by Mastra's memory API: calls and their responses."""

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from partita.store.store import Store
from partita.types.json import JsonObject, dumps
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import Approval
from tests.tables import each_row

from .mastra_site import API, ids, listed, make_thread, minute, row, save

ALL_IDS = ["a1", "a2", "a3", "a4", "a5"]

PAGES: dict[str, tuple[dict[str, Any], list[str], dict[str, Any]]] = {
    "forty, oldest first": ({}, ALL_IDS, {"total": 5, "page": 0, "perPage": 40, "hasMore": False}),
    "a page": (
        {"perPage": 2, "page": 1},
        ["a3", "a4"],
        {"total": 5, "page": 1, "perPage": 2, "hasMore": True},
    ),
    "the last page": ({"perPage": 2, "page": 2}, ["a5"], {"total": 5, "hasMore": False}),
    "a page after the last": ({"perPage": 2, "page": 9}, [], {"total": 5, "hasMore": False}),
    "everything": ({"perPage": "false"}, ALL_IDS, {"perPage": False, "hasMore": False}),
    "included messages only": ({"perPage": 0}, [], {"total": 0, "perPage": 0, "hasMore": False}),
    "newest first": ({"orderBy": '{"field":"createdAt","direction":"DESC"}'}, ALL_IDS[::-1], {}),
    "newest first, in brackets": (
        {"orderBy[direction]": "DESC", "perPage": 2},
        ["a5", "a4"],
        {"hasMore": True},
    ),
    "an unknown direction": ({"orderBy": '{"direction":"sideways"}'}, ALL_IDS, {}),
    "from a time": (
        {"filter": dumps({"dateRange": {"start": minute(3)}}).decode()},
        ["a3", "a4", "a5"],
        {},
    ),
    "after a time": (
        {"filter[dateRange][start]": minute(3), "filter[dateRange][startExclusive]": "true"},
        ["a5"],
        {"total": 1},
    ),
    "until a time": (
        {"filter": dumps({"dateRange": {"end": minute(2)}}).decode()},
        ["a1", "a2"],
        {"total": 2},
    ),
    "before a time": (
        {"filter": dumps({"dateRange": {"end": minute(2), "endExclusive": True}}).decode()},
        ["a1"],
        {"total": 1},
    ),
    "by role": ({"filter": '{"roles":["assistant"]}'}, ["a2", "a4"], {"total": 2}),
    "by metadata": ({"filter": '{"metadata":{"kind":"tool"}}'}, ["a2", "a5"], {"total": 2}),
    "by metadata, a page": (
        {"filter": '{"metadata":{"kind":"tool"}}', "perPage": 1},
        ["a2"],
        {"total": 2, "hasMore": True},
    ),
    "by metadata with one type": ({"filter": '{"metadata":{"n":1}}'}, ["a1"], {"total": 1}),
    "by metadata that is null": ({"filter": '{"metadata":{"none":null}}'}, ["a1"], {"total": 1}),
    "with one included": (
        {"perPage": 1, "include": '[{"id":"a3"}]'},
        ["a1", "a3"],
        {"total": 5, "hasMore": True},
    ),
    "with neighbours": (
        {"perPage": 0, "include": '[{"id":"a3","withPreviousMessages":1,"withNextMessages":1}]'},
        ["a2", "a3", "a4"],
        {"total": 0, "hasMore": False},
    ),
    "included twice": (
        {"perPage": 2, "include": '[{"id":"a1"},{"id":"a2"}]'},
        ["a1", "a2"],
        {"hasMore": True},
    ),
    "included with all messages between": (
        {"perPage": 4, "include": '[{"id":"a5"}]'},
        ALL_IDS,
        {"total": 5, "hasMore": False},
    ),
    "from another thread": ({"perPage": 2, "include": '[{"id":"b1"}]'}, ["a1", "b1", "a2"], {}),
    "from a named thread": (
        {
            "perPage": 0,
            "include[0][id]": "b2",
            "include[0][threadId]": "t2",
            "include[0][withPreviousMessages]": 9,
        },
        ["b1", "b2"],
        {},
    ),
    "not from another owner": ({"perPage": 1, "include": '[{"id":"c1"}]'}, ["a1"], {}),
    "included, but unknown": ({"perPage": 1, "include": '[{"id":"nobody"}]'}, ["a1"], {}),
    "the last ones, for old clients": ({"limit": 2}, ["a4", "a5"], {"total": 5, "hasMore": True}),
}


@pytest.mark.asyncio(loop_scope="package")
@each_row(("query", "found", "result"), PAGES.values(), ids=PAGES)
async def test_pages_of_messages(
    library: httpx.AsyncClient, query: dict[str, Any], found: list[str], result: dict[str, Any]
) -> None:
    response = await library.get(f"{API}/threads/t1/messages", params=query)
    page = response.json()
    assert ids(page) == found == ids(page, "uiMessages")
    assert {name: page[name] for name in result} == result
    older = await library.get(f"{API}/network/threads/t1/messages", params=query)
    assert older.content == response.content


REFUSED: dict[str, dict[str, str]] = {
    "a page below zero": {"page": "-1"},
    "a size that is not a number": {"perPage": "many"},
    "a limit below zero": {"limit": "-1"},
    "a filter that is not JSON": {"filter": "{"},
    "a filter that is not an object": {"filter": "[]"},
    "an invalid time": {"filter": '{"dateRange":{"start":"soon"}}'},
    "a time that is a number": {"filter": '{"dateRange":{"start":5}}'},
    "metadata with an invalid name": {"filter": '{"metadata":{"bad key":1}}'},
    "roles that are not a list": {"filter": '{"roles":"user"}'},
    "an inclusion that is not JSON": {"include": "a1"},
    "an inclusion without an id": {"include": "[{}]"},
    "neighbours below zero": {"include": '[{"id":"a1","withNextMessages":-1}]'},
    "neighbours that are a flag": {"include": '[{"id":"a1","withNextMessages":true}]'},
    "contradictory brackets": {"filter[a]": "1", "filter[a][b]": "1"},
    "UI messages of an unknown version": {"uiFormat": "v9"},
    "an unknown format": {"format": "v3"},
}


@pytest.mark.asyncio(loop_scope="package")
@each_row("query", REFUSED.values(), ids=REFUSED)
async def test_invalid_pages_are_refused(library: httpx.AsyncClient, query: dict[str, str]) -> None:
    response = await library.get(f"{API}/threads/t1/messages", params=query)
    assert response.status_code == 400
    assert response.json()["detail"]


@given(
    times=st.lists(st.integers(0, 3), max_size=12),
    size=st.integers(1, 14),
    newest_first=st.booleans(),
    odd=st.booleans(),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_pages_of_any_size_give_every_message_once(
    client: httpx.AsyncClient, times: list[int], size: int, newest_first: bool, odd: bool
) -> None:
    await client.delete(f"{API}/threads/t1")
    await make_thread(client)
    if times:
        rows = [row(f"m{n}", "x", at, metadata={"odd": n % 2 == 1}) for n, at in enumerate(times)]
        await save(client, *rows)
    query: JsonObject = {"perPage": size}
    if newest_first:
        query["orderBy"] = '{"direction":"DESC"}'
    if odd:
        query["filter"] = '{"metadata":{"odd":true}}'
    pages = [await listed(client, page=number, **query) for number in range(len(times) // size + 2)]
    everything = [n for n in range(len(times)) if n % 2 or not odd]
    in_order = sorted(everything, key=lambda n: (times[n], n), reverse=newest_first)
    assert [found for page in pages for found in ids(page)] == [f"m{n}" for n in in_order]
    assert {page["total"] for page in pages} == {len(everything)}
    assert all(page["hasMore"] == ((n + 1) * size < len(everything)) for n, page in enumerate(pages))


CALL = {"toolCallId": "c1", "toolName": "stock", "args": {"sku": "x"}}
ANSWER = row("m2", "", 2, role="assistant")
ANSWER["content"] = {
    "format": 2,
    "parts": [
        {"type": "step-start", "model": "some/model"},
        {
            "type": "reasoning",
            "reasoning": "Look.",
            "details": [{"type": "text", "text": "Look.", "signature": "S="}],
        },
        {"type": "tool-invocation", "toolInvocation": {"state": "result", **CALL, "result": {"n": 3}}},
        {"type": "step-start"},
        {"type": "text", "text": "Three left."},
        {"type": "file", "mimeType": "image/png", "data": "https://files.example/a.png"},
        {
            "type": "source",
            "source": {"sourceType": "url", "id": "s1", "url": "https://a.example", "title": "A"},
        },
        {"type": "data-chart", "data": {"x": 1}, "id": "d1"},
    ],
    "content": "Three left.",
    "metadata": {"traceId": "tr1"},
}


async def test_saved_messages_are_returned(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    saved = await save(client, ANSWER)
    assert saved == [ANSWER]
    assert (await listed(client))["messages"] == [ANSWER]
    assert await save(client, ANSWER) == [ANSWER]


UI: dict[str, tuple[str, list[str]]] = {
    "version 4": ("v4", ["step-start", "reasoning", "tool-invocation", "step-start", "text"]),
    "version 5": (
        "5",
        ["step-start", "reasoning", "tool-stock", "step-start", "text", "file", "source-url", "data-chart"],
    ),
    "version 7, by the name in Partita": (
        "ai-sdk-ui-v7",
        ["step-start", "reasoning", "tool-stock", "step-start", "text", "file", "source-url", "data-chart"],
    ),
}


async def test_ui_messages_have_the_requested_version(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    await save(client, ANSWER)
    for name, (version, types) in UI.items():
        (message,) = (await listed(client, uiFormat=version))["uiMessages"]
        assert [part["type"] for part in message["parts"]][: len(types)] == types, name
        assert "mastra:" not in dumps(message).decode(), name


async def test_ui_messages_have_thread_and_owner(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    await save(client, ANSWER)
    (message,) = (await listed(client))["uiMessages"]
    expected = {"threadId": "t1", "resourceId": "u1", "createdAt": minute(2), "traceId": "tr1"}
    assert message["metadata"] == expected


async def test_v1_messages_separate_calls_results_and_text(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    await save(client, row("m1", "How many?", 1), ANSWER)
    page = await listed(client, format="v1")
    rows = [(message["id"], message["role"], message["type"]) for message in page["messages"]]
    assert rows == [
        ("m1", "user", "text"),
        ("m2", "assistant", "tool-call"),
        ("m2__split-1", "tool", "tool-result"),
        ("m2__split-2", "assistant", "text"),
    ]
    assert page["messages"][0]["content"] == "How many?"
    assert [message["role"] for message in page["legacyMessages"]] == ["user", "assistant"]
    assert page["legacyMessages"][1]["toolInvocations"][0]["result"] == {"n": 3}


def network_row() -> JsonObject:
    """A network execution as Mastra stores it: JSON in a text."""
    inner = [
        {"role": "assistant", "type": "tool-call", "id": "i1", "content": [{"type": "tool-call", **CALL}]},
        {
            "role": "tool",
            "type": "tool-result",
            "id": "i2",
            "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "stock", "result": 3}],
        },
        {"role": "assistant", "type": "text", "id": "i3", "content": "Three left."},
    ]
    payload = {
        "isNetwork": True,
        "selectionReason": "it knows the stock",
        "primitiveType": "agent",
        "primitiveId": "clerk",
        "input": "How many?",
        "finalResult": {"text": "Three left.", "messages": inner},
    }
    return row("n1", dumps(payload).decode(), 2, role="assistant")


async def test_a_network_execution_is_a_part_with_messages_and_never_json_in_a_text(
    client: httpx.AsyncClient,
) -> None:
    await make_thread(client)
    await save(client, row("m1", "How many?", 1), network_row())
    page = await listed(client, uiFormat="v5")
    (part,) = page["uiMessages"][1]["parts"]
    assert (part["type"], part["toolName"], part["state"]) == ("dynamic-tool", "agent", "output-available")
    assert part["input"] == {"primitiveId": "clerk", "selectionReason": "it knows the stock"}
    assert part["output"] == "Three left."
    tools = [inner for child in part["childMessages"] for inner in child["parts"] if "toolCallId" in inner]
    assert [(tool["type"], tool["input"], tool["output"]) for tool in tools] == [
        ("tool-stock", {"sku": "x"}, 3)
    ]
    assert [part["type"] for part in page["messages"][1]["content"]["parts"]] == ["dynamic-tool"]


async def test_a_network_execution_in_its_own_field_is_a_part_with_messages(
    client: httpx.AsyncClient,
) -> None:
    await make_thread(client)
    call = {"toolCallId": "c1", "toolName": "search", "args": {"q": "x"}, "result": {"n": 3}}
    stored = row("n1", "Three left.", 2, role="assistant")
    stored["content"]["networkExecution"] = {
        "isNetwork": True,
        "primitiveType": "agent",
        "primitiveId": "clerk",
        "finalResult": {"text": "Three left.", "toolCalls": [call]},
    }
    await save(client, stored)
    text, part = (await listed(client, uiFormat="v5"))["uiMessages"][0]["parts"]
    assert text == {"type": "text", "text": "Three left."}
    assert (part["type"], part["toolName"], part["output"]) == ("dynamic-tool", "agent", "Three left.")
    (inner,) = [inner for child in part["childMessages"] for inner in child["parts"]]
    assert (inner["type"], inner["toolName"], inner["output"]) == ("dynamic-tool", "search", {"n": 3})
    older = (await listed(client, uiFormat="v4"))["uiMessages"][0]["parts"]
    assert older[-1]["toolInvocation"]["result"] == "Three left."


async def test_values_that_a_display_transform_hides_are_not_in_ui_messages(
    client: httpx.AsyncClient,
) -> None:
    await make_thread(client)
    shown = {"transformed": {"name": "Acme"}}
    transforms = {"display": {"input-available": shown, "output-available": shown}}
    stored = row("m1", "Found.", 1, role="assistant")
    stored["content"]["parts"].append(
        {
            "type": "tool-invocation",
            "toolInvocation": {**CALL, "state": "result", "args": {"key": "sk-1"}, "result": {"key": "sk-1"}},
            "providerMetadata": {"mastra": {"toolPayloadTransform": transforms}},
        }
    )
    await save(client, stored)
    for version in ("v4", "v5", "v6", "v7"):
        page = await listed(client, uiFormat=version)
        assert "sk-1" not in dumps(page["uiMessages"]).decode()
        assert "sk-1" in dumps(page["messages"]).decode()
    part = page["uiMessages"][0]["parts"][-1]
    assert part["input"] == part["output"] == {"name": "Acme"}


async def test_a_network_execution_survives_a_round_trip(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    await save(client, network_row())
    before = await listed(client)
    await save(client, *before["messages"])
    assert await listed(client) == before


async def test_a_network_execution_that_a_user_typed_stays_text(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    await save(client, {**network_row(), "role": "user"})
    (message,) = (await listed(client))["uiMessages"]
    assert [part["type"] for part in message["parts"]] == ["text"]


async def test_internal_messages_are_returned_on_request(client: httpx.AsyncClient) -> None:
    decision = {
        "primitiveId": "clerk",
        "primitiveType": "agent",
        "prompt": "How many?",
        "selectionReason": "x",
    }
    await make_thread(client)
    await save(client, row("m1", "How many?", 1), row("r1", dumps(decision).decode(), 2, role="assistant"))
    assert ids(await listed(client)) == ["m1"]
    page = await listed(client, includeSystemReminders="true")
    assert (ids(page), page["total"], ids(page, "uiMessages")) == (["m1", "r1"], 2, ["m1"])


SAVES_REFUSED: dict[str, tuple[Any, int]] = {
    "an empty body": ({}, 400),
    "a message that is not an object": ({"messages": ["hi"]}, 400),
    "no thread": ({"messages": [{**row("x", "x"), "threadId": ""}]}, 400),
    "no resource": ({"messages": [{**row("x", "x"), "resourceId": None}]}, 400),
    "an unknown role": ({"messages": [row("x", "x", role="ghost")]}, 400),
    "no content": (
        {"messages": [{key: item for key, item in row("x", "x").items() if key != "content"}]},
        400,
    ),
    "a missing thread": ({"messages": [row("x", "x", thread="t9")]}, 404),
    "one good, one bad": ({"messages": [row("x", "x"), row("y", "y", role="ghost")]}, 400),
}


@pytest.mark.asyncio(loop_scope="package")
@each_row(("body", "status"), SAVES_REFUSED.values(), ids=SAVES_REFUSED)
async def test_invalid_messages_are_refused(library: httpx.AsyncClient, body: Any, status: int) -> None:
    assert (await library.post(f"{API}/save-messages", json=body)).status_code == status
    assert ids(await listed(library)) == ALL_IDS


async def test_messages_without_ids_get_unique_ids(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    nameless = {key: item for key, item in row("", "Hello.").items() if key != "id"}
    await save(client, nameless)
    await save(client, nameless)
    assert len(set(ids(await listed(client)))) == 2


def with_call(state: str, **more: Any) -> JsonObject:
    part = {"type": "tool-invocation", "toolInvocation": {"state": state, **CALL, **more}}
    return {**ANSWER, "content": {"format": 2, "parts": [part]}}


OPEN: dict[str, JsonObject] = {
    "a call": with_call("call"),
    "a call with an approval request": with_call("approval-requested", approval={"id": "p1"}),
    "an approved call": with_call("approval-responded", approval={"id": "p1", "approved": True}),
    "an open call, by its metadata": {
        **ANSWER,
        "content": {
            **with_call("call")["content"],
            "metadata": {"pendingToolApprovals": {"stock": {"toolCallId": "c1", "runId": "r1"}}},
        },
    },
}


@pytest.mark.asyncio(loop_scope="package")
@each_row("message", OPEN.values(), ids=OPEN)
async def test_a_client_cannot_add_an_open_call(library: httpx.AsyncClient, message: JsonObject) -> None:
    response = await library.post(f"{API}/save-messages", json={"messages": [message]})
    assert response.status_code == 400
    assert ids(await listed(library)) == ALL_IDS


async def test_an_open_call_can_be_saved_unchanged_but_not_changed(
    client: httpx.AsyncClient, store: Store
) -> None:
    await make_thread(client)
    call = ToolCallPart("c1", "stock", "approval-requested", {"sku": "x"}, approval=Approval("p1"))
    asking = AssistantMessage(id="m2", thread_id="t1", content=[call])
    await store.scoped("u1").messages.save([asking])
    (given,) = (await listed(client))["messages"]
    assert given["content"]["parts"][0]["toolInvocation"]["state"] == "approval-requested"
    await save(client, given)
    given["content"]["parts"][0]["toolInvocation"]["args"] = {"sku": "everything"}
    response = await client.post(f"{API}/save-messages", json={"messages": [given]})
    assert response.status_code == 400


NAMED: dict[str, tuple[Any, list[str]]] = {
    "an id": ("m1", ["m2", "m3"]),
    "several ids": (["m1", "m2", "nobody"], ["m3"]),
    "an object": ({"id": "m1"}, ["m2", "m3"]),
    "several objects": ([{"id": "m3"}, {"id": "m2"}], ["m1"]),
}


async def test_messages_are_deleted(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    for path in ("messages/delete", "network/messages/delete"):
        for name, (named, left) in NAMED.items():
            await save(client, *(row(f"m{number}", "x", number) for number in (1, 2, 3)))
            response = await client.post(f"{API}/{path}", json={"messageIds": named})
            assert (response.status_code, response.json()["success"]) == (200, True)
            assert ids(await listed(client)) == left, name


@pytest.mark.asyncio(loop_scope="package")
@each_row("named", [None, [], 5, [{}], [""], {"name": "a1"}], ids=str)
async def test_deleting_without_ids_is_refused(library: httpx.AsyncClient, named: Any) -> None:
    assert (await library.post(f"{API}/messages/delete", json={"messageIds": named})).status_code == 400
    assert ids(await listed(library)) == ALL_IDS


async def test_an_id_of_two_threads_is_deleted_in_the_named_thread(client: httpx.AsyncClient) -> None:
    await make_thread(client)
    await make_thread(client, "t2")
    await save(client, row("m1", "one"), row("m1", "two", thread="t2"))
    response = await client.post(f"{API}/messages/delete", json={"messageIds": "m1"})
    assert response.status_code == 409
    await client.post(f"{API}/messages/delete", json={"messageIds": "m1", "threadId": "t2"})
    assert (ids(await listed(client)), ids(await listed(client, "t2"))) == (["m1"], [])
