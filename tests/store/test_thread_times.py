"""The time of a thread is that of its last message. Other changes are reported to followers."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from partita.store import changes
from partita.store.bulk.rows import ThreadRows, pack_run
from partita.store.bulk.writer import write_threads
from partita.store.doctor.doctor import check_store
from partita.store.messages.prepared import prepare
from partita.store.messages.queries import Included, NumberedQuery
from partita.store.store import Store
from partita.store.values import ConsumptionRecord, SearchFilter, StatFilter, ThreadFilter
from partita.types.messages import Message
from partita.types.parts import TextPart
from partita.types.threads import Run, Thread
from tests.store.emptying import in_empty_store
from tests.tables import each_row

from .examples import assistant_message, user_message

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=2)
LONG_AGO = datetime(2024, 5, 5, tzinfo=UTC)


@pytest.fixture
async def thread_of_noon(store: Store) -> Store:
    """A store with a thread of noon, with two responses to one question. It is two days later now."""
    await fill(store)
    return store


async def fill(store: Store) -> None:
    store.clock = lambda: NOON
    await store.threads.create("t", title="Lamps", metadata={"topic": "lights"})
    await store.messages.save(
        [
            user_message("m1"),
            assistant_message("m2", parent_id="m1"),
            assistant_message("m3", parent_id="m1"),
        ],
        thread_id="t",
    )
    store.clock = lambda: LATER


async def time_of(store: Store, thread_id: str = "t") -> datetime | None:
    thread = await store.threads.get(thread_id)
    assert thread is not None
    return thread.updated_at


NO_NEW_MESSAGE: Mapping[str, Callable[[Store], Awaitable[object]]] = {
    "renamed": lambda store: store.threads.set_title("t", "Lighthouses"),
    "pinned": lambda store: store.threads.update_metadata("t", {"pinned": True}),
    "saved without a time": lambda store: store.threads.save(Thread(id="t", title="Lighthouses")),
    "another active branch": lambda store: store.threads.switch_branch("t", "m2"),
    "a message deleted": lambda store: store.messages.delete("t", ["m3"]),
    "an old message added": lambda store: store.messages.save(
        [user_message("m4", created_at=LONG_AGO)], thread_id="t"
    ),
}


@each_row("change", NO_NEW_MESSAGE.values(), ids=NO_NEW_MESSAGE)
@in_empty_store
async def test_a_change_without_a_new_message_keeps_the_time_and_is_reported(
    store: Store, change: Callable[[Store], Awaitable[object]]
) -> None:
    await fill(store)
    state = await store.read(changes.start_polling)
    await change(store)
    assert await time_of(store) == NOON
    changed = await store.read(changes.poll, state)
    assert changed.threads == [changes.ThreadChange("", "t", NOON)]
    assert (await store.read(changes.poll, state)).threads == []


NEW_MESSAGE: Mapping[str, tuple[Callable[[Store], Awaitable[object]], datetime]] = {
    "a message": (lambda store: store.messages.save([user_message("m4")], thread_id="t"), LATER),
    "a message of yesterday": (
        lambda store: store.messages.save(
            [
                user_message("m4", created_at=NOON + timedelta(days=1)),
                user_message("m5", created_at=LONG_AGO),
            ],
            thread_id="t",
        ),
        NOON + timedelta(days=1),
    ),
    "a message with a time in the future": (
        lambda store: store.messages.save(
            [user_message("m4", created_at=LATER + timedelta(days=1))], thread_id="t"
        ),
        LATER,
    ),
    "a changed part": (
        lambda store: store.messages.update_part("t", "m2", 0, TextPart(text="Fifty metres.")),
        LATER,
    ),
    "an explicit time": (
        lambda store: store.threads.save(Thread(id="t", updated_at=LONG_AGO)),
        LONG_AGO,
    ),
}


@each_row(("change", "expected"), NEW_MESSAGE.values(), ids=NEW_MESSAGE)
@in_empty_store
async def test_a_new_message_sets_the_time(
    store: Store, change: Callable[[Store], Awaitable[object]], expected: datetime
) -> None:
    await fill(store)
    await change(store)
    assert await time_of(store) == expected


async def test_lists_are_ordered_by_the_last_message(thread_of_noon: Store) -> None:
    await thread_of_noon.threads.save(Thread(id="old", created_at=LONG_AGO))
    messages: list[Message] = [
        user_message("o1", created_at=LONG_AGO),
        assistant_message("o2", created_at=LONG_AGO),
    ]
    await thread_of_noon.messages.save(messages, thread_id="old")
    await thread_of_noon.threads.update_metadata("old", {"pinned": True})
    assert [thread.id for thread in await thread_of_noon.threads.list()] == ["t", "old"]
    summaries = (await thread_of_noon.threads.summaries()).items
    assert [(one.thread.id, one.thread.updated_at) for one in summaries] == [("t", NOON), ("old", LONG_AGO)]


async def test_an_import_into_an_old_thread_is_reported(store: Store) -> None:
    """The time is that of the source, long before the last poll."""
    thread = Thread(id="t", created_at=LONG_AGO, updated_at=LONG_AGO)
    await store.write(
        write_threads, [ThreadRows(thread, [prepare(user_message("m1", created_at=LONG_AGO), "t")])]
    )
    store.clock = lambda: datetime.now(UTC) + timedelta(minutes=1)
    state = await store.read(changes.start_polling)
    messages = assistant_message("m2", created_at=LONG_AGO + timedelta(hours=1))
    grown = Thread(id="t", updated_at=LONG_AGO + timedelta(hours=1))
    await store.write(write_threads, [ThreadRows(grown, [prepare(messages, "t")])])
    changed = await store.read(changes.poll, state)
    assert changed.threads == [changes.ThreadChange("", "t", LONG_AGO + timedelta(hours=1))]


async def test_imported_times_that_are_unknown_stay_unknown(store: Store) -> None:
    """A thread without times is the last one of lists, and in no period of statistics."""
    store.clock = lambda: NOON
    dated = [prepare(user_message("d1", "dated lamp", created_at=LONG_AGO), "dated")]
    undated = [prepare(user_message(f"u{number}", "undated lamp"), "undated") for number in (1, 2)]
    rows = [
        ThreadRows(
            Thread(id="undated"),
            undated[:1],
            [pack_run(Run(id="r", thread_id="undated", status="completed"), 1, [])],
            [ConsumptionRecord(thread_id="undated", key="k", output_tokens=3)],
        ),
        ThreadRows(Thread(id="dated", created_at=LONG_AGO, updated_at=LONG_AGO), dated),
    ]
    await store.write(write_threads, rows)
    await store.write(write_threads, [ThreadRows(Thread(id="undated"), undated)])
    thread = await store.threads.get("undated")
    assert thread is not None
    assert (thread.created_at, thread.updated_at) == (None, None)
    found = await store.messages.list("undated")
    assert [(one.id, one.created_at) for one in found] == [("u1", None), ("u2", None)]
    assert [row.created_at for row in (await store.threads.outline("undated")).rows] == [None, None]
    pages = [await store.threads.list(limit=1)]
    pages.append(await store.threads.list(limit=1, cursor=pages[0].next))
    assert [one.id for page in pages for one in page] == ["dated", "undated"]
    assert [one.id for one in await store.threads.list(ThreadFilter(until=NOON))] == ["dated"]
    assert [one.created_at for one in await store.runs.list()] == [None]
    assert [point.time for point in await store.stats.growth("undated")] == [None]
    days = await store.stats.totals(by="day")
    assert [(one.key, one.messages, one.output_tokens, one.runs) for one in days] == [
        ((None,), 2, 3, 1),
        ((LONG_AGO.date().isoformat(),), 1, 0, 0),
    ]
    assert [one.threads for one in await store.stats.totals(StatFilter(until=NOON))] == [1]
    hits = await store.search("lamp")
    assert {(hit.message_id, hit.created_at) for hit in hits} == {
        ("u1", None),
        ("u2", None),
        ("d1", LONG_AGO),
    }
    assert [hit.message_id for hit in await store.search("lamp", SearchFilter(until=NOON))] == ["d1"]
    page = await store.messages.page("undated", NumberedQuery(include=(Included("u1", None, 1, 1),)))
    assert [one.id for one in page.items] == ["u1", "u2"]
    copy = await store.threads.clone("undated", new_id="copy")
    assert copy.created_at == NOON
    assert [one.created_at for one in await store.messages.list("copy")] == [None, None]
    await store.messages.save([user_message("u3")], thread_id="undated")
    assert await time_of(store, "undated") == NOON
    assert (await check_store(store, full=True)).healthy
