"""Messages over HTTP: canonical, and in other formats."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.formats.registry import all_formats
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.chunks import ToolInputAvailable, ToolOutputAvailable
from partita.types.messages import AssistantMessage, SystemMessage, ToolCallPart, ToolMessage
from partita.types.parts import TextOutput, TextPart, ToolResultPart
from tests.server.routes.paging import paged
from tests.store.examples import file_message, tool_call_message, user_message
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
THREAD = "/api/threads/t1/messages"
JSON = {"content-type": "application/json"}


@pytest.fixture(autouse=True)
async def thread(store: Store) -> None:
    await store.threads.create("t1")


@pytest.fixture
async def stored_messages(store: Store) -> None:
    """Six messages, an hour apart, with another branch and an internal message."""
    stored = [
        SystemMessage(id="s1", content="Be brief.", created_at=NOON),
        user_message("m1", created_at=NOON + timedelta(hours=1)),
        tool_call_message("m2", created_at=NOON + timedelta(hours=2)),
        AssistantMessage(id="i1", content="Route it.", internal=True, created_at=NOON + timedelta(hours=3)),
        AssistantMessage(id="e1", type="event", content="Compacted.", created_at=NOON + timedelta(hours=4)),
        user_message("m3", "And the boat?", parent_id="m1", created_at=NOON + timedelta(hours=5)),
    ]
    await store.messages.save(stored, thread_id="t1")
    await store.threads.switch_branch("t1", "e1")


async def ids(client: httpx.AsyncClient, query: str) -> list[str]:
    reply = await client.get(f"{THREAD}?{query}")
    assert reply.status_code == 200, reply.text
    return [item["id"] for item in reply.json()["items"]]


LISTED = {
    "": ["s1", "m1", "m2", "e1"],
    "order=desc": ["e1", "m2", "m1", "s1"],
    "order=desc&limit=2": ["e1", "m2"],
    "branch=all": ["s1", "m1", "m2", "e1", "m3"],
    "internal=true": ["i1"],
    "internal=all": ["s1", "m1", "m2", "i1", "e1"],
    "roles=user": ["m1"],
    "roles=user,system": ["s1", "m1"],
    "roles=user&roles=system": ["s1", "m1"],
    "types=tool": ["m2"],
    "types=text,event": ["s1", "m1", "e1"],
    "before=3": ["s1", "m1"],
    "after=2": ["m2", "e1"],
    "after=1&before=4": ["m1", "m2"],
    "since=2026-03-01T14:00": ["m2", "e1"],
    "until=2026-03-01T13:00Z": ["s1"],
    "around=m2&previous=1&following=0": ["m1", "m2"],
    "around=m2": ["s1", "m1", "m2", "e1"],
    "format=message": ["s1", "m1", "m2", "e1"],
    "format=ui": ["s1", "m1", "m2", "e1"],
    "format=ui&order=desc": ["s1", "m1", "m2", "e1"],  # the same conversation from either end
    "format=ui&order=desc&limit=2": ["m2", "e1"],
    "format=ui&around=m2&order=desc&previous=1": ["m1", "m2", "e1"],
}


async def test_messages_are_listed_and_filtered(client: httpx.AsyncClient, stored_messages: None) -> None:
    assert {query: await ids(client, query) for query in LISTED} == LISTED


REFUSED = {
    "limit=0": 400,
    "limit=501": 400,
    "cursor=x": 400,
    "cursor=": 400,
    "cursor=99999999999999999999": 400,
    "order=both": 400,
    "before=-1": 400,
    "before=99999999999999999999": 400,
    "after=many": 400,
    "around=m9": 404,
    "around=%00": 404,
    "around=m1&previous=-1": 400,
    "around=m1&following=99999999999999999999": 400,
    "roles=king": 400,
    "types=letter": 400,
    "since=soon": 400,
    "branch=none": 400,
    "internal=perhaps": 400,
    "blobs=gone": 400,
    "bare=perhaps": 400,
    "format=nothing": 400,
    "format=": 400,
    "format=%00": 400,
    "format=cherry": 400,  # read-only
    "format=acp": 400,  # a stream format
}


async def test_invalid_queries_are_refused(client: httpx.AsyncClient, stored_messages: None) -> None:
    for query, status in REFUSED.items():
        reply = await client.get(f"{THREAD}?{query}")
        assert reply.status_code == status, (query, reply.text)
        assert reply.headers["content-type"] == "application/problem+json"
        assert "partita.db" not in reply.text  # without the location of the database


@each_row("order", ["asc", "desc"])
async def test_pages_of_any_size_give_every_message_once(
    client: httpx.AsyncClient, stored_messages: None, order: str
) -> None:
    everything = ["s1", "m1", "m2", "e1"]
    for size in (1, 2, 3, 4, 5, 500):
        found = await paged(client, f"{THREAD}?order={order}", size)
        assert [item["id"] for item in found] == (everything if order == "asc" else everything[::-1])


WRITTEN = [name for name, known in all_formats().items() if known.dump is not None]


async def test_messages_are_returned_in_every_writable_format(
    client: httpx.AsyncClient, store: Store, stored_messages: None
) -> None:
    for name in WRITTEN:
        dump = all_formats()[name].dump
        assert dump is not None
        dumped = dump((await store.messages.list("t1")).items)
        page = (await client.get(f"{THREAD}?format={name}")).json()
        assert page["items"] == dumped.payload, name
        assert page.get("losses", []) == [loss._asdict() for loss in dumped.losses], name


async def test_losses_of_a_format_are_reported(client: httpx.AsyncClient, stored_messages: None) -> None:
    losses = (await client.get(f"{THREAD}?format=ai-sdk-model-v7")).json()["losses"]
    why = "it gets another id when it is read back"
    assert {"path": "$[0].id", "what": '"s1"', "why": why, "severity": "changed"} in losses


async def test_bare_messages_are_a_list_for_clients(client: httpx.AsyncClient, store: Store) -> None:
    await store.messages.save([user_message(f"m{number}", "?") for number in range(60)], thread_id="t1")
    reply = await client.get(f"{THREAD}?format=ai-sdk-ui-v7&bare=true")
    assert [message["id"] for message in reply.json()] == [f"m{number}" for number in range(60)]
    assert reply.json()[0] == {"id": "m0", "role": "user", "parts": [{"type": "text", "text": "?"}]}
    assert "link" not in reply.headers


async def test_bare_messages_have_the_cursor_in_a_header(
    client: httpx.AsyncClient, stored_messages: None
) -> None:
    seen: list[str] = []
    query = "?bare=true&limit=3&roles=user&roles=assistant,system"
    while query:
        reply = await client.get(f"{THREAD}{query}")
        seen += [message["id"] for message in reply.json()]
        query = reply.links["next"]["url"] if "next" in reply.links else ""
    assert seen == ["s1", "m1", "m2", "e1"]


async def test_messages_are_stored_unchanged(client: httpx.AsyncClient) -> None:
    """Unknown members are kept, and so is a lone surrogate."""
    body = (
        b'[{"id":"m1","role":"user","content":"half \\ud83d","mood":"calm"},'
        b'{"id":"m2","role":"assistant","content":[{"type":"hologram","of":"a boat"}]}]'
    )
    saved = await client.put(THREAD, content=body, headers=JSON)
    assert saved.status_code == 200
    first, second = saved.json()["items"]
    assert (first["seq"], first["mood"], first["content"]["parts"][0]["text"]) == (1, "calm", "half \ud83d")
    assert (second["parentId"], second["content"]["parts"]) == ("m1", [{"type": "hologram", "of": "a boat"}])
    assert (await client.get(THREAD)).json()["items"] == [first, second]
    assert (await client.get(f"{THREAD}/m1")).json() == first


@pytest.mark.parametrize("method", ["PUT", "POST"])
async def test_a_message_with_a_known_id_is_replaced(
    client: httpx.AsyncClient, stored_messages: None, method: str
) -> None:
    changed = await client.request(method, THREAD, json={"id": "m1", "role": "user", "content": "How old?"})
    assert changed.json()["items"][0]["seq"] == 2
    assert await ids(client, "") == ["s1", "m1", "m2", "e1"]


FORMATS: dict[str, tuple[str, Any]] = {
    "UI messages": (
        "ai-sdk-ui-v7",
        [{"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}],
    ),
    "by an alias": ("ui", {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}),
    "older UI messages": ("ai-sdk-ui-v4", [{"id": "u1", "role": "user", "content": "Hi"}]),
    "rows of Mastra": ("mastra-v2", [{"id": "u1", "role": "user", "content": "Hi"}]),
}


@pytest.mark.parametrize(("name", "payload"), FORMATS.values(), ids=FORMATS)
async def test_other_formats_are_accepted(client: httpx.AsyncClient, name: str, payload: Any) -> None:
    saved = await client.post(f"{THREAD}?format={name}", json=payload)
    assert saved.status_code == 200, saved.text
    item = saved.json()["items"][0]
    assert (item["id"], item["content"]["parts"]) == ("u1", [{"type": "text", "text": "Hi"}])


async def test_messages_without_ids_never_replace_others(client: httpx.AsyncClient) -> None:
    named = {"id": "message-1", "role": "user", "parts": [{"type": "text", "text": "One"}]}
    await client.post(f"{THREAD}?format=ui", json=[named])
    for text in ("Two", "Three"):
        await client.post(f"{THREAD}?format=model", json=[{"role": "user", "content": text}])
    items = (await client.get(THREAD)).json()["items"]
    assert items[0]["id"] == "message-1"
    assert [item["content"]["parts"][0]["text"] for item in items] == ["One", "Two", "Three"]


UNREADABLE: dict[str, tuple[str, bytes, str]] = {
    "a number": ("canonical", b"5", "$"),
    "no id": ("canonical", b'[{"role":"user","content":"Hi"}]', "$[0]"),
    "an unknown role": ("canonical", b'[{"id":"m9","role":"king","content":"Hi"}]', "$[0].role"),
    "a text that is a number": (
        "canonical",
        b'[{"id":"m8","role":"user","content":"Hi"},'
        b'{"id":"m9","role":"user","content":[{"type":"text","text":5}]}]',
        "$[1].content[0].text",
    ),
    "a part of another role": (
        "canonical",
        b'[{"id":"m9","role":"user","content":[{"type":"reasoning","text":"Hm"}]}]',
        "$[0].content[0].type",
    ),
    "a UI message without parts": ("ui", b'[{"id":"m9","role":"user"}]', "$[0].parts"),
    "truncated": ("canonical", b'[{"id":"m9"', "line 1, column 12"),
    "a stream": ("acp", b"[]", "query format"),
}


async def test_a_body_with_an_invalid_message_is_refused_as_a_whole(client: httpx.AsyncClient) -> None:
    for case, (name, body, where) in UNREADABLE.items():
        reply = await client.put(f"{THREAD}?format={name}", content=body, headers=JSON)
        assert (reply.status_code, reply.json().get("where")) == (400, where), case
    assert await ids(client, "") == []


@each_row("body", [b"", b'[{"id":"","role":"user","content":"Hi"}]', b'[{"id":"\\u0000"}]'])
async def test_values_that_cannot_be_stored_are_refused(client: httpx.AsyncClient, body: bytes) -> None:
    assert (await client.put(THREAD, content=body, headers=JSON)).status_code == 400


async def test_messages_of_a_missing_thread_are_refused(client: httpx.AsyncClient) -> None:
    for body in ([], [{"id": "m1", "role": "user", "content": "Hi"}]):
        assert (await client.put("/api/threads/t9/messages", json=body)).status_code == 404
    assert (await client.get("/api/threads/t9/messages")).status_code == 404


async def test_large_values_can_be_left_out(client: httpx.AsyncClient, store: Store) -> None:
    url = "data:image/png;base64," + "AAAA" * 10_000
    await store.messages.save([file_message("m1", url)], thread_id="t1")
    for path in (THREAD, f"{THREAD}/m1"):
        whole = (await client.get(path)).text
        apart = (await client.get(f"{path}?blobs=reference")).text
        assert url in whole
        assert "blob:sha256:" in apart
        assert len(apart) < 1000


async def test_a_message_is_deleted(client: httpx.AsyncClient, stored_messages: None) -> None:
    gone = await client.delete(f"{THREAD}/m2")
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get(f"{THREAD}/m2")).status_code == 404
    assert (await client.delete(f"{THREAD}/m2")).status_code == 404
    assert await ids(client, "") == ["s1", "m1", "e1"]


async def test_several_messages_are_deleted(client: httpx.AsyncClient, stored_messages: None) -> None:
    gone = await client.post(f"{THREAD}/delete", json={"ids": ["m1", "m2", "m9"]})
    assert (gone.status_code, gone.json()) == (200, {"deleted": 2})
    assert await ids(client, "") == ["s1", "e1"]


async def test_deleting_without_ids_is_refused(client: httpx.AsyncClient, stored_messages: None) -> None:
    bodies: list[Any] = [{}, {"ids": "m1"}, {"ids": [1]}, {"ids": [], "all": True}, ["m1"]]
    for body in bodies:
        assert (await client.post(f"{THREAD}/delete", json=body)).status_code == 400
    assert await ids(client, "") == ["s1", "m1", "m2", "e1"]


async def test_a_part_is_replaced(client: httpx.AsyncClient, stored_messages: None) -> None:
    changed = await client.put(f"{THREAD}/m2/parts/2", json={"type": "text", "text": "42 m", "by": "hand"})
    parts = changed.json()["content"]["parts"]
    assert [part["type"] for part in parts] == ["reasoning", "tool-call", "text"]
    assert parts[2] == {"type": "text", "text": "42 m", "by": "hand"}
    assert (await client.get(f"{THREAD}/m2")).json() == changed.json()


PARTS: dict[str, tuple[str, Any, int, str]] = {
    "of another role": ("m1/parts/0", {"type": "reasoning", "text": "Hm"}, 400, "$.type"),
    "a text that is a number": ("m2/parts/2", {"type": "text", "text": 5}, 400, "$.text"),
    "not a part": ("m2/parts/2", [], 400, "$"),
    "a missing index": ("m2/parts/3", {"type": "text", "text": "x"}, 400, ""),
    "a negative index": ("m2/parts/-1", {"type": "text", "text": "x"}, 400, ""),
    "a missing message": ("m9/parts/0", {"type": "text", "text": "x"}, 404, ""),
    "an invalid index": ("m2/parts/x", {"type": "text", "text": "x"}, 404, ""),
}


async def test_an_invalid_part_is_refused(client: httpx.AsyncClient, stored_messages: None) -> None:
    before = (await client.get(THREAD)).json()
    for case, (path, part, status, where) in PARTS.items():
        reply = await client.put(f"{THREAD}/{path}", json=part)
        assert (reply.status_code, reply.json().get("where", "")) == (status, where), case
    assert (await client.get(THREAD)).json() == before


ROLE_PARTS = {
    "s1": {"type": "text", "text": "x"},
    "u1": {"type": "file", "url": "https://example.com/a.png", "mediaType": "image/png"},
    "a1": {"type": "step-start"},
    "o1": {"type": "tool-result", "id": "c1", "name": "measure", "output": {"type": "text", "value": "41 m"}},
}


async def test_each_role_accepts_its_parts(client: httpx.AsyncClient, store: Store) -> None:
    output = TextOutput("?")
    call = ToolCallPart(id="c1", name="measure", state="output-available", input={}, output=output)
    await store.messages.save(
        [
            SystemMessage(id="s1", content="Be brief."),
            user_message("u1"),
            AssistantMessage(id="a1", content=[call, TextPart("?")]),
            ToolMessage(id="o1", content=[ToolResultPart(id="c1", name="measure", output=output)]),
        ],
        thread_id="t1",
    )
    for message, part in ROLE_PARTS.items():
        changed = await client.put(f"{THREAD}/{message}/parts/0", json=part)
        assert changed.status_code == 200, changed.text
        assert changed.json()["content"]["parts"][0] == part


NAMES = (
    "limit", "cursor", "order", "before", "after", "around", "previous", "following", "roles", "types",
    "since", "until", "branch", "internal", "blobs", "format", "bare", "resourceId",
)  # fmt: skip
ODD = st.one_of(
    st.text(max_size=20),
    st.integers().map(str),
    st.floats().map(str),
    st.datetimes().map(str),
    st.sampled_from(["\x00", "%ED%A0%80", "-1", "1e400", "nan", "null", "[]", "{}", "9" * 5000]),
)


@given(query=st.dictionaries(st.sampled_from(NAMES), ODD, max_size=4))
async def test_no_query_causes_a_server_error(
    client: httpx.AsyncClient, stored_messages: None, query: dict[str, str]
) -> None:
    for path in (THREAD, "/api/threads", "/api/search", "/api/parts", "/api/stats"):
        reply = await client.get(path, params={"q": "tall", **query})
        assert reply.status_code in (200, 400, 404), (path, reply.text)


async def test_messages_are_selected_by_ids(client: httpx.AsyncClient, stored_messages: None) -> None:
    assert await ids(client, "ids=m3&ids=s1&ids=i1&ids=none") == ["s1", "i1", "m3"]


async def test_too_many_ids_are_refused(client: httpx.AsyncClient) -> None:
    query_text = "&".join(f"ids=m{number}" for number in range(101))
    reply = await client.get(f"{THREAD}?{query_text}")
    assert reply.status_code == 400
    assert "100" in reply.json()["hint"]


async def test_messages_have_the_times_of_their_parts(client: httpx.AsyncClient, store: Store) -> None:
    run = await store.runs.open("t1")
    began = [
        LogEntry(NOON, ToolInputAvailable("c1", "measure", {})),
        LogEntry(NOON + timedelta(seconds=3), ToolOutputAvailable("c1", "41 m")),
    ]
    await store.logs.append(run.id, began)
    await store.messages.save([user_message("m1"), tool_call_message("m2", run_id=run.id)], thread_id="t1")
    await store.runs.finish(run.id)
    page = (await client.get(f"{THREAD}?timings=true")).json()
    assert page["timings"] == {"m2": [["1", "2026-03-01T12:00:00Z", "2026-03-01T12:00:03Z"]]}
    assert "timings" not in (await client.get(THREAD)).json()


async def test_a_message_of_another_thread_is_not_found(client: httpx.AsyncClient) -> None:
    stored = {"id": "m1", "role": "user", "threadId": "t2", "content": "Hello."}
    reply = await client.post(THREAD, json=[stored])
    assert (reply.status_code, reply.json()["where"]) == (400, "$.threadId"), reply.text
    assert await ids(client, "") == []
