"""One batch of a migration, in one transaction: what is changed, and how far it has come, or neither."""

import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Row, select, tuple_, update

from partita.errors import PartitaError
from partita.store.messages import writer as saving
from partita.store.messages.prepared import prepare
from partita.store.schema import messages, threads
from partita.store.sql.transaction import Transaction, batched
from partita.types.codec import encode
from partita.types.json import loads
from partita.types.messages import Message

from . import records
from .looking import Looked, look, read, rows_after, tally_of
from .migration import Migration
from .records import Batch, Record
from .report import Place, State, Tally


class Step(NamedTuple):
    """How far a migration has come with a batch, and what was done in it."""

    state: State
    tally: Tally


def migrate_next(tx: Transaction, migration: Migration, size: int, verify: bool) -> Step:
    """Change the next messages and write how far this is; a batch that is not full is the last."""
    record = records.find(tx, migration.name, lock=True)
    rows = rows_after(tx, record.position, size)
    looked = _written(tx, look(tx, migration, rows))
    last = rows[-1].key if rows else record.position
    state: State = "running" if len(rows) == size else "done"
    found = tally_of(looked)
    records.write(tx, migration.name, Record(last, state, record.tally.plus(found)))
    if verify and rows:
        digests = {one.row.key: digest(one.changed.message) for one in looked if one.changed is not None}
        failed = [one.row.key for one in looked if one.why]
        records.remember(tx, migration.name, record.position, last, digests, failed)
    return Step(state, found)


def digest(message: Message) -> str:
    """What tells one content from another."""
    content = json.dumps(loads(encode(message.content)), sort_keys=True)  # kept members may move
    return sha256(content.encode()).hexdigest()[:32]


def _written(tx: Transaction, looked: list[Looked]) -> list[Looked]:
    """Write what is changed; one that the store refuses has failed, and the others are written."""
    changed = [one for one in looked if one.changed is not None]
    if not changed:
        return looked
    times = _thread_times(tx, changed)
    refused = _save(tx, changed)
    for batch in times:
        tx.run(
            update(threads)
            .where(threads.c.owner == batch.owner, threads.c.id == batch.id)
            .values(updated_at=batch.updated_at)  # nobody has said anything new
        )
    return [
        one._replace(changed=None, why=refused[one.row.key]) if one.row.key in refused else one
        for one in looked
    ]


def _thread_times(tx: Transaction, changed: Sequence[Looked]) -> list[Row[Any]]:
    wanted = {(one.row.owner, one.row.thread_id) for one in changed}
    query = select(threads.c.owner, threads.c.id, threads.c.updated_at)
    return [
        row
        for batch in batched(sorted(wanted), 200)
        for row in tx.rows(query.where(tuple_(threads.c.owner, threads.c.id).in_(batch)))
    ]


def _save(tx: Transaction, changed: Sequence[Looked]) -> dict[int, str]:
    """Save together, or one by one when that is refused; why some could not be saved, by key."""
    refused: dict[int, str] = {}
    by_owner = sorted(changed, key=lambda one: (one.row.owner, one.row.key))
    for owner, group in groupby(by_owner, key=lambda one: one.row.owner):
        theirs = list(group)
        if _try(tx, owner, theirs) is None:
            continue
        for one in theirs:
            error = _try(tx, owner, [one])
            if error is not None:
                refused[one.row.key] = str(error)
    return refused


def _try(tx: Transaction, owner: str, some: Sequence[Looked]) -> PartitaError | None:
    """Save the messages of an owner; the error when the store refuses, and nothing is saved."""
    savepoint = tx.connection.begin_nested()
    try:
        prepared = [
            prepare(one.changed.message, one.row.thread_id) for one in some if one.changed is not None
        ]
        saving.save(Transaction(tx.connection, owner, tx.now), prepared)
    except PartitaError as error:
        savepoint.rollback()
        return error
    except BaseException:
        savepoint.rollback()
        raise
    savepoint.commit()
    return None


def verify_next(tx: Transaction, migration: Migration) -> Tally | None:
    """Read the next batch again that waits for it; `None` when none does. What is wrong is told."""
    record = records.find(tx, migration.name, lock=True)
    batch = records.next_batch(tx, migration.name)
    if batch is None:
        return None
    within = (messages.c.key > batch.after, messages.c.key <= batch.through, tx.owned(messages))
    rows = tx.rows(select(messages).where(*within).order_by(messages.c.key))
    faults = [_place(row, what) for row in rows if (what := _fault(tx, migration, batch, row)) is not None]
    found = Tally().plus(Tally(verified=len(rows), wrong=len(faults), faults=tuple(faults)))
    records.write(tx, migration.name, record._replace(tally=record.tally.plus(found)))
    records.forget(tx, batch)
    return found


def _fault(tx: Transaction, migration: Migration, batch: Batch, row: Row[Any]) -> str | None:
    """What is wrong with a message that a migration has gone over."""
    if row.key in batch.failed:
        return None  # told before
    expected = batch.digests.get(row.key)
    if expected is not None and row.updated_at != batch.written_at:
        expected = None  # someone has changed it since
    (looked,) = look(tx, migration, [row])
    if looked.why:
        return looked.why
    if looked.changed is not None:
        return "there is still something to do"
    if expected is not None and digest(read(tx, row)[0]) != expected:
        return "what is stored is not what was written"
    return None


def _place(row: Row[Any], what: str) -> Place:
    return Place(thread_id=row.thread_id, message_id=row.id, what=what, resource_id=row.owner or None)
