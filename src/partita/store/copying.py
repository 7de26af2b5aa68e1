"""Copies of threads: whole, or up to a message, to go on from there.

A copy consumed nothing: what its messages took is told of it too, and counted once.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Row, select

from partita.errors import NotFoundError
from partita.types.messages import Message, ToolCallPart
from partita.types.threads import Thread

from . import branches, consumptions, saving, threads
from .message_rows import read_messages
from .prepared import Prepared, prepare
from .tables import messages
from .transaction import Transaction

CLONE = "clone"
"""The member of a copy's metadata that says what it is a copy of."""


def clone(tx: Transaction, thread_id: str, new_id: str, title: str | None) -> Thread:
    """A copy of a thread, all its branches included. Runs stay with the thread they belong to."""
    source = threads.find(tx, thread_id)
    talk = read_messages(tx, tx.rows(_rows_of(source).order_by(messages.c.seq)), "reference")
    copied = _copy(tx, source, new_id, title, talk, None)
    consumptions.copy(tx, source, new_id, None)
    if source.active_leaf_id is not None and copied.active_leaf_id != source.active_leaf_id:
        return branches.point_at(tx, threads.find(tx, new_id, source.owner), source.active_leaf_id)
    return copied


def fork(tx: Transaction, thread_id: str, message_id: str, new_id: str, title: str | None) -> Thread:
    """A new thread with everything up to a message, on the branch that leads to it."""
    source = threads.find(tx, thread_id)
    way = branches.way_to(tx, source.owner, source.id, message_id)
    if not way:
        raise NotFoundError(
            f"no message {message_id!r} in thread {thread_id!r}",
            hint="list the messages of the thread to see their ids",
        )
    rows = [row for row in tx.rows(_rows_of(source).order_by(messages.c.seq)) if row.id in way]
    talk = read_messages(tx, rows, "reference")
    copied = _copy(tx, source, new_id, title, talk, message_id)
    consumptions.copy(tx, source, new_id, _ids(talk))
    return copied


def _ids(talk: Sequence[Message]) -> list[str]:
    """The ids of messages, and of those of their sub-agents."""
    waiting, ids = list(talk), list[str]()
    while waiting:
        message = waiting.pop()
        ids.append(message.id)
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                waiting.extend(part.children)
    return ids


def _rows_of(source: Row[Any]) -> Any:
    return select(messages).where(messages.c.owner == source.owner, messages.c.thread_id == source.id)


def _copy(
    tx: Transaction,
    source: Row[Any],
    new_id: str,
    title: str | None,
    talk: Sequence[Message],
    forked_at: str | None,
) -> Thread:
    original = threads.from_row(source)
    origin = {"threadId": source.id} | ({} if forked_at is None else {"messageId": forked_at})
    threads.create(
        tx,
        replace(
            original,
            id=new_id,
            title=original.title if title is None else title,
            metadata={**(original.metadata or {}), CLONE: origin},
            created_at=None,
            updated_at=None,
        ),
    )
    saving.save(tx, [_prepared(message, new_id) for message in talk])
    return threads.from_row(threads.find(tx, new_id, source.owner))


def _prepared(message: Message, thread_id: str) -> Prepared:
    copied = replace(message, thread_id=thread_id, seq=None)
    root = message.parent_id is None
    return prepare(replace(copied, parent_id="") if root else copied, thread_id)
