"""Branches: which messages lie on the way from the first one to the active leaf."""

from typing import Any

from sqlalchemy import Row, select, update

from partita.errors import NotFoundError
from partita.types.threads import Thread

from . import threads
from .tables import messages
from .tables import threads as thread_table
from .transaction import Transaction

# A parent that is not there, is empty, or was seen before ends the way; UNION (not ALL) ends a circle.
WAY = """
WITH RECURSIVE way (id, parent_id) AS (
    SELECT id, parent_id FROM messages WHERE owner = ? AND thread_id = ? AND id = ?
    UNION
    SELECT m.id, m.parent_id FROM messages m JOIN way ON m.id = way.parent_id
    WHERE m.owner = ? AND m.thread_id = ?
)
"""
MARK_ACTIVE = (
    f"{WAY} UPDATE messages SET active = (id IN (SELECT id FROM way)) WHERE owner = ? AND thread_id = ?"
)
THE_WAY = f"{WAY} SELECT id FROM way"


def mark_active(tx: Transaction, owner: str, thread_id: str, leaf: str | None) -> None:
    """Mark the messages on the way to a leaf as active, and all others as not."""
    place = (owner, thread_id)
    tx.sql(MARK_ACTIVE, (*place, leaf or "", *place, *place))


def way_to(tx: Transaction, owner: str, thread_id: str, message_id: str) -> set[str]:
    """The ids of the messages that lead to one, itself included; empty when it is not there."""
    rows = tx.sql(THE_WAY, (owner, thread_id, message_id, owner, thread_id))
    return {row[0] for row in rows}


def switch(tx: Transaction, thread_id: str, message_id: str) -> Thread:
    """Make the branch through a message the active one; below it, the latest answers."""
    row = threads.find(tx, thread_id, lock=True)
    mine = (messages.c.owner == row.owner, messages.c.thread_id == row.id)
    if tx.row(select(messages.c.id).where(*mine, messages.c.id == message_id)) is None:
        raise NotFoundError(
            f"no message {message_id!r} in thread {thread_id!r}", hint="name one of its messages"
        )
    return point_at(tx, row, leaf_below(tx, row.owner, row.id, message_id))


def point_at(tx: Transaction, thread: Row[Any], leaf: str) -> Thread:
    """Make a message the active leaf of its thread."""
    own = (thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
    tx.run(update(thread_table).where(*own).values(active_leaf_id=leaf, changed_at=tx.now))
    mark_active(tx, thread.owner, thread.id, leaf)
    return threads.from_row(threads.find(tx, thread.id, thread.owner))


def leaf_below(tx: Transaction, owner: str, thread_id: str, message_id: str) -> str:
    """The last message that can be reached from one, always taking the latest answer."""
    mine = (messages.c.owner == owner, messages.c.thread_id == thread_id)
    passed = {message_id}
    while True:
        below = select(messages.c.id).where(*mine, messages.c.parent_id == message_id)
        row = tx.row(below.order_by(messages.c.seq.desc()).limit(1))
        if row is None or row.id in passed:
            return message_id
        message_id = row.id
        passed.add(message_id)
