"""Changing and deleting stored messages: an edit as a new branch, one part, one tool call."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import Row, and_, delete, select, update

from partita.errors import BusyError, ConflictError, NotFoundError, StoreError
from partita.store.blobs import blobs
from partita.store.ids import new_id
from partita.store.runs.rows import ACTIVE, OCCUPIES_THREAD
from partita.store.schema import blob_refs, consumptions, messages, runs
from partita.store.schema import threads as thread_table
from partita.store.search import index as search_index
from partita.store.sql.texts import required
from partita.store.sql.transaction import Transaction, batched
from partita.store.threads import branches
from partita.store.threads import rows as threads
from partita.stream.reducer import merge_metadata
from partita.types.json import Json, is_object
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart

from . import writer as saving
from .prepared import prepare
from .queries import of_thread, require
from .rows import read_messages

CALLS_BATCH = 20


def edit(tx: Transaction, thread_id: str, message: Message) -> Message:
    """Replace a message in a new branch, which ends with it.

    The old message stays, with all that follows it, under a new id. If the thread has an active run, this
    is a `BusyError`.
    """
    thread = threads.find(tx, thread_id, message.resource_id, lock=True)
    _refuse_if_busy(tx, thread)
    row = tx.row(select(messages.c.parent_id).where(of_thread(thread), messages.c.id == message.id))
    if row is None:
        raise NotFoundError(
            f"no message {message.id!r} in thread {thread.id!r}",
            hint="list the messages of the thread to see their ids; to add one, save it",
        )
    old_id = new_id()
    _rename(tx, thread, message.id, old_id)
    parent = old_id if row.parent_id == message.id else row.parent_id or ""
    # An edit has no run: when the log of the old message's run is read again, it must not find the edit.
    edited = replace(message, parent_id=parent, run_id=None, seq=None)
    return saving.save(tx, [prepare(edited, thread.id)])[0]


def _refuse_if_busy(tx: Transaction, thread: Row[Any]) -> None:
    """An active run continues from the messages it started with, and pending runs follow them."""
    of_run = (runs.c.owner == thread.owner, runs.c.thread_id == thread.id)
    query = select(runs.c.id).where(*of_run, runs.c.status.in_(ACTIVE), OCCUPIES_THREAD)
    row = tx.row(query.limit(1))
    if row is not None:
        raise BusyError(
            f"thread {thread.id!r} has an active run: {row.id!r}", hint="wait for it, or stop it, then edit"
        )


def _rename(tx: Transaction, thread: Row[Any], old: str, new: str) -> None:
    """Give a message another id, everywhere in its thread. What is derived from it refers to its key."""
    for column in (messages.c.id, messages.c.parent_id, runs.c.message_id, consumptions.c.message_id):
        same = and_(column.table.c.owner == thread.owner, column.table.c.thread_id == thread.id)
        tx.run(update(column.table).where(same, column == old).values({column.name: new}))
    leaf = thread_table.c.active_leaf_id
    same = and_(thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
    tx.run(update(thread_table).where(same, leaf == old).values({leaf.name: new}))


def update_part(tx: Transaction, thread_id: str, message_id: str, index: int, part: Part) -> Message:
    """Replace a part of a message."""
    thread = threads.find(tx, thread_id, lock=True)
    message = read_messages(tx, [require(tx, thread, message_id)], "inline")[0]
    parts = message.content.parts
    if not 0 <= index < len(parts):
        raise StoreError(
            f"message {message_id!r} has no part {index}", hint=f"it has {len(parts)}, counted from 0"
        )
    changed = tuple(part if number == index else known for number, known in enumerate(parts))
    whole = replace(message, content=replace(message.content, parts=changed))
    return saving.save(tx, [prepare(whole, thread.id)])[0]


Change: TypeAlias = Callable[[ToolCallPart, AssistantMessage], ToolCallPart | None]
"""Returns the changed call; `None` for a call that stays as it is."""


def change_call(
    tx: Transaction, thread_id: str, change: Change, metadata: Json = None
) -> AssistantMessage | None:
    """Change the newest tool call of a thread for which `change` returns another one.

    `metadata` is merged into that of its message. Returns the message as stored, or `None`. If the active run
    continues the message, this is a `BusyError`: the run would not see the change.
    """
    thread = threads.find(tx, thread_id, lock=True)
    for message in _with_calls(tx, thread):
        for number, part in enumerate(message.parts):
            changed = change(part, message) if isinstance(part, ToolCallPart) else None
            if changed is not None:
                _refuse_if_continued(tx, thread, message.id)
                parts = (*message.parts[:number], changed, *message.parts[number + 1 :])
                content = replace(message.content, parts=parts)
                if metadata is not None and (content.metadata is UNSET or is_object(content.metadata)):
                    content = replace(content, metadata=merge_metadata(content.metadata, metadata))
                saved = saving.save(tx, [prepare(replace(message, content=content), thread.id)])[0]
                assert isinstance(saved, AssistantMessage), "it keeps its role"
                return saved
    return None


def _refuse_if_continued(tx: Transaction, thread: Row[Any], message_id: str) -> None:
    of_run = (runs.c.owner == thread.owner, runs.c.thread_id == thread.id, runs.c.message_id == message_id)
    row = tx.row(select(runs.c.id).where(*of_run, runs.c.status == "running", OCCUPIES_THREAD).limit(1))
    if row is not None:
        raise BusyError(
            f"run {row.id!r} continues message {message_id!r}", hint="send it to the run, or wait for its end"
        )


def _with_calls(tx: Transaction, thread: Row[Any]) -> Iterator[AssistantMessage]:
    """The messages of a thread with tool calls, newest first."""
    query = (
        select(messages)
        .where(of_thread(thread), messages.c.has_tool_calls.is_(True))
        .order_by(messages.c.seq.desc())
        .limit(CALLS_BATCH)
    )
    before = thread.next_seq
    while rows := tx.rows(query.where(messages.c.seq < before)):
        for message in read_messages(tx, rows, "inline"):
            if isinstance(message, AssistantMessage):
                yield message
        before = rows[-1].seq


def delete_messages(tx: Transaction, thread_id: str, message_ids: Sequence[str]) -> int:
    """Delete messages of a thread and return their number. Their children get their parents."""
    thread = threads.find(tx, thread_id, lock=True)
    rows = [
        row
        for batch in batched(dict.fromkeys(message_ids))
        for row in tx.rows(select(messages).where(of_thread(thread), messages.c.id.in_(batch)))
    ]
    for row in sorted(rows, key=lambda row: row.seq):
        _connect_children(tx, thread, row.id)
    referred = _delete_rows(tx, thread.owner, [row.key for row in rows])
    leaf = _remaining_leaf(tx, thread)
    tx.run(
        update(thread_table)
        .where(thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
        .values(
            error_count=thread.error_count - sum(bool(row.has_errors) for row in rows),
            active_leaf_id=leaf,
            changed_at=tx.now,
        )
    )
    blobs.drop_unreferred(tx, thread.owner, referred)
    if rows:
        branches.mark_active(tx, thread.owner, thread.id, leaf)
    return len(rows)


def delete_by_id(tx: Transaction, message_ids: Sequence[str], *, thread_id: str | None = None) -> int:
    """Delete messages of any thread. An id that several threads have is a `ConflictError`."""
    columns = (messages.c.owner, messages.c.thread_id, messages.c.id)
    same = tx.among(messages.c.id, list(dict.fromkeys(message_ids)))
    found = select(*columns).where(tx.owned(messages), same)
    if thread_id is not None:
        found = found.where(messages.c.thread_id == required(thread_id, "thread id"))
    by_thread: dict[str, list[str]] = {}
    threads_of: dict[str, tuple[str, str]] = {}
    for row in tx.rows(found):
        if threads_of.setdefault(row.id, (row.owner, row.thread_id)) != (row.owner, row.thread_id):
            raise ConflictError(f"several threads have a message {row.id!r}", hint="name the thread")
        by_thread.setdefault(row.thread_id, []).append(row.id)
    return sum(delete_messages(tx, thread, ids) for thread, ids in by_thread.items())


def _connect_children(tx: Transaction, thread: Row[Any], message_id: str) -> None:
    """Make the parent of a message the parent of its children."""
    row = tx.row(select(messages.c.parent_id).where(of_thread(thread), messages.c.id == message_id))
    parent = None if row is None else row.parent_id
    children = update(messages).where(of_thread(thread), messages.c.parent_id == message_id)
    tx.run(children.values(parent_id=parent))
    leaf = (thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
    tx.run(
        update(thread_table)
        .where(*leaf, thread_table.c.active_leaf_id == message_id)
        .values(active_leaf_id=parent)
    )


def _delete_rows(tx: Transaction, owner: str, keys: Sequence[int]) -> set[str]:
    """Delete messages and what is derived from them, and return the hashes of their blobs."""
    referred: set[str] = set()
    for batch in batched(keys):
        refs = (blob_refs.c.owner == owner, blob_refs.c.message.in_(batch))
        referred.update(row.hash for row in tx.rows(select(blob_refs.c.hash).where(*refs)))
        tx.run(delete(messages).where(messages.c.owner == owner, messages.c.key.in_(batch)))
    search_index.delete(tx, [(owner, key) for key in keys])
    return referred


def _remaining_leaf(tx: Transaction, thread: Row[Any]) -> str | None:
    """The active leaf after a deletion; if it does not exist any more, the last message."""
    leaf = tx.row(
        select(messages.c.id)
        .join(
            thread_table,
            and_(thread_table.c.owner == messages.c.owner, thread_table.c.id == messages.c.thread_id),
        )
        .where(of_thread(thread), messages.c.id == thread_table.c.active_leaf_id)
    )
    if leaf is None:
        leaf = tx.row(select(messages.c.id).where(of_thread(thread)).order_by(messages.c.seq.desc()).limit(1))
    return None if leaf is None else leaf.id
