"""Changes of stored messages: those of a thread that was rebuilt, written with the writer of the importers.

Stored messages keep their numbers. A new one gets a free number at its position, or else the next one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UnsetType
from msgspec.structs import replace
from sqlalchemy import update

from partita.errors import ConflictError
from partita.formats.log.thread_builder import CallTimes
from partita.store.bulk.agent_sessions import write_sessions
from partita.store.bulk.rows import RunRows, ThreadRows, prepare_message
from partita.store.bulk.writer import write_threads
from partita.store.messages import edits
from partita.store.messages import queries as stored_messages
from partita.store.schema import messages as message_table
from partita.store.schema import threads as thread_table
from partita.store.sql.transaction import Transaction
from partita.store.threads import branches
from partita.store.threads import rows as threads
from partita.store.values import ConsumptionRecord
from partita.types.codec import encode
from partita.types.json import Json
from partita.types.messages import Message
from partita.types.threads import Run, Thread

from .report import ChangedMessage


class Skipped(Exception):  # noqa: N818 # not an error: a result
    """The reason why runs cannot be rebuilt."""


class Change(NamedTuple):
    """A stored message and the rebuilt one; one of them may be `None`."""

    run_id: str
    stored: Message | None
    new: Message | None
    report: ChangedMessage


class RebuiltThread(NamedTuple):
    """The changes of a thread, and all that is needed to write them."""

    thread: Thread
    changes: Sequence[Change]
    order: Sequence[str] = ()  # the ids of all messages of the log, in the order of the log
    numbers: Mapping[str, int] = {}  # of the stored messages
    times: Mapping[str, CallTimes] = {}
    runs: Sequence[Run] = ()  # those whose usage has changed
    consumptions: Sequence[ConsumptionRecord] = ()
    is_imported: bool = False

    def of_runs(self, run_ids: Collection[str]) -> "RebuiltThread":
        """The changes of some runs."""
        return self._replace(
            changes=[one for one in self.changes if one.run_id in run_ids],
            runs=[one for one in self.runs if one.id in run_ids],
            consumptions=[one for one in self.consumptions if one.run_id in run_ids],
        )


def in_place(stored: Message, new: Message, *, parent_id: str | None, metadata: Json | UnsetType) -> Message:
    """The new message with the id, number, time, owner and run of the stored one."""
    return replace(
        new,
        id=stored.id,
        thread_id=stored.thread_id,
        created_at=stored.created_at,
        resource_id=stored.resource_id,
        parent_id=parent_id,
        run_id=stored.run_id,
        seq=stored.seq,
        content=replace(new.content, metadata=metadata),
        extra=stored.extra,
    )


def write_changes(tx: Transaction, many: Sequence[RebuiltThread]) -> None:
    """Write the changes of threads. A message that has changed since it was read is a `ConflictError`."""
    for rebuilt in many:
        if rebuilt.changes:
            _write(Transaction(tx.connection, rebuilt.thread.resource_id or "", tx.now), rebuilt)


def _write(tx: Transaction, rebuilt: RebuiltThread) -> None:
    row = threads.find(tx, rebuilt.thread.id, lock=True)
    _check_unchanged(tx, rebuilt)
    rows = _rows(tx, rebuilt, threads.from_row(row))
    if rebuilt.is_imported:
        write_sessions(tx, [rows], rebuilt.thread.resource_id)
    else:
        write_threads(tx, [rows])
    added = [change.report.message_id for change in rebuilt.changes if change.stored is None]
    own = (message_table.c.owner == row.owner, message_table.c.thread_id == row.id)
    for message_id, number in free_numbers(rebuilt.order, rebuilt.numbers, added, row.next_seq):
        tx.run(update(message_table).where(*own, message_table.c.id == message_id).values(seq=number))
    if added and row.active_leaf_id is not None:
        branches.set_active_leaf(tx, row, branches.leaf_below(tx, row.owner, row.id, row.active_leaf_id))
    deleted = [change.report.message_id for change in rebuilt.changes if change.new is None]
    if deleted:
        edits.delete_messages(tx, row.id, deleted)
    # The time of a thread is that of its conversation, not that of rebuilding it.
    thread = (thread_table.c.owner == row.owner, thread_table.c.id == row.id)
    tx.run(update(thread_table).where(*thread).values(updated_at=row.updated_at))


def _check_unchanged(tx: Transaction, rebuilt: RebuiltThread) -> None:
    for change in rebuilt.changes:
        message_id = change.report.message_id
        current = stored_messages.get(tx, rebuilt.thread.id, message_id)
        if _content(current) != _content(change.stored):
            raise ConflictError(
                f"message {message_id!r} was changed meanwhile", hint="run it again, to read it again"
            )


def _content(message: Message | None) -> bytes | None:
    return None if message is None else encode(message.content)


def _rows(tx: Transaction, rebuilt: RebuiltThread, thread: Thread) -> ThreadRows:
    owner = thread.resource_id
    new = [replace(change.new, resource_id=owner) for change in rebuilt.changes if change.new is not None]
    return ThreadRows(
        thread,
        [prepare_message(message, thread.id, rebuilt.times, lite=tx.is_sqlite) for message in new],
        [RunRows(run, 1, (), {}) for run in rebuilt.runs],
        rebuilt.consumptions,
    )


def free_numbers(
    order: Sequence[str], numbers: Mapping[str, int], added: Sequence[str], end: int
) -> Iterator[tuple[str, int]]:
    """Free numbers below `end` for added messages, each after the number of the message before it."""
    wanted, used = set(added), set(numbers.values())
    before = 0
    for message_id in order:
        if message_id in numbers:
            before = numbers[message_id]
        elif message_id in wanted and before + 1 < end and before + 1 not in used:
            before += 1
            used.add(before)
            yield message_id, before
