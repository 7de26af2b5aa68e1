"""What comes out otherwise in a session, written as the importer of logs writes what is new.

Numbers of stored messages stay; a new one takes a number that is free in its place, or else the next one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from sqlalchemy import update

from partita.errors import ConflictError
from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import CallTimes
from partita.logs.importing.books import Books, records_of
from partita.logs.reading import Batch
from partita.store import branches, threads
from partita.store import messages as stored_messages
from partita.store.sessions.rows import RunRows, SessionRows, prepare_message
from partita.store.sessions.writing import write_sessions
from partita.store.tables import messages as message_table
from partita.store.tables import threads as thread_table
from partita.store.transaction import Transaction
from partita.types.codec import encode
from partita.types.messages import Message
from partita.types.runs import Run
from partita.types.threads import Thread

from .comparing_sessions import Change


class ThreadChanges(NamedTuple):
    """All that is to be written to a thread."""

    thread: Thread
    changes: Sequence[Change]
    order: Sequence[str]  # the ids of all messages of the log, as they follow each other
    numbers: Mapping[str, int]  # of the stored messages
    times: Mapping[str, CallTimes] = {}
    runs: Sequence[Run] = ()
    consumptions: Sequence[Consumption] = ()


def write_changes(tx: Transaction, many: Sequence[ThreadChanges]) -> None:
    """Write to all threads of a session, unless somebody changed one of the messages meanwhile."""
    for one in many:
        _write(Transaction(tx.connection, one.thread.resource_id or "", tx.now), one)


def _write(tx: Transaction, one: ThreadChanges) -> None:
    row = threads.find(tx, one.thread.id, lock=True)
    _check(tx, one)
    write_sessions(tx, [_rows(tx, one, threads.from_row(row))], one.thread.resource_id)
    added = [change.told.message_id for change in one.changes if change.stored is None]
    own = (message_table.c.owner == row.owner, message_table.c.thread_id == row.id)
    for message_id, number in free_numbers(one.order, one.numbers, added, row.next_seq):
        tx.run(update(message_table).where(*own, message_table.c.id == message_id).values(seq=number))
    if added and row.active_leaf_id is not None:
        branches.point_at(tx, row, branches.leaf_below(tx, row.owner, row.id, row.active_leaf_id))
    gone = [change.told.message_id for change in one.changes if change.new is None]
    if gone:
        stored_messages.delete_messages(tx, row.id, gone)
    # That we read it anew today does not make it a thread of today.
    thread = (thread_table.c.owner == row.owner, thread_table.c.id == row.id)
    tx.run(update(thread_table).where(*thread).values(updated_at=row.updated_at))


def _check(tx: Transaction, one: ThreadChanges) -> None:
    for change in one.changes:
        message_id = change.told.message_id
        there = stored_messages.get(tx, one.thread.id, message_id, "inline")
        if _content(there) != _content(change.stored):
            raise ConflictError(
                f"message {message_id!r} was changed meanwhile", hint="do it again: it is read anew"
            )


def _content(message: Message | None) -> bytes | None:
    return None if message is None else encode(message.content)


def _rows(tx: Transaction, one: ThreadChanges, thread: Thread) -> SessionRows:
    owner = thread.resource_id
    new = [replace(change.new, resource_id=owner) for change in one.changes if change.new is not None]
    return SessionRows(
        thread,
        [prepare_message(message, thread.id, one.times, lite=tx.lite) for message in new],
        [RunRows(run, 1, (), {}) for run in consumed(one.runs, one.consumptions)],
        records_of(one.consumptions, thread.id),
    )


def consumed(runs: Sequence[Run], consumptions: Sequence[Consumption]) -> Iterator[Run]:
    """The runs that have consumed something else than was known."""
    stored = {run.id: run for run in runs}
    books = Books("", "", {}, {})
    books.add(Batch([], [], [one for one in consumptions if one.run_id in stored], {}, []))
    for rows in books.take(last=None, running=False):
        now, run = rows.run, stored[rows.run.id]
        if now.usage != run.usage:
            metadata = {**(run.metadata or {}), **(now.metadata or {})}
            yield replace(run, usage=now.usage, cost=now.cost, model=now.model, metadata=metadata)


def free_numbers(
    order: Sequence[str], numbers: Mapping[str, int], added: Sequence[str], end: int
) -> Iterator[tuple[str, int]]:
    """Numbers below `end` that no message has, each right after that of the one before it in the log."""
    wanted, taken = set(added), set(numbers.values())
    before = 0
    for message_id in order:
        if message_id in numbers:
            before = numbers[message_id]
        elif message_id in wanted and before + 1 < end and before + 1 not in taken:
            before += 1
            taken.add(before)
            yield message_id, before
