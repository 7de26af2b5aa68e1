"""Queries for parts across threads, and derived data."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from partita.store.logs.run_log import LogEntry
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import PartFilter
from partita.types.chunks import ToolInputAvailable, ToolOutputAvailable
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import InterruptedOutput, TextOutput, TextPart
from tests.store.examples import failed_call_message, tool_call_message, user_message
from tests.tables import each_row

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def filled(store: Store) -> Store:
    await store.threads.create("a", agent="claude", project="alpha")
    await store.threads.create("b", agent="codex", project="beta")
    await store.messages.save(
        [user_message("m1"), tool_call_message("m2", call="c2"), failed_call_message("m3")], thread_id="a"
    )
    sub = tool_call_message("inner", tool="dig", call="c-inner")
    nested = AssistantMessage(
        id="m1",
        content=[
            TextPart("look below"),
            ToolCallPart(
                id="c1",
                name="task",
                state="output-available",
                input={},
                output=TextOutput("done"),
                children=(sub,),
            ),
            ToolCallPart(
                id="c9",
                name="wait",
                state="output-error",
                input={},
                output=InterruptedOutput(reason="timeout"),
            ),
        ],
    )
    await store.messages.save([nested], thread_id="b")

    def time(tx: Transaction) -> None:
        for call, seconds in (("c2", 5), ("c-inner", 90)):
            tx.sql(
                "UPDATE parts SET started_at = ?, ended_at = ? WHERE call_id = ?",
                (tx.instant(START), tx.instant(START + timedelta(seconds=seconds)), call),
            )

    await store.write(time)
    return store


QUERIES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "by tool": ({"tool": "measure"}, ["a/m3/0", "a/m2/1"]),
    "of a sub-agent": ({"tool": "dig"}, ["b/m1/1.children.0.1"]),
    "by error": ({"has_error": True}, ["b/m1/2", "a/m3/0"]),
    "by tool, without error": ({"tool": "measure", "has_error": False}, ["a/m2/1"]),
    "by state": ({"states": ["output-error"]}, ["b/m1/2", "a/m3/0"]),
    "by kind": ({"types": ["reasoning"]}, ["b/m1/1.children.0.0", "a/m2/0"]),
    "longer than": ({"longer_than": timedelta(minutes=1)}, ["b/m1/1.children.0.1"]),
    "shorter than": ({"shorter_than": timedelta(seconds=6)}, ["a/m2/1"]),
    "by thread": ({"thread_id": "a", "types": ["tool-call"]}, ["a/m3/0", "a/m2/1"]),
    "by agent": ({"agent": "codex", "types": ["text"]}, ["b/m1/0", "b/m1/1.children.0.2"]),
    "by project": ({"project": "alpha", "types": ["text"]}, ["a/m2/2", "a/m1/0"]),
    "since": ({"since": datetime(2100, 1, 1, tzinfo=UTC)}, []),
    "nothing": ({"tool": "' OR 1=1 --"}, []),
}


@each_row(("wanted", "expected"), QUERIES.values(), ids=QUERIES)
async def test_queries(filled: Store, wanted: dict[str, Any], expected: list[str]) -> None:
    page = await filled.messages.find_parts(PartFilter(**wanted))
    assert [f"{part.thread_id}/{part.message_id}/{part.path}" for part in page] == expected


async def test_pages_cover_everything_once(filled: Store) -> None:
    whole = (await filled.messages.find_parts()).items
    seen: list[Any] = []
    page = await filled.messages.find_parts(limit=2)
    seen += page.items
    while page.next is not None:
        page = await filled.messages.find_parts(limit=2, cursor=page.next)
        seen += page.items
    assert tuple(seen) == whole
    assert len(whole) == 11


async def test_parts_have_durations_and_errors(filled: Store) -> None:
    (slow,) = await filled.messages.find_parts(PartFilter(tool="dig"))
    assert slow.duration == timedelta(seconds=90)
    (broken,) = await filled.messages.find_parts(PartFilter(tool="measure", has_error=True))
    assert (broken.error, broken.state, broken.duration) == ("tape too short", "output-error", None)


async def test_times_are_kept_when_the_message_changes(filled: Store) -> None:
    await filled.messages.save([tool_call_message("m2", call="c2", output="changed")], thread_id="a")
    (part,) = await filled.messages.find_parts(PartFilter(tool="measure", has_error=False))
    assert part.duration == timedelta(seconds=5)


DERIVED = ("parts", "search", "thread_labels")


async def everything(store: Store) -> list[Any]:
    def work(tx: Transaction) -> list[Any]:
        found: list[Any] = [
            list(tx.sql(f"SELECT * FROM {table}")) for table in ("parts", "thread_labels", "messages")
        ]
        return [sorted(map(repr, rows)) for rows in found] + [
            list(
                tx.sql(
                    "SELECT id, message_count, error_count, next_seq, active_leaf_id FROM threads ORDER BY id"
                )
            )
        ]

    return await store.read(work)


async def test_derived_data_can_be_rebuilt(filled: Store) -> None:
    await filled.threads.create("c", title="A title", metadata={"pinned": True})
    before = await everything(filled)

    def delete_derived(tx: Transaction) -> None:
        # Times come from logs: they are not derived from messages.
        tx.sql("DELETE FROM parts WHERE started_at IS NULL")
        tx.sql("DELETE FROM thread_labels")
        tx.sql("DELETE FROM search")
        tx.sql("UPDATE threads SET message_count = 0, error_count = 0")
        tx.sql(
            "UPDATE messages SET preview = '', has_errors = ?, has_tool_calls = ?, active = ?",
            (False, False, True),
        )

    await filled.write(delete_derived)
    assert await everything(filled) != before
    assert len(await filled.search("lighthouse")) == 0
    assert await filled.rebuild() == 4
    assert await everything(filled) == before
    assert len(await filled.search("lighthouse")) > 0
    assert [hit.thread_id for hit in await filled.search("title")] == ["c"]


async def test_the_end_of_a_run_writes_the_times_of_its_calls(store: Store) -> None:
    await store.threads.create("t")
    run = await store.runs.open("t")
    await store.messages.save([tool_call_message("m1", call="c1", run_id=run.id)], thread_id="t")
    log = [
        LogEntry(START, ToolInputAvailable("c1", "measure", {})),
        LogEntry(START + timedelta(seconds=7), ToolOutputAvailable("c1", "41 m")),
    ]
    await store.logs.append(run.id, log)
    await store.runs.finish(run.id)
    (part,) = await store.messages.find_parts(PartFilter(tool="measure"))
    assert (part.started_at, part.duration) == (START, timedelta(seconds=7))
