"""Owners: a scoped store can neither read nor change the rows of other owners."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from partita.errors import NotFoundError, StoreError
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.store.values import MessageFilter, PartFilter, RunFilter, SearchFilter, Source, ThreadFilter
from partita.types.parts import TextOutput, TextPart
from partita.types.threads import Run, Thread
from tests.store.examples import failed_call_message, tool_call_message, tool_output_message, user_message
from tests.tables import each_row

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "the vault opens at nine"


@pytest.fixture
async def ada(store: Store) -> Store:
    """Ada's store, with a thread, a blob, a run and a source in it."""
    mine = store.scoped("ada")
    await mine.threads.create("t1", title="Ada's vault", agent="claude", project="vault")
    await mine.messages.save(
        [
            user_message("m1", SECRET),
            tool_call_message("m2"),
            failed_call_message("m3"),
            tool_output_message("m4", TextOutput(SECRET * 2000)),
        ],
        thread_id="t1",
    )
    await mine.runs.open("t1", id="r1", lease_owner="worker", lease_seconds=60)
    await mine.logs.append("r1", [LogEntry(NOW, raw=b"secret line")])
    await mine.sources.save(Source(path="log.jsonl", agent="claude"))
    return mine


@pytest.fixture
async def bob(store: Store, ada: Store) -> Store:
    """Bob's store, on the same database."""
    return store.scoped("bob")


async def blob_url(ada: Store) -> str:
    page = await ada.messages.list("t1", blobs="reference")
    return str(page.items[3].content.parts[0].output.value).partition("#")[0]  # type: ignore[union-attr]


NOT_FOUND: dict[str, Callable[[Store], Awaitable[Any]]] = {
    "list messages": lambda store: store.messages.list("t1"),
    "list around": lambda store: store.messages.around("t1", "m1"),
    "save messages": lambda store: store.messages.save([user_message("m1", "mine now")], thread_id="t1"),
    "save messages as ada": lambda store: store.messages.save(
        [user_message("m1", "x", resource_id="ada")], thread_id="t1"
    ),
    "update part": lambda store: store.messages.update_part("t1", "m1", 0, TextPart("mine now")),
    "delete messages": lambda store: store.messages.delete("t1", ["m1"]),
    "set title": lambda store: store.threads.set_title("t1", "mine now"),
    "update metadata": lambda store: store.threads.update_metadata("t1", {"a": 1}),
    "save thread as ada": lambda store: store.threads.save(Thread(id="t1", resource_id="ada", title="x")),
    "create thread as ada": lambda store: store.threads.create("t9", resource_id="ada"),
    "clone": lambda store: store.threads.clone("t1"),
    "fork": lambda store: store.threads.fork("t1", "m1"),
    "switch branch": lambda store: store.threads.switch_branch("t1", "m1"),
    "open run": lambda store: store.runs.open("t1"),
    "save run": lambda store: store.runs.save(Run(id="r1", thread_id="t1", status="running", agent="x")),
    "append": lambda store: store.logs.append("r1", [LogEntry(NOW, raw=b"mine now")]),
    "read log": lambda store: store.logs.read("r1"),
    "finish run": lambda store: store.runs.finish("r1"),
    "fail run": lambda store: store.runs.fail("r1", "x"),
    "cancel run": lambda store: store.runs.cancel("r1"),
    "interrupt run": lambda store: store.runs.interrupt("r1", "x"),
    "heartbeat": lambda store: store.runs.renew_lease("r1", "worker", 60),
    "take lease": lambda store: store.runs.take_lease("r1", "bob", 60),
    "release lease": lambda store: store.runs.release_lease("r1", "worker"),
    "seal run": lambda store: store.logs.seal("r1"),
    "put a blob as ada": lambda store: store.blobs.put(b"x", resource_id="ada"),
    "save a source as ada": lambda store: store.sources.save(Source(path="log.jsonl"), resource_id="ada"),
}


@each_row("attempt", NOT_FOUND.values(), ids=NOT_FOUND)
async def test_rows_of_another_owner_are_not_found(
    ada: Store, bob: Store, attempt: Callable[[Store], Awaitable[Any]]
) -> None:
    before = await snapshot(ada)
    with pytest.raises(NotFoundError):
        await attempt(bob)
    assert await snapshot(ada) == before


async def snapshot(ada: Store) -> list[Any]:
    return [
        await ada.threads.list(),
        await ada.messages.list("t1", MessageFilter(branch="all", internal=None)),
        await ada.runs.get("r1"),
        await ada.logs.read("r1"),
        await ada.sources.list(),
        await ada.messages.find_parts(),
    ]


EMPTY: dict[str, Callable[[Store], Awaitable[Any]]] = {
    "thread": lambda store: store.threads.get("t1"),
    "message": lambda store: store.messages.get("t1", "m1"),
    "run": lambda store: store.runs.get("r1"),
    "source": lambda store: store.sources.get("log.jsonl"),
    "threads": lambda store: store.threads.list(),
    "threads of ada": lambda store: store.threads.list(ThreadFilter(resource_id="ada")),
    "threads by text": lambda store: store.threads.list(ThreadFilter(text="vault")),
    "runs": lambda store: store.runs.list(),
    "runs of the thread": lambda store: store.runs.list(RunFilter(thread_id="t1")),
    "sources": lambda store: store.sources.list(),
    "parts": lambda store: store.messages.find_parts(),
    "parts of the thread": lambda store: store.messages.find_parts(PartFilter(thread_id="t1")),
    "search": lambda store: store.search("vault"),
    "texts of the thread": lambda store: store.search("vault", SearchFilter(thread_id="t1")),
    "abandoned runs": lambda store: store.runs.abandoned(),
    "count": lambda store: store.threads.count(),
    "delete thread": lambda store: store.threads.delete("t1"),
    "forget source": lambda store: store.sources.delete("log.jsonl"),
}


@each_row("attempt", EMPTY.values(), ids=EMPTY)
async def test_rows_of_another_owner_are_not_listed(
    ada: Store, bob: Store, attempt: Callable[[Store], Awaitable[Any]]
) -> None:
    before = await snapshot(ada)
    result = await attempt(bob)
    assert not (result.items if hasattr(result, "items") else result)
    assert await snapshot(ada) == before


async def test_blobs_belong_to_one_owner(ada: Store, bob: Store) -> None:
    url = await blob_url(ada)
    for attempt in (bob.blobs.get, bob.blobs.describe):
        with pytest.raises(NotFoundError):
            await attempt(url)
    # A reference to a blob of another owner stays text, and is never replaced by its content.
    await bob.threads.create("t1")
    await bob.messages.save([tool_output_message("m1", TextOutput(f"{url}#text"))], thread_id="t1")
    found = await bob.messages.get("t1", "m1")
    assert found is not None
    assert found.content == tool_output_message("m1", TextOutput(f"{url}#text")).content


async def test_a_run_of_another_owner_cannot_be_followed(ada: Store, bob: Store) -> None:
    with pytest.raises(NotFoundError):
        async for _ in bob.logs.follow("r1"):
            pass


async def test_the_same_ids_of_two_owners_are_different_rows(ada: Store, bob: Store) -> None:
    await bob.threads.create("t1", title="Bob's own")
    await bob.messages.save([user_message("m1", "hello")], thread_id="t1")
    assert (await bob.search("vault")).items == ()
    theirs = await ada.messages.get("t1", "m1")
    assert theirs is not None
    assert theirs.content.parts == (TextPart(SECRET),)
    assert await bob.threads.delete("t1")
    assert len(await ada.messages.list("t1")) == 4


async def test_a_store_without_an_owner_has_all_rows(store: Store, ada: Store, bob: Store) -> None:
    await bob.threads.create("t2")
    assert {(t.id, t.resource_id) for t in await store.threads.list()} == {("t1", "ada"), ("t2", "bob")}
    assert len(await store.messages.list("t1")) == 4
    assert [t.id for t in await store.threads.list(ThreadFilter(resource_id="bob"))] == ["t2"]
    await store.messages.save([user_message("m9", "from above")], thread_id="t1")
    found = await ada.messages.get("t1", "m9")
    assert found is not None
    assert found.resource_id == "ada"
    await bob.threads.create("t1")
    with pytest.raises(StoreError, match="several owners"):
        await store.messages.list("t1")


async def test_rebuilding_one_owner_does_not_change_others(ada: Store, bob: Store) -> None:
    before = await snapshot(ada)
    assert await bob.rebuild() == 0
    assert await snapshot(ada) == before
    assert [hit.message_id for hit in await ada.search("vault") if hit.message_id] != []
