"""The import of rows of other systems into stores of every kind."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from partita.errors import NotFoundError, StoreError
from partita.importers.databases.importer import import_rows
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.json import JsonObject, dumps
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import ForeignPart
from tests.importers.database_examples import (
    CHERRY,
    CHERRY_OLD,
    MASTRA,
    SMITHERS,
    SMITHERS_OLD,
    add,
    everything,
    make_sqlite,
    mastra_message,
    mastra_thread,
    texts_of,
    v2,
)
from tests.store.emptying import in_empty_store, new_folder
from tests.tables import each_row

Tables = Mapping[str, Sequence[JsonObject]]


@pytest.fixture
def hive(tmp_path: Path) -> Path:
    """A Mastra database."""
    return make_sqlite(tmp_path / "mastra.db", MASTRA)


SYSTEMS: dict[str, tuple[str, Tables, dict[str, list[str]]]] = {
    "Mastra: by time, then as inserted": (
        "mastra",
        MASTRA,
        {
            "t1": ["Where is the hive?", "In the old oak.", "One of two at once.", "The other."],
            "t2": ["And the wasps?"],
        },
    ),
    "Cherry Studio 1: by number, not by its digits": (
        "cherry",
        CHERRY_OLD,
        {"s1": ["Trim them?", "In June.", "Ok."]},
    ),
    "Cherry Studio of today: by time": ("cherry", CHERRY, {"s1": ["Trim?", "In June."]}),
    "Smithers memory: by time": ("smithers", SMITHERS, {"t1": ["First.", "Second."]}),
    "Smithers agents: events as inserted": (
        "smithers",
        SMITHERS_OLD,
        {"g0": [""], "g1": ["You plan gardens.", "What first?", "Lettuce first."]},
    ),
}


@each_row(("system", "tables", "threads"), SYSTEMS.values(), ids=SYSTEMS)
@in_empty_store
async def test_every_system_is_read_in_its_order(
    store: Store, tmp_path: Path, system: str, tables: Tables, threads: dict[str, list[str]]
) -> None:
    source = make_sqlite(new_folder(tmp_path) / "foreign.db", tables)
    report = await import_rows(store, system, str(source))
    assert {thread: await texts_of(store, thread) for thread in threads} == threads
    count = sum(map(len, threads.values()))
    assert (report.threads, report.messages, report.new, report.failed) == (len(threads), count, count, 0)
    before = await everything(store)
    again = await import_rows(store, system, str(source))
    assert (again.new_threads, again.new, again.changed, again.unchanged) == (0, 0, 0, count)
    assert await everything(store) == before


HEADS: dict[str, tuple[str, Tables, str, JsonObject]] = {
    "Mastra": (
        "mastra",
        MASTRA,
        "t1",
        {
            "title": "Bees",
            "resource_id": "ada",
            "agent": "mastra",
            "project": None,
            "metadata": {"colour": "amber", "imported": {"from": "mastra"}},
            "created_at": datetime(2026, 3, 1, 8, tzinfo=UTC),
            "updated_at": datetime(2026, 3, 1, 8, 0, 50, tzinfo=UTC),
        },
    ),
    "Cherry Studio 1": (
        "cherry",
        CHERRY_OLD,
        "s1",
        {
            "title": "Hedges",
            "agent": "Gardener",
            "project": "/home/ada/garden",
            "metadata": {"imported": {"from": "cherry", "agent_id": "ag"}},
            "updated_at": datetime(2026, 3, 1, 8, 0, 20, tzinfo=UTC),
        },
    ),
    "Cherry Studio of today, updated by its last message": (
        "cherry",
        CHERRY,
        "s1",
        {
            "title": "Hedges",
            "agent": "Gardener",
            "project": "/home/ada/garden",
            "updated_at": datetime(2026, 2, 25, 6, 13, 20, 20000, tzinfo=UTC),
        },
    ),
    "Smithers memory": (
        "smithers",
        SMITHERS,
        "t1",
        {
            "title": "Seeds",
            "agent": "smithers",
            "metadata": {"bed": 3, "imported": {"from": "smithers", "namespace": "workflow:greenhouse"}},
            "updated_at": datetime(2026, 2, 25, 6, 13, 29, tzinfo=UTC),
        },
    ),
    "Smithers agents": (
        "smithers",
        SMITHERS_OLD,
        "g1",
        {
            "title": "What first?",
            "agent": "smithers",
            "created_at": datetime(2026, 3, 1, 8, tzinfo=UTC),
            "updated_at": datetime(2026, 3, 1, 8, 0, 30, tzinfo=UTC),
        },
    ),
}


@each_row(("system", "tables", "id", "wanted"), HEADS.values(), ids=HEADS)
@in_empty_store
async def test_a_thread_keeps_the_columns_of_its_row(
    store: Store, tmp_path: Path, system: str, tables: Tables, id: str, wanted: JsonObject
) -> None:
    await import_rows(store, system, str(make_sqlite(new_folder(tmp_path) / "foreign.db", tables)))
    thread = await store.threads.get(id)
    assert {name: getattr(thread, name) for name in wanted} == wanted


# Again


async def test_new_rows_are_added(store: Store, hive: Path) -> None:
    await import_rows(store, "mastra", str(hive))
    add(hive, "mastra_messages", [mastra_message("late", 55, "Still there?")])
    report = await import_rows(store, "mastra", str(hive))
    assert (report.new, report.changed, report.unchanged) == (1, 0, 5)
    assert (await texts_of(store, "t1"))[-2:] == ["The other.", "Still there?"]


async def test_changed_rows_are_updated_in_place(store: Store, hive: Path, tmp_path: Path) -> None:
    await import_rows(store, "mastra", str(hive))
    rows = [
        mastra_message("a-second", 2, "In the elm.", role="assistant") if row["id"] == "a-second" else row
        for row in MASTRA["mastra_messages"]
    ]
    changed = make_sqlite(
        tmp_path / "later.db",
        {
            "mastra_threads": [mastra_thread(title="Hives"), MASTRA["mastra_threads"][1]],
            "mastra_messages": rows,
        },
    )
    report = await import_rows(store, "mastra", str(changed))
    assert (report.new, report.changed, report.unchanged) == (0, 1, 4)
    assert (await texts_of(store, "t1"))[:2] == ["Where is the hive?", "In the elm."]
    thread = await store.threads.get("t1")
    assert thread is not None
    assert thread.title == "Hives"


async def test_a_thread_that_was_continued_here_keeps_its_messages(store: Store, hive: Path) -> None:
    await import_rows(store, "mastra", str(hive))
    await store.messages.save([UserMessage(id="ours", content="And here?")], thread_id="t1")
    await store.threads.update_metadata("t1", {"starred": True})
    before = await everything(store)
    report = await import_rows(store, "mastra", str(hive))
    assert (report.new, report.changed) == (0, 0)
    assert await everything(store) == before


class KilledError(Exception):
    pass


@each_row("batch_size", [1, 2, 3])
@in_empty_store
async def test_repeating_an_interrupted_import_has_the_same_result(
    store: Store, tmp_path: Path, batch_size: int
) -> None:
    orphans = [mastra_message(f"o{number}", number, thread_id="lost") for number in range(5)]
    source = make_sqlite(
        new_folder(tmp_path) / "m.db",
        {**MASTRA, "mastra_messages": [*MASTRA["mastra_messages"], *orphans]},
    )
    async with open_store("memory:") as other:
        await import_rows(other, "mastra", str(source))
        whole = await everything(other)

    def kill(done: int, total: int) -> None:
        raise KilledError

    with pytest.raises(KilledError):
        await import_rows(store, "mastra", str(source), batch_size=batch_size, progress=kill)
    begun = sum(len(messages) for _, messages in await everything(store))
    assert 0 < begun < 10
    report = await import_rows(store, "mastra", str(source), batch_size=batch_size)
    assert (report.new, report.unchanged) == (10 - begun, begun)
    assert await everything(store) == whole


async def test_a_dry_run_reports_and_writes_nothing(store: Store, hive: Path) -> None:
    report = await import_rows(store, "mastra", str(hive), dry_run=True)
    assert (report.dry_run, report.threads, report.new_threads, report.new) == (True, 2, 2, 5)
    assert await store.threads.count() == 0
    await import_rows(store, "mastra", str(hive))
    add(hive, "mastra_messages", [mastra_message("late", 55)])
    again = await import_rows(store, "mastra", str(hive), dry_run=True)
    assert (again.new_threads, again.new, again.unchanged) == (0, 1, 5)
    assert len(await texts_of(store, "t1")) == 4


async def test_large_values_are_recognized(store: Store, tmp_path: Path) -> None:
    call: JsonObject = {
        "toolCallId": "c",
        "toolName": "read",
        "state": "result",
        "args": {},
        "result": "honey " * 20000,
    }
    content = dumps({"format": 2, "parts": [{"type": "tool-invocation", "toolInvocation": call}]}).decode()
    rows = [mastra_message("big", 1, role="assistant", content=content)]
    source = make_sqlite(tmp_path / "m.db", {"mastra_threads": [mastra_thread()], "mastra_messages": rows})
    await import_rows(store, "mastra", str(source))
    again = await import_rows(store, "mastra", str(source))
    assert (again.changed, again.unchanged) == (0, 1)


async def test_progress_is_reported_for_all_rows(store: Store, hive: Path) -> None:
    calls: list[tuple[int, int]] = []

    def record_progress(done: int, total: int) -> None:
        calls.append((done, total))

    await import_rows(store, "mastra", str(hive), batch_size=2, progress=record_progress)
    assert calls[-1] == (5, 5)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(calls) > 2


# Owners


async def test_all_threads_get_the_given_owner(store: Store, hive: Path) -> None:
    await import_rows(store, "mastra", str(hive), resource_id="eve")
    threads = (await store.threads.list()).items
    assert {thread.resource_id for thread in threads} == {"eve"}
    assert {thread.id: (thread.metadata or {})["imported"]["resourceId"] for thread in threads} == {
        "t1": "ada",
        "t2": "bob",
    }
    assert (await import_rows(store, "mastra", str(hive), resource_id="eve")).changed == 0


async def test_a_scoped_store_imports_only_for_its_owner(store: Store, hive: Path) -> None:
    mine = store.scoped("eve")
    with pytest.raises(NotFoundError):
        await import_rows(mine, "mastra", str(hive), resource_id="ada")
    await import_rows(mine, "mastra", str(hive))
    assert {thread.resource_id for thread in (await store.threads.list()).items} == {"eve"}


async def test_owners_with_the_same_thread_id_are_separate(store: Store, hive: Path) -> None:
    for owner in ("eve", "mallory", None):
        await import_rows(store, "mastra", str(hive), resource_id=owner)
    assert (await import_rows(store, "mastra", str(hive))).unchanged == 5
    for owner in ("eve", "mallory", "ada"):
        assert len(await texts_of(store, "t1", owner)) == 4


async def test_a_message_with_another_owner_than_its_thread_is_reported(store: Store, tmp_path: Path) -> None:
    rows = [mastra_message("x", 1, resourceId="bob")]
    source = make_sqlite(tmp_path / "m.db", {"mastra_threads": [mastra_thread()], "mastra_messages": rows})
    report = await import_rows(store, "mastra", str(source))
    assert [str(loss) for loss in report.losses] == [
        "mastra_messages[x].resourceId: \"bob\" (the thread belongs to 'ada')"
    ]


# Rows that are not as they should be


async def test_messages_without_a_thread_get_one(store: Store, tmp_path: Path) -> None:
    rows = [
        mastra_message("a", 4, "Lost.", thread_id="gone"),
        mastra_message("b", 8, "Lost too.", thread_id="gone"),
        mastra_message("c", 9, "Nowhere.", thread_id=None, resourceId=None),
    ]
    source = make_sqlite(tmp_path / "m.db", {"mastra_threads": [], "mastra_messages": rows})
    report = await import_rows(store, "mastra", str(source), batch_size=1)
    assert sorted(report.orphans) == ["gone", "mastra-without-thread"]
    assert await texts_of(store, "gone", "ada") == ["Lost.", "Lost too."]
    assert await texts_of(store, "mastra-without-thread") == ["Nowhere."]
    thread = await store.threads.get("gone")
    assert thread is not None
    assert (thread.created_at, thread.updated_at) == (
        datetime(2026, 3, 1, 8, 0, 4, tzinfo=UTC),
        datetime(2026, 3, 1, 8, 0, 8, tzinfo=UTC),
    )
    assert (await import_rows(store, "mastra", str(source), batch_size=1)).unchanged == 3


async def test_a_thread_without_messages_is_kept(store: Store, tmp_path: Path) -> None:
    source = make_sqlite(tmp_path / "m.db", {"mastra_threads": [mastra_thread()], "mastra_messages": []})
    report = await import_rows(store, "mastra", str(source))
    assert (report.threads, report.new_threads, report.messages) == (1, 1, 0)
    thread = await store.threads.get("t1")
    assert thread is not None
    assert thread.updated_at == datetime(2026, 3, 1, 8, 0, 50, tzinfo=UTC)


BAD_ROWS: dict[str, tuple[JsonObject, str]] = {
    "an unknown role": ({"role": "weather"}, "unknown role 'weather'"),
    "no role": ({"role": None}, "role is null"),
    "an id that no database holds": ({"id": "nul\x00"}, "message id holds a NUL"),
}


@each_row(("bad", "reason"), BAD_ROWS.values(), ids=BAD_ROWS)
@in_empty_store
async def test_a_row_that_cannot_be_stored_does_not_stop_the_others(
    store: Store, tmp_path: Path, bad: JsonObject, reason: str
) -> None:
    rows = [mastra_message("a", 1), {**mastra_message("b", 2), **bad}, mastra_message("c", 3)]
    source = make_sqlite(
        new_folder(tmp_path) / "m.db", {"mastra_threads": [mastra_thread()], "mastra_messages": rows}
    )
    report = await import_rows(store, "mastra", str(source))
    assert (report.new, report.failed) == (2, 1)
    assert report.failures[0].table == "mastra_messages"
    assert report.failures[0].id == rows[1]["id"]
    assert reason in report.failures[0].reason
    assert len(await texts_of(store, "t1")) == 2


async def test_a_thread_that_cannot_be_stored_fails_with_its_messages(store: Store, tmp_path: Path) -> None:
    rows = [mastra_message("a", 1, thread_id="bad\x00"), mastra_message("b", 2)]
    threads = [mastra_thread(title="half \x00"), mastra_thread("bad\x00")]
    source = make_sqlite(tmp_path / "m.db", {"mastra_threads": threads, "mastra_messages": rows})
    report = await import_rows(store, "mastra", str(source))
    assert [(one.table, one.id) for one in report.failures] == [
        ("mastra_threads", "bad\x00"),
        ("mastra_messages", "a"),
    ]
    assert report.lost == 1
    thread = await store.threads.get("t1")
    assert thread is not None
    assert thread.title == "half \N{REPLACEMENT CHARACTER}"


async def test_damaged_content_is_kept_and_reported(store: Store, tmp_path: Path) -> None:
    tables = {
        "agent_session": CHERRY["agent_session"],
        "agent_session_message": [{**CHERRY["agent_session_message"][0], "data": '{"parts": [{"type": "te'}],
    }
    source = make_sqlite(tmp_path / "c.db", tables)
    report = await import_rows(store, "cherry", str(source))
    assert (report.failed, report.lost) == (0, 1)
    assert report.losses[0].path == "agent_session_message[b].data"
    assert sum(report.reasons.values()) == 1
    (message,) = (await store.messages.list("s1")).items
    assert message.content.parts == (ForeignPart("cherry", '{"parts": [{"type": "te'),)


async def test_two_messages_with_the_same_id_are_both_kept(store: Store, tmp_path: Path) -> None:
    twice = [
        {**row, "content": CHERRY_OLD["session_messages"][0]["content"]}
        for row in CHERRY_OLD["session_messages"]
    ]
    source = make_sqlite(tmp_path / "c.db", {"session_messages": twice})
    report = await import_rows(store, "cherry", str(source), batch_size=1)
    assert (report.new, report.lost) == (3, 2)
    assert [message.id for message in (await store.messages.list("s1")).items] == ["m9", "m9:2", "m9:3"]
    assert (await import_rows(store, "cherry", str(source), batch_size=2)).unchanged == 3


@each_row("batch_size", [1, 2, 200])
@in_empty_store
async def test_old_results_join_their_calls_whatever_the_batches(
    store: Store, tmp_path: Path, batch_size: int
) -> None:
    call: list[JsonObject] = [{"type": "tool-call", "toolCallId": "c", "toolName": "smell", "args": {}}]
    result = [{"type": "tool-result", "toolCallId": "c", "toolName": "smell", "result": "clover"}]
    v1: dict[str, Any] = {"type": "text"}
    rows = [
        mastra_message("a", 1, content="What does it smell of?", **v1),
        mastra_message("b", 2, content=dumps(call).decode(), role="assistant", type="tool-call"),
        mastra_message("c", 3, content=dumps(result).decode(), role="tool", type="tool-result"),
        mastra_message("d", 4, content=v2("Clover."), role="assistant"),
    ]
    source = make_sqlite(
        new_folder(tmp_path) / "m.db", {"mastra_threads": [mastra_thread()], "mastra_messages": rows}
    )
    await import_rows(store, "mastra", str(source), batch_size=batch_size)
    messages = (await store.messages.list("t1")).items
    assert [message.id for message in messages] == ["a", "b", "d"]
    assert isinstance(messages[1], AssistantMessage)
    (part,) = messages[1].parts
    assert isinstance(part, ToolCallPart)
    assert part.state == "output-available"


# Asking for nonsense


async def test_an_unknown_system_is_refused(store: Store, hive: Path) -> None:
    with pytest.raises(StoreError, match="did you mean 'mastra'"):
        await import_rows(store, "mastro", str(hive))


async def test_an_empty_batch_is_refused(store: Store, hive: Path) -> None:
    with pytest.raises(StoreError, match="batches of 0"):
        await import_rows(store, "mastra", str(hive), batch_size=0)
