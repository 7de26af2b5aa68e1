"""Threads and messages from elsewhere, compared with what is stored, and written where they differ.

What is equal is not touched. The times are those of the source: that we read a thread today does not make it
one of today, unless somebody went on with it here.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from msgspec.structs import replace
from sqlalchemy import Row, select, update

from partita.store import saving, threads
from partita.store.message_rows import read_messages
from partita.store.owners import owner_of
from partita.store.prepared import Prepared
from partita.store.sessions.rows import RunRows
from partita.store.tables import messages as message_table
from partita.store.tables import threads as thread_table
from partita.store.transaction import Transaction, cut
from partita.store.values import ConsumptionRecord
from partita.types.codec import encode
from partita.types.threads import Thread

from .report import Counts


class Batch(NamedTuple):
    """Messages to write to a thread."""

    thread: Thread
    messages: Sequence[Prepared]
    runs: Sequence[RunRows] = ()
    consumptions: Sequence[ConsumptionRecord] = ()


class Difference(NamedTuple):
    """What a batch would change."""

    stored: Thread | None
    wanted: Thread
    new: Sequence[Prepared]
    changed: Sequence[Prepared]
    unchanged: int

    @property
    def counts(self) -> Counts:
        """How much it is."""
        return Counts(int(self.stored is None), len(self.new), len(self.changed), self.unchanged)


def compare(tx: Transaction, batches: Sequence[Batch]) -> Counts:
    """What writing would come to."""
    counts = Counts()
    for batch in batches:
        counts = counts.plus(_difference(owned(tx, batch.thread), batch).counts)
    return counts


def write(tx: Transaction, batches: Sequence[Batch]) -> Counts:
    """Write what is new or another than what is stored; all or nothing."""
    counts = Counts()
    for batch in batches:
        mine = owned(tx, batch.thread)
        difference = _difference(mine, batch)
        _apply(mine, difference)
        counts = counts.plus(difference.counts)
    return counts


def owned(tx: Transaction, thread: Thread) -> Transaction:
    """The same transaction for the owner of a thread alone: others may have one of the same id."""
    return Transaction(tx.connection, owner_of(tx, thread.resource_id), tx.now)


def _difference(tx: Transaction, batch: Batch) -> Difference:
    thread = batch.thread
    row = tx.row(select(thread_table).where(thread_table.c.id == thread.id, tx.mine(thread_table)))
    stored = None if row is None else threads.from_row(row)
    wanted = thread if stored is None else merged(stored, thread)
    if stored is None:
        return Difference(None, wanted, batch.messages, (), 0)
    known = known_rows(tx, thread.id, [one.message.id for one in batch.messages])
    new = [one for one in batch.messages if one.message.id not in known]
    others = [one for one in batch.messages if one.message.id in known]
    changed = [one for one in others if not is_same(tx, known[one.message.id], one)]
    return Difference(stored, wanted, new, changed, len(others) - len(changed))


def merged(stored: Thread, thread: Thread) -> Thread:
    """The stored thread with what the source says of it. What only we know stays."""
    return replace(
        stored,
        title=thread.title or stored.title,
        agent=thread.agent or stored.agent,
        project=thread.project or stored.project,
        metadata={**(stored.metadata or {}), **(thread.metadata or {})},
        created_at=thread.created_at or stored.created_at,
        updated_at=_later(stored.updated_at, thread.updated_at),
    )


def _later(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def known_rows(tx: Transaction, thread_id: str, ids: Iterable[str]) -> dict[str, Row[Any]]:
    """The stored rows of messages, by id."""
    query = select(message_table).where(message_table.c.thread_id == thread_id, tx.mine(message_table))
    return {row.id: row for some in cut(ids) for row in tx.rows(query.where(message_table.c.id.in_(some)))}


def is_same(tx: Transaction, row: Row[Any], one: Prepared) -> bool:
    """Whether a stored message is what the source says. What the source does not say does not count."""
    message = one.message
    return (
        row.role == one.role
        and row.type == message.type
        and row.extra == one.extra
        and bool(row.internal) == message.internal
        and message.created_at in (None, row.created_at)
        and message.run_id in (None, row.run_id)
        and message.parent_id in (None, row.parent_id or "")
        and _content(tx, row) == one.content
    )


def _content(tx: Transaction, row: Row[Any]) -> str:
    """The content of a stored message as text, large values in place."""
    if row.blobs is None:
        return str(row.content)
    return encode(read_messages(tx, [row], "inline")[0].content).decode()


def _apply(tx: Transaction, difference: Difference) -> None:
    stored, wanted = difference.stored, difference.wanted
    if stored is None:
        threads.create(tx, wanted)
    elif wanted != stored:
        threads.save(tx, wanted)
    if difference.new or difference.changed:
        saving.save(tx, [*difference.new, *difference.changed])
        if wanted.updated_at is not None:
            own = (thread_table.c.owner == tx.owner, thread_table.c.id == wanted.id)
            tx.run(update(thread_table).where(*own).values(updated_at=wanted.updated_at))
