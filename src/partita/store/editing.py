"""Editing a message that keeps its id: what stood under the id stays, under another one."""

from typing import Any

from msgspec.structs import replace
from sqlalchemy import Row, and_, select, update

from partita.errors import BusyError, NotFoundError
from partita.types.messages import Message

from . import saving, threads
from .prepared import prepare
from .runs import AT_WORK, IS_OURS
from .tables import consumptions, messages, runs
from .tables import threads as thread_table
from .transaction import Transaction


def edit(tx: Transaction, thread_id: str, message: Message, spare_id: str) -> Message:
    """Store a message under the id of one that is there, which gets the `spare_id`; both follow one parent.

    Nothing follows the new message yet, and it is the active leaf. What followed the other still does.
    """
    thread = threads.find(tx, thread_id, message.resource_id, lock=True)
    _refuse_if_busy(tx, thread)
    there = _find(tx, thread, message.id)
    _move_aside(tx, thread, message.id, spare_id)
    parent = spare_id if there.parent_id == message.id else there.parent_id or ""
    # No run wrote an edit: read anew, the log of the old message's run must not find it.
    edited = replace(message, parent_id=parent, run_id=None, seq=None)
    return saving.save(tx, [prepare(edited, thread.id)])[0]


def _refuse_if_busy(tx: Transaction, thread: Row[Any]) -> None:
    """A run at work goes on with what it began with, and those that wait are to follow it."""
    mine = (runs.c.owner == thread.owner, runs.c.thread_id == thread.id)
    row = tx.row(select(runs.c.id).where(*mine, runs.c.status.in_(AT_WORK), IS_OURS).limit(1))
    if row is not None:
        raise BusyError(
            f"thread {thread.id!r} has a run at work: {row.id!r}", hint="wait for it, or stop it, then edit"
        )


def _find(tx: Transaction, thread: Row[Any], message_id: str) -> Row[Any]:
    mine = (messages.c.owner == thread.owner, messages.c.thread_id == thread.id)
    row = tx.row(select(messages.c.parent_id).where(*mine, messages.c.id == message_id))
    if row is None:
        raise NotFoundError(
            f"no message {message_id!r} in thread {thread.id!r}",
            hint="list the messages of the thread to see their ids; to add one, save it",
        )
    return row


def _move_aside(tx: Transaction, thread: Row[Any], old: str, new: str) -> None:
    """Give a message another id; all that names it in its thread follows. What is derived goes by its key."""
    for column in (messages.c.id, messages.c.parent_id, runs.c.message_id, consumptions.c.message_id):
        mine = and_(column.table.c.owner == thread.owner, column.table.c.thread_id == thread.id)
        tx.run(update(column.table).where(mine, column == old).values({column.name: new}))
    leaf = thread_table.c.active_leaf_id
    mine = and_(thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
    tx.run(update(thread_table).where(mine, leaf == old).values({leaf.name: new}))
