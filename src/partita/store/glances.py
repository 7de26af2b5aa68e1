"""What somebody has to know who takes up a talk: in one look, for every message of a chat waits for it."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from partita.types.messages import Message
from partita.types.runs import Run
from partita.types.threads import Thread

from . import messages, runs, threads
from .statement import Statement
from .tables import messages as message_table
from .tables import parts
from .transaction import Transaction


class Glance(NamedTuple):
    """A thread, the run at work in it, some of its messages, and the calls that wait for somebody."""

    thread: Thread | None
    run: Run | None
    messages: dict[str, Message]
    """Those of the ids asked for that are there."""
    waiting: dict[str, list[str]]
    """By message: the ids of its calls."""


_WAITING = Statement(
    select(message_table.c.id, parts.c.call_id)
    .join(parts, (parts.c.owner == message_table.c.owner) & (parts.c.message == message_table.c.key))
    .where(
        message_table.c.owner == bindparam("of_owner"),
        message_table.c.thread_id == bindparam("of_thread"),
        message_table.c.has_tool_calls,
        (parts.c.state == "approval-requested") | (parts.c.state == "input-available"),
    )
)


def glance(tx: Transaction, thread_id: str, message_ids: Sequence[str]) -> Glance:
    """Look at a thread."""
    row = threads.look_up(tx, thread_id)
    if row is None:
        return Glance(None, None, {}, {})
    found = [messages.get(tx, thread_id, one, "inline") for one in dict.fromkeys(message_ids)]
    waiting: dict[str, list[str]] = {}
    for part in _WAITING.rows(tx, of_owner=row.owner, of_thread=row.id):
        if part.call_id is not None:
            waiting.setdefault(part.id, []).append(part.call_id)
    known = {one.id: one for one in found if one is not None}
    return Glance(threads.from_row(row), runs.running(tx, thread_id), known, waiting)
