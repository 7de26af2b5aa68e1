"""Messages by their ids alone, in whatever thread they are."""

from collections.abc import Sequence

from sqlalchemy import select

from partita.errors import ConflictError

from .messages import delete_messages
from .tables import messages
from .texts import required
from .transaction import Transaction


def delete_by_id(tx: Transaction, ids: Sequence[str], thread_id: str | None) -> int:
    """Delete messages and give how many there were.

    Without a thread, an id that two threads have is an error.
    """
    columns = (messages.c.owner, messages.c.thread_id, messages.c.id)
    found = select(*columns).where(tx.mine(messages), tx.among(messages.c.id, list(dict.fromkeys(ids))))
    if thread_id is not None:
        found = found.where(messages.c.thread_id == required(thread_id, "thread id"))
    by_thread: dict[str, list[str]] = {}
    homes: dict[str, tuple[str, str]] = {}
    for row in tx.rows(found):
        if homes.setdefault(row.id, (row.owner, row.thread_id)) != (row.owner, row.thread_id):
            raise ConflictError(f"several threads have a message {row.id!r}", hint="name the thread")
        by_thread.setdefault(row.thread_id, []).append(row.id)
    return sum(delete_messages(tx, thread, of_thread) for thread, of_thread in by_thread.items())
