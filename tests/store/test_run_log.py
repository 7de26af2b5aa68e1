"""The log of a run: entries are numbered without gaps, and bytes are unchanged."""

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from partita.errors import StoreError
from partita.store.engines.engine import Engine
from partita.store.logs import run_log
from partita.store.logs.run_log import LogEntry, encode_entries
from partita.store.runs import rows as runs
from partita.store.sql.transaction import Transaction
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    DataChunk,
    TextDelta,
    ToolInputAvailable,
    ToolOutputAvailable,
    UnknownChunk,
)
from partita.types.codec import encode
from partita.types.value import Extra
from tests.store.emptying import in_empty_store
from tests.tables import each_row

from .running import COMPLETED, NOON, append_to_all, log, log_rows, raws, scoped, start, with_thread

CHUNKS: list[Chunk] = [
    TextDelta(id="t", delta="a NUL \x00, half a pair \ud800, Ж, 🜂"),
    ToolInputAvailable(tool_call_id="c", tool_name="sum", input={"of": [1, 2.5, None]}),
    ToolOutputAvailable(tool_call_id="c", output=None),
    DataChunk(type="data-progress", data={"done": 1}),
    ChildChunk(path=("c",), chunk=DataChunk(type="data-x")),
    UnknownChunk(raw=Extra({"type": "of-tomorrow", "x": [1]})),
    TextDelta(id="t", delta="", extra=Extra({"mood": "kept"})),
]
RAWS = [
    b"",
    b"\x00",
    b'{"a": 1}\r',
    b"\xff\xfe\x80",
    b"a\nb",
    "日本".encode("utf-16"),
    bytes(range(256)) * 300,
]


async def test_chunks_and_bytes_are_read_as_they_were_written(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    entries = [LogEntry(NOON, chunk, raw) for chunk, raw in zip(CHUNKS, RAWS, strict=True)]
    west = NOON.astimezone(timezone(timedelta(hours=-7)))
    assert await log(store, "r1", [*entries, LogEntry(west), LogEntry(NOON, encode(CHUNKS[0]))]) == 9
    assert await store.read(run_log.read_log, "r1") == [
        *((seq, *entry) for seq, entry in enumerate(entries, 1)),
        (8, NOON, None, None),
        (9, NOON, CHUNKS[0], None),
    ]
    assert await store.read(lambda tx: list(run_log.raw_lines(tx, "r1"))) == RAWS
    assert await store.read(lambda tx: list(run_log.raw_lines(tx, "r1", after=5))) == RAWS[5:]


BAD_ENTRIES: dict[str, Any] = {
    "time without a zone": LogEntry(datetime(2026, 1, 1)),  # noqa: DTZ001 # the point
    "raw data must be bytes": LogEntry(NOON, raw="text"),  # type: ignore[arg-type] # the point
    "not a chunk": LogEntry(NOON, {"type": "text-end"}),  # type: ignore[arg-type] # the point
}


@each_row(("what", "entry"), BAD_ENTRIES.items(), ids=BAD_ENTRIES)
def test_an_invalid_entry_is_refused(what: str, entry: LogEntry) -> None:
    with pytest.raises(StoreError, match=rf"{what} \(at entry 1\); hint: "):
        encode_entries([LogEntry(NOON), entry])


async def test_several_runs_can_be_appended_to_together(engine: Engine) -> None:
    """A run that refuses entries does not affect others; one with two ids in the batch gets both."""
    store = await with_thread(engine)
    for run_id in ("a", "b", "over"):
        await start(store, run_id)
    await store.write(runs.end, "over", COMPLETED)
    ends = await append_to_all(
        engine,
        {
            ("u1", "b"): raws(b"b1", b"b2"),
            ("u1", "over"): raws(b"late"),
            ("u1", "a"): raws(b"a1"),
            ("u1", "missing"): raws(b"x"),
            (None, "b"): raws(b"b3", b"b4"),
            ("u2", "a"): raws(b"y"),
        },
    )
    assert ends == {("u1", "b"): 2, ("u1", "a"): 1, (None, "b"): 4}
    assert await log(store, "b", raws(b"b5")) == 5
    stored = {
        run_id: [record.raw for record in await store.read(run_log.read_log, run_id)]
        for run_id in ("a", "b", "over")
    }
    assert stored == {"a": [b"a1"], "b": [b"b1", b"b2", b"b3", b"b4", b"b5"], "over": []}
    assert await store.read(run_log.status_of, "over") == ("completed", 0)


async def test_a_run_id_of_several_owners_needs_an_owner(engine: Engine) -> None:
    for owner in ("u1", "u2"):
        await start(await with_thread(engine, owner))
    assert await append_to_all(engine, {(None, "r1"): raws(b"x"), ("u2", "r1"): raws(b"y")}) == {
        ("u2", "r1"): 1
    }
    assert await scoped(engine, "u1").read(run_log.read_log, "r1") == []


WINDOWS = {
    "all": {},
    "behind some": {"after": 5},
    "behind all": {"after": 20},
    "far after the end": {"after": 10**6},
    "before the start": {"after": -3, "limit": 2},
    "a few": {"limit": 3},
    "a few after some": {"after": 6, "limit": 4},
    "none": {"limit": 0},
    "up to one": {"through": 7},
    "in between": {"after": 3, "through": 4},
    "start after end": {"after": 9, "through": 4},
    "the nearer limit counts": {"after": 2, "limit": 2, "through": 19},
}


@each_row("window", WINDOWS.values(), ids=WINDOWS)
@in_empty_store
async def test_a_window_of_the_log(engine: Engine, window: dict[str, int]) -> None:
    store = await with_thread(engine)
    await start(store)
    for size in (1, 6, 2, 1, 10):
        await log(store, "r1", raws(*[b"line"] * size))
    after = max(window.get("after", 0), 0)
    end = min(20, window.get("through", 20), after + window.get("limit", 20))
    records = await store.read(run_log.read_log, "r1", **window)
    assert [record.seq for record in records] == list(range(after + 1, end + 1))


async def test_many_rows_are_read_page_by_page(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    count = run_log.ROWS_PER_QUERY * 2 + 1
    for _ in range(count):
        await log(store, "r1", raws(b"x"))
    assert [record.seq for record in await store.read(run_log.read_log, "r1")] == list(range(1, count + 1))


def lose_row(tx: Transaction, first: int) -> None:
    tx.sql(f"DELETE FROM {log_rows(tx)} WHERE first_seq = ?", (first,))


async def test_a_missing_row_is_an_error(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    for _ in range(3):
        await log(store, "r1", raws(b"one", b"two"))
    for first, where in ((3, "entries 3-4"), (5, "entries 3-6"), (1, "entries 1-6")):
        await store.write(lose_row, first)
        with pytest.raises(StoreError, match=rf"part of the log is missing \(at run r1, {where}\)"):
            await store.read(run_log.read_log, "r1")


@each_row("data", [b"", b"\xdd\x00\x00\x00\x00", b"\xc1", b"\x93\x01\x02\x03"])
@in_empty_store
async def test_a_damaged_row_is_an_error(engine: Engine, data: bytes) -> None:
    store = await with_thread(engine)
    await start(store)
    await log(store, "r1", raws(b"one", b"two"))
    await store.write(lambda tx: tx.sql(f"UPDATE {log_rows(tx)} SET data = ?", (data,)))
    with pytest.raises(StoreError, match=r"damaged \(at run r1, entries 1-2\)"):
        await store.read(run_log.read_log, "r1")


async def test_an_entry_that_is_not_a_chunk_is_reported_with_its_number(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    await log(store, "r1", [LogEntry(NOON, CHUNKS[0]), LogEntry(NOON, b'{"type":')])
    with pytest.raises(StoreError, match=r"not a chunk: .* \(at run r1, entry 2\)"):
        await store.read(run_log.read_log, "r1")
    assert len(await store.read(run_log.read_log, "r1", limit=1)) == 1
