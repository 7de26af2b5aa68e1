"""How far each migration has come: its row, and a row for every batch that waits to be verified."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, delete, func, select, update

from partita.store.schema import data_migrations
from partita.store.sql.transaction import Transaction
from partita.types.json import dumps, loads

from .report import State, Tally, from_text, to_text

BATCH = "batch"
DIGITS = 20

START = (
    "INSERT INTO data_migrations"
    " (name, position, state, seen, changed, failed, report, started_at, updated_at, finished_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
)


class Record(NamedTuple):
    """How far a migration has come."""

    position: int  # the key of the last message looked at
    state: State
    tally: Tally


class Batch(NamedTuple):
    """Messages that a migration has gone over, to be read again: what each was changed to, which failed."""

    name: str
    after: int
    through: int
    written_at: Any
    digests: dict[int, str]
    failed: frozenset[int]


def record_name(tx: Transaction, migration: str) -> str:
    """The name of a migration's row. An owner who migrates their own messages has a row of their own."""
    return migration if tx.owner is None else f"{migration}@{tx.owner}"


def find(tx: Transaction, migration: str, *, lock: bool = False) -> Record:
    """How far a migration has come."""
    query = select(data_migrations).where(data_migrations.c.name == record_name(tx, migration))
    row = tx.row(query.with_for_update() if lock and not tx.is_sqlite else query)
    if row is None:
        return Record(0, "pending", Tally())
    return Record(row.position, row.state, from_text(row.report))


def start(tx: Transaction, migration: str, *, again: bool) -> tuple[Record, Tally]:
    """Begin a migration, or go on: where it was killed, behind the last message, or from the start.

    Gives how far it has come, and what belongs to the run that was killed.
    """
    now = tx.instant(tx.now)
    tx.sql(START, (record_name(tx, migration), 0, "running", 0, 0, 0, None, now, now, None))
    record = find(tx, migration, lock=True)
    if record.state == "running" and not again:
        return record, record.tally
    fresh = Record(0, "running", Tally()) if again else record._replace(state="running")
    write(tx, migration, fresh)
    if again:
        tx.run(delete(data_migrations).where(*_batches(tx, migration)))
    mine = data_migrations.c.name == record_name(tx, migration)
    tx.run(update(data_migrations).where(mine).values(started_at=tx.now))
    return fresh, Tally()


def write(tx: Transaction, migration: str, record: Record) -> None:
    """Write how far a migration has come."""
    tally = record.tally
    tx.run(
        update(data_migrations)
        .where(data_migrations.c.name == record_name(tx, migration))
        .values(
            position=record.position,
            state=record.state,
            seen=tally.seen,
            changed=tally.changed,
            failed=tally.failed,
            report=to_text(tally),
            updated_at=tx.now,
            finished_at=tx.now if record.state == "done" else None,
        )
    )


def remember(
    tx: Transaction, migration: str, after: int, through: int, digests: dict[int, str], failed: list[int]
) -> None:
    """Write what is to be verified of a batch."""
    now = tx.instant(tx.now)
    told = dumps({"after": after, "digests": list(digests.items()), "failed": failed}).decode()
    name = f"{through:0{DIGITS}} {record_name(tx, migration)}"
    tx.sql(START, (name, through, BATCH, 0, len(digests), len(failed), told, now, now, None))


def next_batch(tx: Transaction, migration: str) -> Batch | None:
    """The first batch of a migration that waits to be verified."""
    query = select(data_migrations).where(*_batches(tx, migration))
    row = tx.row(query.order_by(data_migrations.c.position).limit(1))
    return None if row is None else _batch(row)


def _batches(tx: Transaction, migration: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    of_migration = func.substr(data_migrations.c.name, DIGITS + 2) == record_name(tx, migration)
    return data_migrations.c.state == BATCH, of_migration


def _batch(row: Row[Any]) -> Batch:
    told = loads(row.report)
    digests = {int(key): str(digest) for key, digest in told["digests"]}
    return Batch(row.name, told["after"], row.position, row.updated_at, digests, frozenset(told["failed"]))


def forget(tx: Transaction, batch: Batch) -> None:
    """A batch is verified."""
    tx.run(delete(data_migrations).where(data_migrations.c.name == batch.name))
