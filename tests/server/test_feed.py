"""The feed of changes: which events a listener receives, and when a stream ends."""

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from partita.server.app import PartitaApp
from partita.server.feed import Feed, ImportProgress, events
from partita.store.store import Store
from partita.types.json import Json, loads
from partita.types.threads import Thread
from tests.server.conftest import Serve

QUICK = 0.01


@pytest.fixture
async def feed(store: Store) -> AsyncIterator[Feed]:
    feed = Feed(store, interval=QUICK)
    yield feed
    feed.close()


def listen(
    feed: Feed, owner: str | None = None, progress: ImportProgress | None = None, **how: Any
) -> AsyncGenerator[bytes, None]:
    options: dict[str, Any] = {"keep_alive": 5.0, "seconds": None, **how}
    return events(feed, progress or ImportProgress(), owner, **options)


def parsed(data: bytes) -> dict[str, Any]:
    """Parse server-sent events, by name."""
    blocks = [block.split("\n") for block in data.decode().split("\n\n") if block]
    return {lines[0].removeprefix("event: "): loads(lines[1].removeprefix("data: ")) for lines in blocks}


async def until(stream: AsyncGenerator[bytes, None], name: str) -> Any:
    """The next event with a name."""
    async with asyncio.timeout(20):
        async for data in stream:
            if name in (found := parsed(data)):
                return found[name]
    raise AssertionError("the stream ended")


async def test_changed_threads_and_runs_are_reported(feed: Feed, store: Store) -> None:
    await store.threads.create("quiet")
    async with aclosing(listen(feed)) as stream:
        assert (await until(stream, "import"))["state"] == "idle"
        await _watching(feed)
        await store.threads.create("t")
        (event,) = (await until(stream, "threads"))["items"]
        thread = await store.threads.get("t")
        assert thread is not None
        assert thread.updated_at is not None
        assert event == {"id": "t", "updatedAt": thread.updated_at.isoformat()}
        await store.runs.open("t", id="r", status="running")
        assert (await until(stream, "runs"))["items"] == [{"id": "r", "threadId": "t", "status": "running"}]
        await store.runs.finish("r")
        assert (await until(stream, "runs"))["items"] == [{"id": "r", "threadId": "t", "status": "completed"}]


async def test_a_write_without_changes_is_reported(feed: Feed, store: Store) -> None:
    long_ago = datetime(2024, 5, 5, tzinfo=UTC)
    await store.threads.save(Thread(id="t", created_at=long_ago))
    async with aclosing(listen(feed)) as stream:
        await until(stream, "import")
        await _watching(feed)
        event = {"items": [{"id": "t", "updatedAt": long_ago.isoformat()}]}
        await store.threads.set_title("t", "Lamps")
        assert await until(stream, "threads") == event
        await store.threads.update_metadata("t", {"pinned": True})
        assert await until(stream, "threads") == event


async def _watching(feed: Feed) -> None:
    """Wait until the feed has read the initial state."""
    while not feed.polls:
        await asyncio.sleep(0)


async def test_a_listener_with_an_owner_receives_its_own_changes_only(feed: Feed, store: Store) -> None:
    async with aclosing(listen(feed, "ada")) as ada, aclosing(listen(feed)) as all_of_it:
        await until(ada, "import")
        await until(all_of_it, "import")
        await _watching(feed)
        await store.scoped("bob").threads.create("bobs")
        assert [one["id"] for one in (await until(all_of_it, "threads"))["items"]] == ["bobs"]
        await store.scoped("ada").threads.create("adas")
        assert [one["id"] for one in (await until(ada, "threads"))["items"]] == ["adas"]
        feed.report_deleted("bob", "bobs")
        feed.report_deleted("ada", "adas")
        assert await until(ada, "deleted") == {"items": ["adas"]}
        assert await until(all_of_it, "deleted") == {"items": ["bobs", "adas"]}


async def test_the_progress_of_an_import_is_reported(feed: Feed) -> None:
    progress = ImportProgress()
    progress.update("reading", files=1, all_files=9)
    async with aclosing(listen(feed, "ada", progress)) as stream:
        assert await until(stream, "import") == {
            "state": "reading",
            "files": 1,
            "allFiles": 9,
            "sessions": 0,
            "messages": 0,
        }
        progress.update("reading", files=2, all_files=9, sessions=1, messages=40)
        progress.update("done", files=9, all_files=9, sessions=3, messages=90)
        assert (await until(stream, "import"))["state"] == "done"


async def test_keep_alive_comments_are_sent(feed: Feed) -> None:
    async with aclosing(listen(feed, keep_alive=QUICK)) as stream:
        await anext(stream)
        assert await anext(stream) == b": alive\n\n"


async def test_the_stream_ends_after_the_requested_seconds(feed: Feed) -> None:
    assert [data async for data in listen(feed, seconds=0)][1:] == []


async def test_the_stream_ends_when_the_feed_is_closed(feed: Feed) -> None:
    async with aclosing(listen(feed)) as stream:
        await anext(stream)
        feed.close()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
    assert len([data async for data in listen(feed)]) == 1, "a later listener ends at once"


async def test_the_store_is_not_polled_without_listeners(feed: Feed) -> None:
    async with aclosing(listen(feed)) as stream:
        await anext(stream)
        await _watching(feed)
    looks = feed.polls
    await asyncio.sleep(5 * QUICK)
    assert feed.polls == looks


async def test_a_stopping_server_ends_the_stream(app: PartitaApp, serve: Serve) -> None:
    address = await serve(app)
    async with httpx.AsyncClient() as client, client.stream("GET", f"{address}/api/feed") as reply:
        pieces = reply.aiter_bytes()
        assert b"event: import" in await anext(pieces)
        app.opened().feed.close()
        async with asyncio.timeout(10):
            assert [piece async for piece in pieces] == []


async def test_a_deletion_over_http_is_reported(app: PartitaApp, serve: Serve, store: Store) -> None:
    await store.threads.create("t")
    address = await serve(app)
    async with httpx.AsyncClient() as client, client.stream("GET", f"{address}/api/feed") as reply:
        pieces = reply.aiter_bytes()
        await anext(pieces)
        await client.delete(f"{address}/api/threads/t")
        async with asyncio.timeout(10):
            assert parsed(await anext(pieces)) == {"deleted": {"items": ["t"]}}


async def test_listeners_create_no_reference_cycles(feed: Feed, store: Store) -> None:
    async def once() -> None:
        async with aclosing(listen(feed)) as stream:
            await anext(stream)

    await once()
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            await once()
        await asyncio.sleep(0)
        assert gc.collect() < 20
    finally:
        gc.enable()


BAD: list[Json] = ["-1", "x", "1e9", "nan"]


async def test_invalid_seconds_are_refused(client: httpx.AsyncClient) -> None:
    for seconds in BAD:
        assert (await client.get(f"/api/feed?seconds={seconds}")).status_code == 400, seconds
