"""The log of a run: numbered without a gap, every byte as it came."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConflictError, NotFoundError, StoreError
from partita.store import runs
from partita.store.engines.engine import Engine
from partita.store.log import run_log
from partita.store.log.blocks import Stored, blocks, head, row, seal, unpack
from partita.store.log.run_log import Appended, LogEntry, encode_entries
from partita.store.microseconds import to_microseconds
from partita.store.transaction import Transaction
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

from .running import NOON, batch, log, log_rows, raws, scoped, start, with_thread

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

stored = st.builds(
    Stored,
    st.integers(-(2**62), 2**62),
    st.none() | st.binary(max_size=50),
    st.none() | st.binary(max_size=50),
    st.just(()),
)


@given(st.lists(stored, min_size=1))
def test_a_block_gives_back_its_entries(entries: list[Stored]) -> None:
    assert unpack(*seal(entries)) == entries
    assert unpack("plain", row(entries)) == entries


@given(st.lists(stored), st.integers(1, 5))
def test_cutting_into_blocks_keeps_the_order(entries: list[Stored], times: int) -> None:
    entries = entries * times
    assert [entry for block in blocks(entries) for entry in block] == entries


@given(
    st.lists(
        st.builds(
            LogEntry,
            st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))])),
            st.none() | st.sampled_from(CHUNKS),
            st.none() | st.binary(),
        )
    )
)
def test_a_row_gives_back_its_entries(entries: list[LogEntry]) -> None:
    data = head(len(entries)) + encode_entries(entries)
    assert unpack("plain", data) == [
        Stored(to_microseconds(time), None if chunk is None else encode(chunk), raw)
        for time, chunk, raw in entries
    ]


async def test_chunks_and_bytes_come_back_as_they_were(engine: Engine) -> None:
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
    "this is no chunk": LogEntry(NOON, {"type": "text-end"}),  # type: ignore[arg-type] # the point
}


@each_row(("what", "entry"), BAD_ENTRIES.items(), ids=BAD_ENTRIES)
def test_a_bad_entry_is_refused(what: str, entry: LogEntry) -> None:
    with pytest.raises(StoreError, match=rf"{what} \(at entry 1\); hint: "):
        encode_entries([LogEntry(NOON), entry])


async def test_batches_of_many_runs_go_in_at_once(engine: Engine) -> None:
    """Several of the same run follow each other; one that cannot be written does not stop the others."""
    store = await with_thread(engine)
    for run_id in ("a", "b", "over"):
        await start(store, run_id)
    await store.write(runs.finish_run, "over")
    results = await scoped(engine, None).write(
        run_log.append_many,
        [
            batch("b", raws(b"b1", b"b2")),
            batch("over", raws(b"late")),
            batch("a", raws(b"a1")),
            batch("b", raws(b"b3")),
            batch("missing", raws(b"x")),
            batch("b", raws(b"b4", b"b5"), owner=None),
            batch("a", raws(b"y"), owner="u2"),
        ],
    )
    assert [result.last_seq if isinstance(result, Appended) else type(result) for result in results] == [
        *(2, ConflictError, 1, 3, NotFoundError, 5, NotFoundError)
    ]
    assert "'over' has ended: completed" in str(results[1])
    assert await log(store, "b", raws(b"b6")) == 6
    kept = {
        run_id: [record.raw for record in await store.read(run_log.read_log, run_id)]
        for run_id in ("a", "b", "over")
    }
    assert kept == {"a": [b"a1"], "b": [b"b1", b"b2", b"b3", b"b4", b"b5", b"b6"], "over": []}
    assert await store.read(run_log.status_of, "over") == ("completed", 0)


async def test_nothing_appended_changes_nothing(engine: Engine) -> None:
    store = await with_thread(engine)
    assert await store.write(run_log.append_many, []) == []


WINDOWS = {
    "all": {},
    "behind some": {"after": 5},
    "behind all": {"after": 20},
    "far behind all": {"after": 10**6},
    "below the start": {"after": -3, "limit": 2},
    "a few": {"limit": 3},
    "a few behind some": {"after": 6, "limit": 4},
    "none": {"limit": 0},
    "up to one": {"through": 7},
    "in between": {"after": 3, "through": 4},
    "the wrong way round": {"after": 9, "through": 4},
    "the nearer end counts": {"after": 2, "limit": 2, "through": 19},
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
    count = run_log.ROWS_AT_ONCE * 2 + 1
    await store.write(lambda tx: [run_log.append_many(tx, [batch("r1", raws(b"x"))]) for _ in range(count)])
    assert [record.seq for record in await store.read(run_log.read_log, "r1")] == list(range(1, count + 1))


def lose_row(tx: Transaction, first: int) -> None:
    tx.sql(f"DELETE FROM {log_rows(tx)} WHERE first_seq = ?", (first,))


async def test_a_missing_row_is_told(engine: Engine) -> None:
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
async def test_a_damaged_row_is_told(engine: Engine, data: bytes) -> None:
    store = await with_thread(engine)
    await start(store)
    await log(store, "r1", raws(b"one", b"two"))
    await store.write(lambda tx: tx.sql(f"UPDATE {log_rows(tx)} SET data = ?", (data,)))
    with pytest.raises(StoreError, match=r"damaged \(at run r1, entries 1-2\)"):
        await store.read(run_log.read_log, "r1")


async def test_what_is_no_chunk_is_told_with_its_number(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    await log(store, "r1", [LogEntry(NOON, CHUNKS[0]), LogEntry(NOON, b'{"type":')])
    with pytest.raises(StoreError, match=r"this is no chunk: .* \(at run r1, entry 2\)"):
        await store.read(run_log.read_log, "r1")
    assert len(await store.read(run_log.read_log, "r1", limit=1)) == 1
