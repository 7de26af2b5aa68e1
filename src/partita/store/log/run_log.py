"""The log of a run: every chunk, and every byte the agent said, in order, with its time.

Entries are numbered from 1, without a gap. A run at work adds rows; `sealing` makes blocks of them later.
In SQLite the newest are in the tail (`log_tail`), behind what is here.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, Subquery, func, select, text, tuple_

from partita.errors import ConflictError, NotFoundError, PartitaError, StoreError
from partita.store import blobs
from partita.store.compress import PLAIN
from partita.store.engines.channel import CHANNEL
from partita.store.microseconds import from_microseconds, to_microseconds
from partita.store.runs import find
from partita.store.tables import run_log, runs
from partita.store.transaction import Transaction, cut
from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk, encode
from partita.types.runs import RunStatus
from partita.types.value import Value

from . import blocks, tail
from .blocks import OPEN, Addition, End, Key, Piece, Stored
from .pictures import put_back

ROWS_AT_ONCE = 200


class LogEntry(NamedTuple):
    """What goes into a log. A chunk may come as the JSON that `encode` gave, so that it is made only once.

    An agent's line that gave several chunks stands beside the first.
    """

    time: datetime
    chunk: Chunk | bytes | None = None
    raw: bytes | None = None


class LogRecord(NamedTuple):
    """What comes out of a log."""

    seq: int
    time: datetime
    chunk: Chunk | None
    raw: bytes | None


class Batch(NamedTuple):
    """Entries for one run, as `encode_entries` wrote them. Without an owner, the run is found by its id."""

    owner: str | None
    run_id: str
    entries: int
    data: bytes | bytearray


class Appended(NamedTuple):
    """The number of the last entry of a batch, and where the log ended after all that was written with it."""

    last_seq: int
    end: End


class RunState(NamedTuple):
    """Whether a run is at work, and how long its log is."""

    status: RunStatus
    last_seq: int


def encode_entries(entries: Sequence[LogEntry]) -> bytearray:
    """Entries as a batch carries them."""
    body = bytearray()
    known, moment = None, 0
    for number, (time, chunk, raw) in enumerate(entries):
        json = chunk if chunk is None or isinstance(chunk, bytes) else _chunk_json(chunk, number)
        try:
            if time is not known:  # what came at once has one time
                known, moment = time, to_microseconds(time)
            blocks.add(body, moment, json, raw if raw is None else _raw(raw, number))
        except TypeError:
            raise StoreError(
                "time without a zone",
                where=f"entry {number}",
                hint="use an aware datetime, such as datetime.now(UTC)",
            ) from None
    return body


def _chunk_json(chunk: object, number: int) -> bytes:
    if isinstance(chunk, Value):
        return encode(chunk)
    raise StoreError("this is no chunk", where=f"entry {number}", hint="read it with read_chunk first")


def _raw(raw: object, number: int) -> bytes:
    if isinstance(raw, bytes):
        return raw
    raise StoreError("raw data must be bytes", where=f"entry {number}", hint="encode text as UTF-8")


def append_many(tx: Transaction, batches: Sequence[Batch]) -> list[Appended | StoreError]:
    """Add batches to the logs of many runs at once; a run that takes nothing does not stop the others."""
    keys = _keys(tx, batches)
    additions: dict[Key, Addition] = {}
    places: list[int] = []  # of each batch: the number of its last entry among those of its run
    for key, batch in zip(keys, batches, strict=True):
        addition = additions.setdefault(key, Addition()) if key else Addition()
        addition.add(batch.entries, batch.data)
        places.append(addition.count)
    ends = (tail.append if tx.lite else _append_postgres)(tx, additions)
    refused = _why(tx, [key for key in additions if key not in ends])
    results: list[Appended | StoreError] = []
    for key, batch, place in zip(keys, batches, places, strict=True):
        if key in ends:
            results.append(Appended(ends[key].last_seq - additions[key].count + place, ends[key]))
        else:
            results.append(refused.get(key) or _missing(batch.run_id))
    return results


def _keys(tx: Transaction, batches: Sequence[Batch]) -> list[Key | None]:
    """The run of each batch; none when it is another owner's."""
    unowned = {batch.run_id for batch in batches if batch.owner is None}
    owners = _owners(tx, unowned)
    keys: list[Key | None] = []
    for batch in batches:
        owner = owners.get(batch.run_id) if batch.owner is None else batch.owner
        visible = owner is not None and tx.owner in (None, owner)
        keys.append((owner, batch.run_id) if owner is not None and visible else None)
    return keys


def _owners(tx: Transaction, ids: Collection[str]) -> Mapping[str, str]:
    if tx.lite and ids:
        return tail.owners(tx, ids)
    query = select(runs.c.id, runs.c.owner).where(tx.mine(runs))
    return {row.id: row.owner for some in cut(ids) for row in tx.rows(query.where(runs.c.id.in_(some)))}


# Rows are locked in order before they are changed: two writers never wait for each other in a circle.
APPEND_POSTGRES = """
WITH given AS (
    SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bytea[]) AS given (owner, id, count, data)
), locked AS MATERIALIZED (
    SELECT runs.owner, runs.id FROM runs JOIN given ON runs.owner = given.owner AND runs.id = given.id
    ORDER BY runs.owner, runs.id FOR NO KEY UPDATE OF runs
), moved AS (
    UPDATE runs SET last_seq = runs.last_seq + given.count
    FROM given JOIN locked ON locked.owner = given.owner AND locked.id = given.id
    WHERE runs.owner = given.owner AND runs.id = given.id AND runs.status IN ('pending', 'running')
    RETURNING runs.owner, runs.id, runs.last_seq, given.count, given.data
), added AS (
    INSERT INTO run_log (owner, run_id, first_seq, last_seq, encoding, data)
    SELECT owner, id, last_seq - count + 1, last_seq, 'plain', data FROM moved
)
SELECT owner, id, last_seq, pg_notify(?, id) FROM moved
"""


def _append_postgres(tx: Transaction, additions: Mapping[Key, Addition]) -> dict[Key, End]:
    columns = (
        [owner for owner, _ in additions],
        [run_id for _, run_id in additions],
        [addition.count for addition in additions.values()],
        [b"".join([blocks.head(addition.count), *addition.pieces]) for addition in additions.values()],
    )
    moved = tx.sql(APPEND_POSTGRES, (*columns, CHANNEL))
    return {(row.owner, row.id): End(row.last_seq) for row in moved}


def _why(tx: Transaction, keys: Sequence[Key]) -> Mapping[Key | None, StoreError]:
    """Why these runs took nothing."""
    errors: dict[Key | None, StoreError] = {}
    for some in cut(keys, 200):
        query = select(runs.c.owner, runs.c.id, runs.c.status)
        for row in tx.rows(query.where(tuple_(runs.c.owner, runs.c.id).in_(some))):
            errors[row.owner, row.id] = ConflictError(
                f"run {row.id!r} has ended: {row.status}", hint="open a new run to go on"
            )
    return errors


def _missing(run_id: str) -> NotFoundError:
    return NotFoundError(f"no run {run_id!r}", hint="open_run() before its log is written")


def status_of(tx: Transaction, run_id: str) -> RunState:
    """Whether a run is at work, and how long its log is."""
    row = find(tx, run_id)
    return RunState(row.status, row.last_seq)


def read_log(
    tx: Transaction,
    run_id: str,
    *,
    after: int = 0,
    limit: int | None = None,
    through: int | None = None,
    most_bytes: int | None = None,
) -> list[LogRecord]:
    """The records of a log with a number above `after`, at most `limit` of them, none above `through`.

    With `most_bytes`, they are cut off once they have so many; the first one is always there.
    """
    ends = [end for end in (through, None if limit is None else max(after, 0) + limit) if end is not None]
    entries = stored_entries(tx, run_id, after=after, through=min(ends, default=None))
    if most_bytes is None:
        return [_record(run_id, seq, entry) for seq, entry in entries]
    records: list[LogRecord] = []
    for seq, entry in entries:
        records.append(_record(run_id, seq, entry))
        most_bytes -= len(entry.raw or b"") + len(entry.chunk or b"")
        if most_bytes <= 0:
            break
    return records


def _record(run_id: str, seq: int, entry: Stored) -> LogRecord:
    try:
        chunk = None if entry.chunk is None else decode_chunk(entry.chunk)
    except PartitaError as error:
        raise StoreError(
            f"this is no chunk: {error.what}",
            where=f"run {run_id}, entry {seq}",
            hint="take the log from a backup; its messages are whole",
        ) from error
    return LogRecord(seq, from_microseconds(entry.time), chunk, entry.raw)


def raw_lines(tx: Transaction, run_id: str, *, after: int = 0) -> Iterator[bytes]:
    """What the agent said, byte for byte, in order. Read it inside the transaction."""
    return (entry.raw for _, entry in stored_entries(tx, run_id, after=after) if entry.raw is not None)


def stored_entries(
    tx: Transaction, run_id: str, *, after: int = 0, through: int | None = None
) -> Iterator[tuple[int, Stored]]:
    """Numbered entries as they are kept. Only the blocks that hold them are unpacked."""
    run = find(tx, run_id)
    if run.log_dropped_at is not None:
        raise NotFoundError(
            f"the log of run {run_id!r} was dropped on {run.log_dropped_at:%Y-%m-%d %H:%M} UTC",
            hint="its messages are still there; keep logs longer with another retention policy",
        )
    return _entries(
        tx, run, max(after, 0) + 1, run.last_seq if through is None else min(through, run.last_seq)
    )


def _entries(tx: Transaction, run: Row[Any], start: int, end: int) -> Iterator[tuple[int, Stored]]:
    seq = start
    while (before := seq) <= end:
        for row in _rows(tx, run, seq, end):
            entries = unpacked(tx, run.owner, run.id, row)
            if row.first_seq > seq:
                raise _gap(run.id, seq, row.first_seq - 1)
            for entry in entries[seq - row.first_seq : end + 1 - row.first_seq]:
                yield seq, entry
                seq += 1
        if seq == before:
            raise _gap(run.id, seq, end)


def _rows(tx: Transaction, run: Row[Any], start: int, end: int) -> Sequence[Row[Any] | Piece]:
    """The rows that hold entries from `start` to `end`: a row may begin before its entry that is wanted."""
    if run.tail is not None and start >= run.tail_seq:
        return tail.rows(tx, run, start, end)
    mine = (run_log.c.owner == run.owner, run_log.c.run_id == run.id)
    first = select(func.max(run_log.c.first_seq)).where(*mine, run_log.c.first_seq <= start).scalar_subquery()
    return tx.rows(
        select(run_log)
        .where(*mine, run_log.c.first_seq >= func.coalesce(first, start), run_log.c.first_seq <= end)
        .order_by(run_log.c.first_seq)
        .limit(ROWS_AT_ONCE)
    )


def every_row(tx: Transaction) -> Subquery:
    """All rows of all logs that may be seen, wherever they are: what a query about logs selects from."""
    if not tx.lite:
        return select(run_log).where(tx.mine(run_log)).subquery()
    rows = text(tail.EVERY_ROW).columns(*run_log.columns).subquery()
    return rows if tx.owner is None else select(rows).where(rows.c.owner == tx.owner).subquery()


def unpacked(tx: Transaction, owner: str, run_id: str, row: Row[Any] | Piece) -> list[Stored]:
    """The entries of a row, as many as it says, their pictures in place."""
    where = f"run {run_id}, entries {row.first_seq}-{row.last_seq}"
    count = row.last_seq - row.first_seq + 1
    try:
        if row.encoding == OPEN:
            entries = blocks.unpack(PLAIN, blocks.head(count) + row.data)
        else:
            entries = blocks.unpack(row.encoding, row.data)
    except StoreError as error:
        error.where = where
        raise
    if len(entries) != count:
        raise StoreError("a block of the log is damaged", where=where, hint="take it from a backup")
    wanted = {(owner, cut.hash) for entry in entries for cut in entry.cuts}
    if not wanted:
        return entries
    pictures = {digest: data for (_, digest), data in blobs.load(tx, wanted).items()}
    if len(pictures) < len(wanted):
        raise StoreError("a picture of the log is missing", where=where, hint="take the blob from a backup")
    return whole(entries, pictures)


def whole(entries: Sequence[Stored], pictures: Mapping[str, bytes]) -> list[Stored]:
    """Entries with their pictures where they were."""
    return [
        entry._replace(raw=put_back(entry.raw or b"", entry.cuts, pictures), cuts=()) if entry.cuts else entry
        for entry in entries
    ]


def _gap(run_id: str, first: int, last: int) -> StoreError:
    return StoreError(
        "a part of the log is missing",
        where=f"run {run_id}, entries {first}-{last}",
        hint="take it from a backup",
    )
