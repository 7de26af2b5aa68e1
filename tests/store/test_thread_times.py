"""The time of a thread is that of its last message. Other changes are reported to followers."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from partita.store import changes
from partita.store.bulk.rows import ThreadRows
from partita.store.bulk.writer import write_threads
from partita.store.messages.prepared import prepare
from partita.store.store import Store
from partita.types.messages import Message
from partita.types.parts import TextPart
from partita.types.threads import Thread
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
