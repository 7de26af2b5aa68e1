"""Writing messages, all or none: numbers, branches, blobs, and the rows and index entries of their parts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from msgspec.structs import replace
from sqlalchemy import Row, bindparam, delete, select

from partita.errors import ConflictError
from partita.store.blobs import blobs
from partita.store.blobs.moves import HASH, Move, Moved, move_out, moves_to_json
from partita.store.schema import NEVER, blob_refs, messages, parts
from partita.store.search import index as search_index
from partita.store.search.fields import SearchEntry
from partita.store.sql.statement import Statement
from partita.store.sql.transaction import LIST_TYPES, Transaction, among, batched
from partita.store.threads import branches
from partita.store.threads import rows as threads
from partita.types.json import dumps, is_object, loads
from partita.types.messages import Message

from .prepared import Prepared, check

UPDATE_MESSAGE = (
    "UPDATE messages SET role = ?, type = ?, content = ?, blobs = ?, extra = ?, parent_id = ?, run_id = ?,"
    " internal = ?, has_tool_calls = ?, has_reasoning = ?, has_files = ?, has_errors = ?, preview = ?,"
    " parts_summary = ?, created_at = ?, updated_at = ? WHERE owner = ? AND key = ?"
)
KEEP_TIMES = "UPDATE parts SET started_at = ?, ended_at = ? WHERE owner = ? AND message = ? AND call_id = ?"


class Known(NamedTuple):
    """The columns of a stored message that is written again."""

    key: int
    seq: int
    parent_id: str | None
    active: bool
    internal: bool
    has_errors: bool
    created_at: Any
    run_id: str | None


class Slot(NamedTuple):
    """A message with its key, number and parent."""

    prepared: Prepared
    key: int
    seq: int
    parent_id: str | None
    known: Known | None
    content: str
    moves: Sequence[Move]

    @property
    def message(self) -> Message:
        """The message."""
        return self.prepared.message


def save(tx: Transaction, prepared: Sequence[Prepared]) -> tuple[Message, ...]:
    """Write messages to their threads: new ones at the end; those with a known id are updated."""
    by_thread: dict[tuple[str, str], list[Prepared]] = {}
    for one in prepared:
        check(one.message)
        by_thread.setdefault((one.thread_id, one.message.resource_id or ""), []).append(one)
    saved: dict[int, Message] = {}
    for thread_id, resource_id in sorted(by_thread):  # every writer locks in this order: no deadlocks
        group = by_thread[thread_id, resource_id]
        thread = threads.find(tx, thread_id, resource_id or None, lock=True)
        saved.update(zip(map(id, group), _save_group(tx, thread, group), strict=True))
    return tuple(saved[id(one)] for one in prepared)


def refuse_known(tx: Transaction, thread: Row[Any], ids: Sequence[str]) -> None:
    """Refuse messages that exist already."""
    for known in _known(tx, thread, ids):
        raise ConflictError(f"message {known!r} exists already", hint="use a new id for a new message")


def save_in(tx: Transaction, thread: Row[Any], prepared: Sequence[Prepared]) -> None:
    """Write messages to one thread, by its locked row."""
    if any(one.message.resource_id not in (None, "", thread.owner) for one in prepared):
        save(tx, prepared)  # it refuses those of other owners
        return
    for one in prepared:
        check(one.message)
    if prepared:
        _save_group(tx, thread, prepared)


def _save_group(tx: Transaction, thread: Row[Any], group: Sequence[Prepared]) -> list[Message]:
    latest = {one.message.id: one for one in group}  # of two messages with the same id, the later one
    slots = _slots(tx, thread, list(latest.values()), _known(tx, thread, list(latest)))
    _write(tx, thread.owner, thread.id, slots)
    _update_thread(tx, thread, slots)
    stored = {slot.message.id: _stored(tx, thread, slot) for slot in slots}
    return [stored[one.message.id] for one in group]


_IN_THREAD = select(*(messages.c[name] for name in ("id", *Known._fields))).where(
    messages.c.owner == bindparam("of_owner"), messages.c.thread_id == bindparam("of_thread")
)
_KNOWN = {
    lite: Statement(_IN_THREAD.where(among(messages.c.id, bindparam("ids", type_=kind), is_sqlite=lite)))
    for lite, kind in LIST_TYPES.items()
}


def _known(tx: Transaction, thread: Row[Any], ids: Sequence[str]) -> dict[str, Known]:
    if thread.next_seq == 1:  # the thread never had a message
        return {}
    rows = _KNOWN[tx.is_sqlite].rows(
        tx, of_owner=thread.owner, of_thread=thread.id, ids=tx.list_parameter(ids)
    )
    return {row[0]: Known._make(row[1:]) for row in rows}


def _slots(
    tx: Transaction, thread: Row[Any], latest: Sequence[Prepared], known: dict[str, Known]
) -> list[Slot]:
    """Messages with their keys and numbers, or the next ones. Without a parent a message follows the leaf."""
    new = sum(one.message.id not in known for one in latest)
    keys = iter(tx.next_keys("messages", new) if new else ())
    seq, leaf = thread.next_seq, thread.active_leaf_id
    slots: list[Slot] = []
    for one in latest:
        existing = known.get(one.message.id)
        content, moves = without_large_values(tx, thread.owner, one)
        parent = one.message.parent_id
        if existing is not None:
            parent = existing.parent_id if parent is None else parent or None
            slots.append(Slot(one, existing.key, existing.seq, parent, existing, content, moves))
            continue
        parent = leaf if parent is None else parent or None  # "" makes a new root
        slots.append(Slot(one, next(keys), seq, parent, None, content, moves))
        seq, leaf = seq + 1, one.message.id
    return slots


def without_large_values(tx: Transaction, owner: str, one: Prepared) -> tuple[str, Sequence[Move]]:
    """The content with its large values moved to blobs, and their positions."""
    if one.moved is not None:
        return one.content, one.moved.moves
    content = loads(one.content) if one.large else None
    if not is_object(content):
        return one.content, []
    referred = blobs.known(tx, owner, set(HASH.findall(one.content)))
    moved = move_out(content, referred.__contains__)
    if not moved:
        return one.content, []
    new = [item for item in moved if isinstance(item, Moved)]
    blobs.write(tx, owner, [(item.move.hash, item.data, item.move.media_type) for item in new])
    return dumps(content).decode(), [item.move if isinstance(item, Moved) else item for item in moved]


def _write(tx: Transaction, owner: str, thread_id: str, slots: Sequence[Slot]) -> None:
    new = [slot for slot in slots if slot.known is None]
    updated = [slot for slot in slots if slot.known is not None]
    now = tx.instant(tx.now)
    add_to_index = search_index.prepare(tx, entries(owner, new))
    tx.insert(messages, [row(tx, owner, thread_id, slot, now, undated=now) for slot in new])
    tx.many(UPDATE_MESSAGE, [_changes(tx, owner, slot, now) for slot in updated])
    write_derived(tx, owner, new)
    add_to_index()
    rewrite_derived(tx, owner, updated)


def rewrite_derived(tx: Transaction, owner: str, slots: Sequence[Slot]) -> None:
    """Replace what is derived from messages. The times of their calls, which come from logs, stay."""
    if not slots:
        return
    times, referred = _delete_derived(tx, owner, [slot.key for slot in slots])
    write_derived(tx, owner, slots)
    search_index.add(tx, entries(owner, slots))
    with_times = {(slot.key, call_id) for slot in slots for call_id in slot.prepared.times or ()}
    tx.many(KEEP_TIMES, [row for row in times if row[3:] not in with_times])
    blobs.drop_unreferred(tx, owner, referred)


def write_derived(tx: Transaction, owner: str, slots: Sequence[Slot]) -> None:
    """Write the rows of parts and the references to blobs."""
    tx.insert(
        parts,
        [
            (owner, slot.key, number, *part, *_times(tx, slot, part.call_id))
            for slot in slots
            for number, part in enumerate(slot.prepared.derived.parts)
        ],
    )
    tx.insert(
        blob_refs,
        [
            (owner, slot.key, digest)
            for slot in slots
            if slot.moves
            for digest in sorted({move.hash for move in slot.moves})
        ],
    )


def _times(tx: Transaction, slot: Slot, call_id: str | None) -> tuple[Any, Any]:
    """The start and end of a call, if the message was prepared with them."""
    times = slot.prepared.times
    if times is None or call_id is None:
        return None, None
    started, ended = times.get(call_id, (None, None))
    return tx.instant(started), tx.instant(ended)


def entries(owner: str, slots: Sequence[Slot]) -> list[SearchEntry]:
    """The entries of messages in the search index."""
    return [SearchEntry(owner, slot.key, "", slot.prepared.fields) for slot in slots]


def _delete_derived(
    tx: Transaction, owner: str, keys: Sequence[int]
) -> tuple[list[tuple[Any, ...]], set[str]]:
    """Delete what is derived from messages; return the times of their calls and the hashes of their blobs."""
    times: list[tuple[Any, ...]] = []
    referred: set[str] = set()
    for batch in batched(keys):
        of_message = (parts.c.owner == owner, parts.c.message.in_(batch))
        timed = select(parts.c.message, parts.c.call_id, parts.c.started_at, parts.c.ended_at).where(
            *of_message, parts.c.started_at.is_not(None)
        )
        times.extend(
            (tx.instant(row.started_at), tx.instant(row.ended_at), owner, row.message, row.call_id)
            for row in tx.rows(timed)
        )
        tx.run(delete(parts).where(*of_message))
        refs = (blob_refs.c.owner == owner, blob_refs.c.message.in_(batch))
        referred.update(row.hash for row in tx.rows(select(blob_refs.c.hash).where(*refs)))
        tx.run(delete(blob_refs).where(*refs))
    search_index.delete(tx, [(owner, key) for key in keys])
    return times, referred


def row(
    tx: Transaction, owner: str, thread_id: str, slot: Slot, now: Any, *, undated: Any
) -> tuple[Any, ...]:
    """The row of a new message. `undated` is the time of one that has none."""
    message, derived = slot.message, slot.prepared.derived
    created = undated if message.created_at is None else tx.instant(message.created_at)
    return (
        slot.key,
        owner,
        thread_id,
        slot.seq,
        message.id,
        slot.prepared.role,
        message.type,
        slot.content,
        moves_to_json(slot.moves) if slot.moves else None,
        slot.prepared.extra,
        slot.parent_id,
        True,
        message.run_id,
        message.internal,
        *derived[:5],
        created,
        now,
        derived.parts_summary,
    )


def _changes(tx: Transaction, owner: str, slot: Slot, now: Any) -> tuple[Any, ...]:
    assert slot.known is not None, "the message exists"
    message, derived = slot.message, slot.prepared.derived
    return (
        slot.prepared.role,
        message.type,
        slot.content,
        moves_to_json(slot.moves) if slot.moves else None,
        slot.prepared.extra,
        slot.parent_id,
        message.run_id or slot.known.run_id,
        message.internal,
        *derived[:6],
        tx.instant(message.created_at or slot.known.created_at or NEVER),
        now,
        owner,
        slot.key,
    )


def _update_thread(tx: Transaction, thread: Row[Any], slots: Sequence[Slot]) -> None:
    """Update the thread's counters, its active leaf and its branches."""
    new = [slot for slot in slots if slot.known is None]
    errors = sum(slot.prepared.derived.has_errors for slot in slots)
    errors -= sum(slot.known.has_errors for slot in slots if slot.known is not None)
    visible = sum(not slot.message.internal for slot in slots if slot.known is None or slot.known.active)
    visible -= sum(not slot.known.internal for slot in slots if slot.known is not None and slot.known.active)
    leaf = new[-1].message.id if new else thread.active_leaf_id
    counters = {
        "next_seq": thread.next_seq + len(new),
        "message_count": thread.message_count + visible,
        "error_count": thread.error_count + errors,
        "active_leaf_id": leaf,
        "updated_at": max(thread.updated_at or NEVER, _last_time(tx, slots)),
    }
    threads.change_row(tx, thread, counters)
    if starts_branch(thread.active_leaf_id, slots):
        branches.mark_active(tx, thread.owner, thread.id, leaf)


def _last_time(tx: Transaction, slots: Sequence[Slot]) -> datetime:
    """The time of the last message: its own if it is new, but not in the future; else the current time."""
    times = (tx.now if slot.known is not None else slot.message.created_at or tx.now for slot in slots)
    return min(max(times), tx.now)


def starts_branch(leaf: str | None, slots: Sequence[Slot]) -> bool:
    """Whether a message does not follow the one before it."""
    for slot in slots:
        if slot.known is not None:
            if slot.parent_id != slot.known.parent_id:
                return True
            continue
        if leaf is not None and slot.parent_id != leaf:
            return True
        leaf = slot.message.id
    return False


def _stored(tx: Transaction, thread: Row[Any], slot: Slot) -> Message:
    """The message with the fields that the store has set."""
    known = slot.known
    message: Message = replace(
        slot.message,
        thread_id=thread.id,
        resource_id=thread.owner or None,
        seq=slot.seq,
        parent_id=slot.parent_id,
        run_id=slot.message.run_id or (known.run_id if known else None),
        created_at=slot.message.created_at or (known.created_at if known else tx.now),
    )
    return message
