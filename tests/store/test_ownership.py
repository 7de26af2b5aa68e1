"""Owners: a scoped store can neither see nor touch another's rows. Tested by trying."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from partita.errors import NotFoundError, StoreError
from partita.store.facade.store import Store
from partita.store.log.run_log import LogEntry
from partita.store.values import Source
from partita.types.parts import TextPart
from partita.types.runs import Run
from partita.types.threads import Thread
from partita.types.tools import TextOutput
from tests.store.examples import ask, failed, with_output, worked
from tests.tables import each_row

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "the vault opens at nine"


@pytest.fixture
async def ada(store: Store) -> Store:
    """Ada's store, with a thread, a blob, a run and a source in it."""
    mine = store.scoped("ada")
    await mine.create_thread("t1", title="Ada's vault", agent="claude", project="vault")
    await mine.save_messages(
        [ask("m1", SECRET), worked("m2"), failed("m3"), with_output("m4", TextOutput(SECRET * 2000))],
        thread_id="t1",
    )
    await mine.open_run("t1", id="r1", lease_owner="worker", lease_seconds=60)
    await mine.append("r1", [LogEntry(NOW, raw=b"secret line")])
    await mine.save_source(Source(path="log.jsonl", agent="claude"))
    return mine


@pytest.fixture
async def bob(store: Store, ada: Store) -> Store:
    """Bob's store, on the same database."""
    return store.scoped("bob")


async def blob_url(ada: Store) -> str:
    page = await ada.list_messages("t1", blobs="reference")
    return str(page.items[3].content.parts[0].output.value).partition("#")[0]  # type: ignore[union-attr]


NOT_FOUND: dict[str, Callable[[Store], Awaitable[Any]]] = {
    "list messages": lambda store: store.list_messages("t1"),
    "list around": lambda store: store.list_messages("t1", around="m1"),
    "save messages": lambda store: store.save_messages([ask("m1", "mine now")], thread_id="t1"),
    "save messages as ada": lambda store: store.save_messages(
        [ask("m1", "x", resource_id="ada")], thread_id="t1"
    ),
    "update part": lambda store: store.update_part("t1", "m1", 0, TextPart("mine now")),
    "delete messages": lambda store: store.delete_messages("t1", ["m1"]),
    "set title": lambda store: store.set_title("t1", "mine now"),
    "update metadata": lambda store: store.update_metadata("t1", {"a": 1}),
    "save thread as ada": lambda store: store.save_thread(Thread(id="t1", resource_id="ada", title="x")),
    "create thread as ada": lambda store: store.create_thread("t9", resource_id="ada"),
    "clone": lambda store: store.clone_thread("t1"),
    "fork": lambda store: store.fork_thread("t1", "m1"),
    "switch branch": lambda store: store.switch_branch("t1", "m1"),
    "open run": lambda store: store.open_run("t1"),
    "save run": lambda store: store.save_run(Run(id="r1", thread_id="t1", status="running", agent="x")),
    "append": lambda store: store.append("r1", [LogEntry(NOW, raw=b"mine now")]),
    "read log": lambda store: store.read_log("r1"),
    "finish run": lambda store: store.finish_run("r1"),
    "fail run": lambda store: store.fail_run("r1", "x"),
    "cancel run": lambda store: store.cancel_run("r1"),
    "interrupt run": lambda store: store.interrupt_run("r1", "x"),
    "heartbeat": lambda store: store.heartbeat("r1", "worker", 60),
    "take lease": lambda store: store.take_lease("r1", "bob", 60),
    "release lease": lambda store: store.release_lease("r1", "worker"),
    "seal run": lambda store: store.seal_run("r1"),
    "put a blob as ada": lambda store: store.put_blob(b"x", resource_id="ada"),
    "save a source as ada": lambda store: store.save_source(Source(path="log.jsonl"), resource_id="ada"),
}


@each_row("attempt", NOT_FOUND.values(), ids=NOT_FOUND)
async def test_what_is_another_s_is_not_there(
    ada: Store, bob: Store, attempt: Callable[[Store], Awaitable[Any]]
) -> None:
    before = await snapshot(ada)
    with pytest.raises(NotFoundError):
        await attempt(bob)
    assert await snapshot(ada) == before


async def snapshot(ada: Store) -> list[Any]:
    return [
        await ada.list_threads(),
        await ada.list_messages("t1", branch="all", internal=None),
        await ada.get_run("r1"),
        await ada.read_log("r1"),
        await ada.list_sources(),
        await ada.find_parts(),
    ]


EMPTY: dict[str, Callable[[Store], Awaitable[Any]]] = {
    "thread": lambda store: store.get_thread_by_id("t1"),
    "message": lambda store: store.get_message("t1", "m1"),
    "run": lambda store: store.get_run("r1"),
    "source": lambda store: store.get_source("log.jsonl"),
    "threads": lambda store: store.list_threads(),
    "threads of ada": lambda store: store.list_threads(resource_id="ada"),
    "threads by text": lambda store: store.list_threads(text="vault"),
    "runs": lambda store: store.list_runs(),
    "runs of the thread": lambda store: store.list_runs(thread_id="t1"),
    "sources": lambda store: store.list_sources(),
    "parts": lambda store: store.find_parts(),
    "parts of the thread": lambda store: store.find_parts(thread_id="t1"),
    "words": lambda store: store.search("vault"),
    "words of the thread": lambda store: store.search("vault", thread_id="t1"),
    "abandoned runs": lambda store: store.abandoned_runs(),
    "count": lambda store: store.count_threads(),
    "delete thread": lambda store: store.delete_thread("t1"),
    "forget source": lambda store: store.forget_source("log.jsonl"),
}


@each_row("attempt", EMPTY.values(), ids=EMPTY)
async def test_what_is_another_s_is_not_seen(
    ada: Store, bob: Store, attempt: Callable[[Store], Awaitable[Any]]
) -> None:
    before = await snapshot(ada)
    result = await attempt(bob)
    assert not (result.items if hasattr(result, "items") else result)
    assert await snapshot(ada) == before


async def test_blobs_are_each_owner_s_own(ada: Store, bob: Store) -> None:
    url = await blob_url(ada)
    for attempt in (bob.get_blob, bob.describe_blob):
        with pytest.raises(NotFoundError):
            await attempt(url)
    # A reference to another's blob is only text, and never turns into what is behind it.
    await bob.create_thread("t1")
    await bob.save_messages([with_output("m1", TextOutput(f"{url}#text"))], thread_id="t1")
    found = await bob.get_message("t1", "m1")
    assert found is not None
    assert found.content == with_output("m1", TextOutput(f"{url}#text")).content


async def test_following_another_s_run_is_refused(ada: Store, bob: Store) -> None:
    with pytest.raises(NotFoundError):
        async for _ in bob.follow("r1"):
            pass


async def test_the_same_ids_are_other_rows(ada: Store, bob: Store) -> None:
    await bob.create_thread("t1", title="Bob's own")
    await bob.save_messages([ask("m1", "hello")], thread_id="t1")
    assert (await bob.search("vault")).items == ()
    theirs = await ada.get_message("t1", "m1")
    assert theirs is not None
    assert theirs.content.parts == (TextPart(SECRET),)
    assert await bob.delete_thread("t1")
    assert len(await ada.list_messages("t1")) == 4


async def test_without_an_owner_everything_is_seen(store: Store, ada: Store, bob: Store) -> None:
    await bob.create_thread("t2")
    assert {(t.id, t.resource_id) for t in await store.list_threads()} == {("t1", "ada"), ("t2", "bob")}
    assert len(await store.list_messages("t1")) == 4
    assert [t.id for t in await store.list_threads(resource_id="bob")] == ["t2"]
    await store.save_messages([ask("m9", "from above")], thread_id="t1")
    found = await ada.get_message("t1", "m9")
    assert found is not None
    assert found.resource_id == "ada"
    await bob.create_thread("t1")
    with pytest.raises(StoreError, match="several owners"):
        await store.list_messages("t1")


async def test_rebuilding_one_owner_leaves_the_others(ada: Store, bob: Store) -> None:
    before = await snapshot(ada)
    assert await bob.rebuild() == 0
    assert await snapshot(ada) == before
    assert [hit.message_id for hit in await ada.search("vault") if hit.message_id] != []
