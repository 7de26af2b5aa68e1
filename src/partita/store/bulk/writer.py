"""Write whole threads at once: messages, runs with their log lines, token usage, positions in source files.

Every importer uses this writer. Each thread is compared with what is stored, and only what differs is
written. Nothing is deleted: a log file that was rewritten gets runs with new ids. Times come from the source,
so a thread imported today keeps its old `updated_at`. A time that the source does not have stays unknown.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import reduce
from itertools import islice
from typing import Any, NamedTuple

from msgspec.structs import replace
from sqlalchemy import Row, select, update

from partita.store.blobs import blobs
from partita.store.logs.maintenance import refer_to_blobs
from partita.store.messages import writer as message_writer
from partita.store.messages.prepared import Prepared, check
from partita.store.messages.rows import read_messages
from partita.store.messages.writer import Slot
from partita.store.runs.rows import own_fields as run_fields
from partita.store.schema import NEVER, run_log, runs, thread_labels
from partita.store.schema import messages as message_table
from partita.store.schema import threads as thread_table
from partita.store.search import index as search_index
from partita.store.search.fields import NO_FIELDS, SearchEntry
from partita.store.sources import save_sources
from partita.store.sql.texts import required
from partita.store.sql.transaction import Transaction, batched, insert_arrays_text, insert_text, owner_of
from partita.store.threads import branches
from partita.store.threads import rows as threads
from partita.store.usage import record_usage
from partita.types.codec import encode
from partita.types.threads import Thread

from .rows import RunRows, ThreadRows

UPDATE_RUN = (
    " ON CONFLICT (owner, id) DO UPDATE SET status = excluded.status, message_id = excluded.message_id,"
    " model = excluded.model, usage = excluded.usage, cost = excluded.cost, error = excluded.error,"
    " metadata = excluded.metadata, last_seq = excluded.last_seq, started_at = excluded.started_at,"
    " finished_at = excluded.finished_at,"
    " agent_result = coalesce(excluded.agent_result, runs.agent_result)"
)


class Counts(NamedTuple):
    """How many threads are new, and how many messages are new, changed and unchanged.

    Like the message count of a thread, they leave out internal messages.
    """

    new_threads: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0

    def plus(self, other: "Counts") -> "Counts":
        """The sums of both."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class ThreadCounts(NamedTuple):
    """A thread as it is after a write, and the numbers of its messages."""

    thread: Thread
    counts: Counts


def sum_counts(many: Iterable[ThreadCounts]) -> Counts:
    """The numbers of all threads."""
    return reduce(Counts.plus, (one.counts for one in many), Counts())


class Difference(NamedTuple):
    """How a thread differs from the stored one of the same id."""

    stored: Thread
    wanted: Thread
    new: Sequence[Prepared]
    changed: Sequence[Prepared]
    unchanged: Sequence[Prepared]

    @property
    def counts(self) -> Counts:
        """The numbers of messages."""
        return Counts(0, _visible(self.new), _visible(self.changed), _visible(self.unchanged))


def _visible(messages: Iterable[Prepared]) -> int:
    return sum(not one.message.internal for one in messages)


def compare_threads(
    tx: Transaction, many: Sequence[ThreadRows], *, skip_empty: bool = False
) -> list[ThreadCounts]:
    """What `write_threads` would return; nothing is written."""
    compared: list[ThreadCounts] = []
    for mine, group in _by_owner(tx, many):
        for rows in group:
            stored = threads.find_or_none(mine, rows.thread.id)
            if stored is not None:
                difference = _difference(mine, stored, rows)
                compared.append(ThreadCounts(difference.wanted, difference.counts))
            elif rows.messages or rows.runs or not skip_empty:
                compared.append(ThreadCounts(rows.thread, Counts(1, _visible(_latest(rows.messages)))))
    return compared


def write_threads(
    tx: Transaction, many: Sequence[ThreadRows], *, skip_empty: bool = False
) -> list[ThreadCounts]:
    """Write all threads or, if one fails, none. Each belongs to the owner that its `resource_id` names.

    With `skip_empty`, a new thread without messages and runs is not created.
    """
    return [
        written
        for mine, group in _by_owner(tx, many)
        for written in _write_group(mine, group, skip_empty=skip_empty)
    ]


def _by_owner(tx: Transaction, many: Sequence[ThreadRows]) -> Iterator[tuple[Transaction, list[ThreadRows]]]:
    """Threads by owner, with a transaction limited to that owner: two owners may use the same thread id."""
    groups: dict[str, list[ThreadRows]] = {}
    for rows in many:
        groups.setdefault(owner_of(tx, rows.thread.resource_id), []).append(rows)
    for owner, group in groups.items():
        yield Transaction(tx.connection, owner, tx.now), group


def _write_group(tx: Transaction, group: Sequence[ThreadRows], *, skip_empty: bool) -> list[ThreadCounts]:
    known = known_threads(tx, [rows.thread.id for rows in group])
    fresh: dict[str, ThreadRows] = {}
    others: list[ThreadRows] = []
    for rows in group:
        if rows.thread.id in known or rows.thread.id in fresh:
            others.append(rows)
        elif rows.messages or rows.runs or not skip_empty:
            fresh[rows.thread.id] = rows
    new = _write_new(tx, list(fresh.values())) if fresh else []
    written = [
        ThreadCounts(rows.thread, Counts(1, count)) for rows, count in zip(fresh.values(), new, strict=True)
    ]
    _write_runs(tx, [run for rows in fresh.values() for run in rows.runs], new=True)
    written += [_write_known(tx, rows) for rows in others]
    consumed = [replace(one, time=one.time or NEVER) for rows in group for one in rows.consumptions]
    if consumed:
        record_usage(tx, consumed)
    save_sources(tx, [source for rows in group for source in rows.sources], tx.owner or "")
    return written


def known_threads(tx: Transaction, ids: Sequence[str]) -> set[str]:
    """Those of the threads that are stored."""
    query = select(thread_table.c.id).where(tx.owned(thread_table), tx.among(thread_table.c.id, ids))
    return {row.id for row in tx.rows(query)}


# Threads that are stored already


def _write_known(tx: Transaction, rows: ThreadRows) -> ThreadCounts:
    difference = _difference(tx, threads.find(tx, rows.thread.id), rows)
    wanted = difference.wanted
    if wanted != difference.stored:
        threads.save(tx, wanted)
    written = [*difference.changed, *map(_undated, difference.new)]
    if written:
        _write_blobs(tx, written)
        message_writer.save(tx, written)
        own = (thread_table.c.owner == tx.owner, thread_table.c.id == wanted.id)  # `save` sets it to now
        tx.run(update(thread_table).where(*own).values(updated_at=wanted.updated_at))
    _write_runs(tx, rows.runs, new=False)
    return ThreadCounts(wanted, difference.counts)


def _undated(one: Prepared) -> Prepared:
    """A message whose time, if it has none, stays unknown."""
    return one._replace(message=replace(one.message, created_at=one.message.created_at or NEVER))


def _difference(tx: Transaction, row: Row[Any], rows: ThreadRows) -> Difference:
    stored = threads.from_row(row)
    known = _known_messages(tx, stored.id, [one.message.id for one in rows.messages])
    new = [one for one in rows.messages if one.message.id not in known]
    others = [one for one in rows.messages if one.message.id in known]
    changed: list[Prepared] = []
    unchanged: list[Prepared] = []
    for one in others:
        (unchanged if _is_same(tx, known[one.message.id], one) else changed).append(one)
    return Difference(stored, _merged(stored, rows.thread), new, changed, unchanged)


def _merged(stored: Thread, thread: Thread) -> Thread:
    """The stored thread, updated by the fields that the source has."""
    return replace(
        stored,
        title=stored.title if (stored.metadata or {}).get(threads.RENAMED) else thread.title or stored.title,
        agent=thread.agent or stored.agent,
        project=thread.project or stored.project,
        metadata={**(stored.metadata or {}), **thread.metadata} if thread.metadata else stored.metadata,
        created_at=thread.created_at or stored.created_at,
        updated_at=_later(stored.updated_at, thread.updated_at),
    )


def _later(*times: datetime | None) -> datetime | None:
    return max((time for time in times if time is not None), default=None)


def _known_messages(tx: Transaction, thread_id: str, ids: Iterable[str]) -> dict[str, Row[Any]]:
    """The stored rows of messages, by id."""
    query = select(message_table).where(message_table.c.thread_id == thread_id, tx.owned(message_table))
    return {
        row.id: row for some in batched(ids) for row in tx.rows(query.where(message_table.c.id.in_(some)))
    }


def _is_same(tx: Transaction, row: Row[Any], one: Prepared) -> bool:
    """Whether a stored message equals one from the source. Fields that the source lacks are not compared."""
    message = one.message
    return (
        row.role == one.role
        and row.type == message.type
        and row.extra == one.extra
        and bool(row.internal) == message.internal
        and message.created_at in (None, row.created_at)
        and message.run_id in (None, row.run_id)
        and message.parent_id in (None, row.parent_id or "")
        and _content(tx, row) == one.content
    )


def _content(tx: Transaction, row: Row[Any]) -> str:
    """The content of a stored message as JSON text, with its large values in it."""
    if row.blobs is None:
        return str(row.content)
    return encode(read_messages(tx, [row], "inline")[0].content).decode()


# New threads: nothing has to be looked up, so few statements write many threads


def _write_new(tx: Transaction, many: Sequence[ThreadRows]) -> list[int]:
    """Write threads that are not stored; returns the number of visible messages of each."""
    latest = [_latest(rows.messages) for rows in many]
    _write_blobs(tx, [one for some in latest for one in some])
    keys = iter(tx.next_keys("messages", count) if (count := sum(map(len, latest))) else ())
    thread_keys = tx.next_keys("threads", len(many))
    placed = [list(_place(tx, some, keys)) for some in latest]
    _write_thread_rows(tx, [rows.thread for rows in many], thread_keys, placed)
    _write_message_rows(tx, [slot for slots in placed for slot in slots])
    for rows, slots in zip(many, placed, strict=True):
        if slots and message_writer.starts_branch(None, slots):
            branches.mark_active(tx, tx.owner or "", rows.thread.id, slots[-1].message.id)
    return list(map(_visible, latest))


def _latest(prepared: Sequence[Prepared]) -> list[Prepared]:
    """Messages by id: of two with the same id, the later one at the place of the first."""
    return list({one.message.id: one for one in prepared}.values())


def _write_blobs(tx: Transaction, prepared: Sequence[Prepared]) -> None:
    """Write the large values that were taken out of messages before the transaction."""
    taken = [value for one in prepared if one.moved is not None for value in one.moved.values]
    if taken:
        blobs.write(tx, tx.owner or "", taken)


def _place(tx: Transaction, prepared: Sequence[Prepared], keys: Iterator[int]) -> Iterator[Slot]:
    leaf: str | None = None
    for seq, (one, key) in enumerate(zip(prepared, islice(keys, len(prepared)), strict=True), 1):
        check(one.message)
        content, moves = message_writer.without_large_values(tx, tx.owner or "", one)
        parent = leaf if one.message.parent_id is None else one.message.parent_id or None
        yield Slot(one, key, seq, parent, None, content, moves)
        leaf = one.message.id


def _write_thread_rows(
    tx: Transaction, many: Sequence[Thread], keys: Sequence[int], placed: Sequence[Sequence[Slot]]
) -> None:
    owner = tx.owner or ""
    rows = [
        _thread_row(tx, owner, thread, key, slots)
        for thread, key, slots in zip(many, keys, placed, strict=True)
    ]
    tx.insert(thread_table, rows)
    titles = [
        SearchEntry(owner, -key, thread.title, NO_FIELDS)
        for thread, key in zip(many, keys, strict=True)
        if thread.title
    ]
    search_index.add(tx, titles)
    labels = [
        (owner, thread.id, name, value) for thread in many for name, value in threads.labels(thread.metadata)
    ]
    tx.insert(thread_labels, labels)


def _thread_row(
    tx: Transaction, owner: str, thread: Thread, key: int, slots: Sequence[Slot]
) -> tuple[Any, ...]:
    created = thread.created_at or thread.updated_at or NEVER
    fields: dict[str, Any] = {
        "key": key,
        "owner": owner,
        "id": required(thread.id, "thread id"),
        "active_leaf_id": slots[-1].message.id if slots else None,
        "next_seq": len(slots) + 1,
        "message_count": sum(not slot.message.internal for slot in slots),
        "error_count": sum(slot.prepared.derived.has_errors for slot in slots),
        "created_at": tx.instant(created),
        "updated_at": tx.instant(thread.updated_at or created),
        "changed_at": tx.instant(tx.now),
        **threads.own_fields(thread),
    }
    return tuple(fields[column.name] for column in thread_table.columns)


def _write_message_rows(tx: Transaction, slots: Sequence[Slot]) -> None:
    owner, now = tx.owner or "", tx.instant(tx.now)
    index = search_index.prepare(tx, message_writer.entries(owner, slots))
    rows = [
        message_writer.row(tx, owner, slot.prepared.thread_id, slot, now, undated=tx.instant(NEVER))
        for slot in slots
    ]
    tx.insert(message_table, rows)
    message_writer.write_derived(tx, owner, slots)
    index()


# Runs


def _write_runs(tx: Transaction, packed: Sequence[RunRows], *, new: bool) -> None:
    """Write runs and those of their log lines that are not stored. `new`: none of the runs is stored."""
    if not packed:
        return
    stored = {} if new else _last_lines(tx, [one.run.id for one in packed])
    rows = [_run_row(tx, one, max(one.last_seq, stored.get(one.run.id, 0))) for one in packed]
    if tx.is_sqlite:
        tx.many(insert_text(runs) + UPDATE_RUN, rows)
    else:
        tx.sql(insert_arrays_text(runs) + UPDATE_RUN, tuple(map(list, zip(*rows, strict=True))))
    lines = [row for one in packed for row in _log_rows(tx, one, stored.get(one.run.id, 0))]
    tx.insert(run_log, lines)
    _write_files(tx, packed)


def _last_lines(tx: Transaction, ids: Sequence[str]) -> dict[str, int]:
    query = select(runs.c.id, runs.c.last_seq).where(tx.owned(runs), tx.among(runs.c.id, ids))
    return {row.id: row.last_seq for row in tx.rows(query)}


def _run_row(tx: Transaction, one: RunRows, last_seq: int) -> tuple[Any, ...]:
    run = one.run
    fields: dict[str, Any] = {
        **dict.fromkeys(column.name for column in runs.columns),
        **run_fields(run),
        "owner": tx.owner,
        "id": run.id,
        "thread_id": run.thread_id,
        "status": run.status,
        "last_seq": last_seq,
        "sealed": True,
        "created_at": tx.instant(run.created_at or NEVER),
        "started_at": tx.instant(run.started_at or run.created_at),
        "finished_at": tx.instant(run.finished_at),
    }
    return tuple(fields[column.name] for column in runs.columns)


def _log_rows(tx: Transaction, one: RunRows, stored: int) -> Iterator[tuple[Any, ...]]:
    """The lines that are not stored. A longer log that starts at line 1 replaces the stored one."""
    first = one.first_seq
    if one.last_seq <= stored or 1 < first <= stored:
        return
    if first <= stored:
        tx.sql("DELETE FROM run_log WHERE owner = ? AND run_id = ?", (tx.owner, one.run.id))
    for block in one.blocks:
        yield tx.owner, one.run.id, first, first + block.entries - 1, block.encoding, block.data
        first += block.entries


def _write_files(tx: Transaction, packed: Sequence[RunRows]) -> None:
    """Write the files that were extracted from log lines, and which runs refer to them."""
    owner = tx.owner or ""
    files = {digest: data for one in packed for digest, data in one.files.items()}
    if files:
        blobs.write(tx, owner, [(digest, data, None) for digest, data in files.items()])
        refer_to_blobs(tx, [(owner, one.run.id, digest) for one in packed for digest in sorted(one.files)])
