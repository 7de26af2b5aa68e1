"""Copies of threads: whole, up to a message, or of some messages.

A copy consumes nothing: the usage of its messages is shown for it too, but counted once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Row, select

from partita.store.ids import new_id as fresh_id
from partita.store.messages import queries
from partita.store.messages import writer as saving
from partita.store.messages.prepared import prepare
from partita.store.messages.rows import read_messages
from partita.store.schema import NEVER, messages
from partita.store.sql.transaction import Transaction
from partita.store.usage import copy_usage
from partita.store.values import MessageFilter
from partita.types.json import JsonObject, is_object
from partita.types.messages import Message, ToolCallPart
from partita.types.threads import Thread
from partita.types.times import javascript_date

from . import branches
from . import rows as threads

CLONE = "clone"
"""The member of a copy's metadata that names its source."""

FORKED_FROM = "forkedFrom"
"""The member of the metadata of a session that its agent forked, with the id of the other session."""


def origin_of(thread: Thread) -> str | None:
    """The thread that a copy was made of, or the session that the agent forked; `None` if it is no copy."""
    metadata = thread.metadata or {}
    copied, forked = metadata.get(CLONE), metadata.get(FORKED_FROM)
    source = copied.get("threadId") if is_object(copied) else forked
    return source if isinstance(source, str) else None


def is_session(thread: Thread) -> bool:
    """Whether a thread is a session that an agent recorded. A copy of one is a chat."""
    metadata = thread.metadata or {}
    return isinstance(metadata.get("sessionId"), str) and CLONE not in metadata


def clone(tx: Transaction, thread_id: str, *, new_id: str | None = None, title: str | None = None) -> Thread:
    """Copy a thread with all its branches. The metadata of the copy names the original under `clone`.

    Runs stay with the thread that they belong to.
    """
    source, copy_id = threads.find(tx, thread_id), new_id or fresh_id()
    copied = _read(tx, _message_rows(tx, source))
    _create(tx, source, copy_id, title, {CLONE: {"threadId": source.id}})
    _save(tx, copy_id, copied)
    copy_usage(tx, source, copy_id, None)
    copy = threads.find(tx, copy_id, source.owner)
    if source.active_leaf_id is not None and copy.active_leaf_id != source.active_leaf_id:
        return branches.set_active_leaf(tx, copy, source.active_leaf_id)
    return threads.from_row(copy)


def fork(
    tx: Transaction, thread_id: str, message_id: str, *, new_id: str | None = None, title: str | None = None
) -> Thread:
    """Create a thread with copies of the messages of a branch, up to a message."""
    source, copy_id = threads.find(tx, thread_id), new_id or fresh_id()
    path = branches.path_to(tx, source.owner, source.id, message_id)
    if not path:
        raise branches.no_message(thread_id, message_id)
    copied = _read(tx, [row for row in _message_rows(tx, source) if row.id in path])
    _create(tx, source, copy_id, title, {CLONE: {"threadId": source.id, "messageId": message_id}})
    _save(tx, copy_id, copied)
    copy_usage(tx, source, copy_id, _ids(copied))
    return threads.from_row(threads.find(tx, copy_id, source.owner))


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Selects messages to copy. A field that is not set matches everything."""

    newest: int | None = None
    start: datetime | None = None
    end: datetime | None = None
    ids: frozenset[str] | None = None

    def select(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Those of the messages that are copied."""
        found = [message for message in messages if self._matches(message)]
        return found if self.newest is None else found[max(len(found) - self.newest, 0) :]

    def _matches(self, message: Message) -> bool:
        created = message.created_at
        return (
            (self.ids is None or message.id in self.ids)
            and (self.start is None or (created is not None and created >= self.start))
            and (self.end is None or (created is not None and created <= self.end))
        )


def copy_excerpt(
    tx: Transaction,
    thread_id: str,
    excerpt: Excerpt,
    *,
    new_id: str | None = None,
    title: str | None = None,
    metadata: JsonObject | None = None,
) -> Thread:
    """Create a thread with copies of the active branch of another one, or of some of its messages.

    The copies have ids of their own, and belong to no run.
    """
    source, copy_id = threads.find(tx, thread_id), new_id or fresh_id()
    every = MessageFilter(internal=None)
    page = queries.list_messages(tx, thread_id, every, limit=None, blobs="reference")
    selected = excerpt.select(page.items)
    # Members other than `threadId` are those that clients of Mastra read.
    now = javascript_date(tx.now)
    origin: JsonObject = {"threadId": source.id, "sourceThreadId": source.id, "clonedAt": now}
    if selected:
        origin["lastMessageId"] = selected[-1].id
    _create(tx, source, copy_id, title, {**(metadata or {}), CLONE: origin})
    copies = [replace(message, id=fresh_id(), parent_id=None, run_id=None) for message in selected]
    _save(tx, copy_id, copies)
    return threads.from_row(threads.find(tx, copy_id, source.owner))


def _message_rows(tx: Transaction, thread: Row[Any]) -> Sequence[Row[Any]]:
    of_thread = (messages.c.owner == thread.owner, messages.c.thread_id == thread.id)
    return tx.rows(select(messages).where(*of_thread).order_by(messages.c.seq))


def _read(tx: Transaction, rows: Sequence[Row[Any]]) -> list[Message]:
    """The messages of rows, to be saved in another thread: a root stays a root, with an empty parent."""
    found = read_messages(tx, rows, "reference")
    return [replace(message, parent_id="") if message.parent_id is None else message for message in found]


def _create(tx: Transaction, source: Row[Any], copy_id: str, title: str | None, metadata: JsonObject) -> None:
    """Create the thread of a copy, without messages."""
    original = threads.from_row(source)
    copy = replace(
        original,
        id=copy_id,
        title=original.title if title is None else title,
        metadata={**(original.metadata or {}), **metadata},
        created_at=None,
        updated_at=None,
    )
    threads.create(tx, copy)


def _save(tx: Transaction, copy_id: str, copied: Sequence[Message]) -> None:
    prepared = [
        prepare(
            replace(message, thread_id=copy_id, seq=None, created_at=message.created_at or NEVER), copy_id
        )
        for message in copied
    ]
    saving.save(tx, prepared)


def _ids(copied: Sequence[Message]) -> list[str]:
    """The ids of messages and of the messages of their sub-agents."""
    remaining, ids = list(copied), list[str]()
    while remaining:
        message = remaining.pop()
        ids.append(message.id)
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                remaining.extend(part.children)
    return ids
