"""Turns: a run and its messages start in one transaction, in a thread that may be new."""

import asyncio

import pytest

from partita.errors import BusyError, StoreError
from partita.store.runs.rows import RunEnd
from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, UserMessage
from tests.store.emptying import in_empty_store
from tests.tables import each_row


def message(id: str, text: str = "What grows there?") -> UserMessage:
    return UserMessage(id=id, content=text)


async def test_a_turn_creates_its_thread(store: Store) -> None:
    begun = await store.scoped("u1").runs.start_turn(
        "t1", [message("m1")], agent="gardener", lease_owner="me"
    )
    thread = await store.scoped("u1").threads.get("t1")
    assert thread is not None
    assert (thread.resource_id, thread.agent, thread.message_count) == ("u1", "gardener", 1)
    assert begun.run == await store.runs.get(begun.run.id)
    assert begun.run.status == "running"


async def test_a_turn_returns_the_messages_before_it(store: Store) -> None:
    await store.threads.create("t1")
    await store.messages.save(
        [
            message("m1"),
            AssistantMessage(id="m2", content="Beans."),
            message("other", "What else?"),
            AssistantMessage(id="hidden", content="(a note)", internal=True, parent_id="m2"),
        ],
        thread_id="t1",
    )
    begun = await store.runs.start_turn("t1", [message("m3")])
    history = (await store.messages.list("t1", limit=None)).items
    assert begun.history == history
    assert [message.id for message in history] == ["m1", "m2", "m3"]


async def test_a_thread_of_another_owner_is_not_continued(store: Store) -> None:
    await store.scoped("u1").runs.start_turn("t1", [message("m1")])
    begun = await store.scoped("u2").runs.start_turn("t1", [message("m2")])
    assert [message.id for message in begun.history or ()] == ["m2"]
    mine = await store.scoped("u1").messages.list("t1")
    assert [message.id for message in mine.items] == ["m1"]


async def test_a_refused_turn_writes_nothing(store: Store) -> None:
    first = await store.runs.start_turn("t1", [message("m1")])
    with pytest.raises(BusyError):
        await store.runs.start_turn("t1", [message("m2")])
    with pytest.raises(StoreError):
        await store.runs.start_turn("t2", [message("m\x00")])
    assert await store.threads.get("t2") is None
    assert [message.id for message in (await store.messages.list("t1")).items] == ["m1"]
    assert [run.id for run in (await store.runs.list()).items] == [first.run.id]


async def test_a_queued_turn_returns_no_messages(store: Store) -> None:
    await store.runs.start_turn("t1", [message("m1")], agent="a", metadata={"note": "yes"})
    begun = await store.runs.start_turn("t1", [message("m2")], busy="queue", agent="a", recall="note")
    assert (begun.run.status, begun.history, begun.recalled) == ("pending", None, None)


NOTED: dict[str, tuple[list[tuple[str, JsonObject | None]], str | None]] = {
    "by the last run": ([("a", {"note": "one"}), ("a", {"note": "two"})], "two"),
    "by an earlier one": ([("a", {"note": "one"}), ("a", None), ("a", {"other": "x"})], "one"),
    "by another agent": ([("b", {"note": "one"})], None),
    "not a text": ([("a", {"note": "one"}), ("a", {"note": 2})], "one"),
    "without an owner": ([], None),
}


@each_row(("earlier", "recalled"), NOTED.values(), ids=NOTED)
@in_empty_store
async def test_metadata_of_an_earlier_run_is_returned(
    store: Store, earlier: list[tuple[str, JsonObject | None]], recalled: str | None
) -> None:
    for agent, metadata in earlier:
        begun = await store.runs.start_turn("t1", agent=agent, metadata=metadata)
        await store.runs.end_turn(begun.run.id, [], RunEnd("completed"))
    assert (await store.runs.start_turn("t1", agent="a", recall="note")).recalled == recalled


async def test_one_of_two_turns_that_create_a_thread_starts(store: Store) -> None:
    outcomes = await asyncio.gather(
        *(store.runs.start_turn("t1", [message(f"m{number}")]) for number in range(4)), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in outcomes) == [*["BusyError"] * 3, "StartedTurn"]
    assert len((await store.messages.list("t1")).items) == 1
