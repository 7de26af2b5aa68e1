"""The time of a thread: when something was last said in it. What else changes is told to who follows."""

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

from .examples import answer, ask

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=2)
LONG_AGO = datetime(2024, 5, 5, tzinfo=UTC)


@pytest.fixture
async def talk(store: Store) -> Store:
    """A store with a thread of noon, with two answers to one question; now it is two days later."""
    await fill(store)
    return store


async def fill(store: Store) -> None:
    store.clock = lambda: NOON
    await store.threads.create("t", title="Lamps", metadata={"topic": "lights"})
    await store.messages.save(
        [ask("m1"), answer("m2", parent_id="m1"), answer("m3", parent_id="m1")], thread_id="t"
    )
    store.clock = lambda: LATER


async def time_of(store: Store, thread_id: str = "t") -> datetime | None:
    thread = await store.threads.get(thread_id)
    assert thread is not None
    return thread.updated_at


NOTHING_SAID: Mapping[str, Callable[[Store], Awaitable[object]]] = {
    "renamed": lambda store: store.threads.set_title("t", "Lighthouses"),
    "pinned": lambda store: store.threads.update_metadata("t", {"pinned": True}),
    "saved without a time": lambda store: store.threads.save(Thread(id="t", title="Lighthouses")),
    "another branch shown": lambda store: store.threads.switch_branch("t", "m2"),
    "a message deleted": lambda store: store.messages.delete("t", ["m3"]),
    "an old message added": lambda store: store.messages.save(
        [ask("m4", created_at=LONG_AGO)], thread_id="t"
    ),
}


@each_row("change", NOTHING_SAID.values(), ids=NOTHING_SAID)
@in_empty_store
async def test_what_says_nothing_new_keeps_the_time_and_is_told(
    store: Store, change: Callable[[Store], Awaitable[object]]
) -> None:
    await fill(store)
    state = await store.read(changes.start_polling)
    await change(store)
    assert await time_of(store) == NOON
    changed = await store.read(changes.poll, state)
    assert changed.threads == [changes.ThreadChange("", "t", NOON)]
    assert (await store.read(changes.poll, state)).threads == []


SAID: Mapping[str, tuple[Callable[[Store], Awaitable[object]], datetime]] = {
    "a message": (lambda store: store.messages.save([ask("m4")], thread_id="t"), LATER),
    "a message of yesterday": (
        lambda store: store.messages.save(
            [ask("m4", created_at=NOON + timedelta(days=1)), ask("m5", created_at=LONG_AGO)], thread_id="t"
        ),
        NOON + timedelta(days=1),
    ),
    "a message that claims to be of tomorrow": (
        lambda store: store.messages.save([ask("m4", created_at=LATER + timedelta(days=1))], thread_id="t"),
        LATER,
    ),
    "a part that is another one": (
        lambda store: store.messages.update_part("t", "m2", 0, TextPart(text="Fifty metres.")),
        LATER,
    ),
    "a time that is given": (
        lambda store: store.threads.save(Thread(id="t", updated_at=LONG_AGO)),
        LONG_AGO,
    ),
}


@each_row(("change", "expected"), SAID.values(), ids=SAID)
@in_empty_store
async def test_what_is_said_is_the_time(
    store: Store, change: Callable[[Store], Awaitable[object]], expected: datetime
) -> None:
    await fill(store)
    await change(store)
    assert await time_of(store) == expected


async def test_a_list_is_by_what_was_said_last(talk: Store) -> None:
    await talk.threads.save(Thread(id="old", created_at=LONG_AGO))
    said: list[Message] = [ask("o1", created_at=LONG_AGO), answer("o2", created_at=LONG_AGO)]
    await talk.messages.save(said, thread_id="old")
    await talk.threads.update_metadata("old", {"pinned": True})
    assert [thread.id for thread in await talk.threads.list()] == ["t", "old"]
    summaries = (await talk.threads.summaries()).items
    assert [(one.thread.id, one.thread.updated_at) for one in summaries] == [("t", NOON), ("old", LONG_AGO)]


async def test_what_an_import_adds_to_an_old_thread_is_told(store: Store) -> None:
    """Its time is that of the source, long before anybody looked."""
    thread = Thread(id="t", created_at=LONG_AGO, updated_at=LONG_AGO)
    await store.write(write_threads, [ThreadRows(thread, [prepare(ask("m1", created_at=LONG_AGO), "t")])])
    store.clock = lambda: datetime.now(UTC) + timedelta(minutes=1)
    state = await store.read(changes.start_polling)
    said = answer("m2", created_at=LONG_AGO + timedelta(hours=1))
    grown = Thread(id="t", updated_at=LONG_AGO + timedelta(hours=1))
    await store.write(write_threads, [ThreadRows(grown, [prepare(said, "t")])])
    changed = await store.read(changes.poll, state)
    assert changed.threads == [changes.ThreadChange("", "t", LONG_AGO + timedelta(hours=1))]
