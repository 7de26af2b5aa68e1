"""Message history for a `ThreadHistoryAdapter` of assistant-ui."""

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.server.dialects.assistant_ui_rows import tree_of
from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart, UserMessage
from partita.types.parts import Approval

API = "/api/assistant-ui/threads"
PLACE = f"{API}/t1/messages"


def question(text: str) -> JsonObject:
    return {"role": "user", "parts": [{"type": "text", "text": text}]}


def response(text: str) -> JsonObject:
    return {"role": "assistant", "parts": [{"type": "text", "text": text}]}


def row(id: str, parent: str | None, content: JsonObject, **more: Any) -> JsonObject:
    return {"id": id, "parent_id": parent, "format": "ai-sdk/v6", "content": content, **more}


async def append(client: httpx.AsyncClient, *rows: JsonObject) -> None:
    for each in rows:
        kept = await client.post(PLACE, json=each)
        assert kept.status_code == 200, kept.text


@pytest.fixture(autouse=True)
async def thread(client: httpx.AsyncClient) -> None:
    await client.post(API, json={"id": "t1"})


async def test_appended_messages_are_loaded(client: httpx.AsyncClient) -> None:
    rows = [row("m1", None, question("How tall?")), row("m2", "m1", response("Tall."))]
    await append(client, *rows)
    loaded = await client.get(PLACE)
    assert (loaded.json(), loaded.headers["x-head-id"]) == (rows, "m2")
    page = (await client.get(PLACE, params={"shape": "page"})).json()
    assert page == {"headId": "m2", "messages": rows}


async def test_all_branches_are_returned_and_the_active_one_is_last(
    client: httpx.AsyncClient, store: Store
) -> None:
    await append(
        client,
        row("m1", None, question("How tall?")),
        row("m2", "m1", response("Tall.")),
        row("m3", "m1", response("Very tall.")),
        row("m4", None, question("How old?")),
    )
    await store.threads.switch_branch("t1", "m2")
    page = (await client.get(PLACE, params={"shape": "page"})).json()
    assert page["headId"] == "m2"
    parents = {each["id"]: each["parent_id"] for each in page["messages"]}
    assert parents == {"m1": None, "m3": "m1", "m4": None, "m2": "m1"}
    assert list(parents)[-1] == "m2"


async def test_an_empty_thread_has_no_head(client: httpx.AsyncClient) -> None:
    assert (await client.get(PLACE, params={"shape": "page"})).json() == {"headId": None, "messages": []}


async def test_rows_have_the_requested_format(client: httpx.AsyncClient) -> None:
    await append(client, row("m1", None, question("How tall?")))
    for name in ("ai-sdk/v5", "ai-sdk/v6", "ai-sdk/v7", "v7"):
        (loaded,) = (await client.get(PLACE, params={"format": name})).json()
        assert (loaded["format"], loaded["content"]) == (f"ai-sdk/{name[-2:]}", question("How tall?"))
    assert (await client.get(PLACE, params={"format": "aui/v0"})).status_code == 400


async def test_a_row_may_have_the_short_name_of_its_format(client: httpx.AsyncClient) -> None:
    short = row("m1", None, question("How tall?"), format="v6")
    for _ in range(2):
        saved = await client.post(PLACE, json=short)
        assert (saved.status_code, saved.json()) == (200, {**short, "format": "ai-sdk/v6"})


async def test_appending_a_message_again_changes_nothing(client: httpx.AsyncClient) -> None:
    rows = [row("m1", None, question("How tall?")), row("m2", "m1", response("Tall."))]
    await append(client, *rows)
    await append(client, rows[0], row("m2", None, response("Tall.")))
    assert (await client.get(PLACE)).json() == rows


async def test_a_message_of_the_client_can_be_changed(client: httpx.AsyncClient) -> None:
    await append(client, row("m1", None, question("How tall?")), row("m2", "m1", response("Tall.")))
    await append(client, row("m1", None, question("How old?")))
    changed = await client.put(f"{PLACE}/m2", json={"content": response("Old.")})
    assert (changed.status_code, changed.json()["parent_id"]) == (200, "m1")
    loaded = (await client.get(PLACE)).json()
    assert [each["content"] for each in loaded] == [question("How old?"), response("Old.")]
    assert [each["parent_id"] for each in loaded] == [None, "m1"]


async def test_a_client_cannot_change_the_response_of_a_run(client: httpx.AsyncClient, store: Store) -> None:
    run = await store.runs.open("t1", agent="clerk")
    reply = AssistantMessage(id="m2", run_id=run.id, content="Forty-one metres.")
    await store.messages.save([UserMessage(id="m1", content="How tall?"), reply], thread_id="t1")
    before = (await client.get(PLACE)).json()
    await append(client, row("m1", None, question("How tall?")), row("m2", "m1", response("Ninety metres.")))
    await client.put(f"{PLACE}/m2", json={"content": response("Ninety metres.")})
    assert (await client.get(PLACE)).json() == before


async def test_deleting_a_message_keeps_later_ones(client: httpx.AsyncClient) -> None:
    await append(
        client, row("m1", None, question("a")), row("m2", "m1", response("b")), row("m3", "m2", question("c"))
    )
    assert (await client.delete(f"{PLACE}/m2")).status_code == 204
    loaded = (await client.get(PLACE)).json()
    assert [(each["id"], each["parent_id"]) for each in loaded] == [("m1", None), ("m3", "m1")]
    assert (await client.delete(f"{PLACE}/m2")).status_code == 404


OPEN = {"type": "tool-stock", "toolCallId": "c1", "state": "input-available", "input": {"sku": "x"}}

REFUSED: dict[str, tuple[JsonObject, int]] = {
    "a missing parent": (row("m9", "nobody", question("x")), 409),
    "an unsupported format": (row("m9", None, question("x"), format="aui/v0"), 400),
    "instructions": (row("m9", None, {"role": "system", "parts": []}), 400),
    "a content without parts": (row("m9", None, {"role": "user"}), 400),
    "no id": (row("", None, question("x")), 400),
    "an open call": (row("m9", None, {"role": "assistant", "parts": [OPEN]}), 400),
    "a call that the client has approved": (
        row(
            "m9",
            None,
            {
                "role": "assistant",
                "parts": [{**OPEN, "state": "approval-responded", "approval": {"id": "p", "approved": True}}],
            },
        ),
        400,
    ),
}


async def test_invalid_rows_are_refused(client: httpx.AsyncClient) -> None:
    for name, (message, status) in REFUSED.items():
        assert (await client.post(PLACE, json=message)).status_code == status, name
    assert (await client.get(PLACE)).json() == []


async def test_the_input_of_an_open_call_cannot_be_changed(client: httpx.AsyncClient, store: Store) -> None:
    call = ToolCallPart("c1", "stock", "approval-requested", {"sku": "x"}, approval=Approval("p1"))
    await store.messages.save([AssistantMessage(id="m1", content=[call])], thread_id="t1")
    (asking,) = (await client.get(PLACE)).json()
    await append(client, asking)
    asking["content"]["parts"][0]["input"] = {"sku": "everything"}
    assert (await client.post(PLACE, json=asking)).status_code == 400


def _message(number: int, parent: int | None, internal: bool) -> Message:
    common: Any = {
        "id": f"m{number}",
        "parent_id": None if parent is None else f"m{parent}",
        "internal": internal,
    }
    if internal:
        return SystemMessage(content="x", type="event", **common)
    return UserMessage(content="x", **common)


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Message], str | None]:
    """Messages in any order with any parents, including cycles and gaps, and one active message."""
    count = draw(st.integers(0, 8))
    numbers = draw(st.permutations(range(count)))
    parents = st.one_of(st.none(), st.integers(0, 9))
    made = [_message(number, draw(parents), draw(st.booleans())) for number in numbers]
    leaf = draw(st.one_of(st.none(), st.sampled_from([message.id for message in made]))) if made else None
    return made, leaf


@given(tree=trees())
def test_any_tree_is_returned_in_a_valid_order(tree: tuple[list[Message], str | None]) -> None:
    """Every shown message occurs once, after its parent, and the head is one of them."""
    messages, leaf = tree
    head, rows = tree_of(messages, leaf, "ai-sdk/v6")
    assert sorted(each.id for each in rows) == sorted(each.id for each in messages if not each.internal)
    seen: set[str | None] = {None}
    for each in rows:
        assert each.parent_id in seen
        seen.add(each.id)
    assert head in seen
    has_children = any(each.parent_id == head for each in rows)
    assert head is None or has_children or rows[-1].id == head


async def test_internal_messages_are_left_out_of_the_tree(client: httpx.AsyncClient, store: Store) -> None:
    note = SystemMessage(id="n1", type="event", internal=True, content="routing")
    reply = AssistantMessage(id="m2", content="Tall.")
    stored: list[Message] = [UserMessage(id="m1", content="How tall?"), note, reply]
    await store.messages.save(stored, thread_id="t1")
    loaded = (await client.get(PLACE)).json()
    assert [(each["id"], each["parent_id"]) for each in loaded] == [("m1", None), ("m2", "m1")]


def test_the_active_message_is_last_even_if_another_is_its_own_parent() -> None:
    head, rows = tree_of([_message(0, None, False), _message(1, 1, False)], "m0", "ai-sdk/v6")
    assert (head, [each.id for each in rows]) == ("m0", ["m1", "m0"])
