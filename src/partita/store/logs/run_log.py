"""The log of a run: every chunk and every byte that the agent sent, in order, with its time.

Entries are numbered from 1, without a gap. `appender` adds rows while the run is active, `maintenance`
replaces them by compressed blocks after its end. In SQLite the newest rows are in `log_tail`, the others in
`run_log`.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, Subquery, func, select, text

from partita.errors import NotFoundError, PartitaError, StoreError
from partita.store.blobs import blobs
from partita.store.engines.engine import Engine
from partita.store.runs.rows import ACTIVE, find
from partita.store.schema import EPOCH, from_microseconds, run_log, to_microseconds
from partita.store.sql.transaction import Transaction
from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk, encode
from partita.types.threads import RunStatus
from partita.types.value import Value

from . import blocks
from .blocks import OPEN, StoredEntry

ROWS_PER_QUERY: Final = 200

FOLLOW_RECORDS: Final = 1000
"""The number of records that `follow` reads at once."""

FOLLOW_BYTES: Final = 128 * 1024
"""The number of bytes that `follow` reads at once: they stay in memory until the reader has taken them."""

POLL_SECONDS: Final = 1.0
"""How long `follow` waits for a notification before it reads again, in case one was lost."""


class LogEntry(NamedTuple):
    """An entry for a log. A chunk may be the JSON from `encode`, so that it is encoded only once.

    If one raw line gave several chunks, it is in the entry of the first one.
    """

    time: datetime
    chunk: Chunk | bytes | None = None
    raw: bytes | None = None


class LogRecord(NamedTuple):
    """An entry that was read from a log."""

    seq: int
    time: datetime
    chunk: Chunk | None
    raw: bytes | None


class RunState(NamedTuple):
    """The status of a run, and the number of the last entry of its log."""

    status: RunStatus
    last_seq: int


def encode_entries(entries: Sequence[LogEntry]) -> bytearray:
    """Entries as a row."""
    row = bytearray()
    previous, microseconds = None, 0
    for index, (time, chunk, raw) in enumerate(entries):
        json = chunk if chunk is None or isinstance(chunk, bytes) else _chunk_json(chunk, index)
        try:
            if time is not previous:  # entries that arrived together share a time
                previous, microseconds = time, to_microseconds(time)
            blocks.encode_entry(row, microseconds, json, raw if raw is None else _raw(raw, index))
        except TypeError:
            raise StoreError(
                "time without a zone",
                where=f"entry {index}",
                hint="use an aware datetime, such as datetime.now(UTC)",
            ) from None
    return row


def _chunk_json(chunk: object, index: int) -> bytes:
    if isinstance(chunk, Value):
        return encode(chunk)
    raise StoreError("not a chunk", where=f"entry {index}", hint="read it with read_chunk first")


def _raw(raw: object, index: int) -> bytes:
    if isinstance(raw, bytes):
        return raw
    raise StoreError("raw data must be bytes", where=f"entry {index}", hint="encode text as UTF-8")


# Reading


def status_of(tx: Transaction, run_id: str) -> RunState:
    """The status of a run, and the number of the last entry of its log."""
    row = find(tx, run_id)
    return RunState(row.status, row.last_seq)


def read_log(
    tx: Transaction,
    run_id: str,
    *,
    after: int = 0,
    limit: int | None = None,
    through: int | None = None,
    max_bytes: int | None = None,
) -> list[LogRecord]:
    """The records with a number above `after` and up to `through`, at most `limit` of them.

    `max_bytes` limits their size; there is at least one record.
    """
    ends = [end for end in (through, None if limit is None else max(after, 0) + limit) if end is not None]
    entries = stored_entries(tx, run_id, after=after, through=min(ends, default=None))
    if max_bytes is None:
        return [_record(run_id, seq, entry) for seq, entry in entries]
    records: list[LogRecord] = []
    for seq, entry in entries:
        records.append(_record(run_id, seq, entry))
        max_bytes -= entry.size
        if max_bytes <= 0:
            break
    return records


def _record(run_id: str, seq: int, entry: StoredEntry) -> LogRecord:
    try:
        chunk = None if entry.chunk is None else decode_chunk(entry.chunk)
    except PartitaError as error:
        raise StoreError(
            f"not a chunk: {error.what}",
            where=f"run {run_id}, entry {seq}",
            hint="restore the log from a backup; its messages are not affected",
        ) from error
    return LogRecord(seq, from_microseconds(entry.time), chunk, entry.raw)


def raw_lines(tx: Transaction, run_id: str, *, after: int = 0) -> Iterator[bytes]:
    """The raw bytes of the agent, in order. Consume the iterator inside the transaction."""
    return (entry.raw for _, entry in stored_entries(tx, run_id, after=after) if entry.raw is not None)


def stored_entries(
    tx: Transaction, run_id: str, *, after: int = 0, through: int | None = None
) -> Iterator[tuple[int, StoredEntry]]:
    """Entries as they are stored, with their numbers. Only the blocks that have them are decompressed."""
    run = find(tx, run_id)
    if run.log_dropped_at is not None:
        raise NotFoundError(
            f"the log of run {run_id!r} was dropped on {run.log_dropped_at:%Y-%m-%d %H:%M} UTC",
            hint="its messages are still there; keep logs longer with another retention policy",
        )
    return _entries(
        tx, run, max(after, 0) + 1, run.last_seq if through is None else min(through, run.last_seq)
    )


def _entries(tx: Transaction, run: Row[Any], start: int, end: int) -> Iterator[tuple[int, StoredEntry]]:
    seq = start
    while (before := seq) <= end:
        for row in _rows(tx, run, seq, end):
            entries = decode_row(tx, run.owner, run.id, row)
            if row.first_seq > seq:
                raise _gap(run.id, seq, row.first_seq - 1)
            for entry in entries[seq - row.first_seq : end + 1 - row.first_seq]:
                yield seq, entry
                seq += 1
        if seq == before:
            raise _gap(run.id, seq, end)


TAIL_ROWS: Final = text(f"""
SELECT first_seq, last_seq, '{OPEN}' AS encoding, data FROM log_tail
WHERE run = (SELECT key FROM runs WHERE owner = :owner AND id = :id) AND first_seq <= :end AND first_seq >= (
    SELECT max(first_seq) FROM log_tail
    WHERE run = (SELECT key FROM runs WHERE owner = :owner AND id = :id) AND first_seq <= :start
)
ORDER BY first_seq LIMIT :limit
""")


def _rows(tx: Transaction, run: Row[Any], start: int, end: int) -> Sequence[Row[Any]]:
    """The next rows that have entries from `start` to `end`. The first row may begin before `start`."""
    if run.tail_seq is not None and start >= run.tail_seq:
        values = {"owner": run.owner, "id": run.id, "start": start, "end": end, "limit": ROWS_PER_QUERY}
        return tx.rows(TAIL_ROWS, values)
    of_run = (run_log.c.owner == run.owner, run_log.c.run_id == run.id)
    first = (
        select(func.max(run_log.c.first_seq)).where(*of_run, run_log.c.first_seq <= start).scalar_subquery()
    )
    return tx.rows(
        select(run_log)
        .where(*of_run, run_log.c.first_seq >= func.coalesce(first, start), run_log.c.first_seq <= end)
        .order_by(run_log.c.first_seq)
        .limit(ROWS_PER_QUERY)
    )


ALL_ROWS: Final = f"""
SELECT owner, run_id, first_seq, last_seq, encoding, data FROM run_log
UNION ALL
SELECT runs.owner, runs.id, log_tail.first_seq, log_tail.last_seq, '{OPEN}', log_tail.data
FROM log_tail CROSS JOIN runs ON runs.key = log_tail.run
WHERE log_tail.first_seq >= runs.tail_seq
"""


def every_row(tx: Transaction) -> Subquery:
    """All rows of all logs of the owner, with the columns of `run_log`, as a table for queries."""
    if not tx.is_sqlite:
        return select(run_log).where(tx.owned(run_log)).subquery()
    rows = text(ALL_ROWS).columns(*run_log.columns).subquery()
    return rows if tx.owner is None else select(rows).where(rows.c.owner == tx.owner).subquery()


def decode_row(tx: Transaction, owner: str, run_id: str, row: Row[Any]) -> list[StoredEntry]:
    """The entries of a row or a block, with the files in their lines."""
    where = f"run {run_id}, entries {row.first_seq}-{row.last_seq}"
    try:
        entries = blocks.decode(row.encoding, row.data, row.last_seq - row.first_seq + 1)
    except StoreError as error:
        error.where = where
        raise
    hashes = {(owner, cut.hash) for entry in entries for cut in entry.cuts}
    if not hashes:
        return entries
    files = {digest: data for (_, digest), data in blobs.load(tx, hashes).items()}
    if len(files) < len(hashes):
        raise StoreError("a file of the log is missing", where=where, hint="restore the blob from a backup")
    return blocks.restore_files(entries, files)


def _gap(run_id: str, first: int, last: int) -> StoreError:
    return StoreError(
        "a part of the log is missing",
        where=f"run {run_id}, entries {first}-{last}",
        hint="restore it from a backup",
    )


# Following


class _Step(NamedTuple):
    records: list[LogRecord]
    is_last: bool
    """Whether the run has ended and there are no more records."""


async def follow(
    engine: Engine, owner: str | None, run_id: str, *, after: int = 0, idle: float | None = None
) -> AsyncIterator[list[LogRecord]]:
    """The records above `after`, and those that any process appends later, until the run has ended.

    With `idle`, an empty list is yielded after about so many seconds without a record.
    """
    quiet = 0.0
    with engine.listen(run_id) as listener:
        while True:
            listener.clear()  # before reading, so that no notification is missed
            step = await engine.read(partial(_next_step, owner=owner, run_id=run_id, after=after))
            if step.records:
                after = step.records[-1].seq
                yield step.records
            if step.is_last:
                return
            if step.records:
                quiet = 0.0
                continue
            if idle is not None and quiet >= idle:
                quiet = 0.0
                yield []
            if not await listener.wait(POLL_SECONDS):
                quiet += POLL_SECONDS


def _next_step(connection: Connection, *, owner: str | None, run_id: str, after: int) -> _Step:
    tx = Transaction(connection, owner, EPOCH)  # the time is not used
    state = status_of(tx, run_id)
    records = read_log(tx, run_id, after=after, limit=FOLLOW_RECORDS, max_bytes=FOLLOW_BYTES)
    last = records[-1].seq if records else after
    return _Step(records, state.status not in ACTIVE and last >= state.last_seq)
