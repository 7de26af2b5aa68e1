"""Sealing: the same entries in fewer bytes, a block at a time."""

import random
from base64 import b64decode, b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from partita import demo
from partita.errors import ConflictError, NotFoundError, StoreError
from partita.store.compress import compress
from partita.store.context import StoreContext
from partita.store.doctor.doctor import check_store
from partita.store.engines.engine import Engine
from partita.store.logs import blocks, maintenance, run_log
from partita.store.logs.blocks import BLOCK_BYTES, BLOCK_ENTRIES, StoredEntry
from partita.store.logs.maintenance import Retention
from partita.store.logs.run_log import LogEntry, LogRecord
from partita.store.runs import rows as runs
from partita.store.schema import run_log as log_table
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.chunks import TextDelta
from partita.types.json import dumps
from tests.recordings import files, is_own

from .running import COMPLETED, NOON, Clock, log, log_rows, raws, start, tail_rows, with_thread


def line(number: int) -> bytes:
    """A line like those of agents: the same keys, other values."""
    message = {
        "uuid": f"{number:032x}",
        "parent": f"{number - 1:032x}",
        "role": "assistant",
        "text": f"step {number}",
    }
    return dumps({"session": "0c0e", "cwd": "/home/someone/project", "message": message})


async def written(store: StoreContext, sizes: list[int], run_id: str = "r1") -> list[LogRecord]:
    """An ended run, whose log was written in batches of these sizes."""
    await start(store, run_id)
    number = 0
    for size in sizes:
        entries = [
            LogEntry(
                NOON,
                TextDelta(id="t", delta=f"{number + place} "),
                line(number + place) if place % 3 else None,
            )
            for place in range(size)
        ]
        number = await log(store, run_id, entries)
    await store.write(runs.end, run_id, COMPLETED)
    return await store.read(run_log.read_log, run_id)


async def rows_of(store: StoreContext) -> list[tuple[int, int, str]]:
    def rows(tx: Transaction) -> list[tuple[int, int, str]]:
        found = run_log.every_row(tx).c
        query = select(found.first_seq, found.last_seq, found.encoding).order_by(found.first_seq)
        return [(row.first_seq, row.last_seq, row.encoding) for row in tx.rows(query)]

    return await store.read(rows)


SIZES = {
    "many small rows": [1] * 50,
    "one row": [300],
    "rows across block boundaries": [BLOCK_ENTRIES - 7, 10, 5, BLOCK_ENTRIES * 2, 1],
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
async def test_a_sealed_log_has_the_same_records(engine: Engine, sizes: list[int]) -> None:
    store = await with_thread(engine)
    before = await written(store, sizes)
    report = await store.write(maintenance.seal_run, "r1")
    rows = await rows_of(store)
    assert await store.read(run_log.read_log, "r1") == before
    assert (report.entries, report.blocks) == (sum(sizes), len(rows))
    assert report.bytes_after < report.bytes_before / 5
    assert {encoding for *_, encoding in rows} == {"zstd"}
    assert await tail_rows(store) == 0
    stored = await store.read(lambda tx: tx.run(select(func.sum(func.length(log_table.c.data)))).scalar())
    assert stored == report.bytes_after


async def test_sealing_twice_changes_nothing(engine: Engine) -> None:
    store = await with_thread(engine)
    before = await written(store, [40])
    await store.write(maintenance.seal_run, "r1")
    rows = await rows_of(store)
    assert (await store.write(maintenance.seal_run, "r1")).blocks == 0
    assert await rows_of(store) == rows
    assert await store.read(run_log.read_log, "r1") == before


async def test_an_active_run_is_not_sealed(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    await log(store, "r1", raws(b"line"))
    with pytest.raises(ConflictError, match="is running"):
        await store.write(maintenance.seal_run, "r1")
    assert await log(store, "r1", raws(b"line")) == 2


async def test_runs_to_seal_have_ended_and_are_not_sealed(engine: Engine) -> None:
    clock = Clock()
    store = await with_thread(engine, clock=clock)
    for run_id in ("late", "early", "active", "sealed"):
        await start(store, run_id)
    for run_id in ("sealed", "early", "late"):
        clock.advance(1)
        await store.write(runs.end, run_id, COMPLETED)
    await store.write(maintenance.seal_run, "sealed")
    assert await store.read(maintenance.runs_to_seal) == ["early", "late"]
    assert await store.read(maintenance.runs_to_seal, 1) == ["early"]


async def test_an_empty_log_can_be_sealed(engine: Engine) -> None:
    store = await with_thread(engine)
    assert await written(store, []) == []
    assert (await store.write(maintenance.seal_run, "r1")).blocks == 0
    assert await store.read(maintenance.runs_to_seal) == []
    assert await store.read(run_log.read_log, "r1") == []


async def test_reading_a_record_decompresses_only_its_block(engine: Engine) -> None:
    store = await with_thread(engine)
    before = await written(store, [BLOCK_ENTRIES * 3])
    await store.write(maintenance.seal_run, "r1")
    _, second, *_, last = await rows_of(store)
    others = log_table.c.first_seq != second[0]
    await store.write(lambda tx: tx.run(update(log_table).where(others).values(data=b"\x00 damaged")))
    for seq in (second[0], second[0] + 17, second[1]):
        assert await store.read(run_log.read_log, "r1", after=seq - 1, limit=1) == [before[seq - 1]]
    with pytest.raises(StoreError, match="a block of the log is damaged"):
        await store.read(run_log.read_log, "r1", after=last[0], limit=1)


async def test_a_damaged_log_is_not_changed(engine: Engine) -> None:
    store = await with_thread(engine)
    await written(store, [BLOCK_ENTRIES, 5, 5])
    damage = "UPDATE {} SET data = ? WHERE first_seq = ?"
    await store.write(lambda tx: tx.sql(damage.format(log_rows(tx)), (b"\xc1", BLOCK_ENTRIES + 6)))
    rows = await rows_of(store)
    with pytest.raises(StoreError, match="damaged"):
        await store.write(maintenance.seal_run, "r1")
    assert await rows_of(store) == rows
    assert await store.read(maintenance.runs_to_seal) == ["r1"]


def test_a_changed_byte_is_detected() -> None:
    encoding, data = blocks.encode_block([StoredEntry(0, None, line(number)) for number in range(100)])
    generator = random.Random(7)
    for _ in range(200):
        place = generator.randrange(len(data))
        changed = data[:place] + bytes([data[place] ^ generator.randrange(1, 256)]) + data[place + 1 :]
        with pytest.raises(StoreError, match="damaged"):
            blocks.decode(encoding, changed, 100)


def test_data_that_does_not_compress_is_stored_plain() -> None:
    entry = StoredEntry(0, None, random.Random(7).randbytes(1000))
    encoding, data = blocks.encode_block([entry])
    assert encoding == "plain"
    assert blocks.decode(encoding, data, 1) == [entry]


def test_a_block_ends_when_it_is_full() -> None:
    big, small = StoredEntry(0, None, bytes(BLOCK_BYTES)), StoredEntry(0, b"{}", None)
    assert [len(block) for block in blocks.split_blocks([small, big, big, small])] == [2, 1, 1]


DEMO = Path(demo.__file__).parent / "archive"


def logs_of(agent: str) -> Iterator[bytes]:
    """The logs of an agent. Ours are short, so they are one with the sessions of the demo."""
    paths = files(f"agent-logs/{agent}", "**/*.jsonl")
    own = [*sorted(DEMO.glob("coding/**/*.jsonl")), *filter(is_own, paths)]
    yield b"".join(path.read_bytes() for path in own)
    yield from (path.read_bytes() for path in paths if not is_own(path))


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_sealed_logs_of_agents_are_smaller_than_their_file_in_one_piece(agent: str) -> None:
    """Blocks give access to any record, and take no more space than one compressed stream."""
    original = sealed = whole = 0
    for text in logs_of(agent):
        entries = [
            StoredEntry(number * 1000, None, raw) for number, raw in enumerate(text.splitlines(keepends=True))
        ]
        original += len(text)
        whole += len(compress(text)[1])
        sealed += sum(len(blocks.encode_block(block)[1]) for block in blocks.split_blocks(entries))
    assert sealed < whole
    assert sealed < original * 0.27


async def test_files_in_a_log_are_stored_once_and_deleted_with_it(store: Store) -> None:
    picture = b64encode(random.Random(5).randbytes(30_000))
    line = b'{"a":"' + picture + b'","b":"' + picture + b'"}'
    await store.threads.create("t")
    for id_ in ("r1", "r2"):
        await store.runs.open("t", id=id_)
        await store.logs.append(id_, [LogEntry(NOON, raw=line), LogEntry(NOON, raw=b"short"), LogEntry(NOON)])
        await store.runs.finish(id_)
        assert (await store.logs.seal(id_)).bytes_after < 2000
        assert [r.raw for r in await store.logs.read(id_)] == [line, b"short", None]
    url = f"blob:sha256:{sha256(b64decode(picture)).hexdigest()}"
    assert (await store.blobs.describe(url)).size == 30_000
    health = await check_store(store, full=True)
    assert health.healthy
    await store.logs.drop(Retention(max_bytes=0), limit=1)
    assert [r.raw for r in await store.logs.read("r2")] == [line, b"short", None]
    await store.threads.delete("t")
    with pytest.raises(NotFoundError):
        await store.blobs.describe(url)
