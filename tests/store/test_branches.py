"""Branches: edits, alternative responses, copies."""

import pytest

from partita.errors import ConflictError, NotFoundError
from partita.store.doctor.doctor import check_store
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.messages import SystemMessage, UserMessage
from tests.store.examples import assistant_message, tool_call_message, user_message


@pytest.fixture
async def thread(store: Store) -> str:
    """A question with two responses, and a message after the second."""
    await store.threads.create("t1", title="Towers")
    await store.messages.save(
        [user_message("q1"), assistant_message("a1"), user_message("q2"), assistant_message("a2")],
        thread_id="t1",
    )
    await store.messages.save([assistant_message("b1", parent_id="q1"), user_message("r2")], thread_id="t1")
    return "t1"


async def branch(store: Store, thread_id: str, which: str = "active") -> list[str]:
    return [m.id for m in await store.messages.list(thread_id, MessageFilter(branch=which))]  # type: ignore[arg-type]


async def test_another_response_starts_a_branch(store: Store, thread: str) -> None:
    assert await branch(store, thread) == ["q1", "b1", "r2"]
    assert await branch(store, thread, "all") == ["q1", "a1", "q2", "a2", "b1", "r2"]


async def test_messages_are_numbered_by_their_place_on_a_branch(store: Store, thread: str) -> None:
    event = SystemMessage(id="e1", type="event", content="resumed")
    hidden = UserMessage(id="h1", content="context", internal=True)
    await store.messages.save([hidden, event, assistant_message("b3")], thread_id=thread)
    numbers = await store.messages.numbers(thread)
    assert numbers == {"q1": 1, "a1": 2, "q2": 3, "a2": 4, "b1": 2, "r2": 3, "e1": 4, "b3": 5}
    counted = await store.threads.get(thread)
    assert counted is not None
    assert counted.message_count == 5


async def test_branches_are_switched(store: Store, thread: str) -> None:
    switched = await store.threads.switch_branch(thread, "a1")
    assert switched.active_leaf_id == "a2"  # the latest message of the branch
    assert await branch(store, thread) == ["q1", "a1", "q2", "a2"]
    await store.messages.save([user_message("q3")], thread_id=thread)  # continues from there
    assert await branch(store, thread) == ["q1", "a1", "q2", "a2", "q3"]
    await store.threads.switch_branch(thread, "r2")
    assert await branch(store, thread) == ["q1", "b1", "r2"]
    with pytest.raises(NotFoundError, match="unknown"):
        await store.threads.switch_branch(thread, "unknown")


async def test_a_thread_counts_the_visible_messages_of_its_active_branch(store: Store, thread: str) -> None:
    async def count() -> int | None:
        found = await store.threads.get(thread)
        assert found is not None
        shown = await store.messages.list(thread, limit=None)
        assert found.message_count == len(shown)
        assert (await check_store(store, full=True)).healthy
        return found.message_count

    assert await count() == 3
    await store.messages.save([user_message("note", internal=True), user_message("r3")], thread_id=thread)
    assert await count() == 4
    await store.messages.save([user_message("r3", internal=True)], thread_id=thread)
    assert await count() == 3
    await store.messages.save([user_message("note")], thread_id=thread)
    assert await count() == 4
    await store.threads.switch_branch(thread, "a1")
    assert await count() == 4
    await store.messages.save([user_message("r2", internal=True)], thread_id=thread)  # of another branch
    assert await count() == 4
    await store.messages.delete(thread, ["a2", "b1"])
    assert await count() == 3
    await store.messages.edit(thread, user_message("q1", "How deep?"))
    assert await count() == 1
    await store.write(lambda tx: tx.sql("UPDATE threads SET message_count = 9"))
    await store.rebuild()
    assert await count() == 1


async def test_the_first_message_can_be_edited(store: Store, thread: str) -> None:
    await store.messages.save(
        [user_message("q1-edited", parent_id=""), assistant_message("c1")], thread_id=thread
    )
    assert await branch(store, thread) == ["q1-edited", "c1"]
    await store.threads.switch_branch(thread, "a1")
    assert await branch(store, thread) == ["q1", "a1", "q2", "a2"]


async def test_changing_a_message_keeps_the_branches(store: Store, thread: str) -> None:
    await store.messages.save([assistant_message("a1", "Thirty.")], thread_id=thread)
    assert await branch(store, thread) == ["q1", "b1", "r2"]


async def test_a_message_can_be_moved_to_another_parent(store: Store, thread: str) -> None:
    await store.messages.save([user_message("r2", parent_id="a2")], thread_id=thread)
    assert await branch(store, thread) == ["q1", "a1", "q2", "a2", "r2"]


async def test_a_cycle_or_a_missing_parent_ends_the_path(store: Store) -> None:
    await store.threads.create("t1")
    await store.messages.save(
        [user_message("x", parent_id="y"), user_message("y", parent_id="x")], thread_id="t1"
    )
    assert sorted(await branch(store, "t1")) == ["x", "y"]
    assert (await store.threads.switch_branch("t1", "x")).active_leaf_id in ("x", "y")
    await store.messages.save([user_message("z", parent_id="gone")], thread_id="t1")
    assert await branch(store, "t1") == ["z"]


async def test_after_deleting_the_leaf_its_parent_is_the_leaf(store: Store, thread: str) -> None:
    await store.messages.delete(thread, ["r2"])
    assert await branch(store, thread) == ["q1", "b1"]
    await store.messages.delete(thread, ["q1"])
    assert await branch(store, thread) == ["b1"]
    assert await branch(store, thread, "all") == ["a1", "q2", "a2", "b1"]


async def test_a_clone_is_a_complete_and_independent_copy(store: Store, thread: str) -> None:
    await store.messages.save([tool_call_message("big", output="x" * 100_000)], thread_id=thread)
    copy = await store.threads.clone(thread, title="Copy")
    assert (copy.title, copy.metadata, copy.message_count) == ("Copy", {"clone": {"threadId": "t1"}}, 4)
    assert await branch(store, copy.id) == await branch(store, thread)
    assert await branch(store, copy.id, "all") == await branch(store, thread, "all")
    await store.threads.delete(thread)
    big = await store.messages.get(copy.id, "big")
    assert big is not None
    assert big.content == tool_call_message("big", output="x" * 100_000).content


async def test_a_clone_keeps_the_active_branch(store: Store, thread: str) -> None:
    await store.threads.switch_branch(thread, "a2")
    copy = await store.threads.clone(thread, new_id="copy")
    assert copy.active_leaf_id == "a2"
    assert await branch(store, "copy") == ["q1", "a1", "q2", "a2"]
    with pytest.raises(ConflictError):
        await store.threads.clone(thread, new_id="copy")


async def test_a_fork_has_the_branch_up_to_a_message(store: Store, thread: str) -> None:
    copy = await store.threads.fork(thread, "q2")
    assert copy.metadata == {"clone": {"threadId": "t1", "messageId": "q2"}}
    assert await branch(store, copy.id, "all") == ["q1", "a1", "q2"]
    await store.messages.save([assistant_message("other")], thread_id=copy.id)
    assert await branch(store, copy.id) == ["q1", "a1", "q2", "other"]
    assert await branch(store, thread) == ["q1", "b1", "r2"]
    with pytest.raises(NotFoundError):
        await store.threads.fork(thread, "unknown")
