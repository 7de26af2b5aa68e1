"""New threads with all they hold, written with few statements: there is nothing to be looked up."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from partita.store import blobs, branches, saving
from partita.store.prepared import Prepared, check
from partita.store.saving import Slot
from partita.store.search import search
from partita.store.search.text import NO_FIELDS, SearchEntry
from partita.store.tables import messages, thread_labels
from partita.store.tables import threads as thread_table
from partita.store.threads import labels, own_fields
from partita.store.transaction import Transaction
from partita.types.threads import Thread

from .rows import SessionRows


def write_new(tx: Transaction, sessions: Sequence[SessionRows]) -> int:
    """Write sessions whose threads are new; gives how many messages they have."""
    latest = [_latest(session.messages) for session in sessions]
    write_blobs(tx, [one for some in latest for one in some])
    keys = iter(tx.next_keys("messages", count) if (count := sum(map(len, latest))) else ())
    thread_keys = tx.next_keys("threads", len(sessions))
    placed = [list(_place(tx, some, keys)) for some in latest]
    _write_threads(tx, sessions, thread_keys, placed)
    _write_messages(tx, [slot for slots in placed for slot in slots])
    for session, slots in zip(sessions, placed, strict=True):
        if slots and saving.branches_off(None, slots):
            branches.mark_active(tx, tx.owner or "", session.thread.id, slots[-1].message.id)
    return count


def _latest(prepared: Sequence[Prepared]) -> list[Prepared]:
    """Of two messages with one id, the later is the last word, at the place of the first."""
    return list({one.message.id: one for one in prepared}.values())


def write_blobs(tx: Transaction, prepared: Sequence[Prepared]) -> None:
    """The large values that were taken out of messages before."""
    taken = [value for one in prepared if one.moved is not None for value in one.moved.values]
    if taken:
        blobs.write(tx, tx.owner or "", taken)


def _place(tx: Transaction, prepared: Sequence[Prepared], keys: Iterator[int]) -> Iterator[Slot]:
    leaf: str | None = None
    for seq, (one, key) in enumerate(zip(prepared, islice(keys, len(prepared)), strict=True), 1):
        check(one.message)
        content, moves = saving.without_large_values(tx, tx.owner or "", one)
        parent = leaf if one.message.parent_id is None else one.message.parent_id or None
        yield Slot(one, key, seq, parent, None, content, moves)
        leaf = one.message.id


def _write_threads(
    tx: Transaction, sessions: Sequence[SessionRows], keys: Sequence[int], placed: Sequence[Sequence[Slot]]
) -> None:
    owner = tx.owner or ""
    rows = [
        _thread_row(tx, owner, session.thread, key, slots)
        for session, key, slots in zip(sessions, keys, placed, strict=True)
    ]
    tx.insert(thread_table, rows)
    titles = [
        SearchEntry(owner, -key, session.thread.title, NO_FIELDS)
        for session, key in zip(sessions, keys, strict=True)
        if session.thread.title
    ]
    search.index(tx, titles)
    tx.insert(
        thread_labels,
        [
            (owner, session.thread.id, name, value)
            for session in sessions
            for name, value in labels(session.thread.metadata)
        ],
    )


def _thread_row(
    tx: Transaction, owner: str, thread: Thread, key: int, slots: Sequence[Slot]
) -> tuple[Any, ...]:
    created = thread.created_at or tx.now
    fields: dict[str, Any] = {
        "key": key,
        "owner": owner,
        "id": thread.id,
        "active_leaf_id": slots[-1].message.id if slots else None,
        "next_seq": len(slots) + 1,
        "message_count": len(slots),
        "error_count": sum(slot.prepared.derived.has_errors for slot in slots),
        "created_at": tx.instant(created),
        "updated_at": tx.instant(thread.updated_at or created),
        "changed_at": tx.instant(tx.now),
        **own_fields(thread),
    }
    return tuple(fields[column.name] for column in thread_table.columns)


def _write_messages(tx: Transaction, slots: Sequence[Slot]) -> None:
    owner, now = tx.owner or "", tx.instant(tx.now)
    index = search.prepare(tx, saving.entries(owner, slots))
    tx.insert(messages, [saving.row(tx, owner, slot.prepared.thread_id, slot, now) for slot in slots])
    saving.write_derived(tx, owner, slots)
    index()
