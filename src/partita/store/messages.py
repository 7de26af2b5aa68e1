"""Messages: getting, listing, changing a part, deleting. Always in the order of their numbers."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Row, and_, bindparam, delete, false, select, update

from partita.errors import NotFoundError, StoreError
from partita.types.messages import Message, Part

from . import blobs, branches, saving, threads
from .message_rows import read_messages
from .prepared import prepare
from .search import search
from .statement import Statement
from .tables import blob_refs, messages
from .tables import threads as thread_table
from .transaction import Transaction, cut
from .values import BlobMode, MessageFilter, Order, Page


def _of_thread(row: Row[Any]) -> ColumnElement[bool]:
    return and_(messages.c.owner == row.owner, messages.c.thread_id == row.id)


_ONE = Statement(
    select(messages).where(
        messages.c.owner == bindparam("of_owner"),
        messages.c.thread_id == bindparam("of_thread"),
        messages.c.id == bindparam("of_id"),
    )
)


def get(tx: Transaction, thread_id: str, message_id: str, blobs: BlobMode) -> Message | None:
    """The message of that id in a thread, or `None`."""
    try:
        thread = threads.find(tx, thread_id)
    except NotFoundError:
        return None
    row = _ONE.row(tx, of_owner=thread.owner, of_thread=thread.id, of_id=message_id)
    return None if row is None else read_messages(tx, [row], blobs)[0]


def _require(tx: Transaction, thread: Row[Any], message_id: str) -> Row[Any]:
    row = tx.row(select(messages).where(_of_thread(thread), messages.c.id == message_id))
    if row is None:
        raise NotFoundError(
            f"no message {message_id!r} in thread {thread.id!r}",
            hint="list the messages of the thread to see their ids",
        )
    return row


_READ = ("key", "owner", "thread_id", "seq", "id", "role", "type", "content", "blobs", "extra")
_TALK = Statement(
    select(*(messages.c[name] for name in (*_READ, "parent_id", "run_id", "internal", "created_at")))
    .where(messages.c.owner == bindparam("of_owner"), messages.c.thread_id == bindparam("of_thread"))
    .where(messages.c.active, messages.c.internal == false())
    .order_by(messages.c.seq)
)


def talk(tx: Transaction, thread: Row[Any], blobs: BlobMode = "inline") -> tuple[Message, ...]:
    """The whole talk of a thread on its active branch, without what is internal."""
    return read_messages(tx, _TALK.rows(tx, of_owner=thread.owner, of_thread=thread.id), blobs)


def list_page(
    tx: Transaction,
    thread_id: str,
    wanted: MessageFilter,
    *,
    limit: int | None,
    order: Order,
    cursor: str | None,
    blobs: BlobMode,
) -> Page[Message]:
    """Messages of a thread, by number; the cursor is the number of the last one given."""
    thread = threads.find(tx, thread_id)
    if limit is None and cursor is None and order == "asc" and wanted == MessageFilter():
        return Page(talk(tx, thread, blobs), None)
    query = select(messages).where(_of_thread(thread), *_conditions(wanted))
    if cursor is not None:
        number = _number(cursor)
        query = query.where(messages.c.seq > number if order == "asc" else messages.c.seq < number)
    query = query.order_by(messages.c.seq if order == "asc" else messages.c.seq.desc())
    rows = tx.rows(query if limit is None else query.limit(limit + 1))
    more = limit is not None and len(rows) > limit
    shown = rows[:limit] if more else rows
    return Page(read_messages(tx, shown, blobs), str(shown[-1].seq) if more else None)


def _number(cursor: str) -> int:
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 18:
        raise StoreError(
            "this is no cursor of this list", where=cursor[:80], hint="pass on `page.next`, unchanged"
        )
    return int(cursor)


def _conditions(wanted: MessageFilter) -> list[ColumnElement[bool]]:
    columns = messages.c
    conditions: list[ColumnElement[bool]] = []
    if wanted.before is not None:
        conditions.append(columns.seq < wanted.before)
    if wanted.after is not None:
        conditions.append(columns.seq > wanted.after)
    if wanted.since is not None:
        conditions.append(columns.created_at >= wanted.since)
    if wanted.until is not None:
        conditions.append(columns.created_at < wanted.until)
    if wanted.roles:
        conditions.append(columns.role.in_(wanted.roles))
    if wanted.types:
        conditions.append(columns.type.in_(wanted.types))
    if wanted.internal is not None:
        conditions.append(columns.internal == wanted.internal)
    if wanted.branch == "active":
        conditions.append(columns.active)
    return conditions


def around(
    tx: Transaction,
    thread_id: str,
    message_id: str,
    wanted: MessageFilter,
    *,
    previous: int,
    following: int,
    blobs: BlobMode,
) -> tuple[Message, ...]:
    """A message with its neighbours, oldest first. The message itself is there whatever the filter says."""
    thread = threads.find(tx, thread_id)
    middle = _require(tx, thread, message_id)
    near = select(messages).where(_of_thread(thread), *_conditions(wanted))
    earlier = near.where(messages.c.seq < middle.seq).order_by(messages.c.seq.desc()).limit(previous)
    later = near.where(messages.c.seq > middle.seq).order_by(messages.c.seq).limit(following)
    before = list(reversed(tx.rows(earlier))) if previous else []
    after = list(tx.rows(later)) if following else []
    return read_messages(tx, [*before, middle, *after], blobs)


def some(tx: Transaction, thread_id: str, ids: Sequence[str], blobs: BlobMode) -> tuple[Message, ...]:
    """Those of these messages that are in a thread, on whichever branch, by number."""
    thread = threads.find(tx, thread_id)
    query = select(messages).where(_of_thread(thread)).order_by(messages.c.seq)
    rows = [row for batch in cut(ids) for row in tx.rows(query.where(messages.c.id.in_(batch)))]
    return read_messages(tx, rows, blobs)


def update_part(tx: Transaction, thread_id: str, message_id: str, index: int, part: Part) -> Message:
    """Put another part in the place of one."""
    thread = threads.find(tx, thread_id, lock=True)
    message = read_messages(tx, [_require(tx, thread, message_id)], "inline")[0]
    there = message.content.parts
    if not 0 <= index < len(there):
        raise StoreError(
            f"message {message_id!r} has no part {index}", hint=f"it has {len(there)}, counted from 0"
        )
    changed = tuple(part if number == index else known for number, known in enumerate(there))
    whole = replace(message, content=replace(message.content, parts=changed))
    return saving.save(tx, [prepare(whole, thread.id)])[0]


def delete_messages(tx: Transaction, thread_id: str, ids: Sequence[str]) -> int:
    """Delete messages; what followed one follows what it followed. Gives how many there were."""
    thread = threads.find(tx, thread_id, lock=True)
    rows = [
        row
        for batch in cut(dict.fromkeys(ids))
        for row in tx.rows(select(messages).where(_of_thread(thread), messages.c.id.in_(batch)))
    ]
    for row in sorted(rows, key=lambda row: row.seq):
        _bridge(tx, thread, row.id)
    referred = _forget(tx, thread.owner, [row.key for row in rows])
    leaf = _leaf_left(tx, thread)
    tx.run(
        update(thread_table)
        .where(thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
        .values(
            message_count=thread.message_count - len(rows),
            error_count=thread.error_count - sum(bool(row.has_errors) for row in rows),
            active_leaf_id=leaf,
            changed_at=tx.now,
        )
    )
    blobs.drop_unreferred(tx, thread.owner, referred)
    if rows:
        branches.mark_active(tx, thread.owner, thread.id, leaf)
    return len(rows)


def _bridge(tx: Transaction, thread: Row[Any], message_id: str) -> None:
    """Let what followed a message follow what it followed."""
    own = tx.row(select(messages.c.parent_id).where(_of_thread(thread), messages.c.id == message_id))
    parent = None if own is None else own.parent_id
    following = update(messages).where(_of_thread(thread), messages.c.parent_id == message_id)
    tx.run(following.values(parent_id=parent))
    leaf = (thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
    tx.run(
        update(thread_table)
        .where(*leaf, thread_table.c.active_leaf_id == message_id)
        .values(active_leaf_id=parent)
    )


def _forget(tx: Transaction, owner: str, keys: Sequence[int]) -> set[str]:
    """Delete messages and what was derived from them; give the hashes they referred to."""
    referred: set[str] = set()
    for batch in cut(keys):
        mine = (blob_refs.c.owner == owner, blob_refs.c.message.in_(batch))
        referred.update(row.hash for row in tx.rows(select(blob_refs.c.hash).where(*mine)))
        tx.run(delete(messages).where(messages.c.owner == owner, messages.c.key.in_(batch)))
    search.forget(tx, [(owner, key) for key in keys])
    return referred


def _leaf_left(tx: Transaction, thread: Row[Any]) -> str | None:
    """The active leaf after a deletion; when the way to it is gone, the last message there is."""
    leaf = tx.row(
        select(messages.c.id)
        .join(
            thread_table,
            and_(thread_table.c.owner == messages.c.owner, thread_table.c.id == messages.c.thread_id),
        )
        .where(_of_thread(thread), messages.c.id == thread_table.c.active_leaf_id)
    )
    if leaf is None:
        leaf = tx.row(
            select(messages.c.id).where(_of_thread(thread)).order_by(messages.c.seq.desc()).limit(1)
        )
    return None if leaf is None else leaf.id
