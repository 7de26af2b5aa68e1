"""Threads, on every engine."""

from datetime import UTC, datetime, timedelta

import pytest

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.store.store import Store
from partita.store.values import ThreadFilter
from partita.types.json import Json
from partita.types.threads import Thread
from tests.store.emptying import in_empty_store
from tests.store.examples import assistant_message, failed_call_message, tool_call_message, user_message
from tests.tables import each_row


async def test_a_thread_is_found_by_its_id(store: Store) -> None:
    made = await store.threads.create("t1", title="Lighthouses", metadata={"pinned": True}, agent="claude")
    assert await store.threads.get("t1") == made
    assert (made.title, made.metadata, made.agent, made.message_count) == (
        "Lighthouses",
        {"pinned": True},
        "claude",
        0,
    )
    assert await store.threads.get("t2") is None


async def test_a_thread_without_an_id_gets_a_new_one(store: Store) -> None:
    first, second = await store.threads.create(), await store.threads.create()
    assert first.id < second.id  # later ids sort later


async def test_a_known_id_is_refused(store: Store) -> None:
    await store.threads.create("t1")
    with pytest.raises(ConflictError, match="t1"):
        await store.threads.create("t1")


async def test_saving_updates_or_creates(store: Store) -> None:
    await store.threads.save(Thread(id="t1", title="One"))
    saved = await store.threads.save(Thread(id="t1", title="Two", metadata={"a": [1, {"b": None}]}))
    assert (saved.title, saved.metadata) == ("Two", {"a": [1, {"b": None}]})
    assert await store.threads.count() == 1


async def test_unknown_fields_of_a_thread_are_kept(store: Store) -> None:
    from partita.types.codec import decode

    thread = decode(b'{"id": "t1", "colour": "teal"}', Thread)
    await store.threads.save(thread)
    found = await store.threads.get("t1")
    assert found is not None
    assert dict(found.extra or {}) == {"colour": "teal"}


async def test_tags_are_added_and_removed(store: Store) -> None:
    await store.threads.create("t1", metadata={"topic": "lamps"})
    tagged = await store.threads.tag("t1", add=["oil", "a b", "oil"])
    assert tagged.metadata == {"topic": "lamps", "tags": ["oil", "a b"]}
    assert (await store.threads.tag("t1", add=["new"], remove=["oil"])).metadata == {
        "topic": "lamps",
        "tags": ["a b", "new"],
    }
    assert [one.id for one in await store.threads.list(ThreadFilter(tags=["new"]))] == ["t1"]
    assert (await store.threads.tag("t1", remove=["a b", "new"])).metadata == {"topic": "lamps"}
    assert not (await store.threads.list(ThreadFilter(tags=["new"]))).items
    with pytest.raises(StoreError, match="is not a tag"):
        await store.threads.tag("t1", add=["a,b"])
    with pytest.raises(NotFoundError):
        await store.threads.tag("none", add=["a"])


async def test_only_threads_of_sessions_remember_that_they_were_renamed(store: Store) -> None:
    await store.threads.create("t1", title="One")
    await store.threads.create("t2", title="Two", metadata={"sessionId": "s"})
    assert (await store.threads.change("t1", title="Lamp")).metadata is None
    assert (await store.threads.change("t2", title="Lamp")).metadata == {"sessionId": "s", "renamed": True}
    assert (await store.threads.change("t2", title=None)).metadata == {"sessionId": "s"}


async def test_title_and_metadata_can_be_changed_separately(store: Store) -> None:
    await store.threads.create("t1", title="Old", metadata={"keep": 1, "drop": 2})
    await store.threads.set_title("t1", "New")
    changed = await store.threads.update_metadata("t1", {"drop": None, "add": "x"})
    assert (changed.title, changed.metadata) == ("New", {"keep": 1, "add": "x"})
    with pytest.raises(NotFoundError):
        await store.threads.set_title("nowhere", "x")


async def fill(store: Store, count: int = 12) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(count):
        await store.threads.save(
            Thread(
                id=f"t{number:02}",
                title=f"Thread number {number}",
                agent=("claude", "codex")[number % 2],
                project=("alpha", "beta", "gamma")[number % 3],
                metadata={"number": number, "even": number % 2 == 0, "name": f"n{number}", "none": None},
                updated_at=start + timedelta(days=number),
            )
        )


async def test_pages_cover_everything_once_newest_first(store: Store) -> None:
    await fill(store)
    seen: list[str] = []
    page = await store.threads.list(limit=5)
    seen += [thread.id for thread in page]
    while page.next is not None:
        page = await store.threads.list(limit=5, cursor=page.next)
        seen += [thread.id for thread in page]
    assert seen == [f"t{number:02}" for number in reversed(range(12))]
    oldest = await store.threads.list(limit=3, order="asc")
    assert [thread.id for thread in oldest] == ["t00", "t01", "t02"]
    assert [t.id for t in await store.threads.list(limit=2, order="asc", cursor=oldest.next)] == [
        "t03",
        "t04",
    ]


async def test_threads_with_the_same_time_are_all_listed(store: Store) -> None:
    moment = datetime(2026, 5, 5, tzinfo=UTC)
    for number in range(7):
        await store.threads.save(Thread(id=f"t{number}", updated_at=moment))
    first = await store.threads.list(limit=4)
    rest = await store.threads.list(limit=4, cursor=first.next)
    assert sorted(thread.id for thread in (*first, *rest)) == [f"t{number}" for number in range(7)]


FILTERS: dict[str, tuple[dict[str, object], list[int]]] = {
    "agent": ({"agent": "codex"}, [11, 9, 7, 5, 3, 1]),
    "project": ({"project": "beta"}, [10, 7, 4, 1]),
    "agent and project": ({"agent": "codex", "project": "beta"}, [7, 1]),
    "since, inclusive": ({"since": datetime(2026, 1, 11, tzinfo=UTC)}, [11, 10]),
    "until, exclusive": ({"until": datetime(2026, 1, 3, tzinfo=UTC)}, [1, 0]),
    "metadata number": ({"metadata": {"number": 4}}, [4]),
    "metadata text": ({"metadata": {"name": "n5"}}, [5]),
    "metadata truth": ({"metadata": {"even": True, "number": 2}}, [2]),
    "metadata null": ({"metadata": {"none": None, "number": 2}}, [2]),
    "metadata of another type": ({"metadata": {"number": "4"}}, []),
    "title": ({"text": "number 7"}, [7]),
    "unknown agent": ({"agent": "unknown agent"}, []),
}


@each_row(("wanted", "numbers"), FILTERS.values(), ids=FILTERS)
@in_empty_store
async def test_filters(store: Store, wanted: dict[str, object], numbers: list[int]) -> None:
    await fill(store)
    page = await store.threads.list(ThreadFilter(**wanted))  # type: ignore[arg-type]
    assert [thread.id for thread in page] == [f"t{number:02}" for number in numbers]


async def test_threads_are_filtered_by_text_and_errors(store: Store) -> None:
    for thread_id in ("good", "bad"):
        await store.threads.create(thread_id)
    await store.messages.save(
        [user_message("m1"), tool_call_message("m2", output="a walrus was here")], thread_id="good"
    )
    await store.messages.save([user_message("m1"), failed_call_message("m2")], thread_id="bad")
    assert [t.id for t in await store.threads.list(ThreadFilter(text="walrus"))] == ["good"]
    assert [t.id for t in await store.threads.list(ThreadFilter(has_errors=True))] == ["bad"]
    assert [t.id for t in await store.threads.list(ThreadFilter(has_errors=False))] == ["good"]
    await store.messages.save([assistant_message("m2")], thread_id="bad")  # the error is fixed
    assert [t.id for t in await store.threads.list(ThreadFilter(has_errors=True))] == []


BAD: dict[str, dict[str, object]] = {
    "cursor of another list": {"cursor": "12"},
    "invalid cursor": {"cursor": "ö; DROP TABLE threads"},
    "a limit of 0": {"limit": 0},
    "metadata that is not a scalar": {"metadata": {"a": [1]}},
}


@each_row("options", BAD.values(), ids=BAD)
async def test_invalid_arguments_are_refused(store: Store, options: dict[str, object]) -> None:
    rest = {name: value for name, value in options.items() if name != "metadata"}
    with pytest.raises(StoreError) as caught:
        await store.threads.list(ThreadFilter(metadata=options.get("metadata", {})), **rest)  # type: ignore[arg-type]
    assert caught.value.hint


@each_row("id", ["", "nul\x00", "half\ud800"])
async def test_invalid_ids_are_refused(store: Store, id: str) -> None:
    with pytest.raises(StoreError):
        await store.threads.create(id)


METADATA: dict[str, Json] = {
    "nul": {"a": "\x00", "\x00": 1},
    "surrogate": {"a": "\ud800", "\udfff": "x"},
    "deep": {"a": {"b": {"c": [1, 2.5, None, "x"]}}},
    "large number": {"a": 2**63 + 1, "b": 1e300},
}


@each_row("metadata", METADATA.values(), ids=METADATA)
@in_empty_store
async def test_any_metadata_is_read_as_it_was_stored(store: Store, metadata: dict[str, Json]) -> None:
    await store.threads.create("t1", metadata=metadata)
    found = await store.threads.get("t1")
    assert found is not None
    assert found.metadata == metadata
