"""Numbered pages, excerpts, and messages by id alone, as clients of other systems request them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from partita.errors import ConflictError, NotFoundError
from partita.store.messages.queries import Included, NumberedQuery
from partita.store.sql.pages import NumberedPage
from partita.store.store import Store
from partita.store.threads.copies import Excerpt
from partita.store.values import MessageFilter, ThreadFilter
from partita.types.json import Json
from partita.types.messages import AssistantMessage, Message, UserContent, UserMessage, text_of
from partita.types.parts import TextPart

from .examples import user_message

NOON = datetime(2026, 2, 3, 12, tzinfo=UTC)


def at(minute: int) -> datetime:
    return NOON + timedelta(minutes=minute)


def message(id: str, minute: int, **metadata: Json) -> UserMessage:
    content = UserContent(parts=(TextPart(id),), metadata=metadata)
    return UserMessage(id=id, created_at=at(minute), content=content)


@pytest.fixture
async def ada(store: Store) -> Store:
    """Two threads of Ada and one of Bob. The third and fourth message of the first have the same time."""
    mine, other = store.scoped("ada"), store.scoped("bob")
    for owner, thread, topic in ((mine, "t1", "lamps"), (mine, "t2", "boats"), (other, "t3", "lamps")):
        await owner.threads.create(thread, metadata={"topic": topic})
    reply = AssistantMessage(id="m2", created_at=at(2), content="m2")
    note = AssistantMessage(id="n", created_at=at(2), type="event", internal=True, content="n")
    conversation: list[Message] = [
        message("m1", 1, n=1),
        reply,
        note,
        message("m3", 3, n=True),
        message("m4", 3),
    ]
    await mine.messages.save(conversation, thread_id="t1")
    await mine.messages.save([message("o1", 1), message("o2", 4)], thread_id="t2")
    await other.messages.save([message("b1", 1)], thread_id="t3")
    return mine


FOUND: dict[str, tuple[NumberedQuery, list[str], tuple[int, int]]] = {
    "everything": (NumberedQuery(), ["m1", "m2", "m3", "m4"], (4, 4)),
    "in descending order": (NumberedQuery(order="desc"), ["m4", "m3", "m2", "m1"], (4, 4)),
    "a page": (NumberedQuery(page=NumberedPage(1, 3)), ["m4"], (4, 1)),
    "an empty page": (NumberedQuery(page=NumberedPage(0, 0)), [], (0, 0)),
    "the last ones": (NumberedQuery(newest=2), ["m3", "m4"], (4, 2)),
    "internal messages": (
        NumberedQuery(internal=True, roles=("assistant",)),
        ["m2", "n"],
        (2, 2),
    ),
    "after a time": (NumberedQuery(start=at(2), start_exclusive=True), ["m3", "m4"], (2, 2)),
    "until a time": (NumberedQuery(end=at(2)), ["m1", "m2"], (2, 2)),
    "by metadata of one kind": (NumberedQuery(metadata={"n": True}), ["m3"], (1, 1)),
    "the last ones by metadata": (NumberedQuery(metadata={"n": 1}, newest=1), ["m1"], (1, 1)),
    "with neighbours in another thread": (
        NumberedQuery(page=NumberedPage(0, 1), include=(Included("o2", previous=1),)),
        ["m1", "o1", "o2"],
        (4, 1),
    ),
    "with neighbours at one time": (
        NumberedQuery(page=NumberedPage(0, 0), include=(Included("m3", following=5, previous=1),)),
        ["m2", "m3", "m4"],
        (0, 3),
    ),
    "never another owner's": (NumberedQuery(newest=1, include=(Included("b1"),)), ["m4"], (4, 1)),
}


async def test_numbered_pages_of_messages(ada: Store) -> None:
    for name, (wanted, ids, counts) in FOUND.items():
        found = await ada.messages.page("t1", wanted)
        assert [message.id for message in found.items] == ids, name
        assert (found.total, found.own) == counts, name


async def test_numbered_pages_of_threads(store: Store, ada: Store) -> None:
    async def listed(of: Store, *page: int, **how: Any) -> tuple[list[str], int]:
        found = await of.threads.page(NumberedPage(*page), **how)
        return [thread.id for thread in found.items], found.total

    assert await listed(ada) == (["t2", "t1"], 2)
    assert await listed(store, 1, 2) == (["t1"], 3)
    assert await listed(store, filter=ThreadFilter(resource_id="ada"), order="asc") == (["t1", "t2"], 2)
    assert await listed(store, filter=ThreadFilter(metadata={"topic": "lamps"})) == (["t3", "t1"], 2)
    await ada.threads.set_title("t2", "Lamps")  # the title is not in any message
    await ada.messages.save([user_message("m9", "And now?")], thread_id="t1")
    assert await listed(store, by="updated_at") == (["t1", "t3", "t2"], 3)


EXCERPTS: dict[str, tuple[Excerpt, list[str]]] = {
    "everything": (Excerpt(), ["m1", "m2", "n", "m3", "m4"]),
    "the last ones": (Excerpt(newest=2), ["m3", "m4"]),
    "none": (Excerpt(newest=0), []),
    "a time": (Excerpt(start=at(2), end=at(2)), ["m2", "n"]),
    "by id": (Excerpt(ids=frozenset({"m4", "m1", "unknown"})), ["m1", "m4"]),
}


async def test_excerpts(store: Store, ada: Store) -> None:
    for name, (wanted, texts) in EXCERPTS.items():
        copy = await ada.threads.copy_excerpt("t1", wanted, new_id=name, title="Copy", metadata={"a": 1})
        assert (copy.id, copy.title, copy.resource_id) == (name, "Copy", "ada")
        assert copy.metadata is not None
        assert {key: copy.metadata[key] for key in ("topic", "a")} == {"topic": "lamps", "a": 1}
        assert copy.metadata["clone"]["threadId"] == "t1"
        page = await ada.messages.list(name, MessageFilter(internal=None))
        assert [text_of(message) for message in page] == texts, name
        assert not {message.id for message in page} & {"m1", "m2", "n", "m3", "m4"}
    with pytest.raises(NotFoundError):
        await store.scoped("bob").threads.copy_excerpt("t1", Excerpt())


async def test_messages_are_deleted_by_id_in_any_thread(store: Store, ada: Store) -> None:
    bob = store.scoped("bob")
    assert await bob.messages.delete_by_id(["m1", "o1"]) == 0
    assert await ada.messages.delete_by_id(["m1", "o1", "b1", "unknown", "m1"]) == 2
    await ada.messages.save([message("m4", 9)], thread_id="t2")
    with pytest.raises(ConflictError):
        await ada.messages.delete_by_id(["m4"])
    assert await ada.messages.delete_by_id(["m4"], thread_id="t2") == 1
    left = await store.messages.list("t1")
    assert [message.id for message in left] == ["m2", "m3", "m4"]
