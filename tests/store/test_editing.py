"""Editing a message: the edit keeps the id, the old message gets another one, and nothing is lost."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.errors import BusyError, NotFoundError, StoreError
from partita.store.connection import open_store
from partita.store.doctor.doctor import check_store
from partita.store.store import Store
from partita.store.values import ConsumptionRecord, MessageFilter, ThreadFilter
from partita.types.messages import Message
from partita.types.parts import TextOutput
from tests.canonical import messages as any_message
from tests.store.examples import (
    assistant_message,
    failed_call_message,
    tool_call_message,
    tool_output_message,
    user_message,
)


@pytest.fixture
async def thread(store: Store) -> str:
    """Two questions with responses; the second response has a call."""
    await store.threads.create("t1", title="Towers")
    await store.messages.save(
        [
            user_message("q1"),
            assistant_message("a1"),
            user_message("q2", "How old?"),
            tool_call_message("a2"),
        ],
        thread_id="t1",
    )
    return "t1"


async def branch(store: Store, which: str = "active", thread_id: str = "t1") -> list[Message]:
    page = await store.messages.list(thread_id, MessageFilter(branch=which, internal=None), limit=None)  # type: ignore[arg-type]
    return list(page)


async def assert_healthy(store: Store) -> None:
    health = await check_store(store, full=True)
    assert {check.name: check.problems for check in health.checks if check.problems} == {}


async def test_the_edit_has_the_id_and_the_old_message_gets_another(store: Store, thread: str) -> None:
    edited = await store.messages.edit(thread, user_message("q2", "How wide?"))
    assert (edited.id, edited.parent_id, edited.seq) == ("q2", "a1", 5)
    assert [message.id for message in await branch(store)] == ["q1", "a1", "q2"]
    assert await store.messages.get(thread, "q2") == edited
    everything = await branch(store, "all")
    assert [message.seq for message in everything] == [1, 2, 3, 4, 5]
    old, below = everything[2], everything[3]
    assert old.id not in ("q1", "a1", "q2", "a2")
    assert (old.content, old.parent_id) == (user_message("q2", "How old?").content, "a1")
    assert (below.id, below.parent_id, below.content) == ("a2", old.id, tool_call_message("a2").content)
    await assert_healthy(store)


async def test_the_old_branch_can_be_activated(store: Store, thread: str) -> None:
    await store.messages.edit(thread, user_message("q2", "How wide?"))
    await store.messages.save([assistant_message("wide", "Nine metres.")], thread_id=thread)
    assert [message.id for message in await branch(store)] == ["q1", "a1", "q2", "wide"]
    switched = await store.threads.switch_branch(thread, "a2")
    assert switched.active_leaf_id == "a2"
    way = await branch(store)
    assert [message.content for message in way[2:]] == [
        user_message("q2", "How old?").content,
        tool_call_message("a2").content,
    ]
    assert [hit.message_id for hit in await store.search("old")] == [way[2].id]
    assert [hit.message_id for hit in await store.search("wide")] == ["q2"]
    await assert_healthy(store)


async def test_an_edit_of_the_first_message_is_a_second_root(store: Store, thread: str) -> None:
    edited = await store.messages.edit(thread, user_message("q1", "How many?"))
    assert edited.parent_id is None
    assert [message.id for message in await branch(store)] == ["q1"]
    roots = [message for message in await branch(store, "all") if message.parent_id is None]
    assert [message.seq for message in roots] == [1, 5]
    found = await store.messages.get(thread, "a1")
    assert found is not None
    assert found.parent_id == roots[0].id
    await assert_healthy(store)


async def test_the_leaf_can_be_edited_repeatedly(store: Store, thread: str) -> None:
    for number in range(3):
        await store.messages.edit(thread, assistant_message("a2", f"Version {number}."))
    everything = await branch(store, "all")
    assert len(everything) == 7
    assert [message.id for message in await branch(store)] == ["q1", "a1", "q2", "a2"]
    assert {message.parent_id for message in everything[3:]} == {"q2"}
    assert everything[-1].content == assistant_message("a2", "Version 2.").content
    found = await store.threads.get(thread)
    assert found is not None
    assert (found.active_leaf_id, found.message_count) == ("a2", 4)
    await assert_healthy(store)


async def test_a_message_of_an_inactive_branch_can_be_edited(store: Store, thread: str) -> None:
    await store.messages.save(
        [user_message("other", parent_id="a1"), assistant_message("end")], thread_id=thread
    )
    await store.messages.edit(thread, user_message("q2", "How wide?"))
    assert [message.id for message in await branch(store)] == ["q1", "a1", "q2"]
    await assert_healthy(store)


async def test_runs_and_usage_stay_with_the_old_message(store: Store, thread: str) -> None:
    run = await store.runs.open(thread)
    await store.runs.finish(run.id, message_id="a2")
    record = ConsumptionRecord(thread_id=thread, key="resp-1", message_id="a2", input_tokens=5)
    await store.usage.record([record])
    before = await store.usage.of_thread(thread)
    stored = await store.messages.get(thread, "a2")
    assert stored is not None
    edited = await store.messages.edit(
        thread, replace(stored, content=assistant_message("a2", "Old.").content, run_id=run.id)
    )
    assert edited.run_id is None
    old = next(message for message in await branch(store, "all") if message.seq == stored.seq)
    found = await store.runs.get(run.id)
    assert found is not None
    assert found.message_id == old.id != "a2"
    named = await store.read(lambda tx: tx.sql("SELECT message_id FROM consumptions").scalars().all())
    assert named == [old.id]
    assert await store.usage.of_thread(thread) == before
    await assert_healthy(store)


async def test_large_values_and_counters_are_updated(store: Store, thread: str) -> None:
    large = tool_output_message("big", TextOutput("word " * 20_000))
    await store.messages.save([large, failed_call_message("bad")], thread_id=thread)
    await store.messages.edit(thread, replace(large, content=failed_call_message("big").content))
    await store.messages.edit(thread, assistant_message("bad", "It went well."))
    everything = await branch(store, "all")
    assert large.content in [message.content for message in everything]
    assert len(await store.threads.list(ThreadFilter(has_errors=True))) == 1
    await assert_healthy(store)


async def test_other_threads_are_not_changed(store: Store, thread: str) -> None:
    await store.threads.create("t2")
    await store.messages.save([user_message("q1"), user_message("q2")], thread_id="t2")
    await store.scoped("ada").threads.create("t1")
    await store.scoped("ada").messages.save([user_message("q1"), user_message("q2")], thread_id="t1")
    before = await branch(store, "all", "t2"), await branch(store.scoped("ada"), "all")
    await store.scoped("").messages.edit(thread, user_message("q2", "How wide?"))
    assert (await branch(store, "all", "t2"), await branch(store.scoped("ada"), "all")) == before
    await store.scoped("ada").messages.edit("t1", user_message("q2", "Mine."))
    assert len(await branch(store.scoped(""), "all")) == 5
    assert len(await branch(store.scoped("ada"), "all")) == 3


async def test_messages_of_other_owners_are_not_found(store: Store, thread: str) -> None:
    for edit in (
        store.scoped("bob").messages.edit(thread, user_message("q2")),
        store.messages.edit(thread, user_message("q2", resource_id="bob")),
        store.messages.edit(thread, user_message("unknown")),
        store.messages.edit("nowhere", user_message("q2")),
    ):
        with pytest.raises(NotFoundError):
            await edit
    assert len(await branch(store, "all")) == 4


async def test_a_message_without_an_id_is_an_error(store: Store, thread: str) -> None:
    with pytest.raises(StoreError):
        await store.messages.edit(thread, user_message(""))


@pytest.mark.parametrize("status", ["running", "pending"])
async def test_a_thread_with_an_active_run_cannot_be_edited(
    store: Store, thread: str, status: Literal["pending", "running"]
) -> None:
    run = await store.runs.open(thread, status=status)
    with pytest.raises(BusyError, match=run.id):
        await store.messages.edit(thread, user_message("q2", "How wide?"))
    assert len(await branch(store, "all")) == 4
    await store.runs.cancel(run.id)
    await store.messages.edit(thread, user_message("q2", "How wide?"))


_ids = st.sampled_from([f"m{number}" for number in range(5)])


@given(
    saved=st.lists(st.tuples(any_message(), _ids, st.none() | st.just("") | _ids), min_size=1, max_size=6),
    edits=st.lists(st.tuples(any_message(), _ids), max_size=4),
)
async def test_no_sequence_of_edits_loses_a_message(
    saved: list[tuple[Message, str, str | None]], edits: list[tuple[Message, str]]
) -> None:
    async with open_store("memory:") as store:
        await store.threads.create("t1")
        own = {"thread_id": None, "resource_id": None, "run_id": None}
        await store.messages.save(
            [replace(message, id=name, parent_id=parent, **own) for message, name, parent in saved],
            thread_id="t1",
        )
        known = {name for _, name, _ in saved}
        for message, name in edits:
            if name not in known:
                continue
            before = await branch(store, "all")
            edited = await store.messages.edit("t1", replace(message, id=name, parent_id=None, **own))
            after = await branch(store, "all")
            assert [one.content for one in after[:-1]] == [one.content for one in before]
            assert (after[-1], (await branch(store))[-1]) == (edited, edited)
        assert {
            one.name: one.problems for one in (await check_store(store, full=True)).checks if one.problems
        } == {}
