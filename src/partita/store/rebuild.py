"""Rebuild derived data: columns of messages, part rows, branches, labels, counters, the index, the ledger."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Row, func, select, update

from partita.types.messages import Message

from .blobs.moves import moves_from_json
from .messages import writer as message_writer
from .messages.prepared import prepare
from .messages.rows import read_messages
from .messages.writer import Slot
from .schema import messages
from .schema import threads as thread_table
from .sql.transaction import Transaction
from .threads import branches
from .threads import rows as threads
from .usage import choose_counted_of_thread

FLAGS = (
    "UPDATE messages SET has_tool_calls = ?, has_reasoning = ?, has_files = ?, has_errors = ?, preview = ?,"
    " parts_summary = ? WHERE owner = ? AND key = ?"
)


def rebuild_messages(tx: Transaction, after: int, limit: int) -> tuple[int, int]:
    """Rebuild the next messages; returns their number, and the key of the last one."""
    query = select(messages).where(messages.c.key > after, tx.owned(messages))
    rows = tx.rows(query.order_by(messages.c.key).limit(limit))
    for owner, group in groupby(rows, key=lambda row: row.owner):
        rebuild_rows(tx, owner, list(group))
    return len(rows), rows[-1].key if rows else after


def rebuild_rows(tx: Transaction, owner: str, rows: Sequence[Row[Any]]) -> None:
    """Rebuild what is derived from messages of one owner."""
    read = read_messages(tx, rows, "inline")
    slots = [_slot(row, message) for row, message in zip(rows, read, strict=True)]
    message_writer.rewrite_derived(tx, owner, slots)
    tx.many(FLAGS, [(*slot.prepared.derived[:6], owner, slot.key) for slot in slots])


def _slot(row: Row[Any], message: Message) -> Slot:
    moves = moves_from_json(row.blobs) if row.blobs else []
    return Slot(prepare(message, row.thread_id), row.key, row.seq, row.parent_id, None, row.content, moves)


def rebuild_threads(tx: Transaction, after: int, limit: int) -> tuple[int, int]:
    """Rebuild the next threads; returns their number, and the key of the last one."""
    query = select(thread_table).where(thread_table.c.key > after, tx.owned(thread_table))
    rows = tx.rows(query.order_by(thread_table.c.key).limit(limit))
    for row in rows:
        recount(tx, row)
        threads.rewrite_derived(tx, row)
        if row.active_leaf_id is not None:
            branches.mark_active(tx, row.owner, row.id, row.active_leaf_id)
    for owner, thread_id in sorted((row.owner, row.id) for row in rows):  # after all threads are locked
        choose_counted_of_thread(tx, owner, thread_id)
    return len(rows), rows[-1].key if rows else after


def recount(tx: Transaction, thread: Row[Any]) -> None:
    """Count the visible messages and the errors of a thread. Its next `seq` is above all that exist."""
    of_thread = (messages.c.owner == thread.owner, messages.c.thread_id == thread.id)
    count, visible = func.count(), (messages.c.active, messages.c.internal.is_(False))
    last = tx.run(select(func.max(messages.c.seq)).where(*of_thread)).scalar()
    errors = tx.run(select(count).where(*of_thread, messages.c.has_errors)).scalar_one()
    tx.run(
        update(thread_table)
        .where(thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
        .values(
            message_count=tx.run(select(count).where(*of_thread, *visible)).scalar_one(),
            error_count=errors,
            next_seq=max(thread.next_seq, (last or 0) + 1),
        )
    )
