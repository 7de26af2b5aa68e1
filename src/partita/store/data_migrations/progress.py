"""The progress of migrations in the database: a row for each, and one for every batch to be verified."""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, delete, func, select, update

from partita.store.schema import data_migrations
from partita.store.sql.transaction import Transaction
from partita.types.json import dumps, loads

from .report import State, Tally, from_text, to_text

BATCH = "batch"
"""The state of the row of a batch."""

DIGITS = 20

INSERT = (
    "INSERT INTO data_migrations"
    " (name, position, state, seen, changed, failed, report, started_at, updated_at, finished_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
)


class Progress(NamedTuple):
    """The progress of a migration."""

    position: int  # the key of the last message that was read
    state: State
    tally: Tally


class Batch(NamedTuple):
    """Migrated messages to be verified: the hashes of those that were changed, and those that failed."""

    name: str
    after: int
    through: int
    written_at: Any
    digests: dict[int, str]
    failed: frozenset[int]


def row_name(tx: Transaction, migration: str) -> str:
    """The name of the row of a migration. An owner who migrates only their messages has another row."""
    return migration if tx.owner is None else f"{migration}@{tx.owner}"


def find(tx: Transaction, migration: str, *, lock: bool = False) -> Progress:
    """The progress of a migration."""
    query = select(data_migrations).where(data_migrations.c.name == row_name(tx, migration))
    row = tx.row(query.with_for_update() if lock and not tx.is_sqlite else query)
    if row is None:
        return Progress(0, "pending", Tally())
    return Progress(row.position, row.state, from_text(row.report))


def start(tx: Transaction, migration: str, *, again: bool) -> tuple[Progress, Tally]:
    """Start a migration, or continue it: where it was killed, after the last message, or from the first one.

    Returns the progress, and the tally of the run that was killed.
    """
    now = tx.instant(tx.now)
    tx.sql(INSERT, (row_name(tx, migration), 0, "running", 0, 0, 0, None, now, now, None))
    progress = find(tx, migration, lock=True)
    if progress.state == "running" and not again:
        return progress, progress.tally
    fresh = Progress(0, "running", Tally()) if again else progress._replace(state="running")
    save(tx, migration, fresh)
    if again:
        tx.run(delete(data_migrations).where(*_is_batch_of(tx, migration)))
    same = data_migrations.c.name == row_name(tx, migration)
    tx.run(update(data_migrations).where(same).values(started_at=tx.now))
    return fresh, Tally()


def save(tx: Transaction, migration: str, progress: Progress) -> None:
    """Save the progress of a migration."""
    tally = progress.tally
    tx.run(
        update(data_migrations)
        .where(data_migrations.c.name == row_name(tx, migration))
        .values(
            position=progress.position,
            state=progress.state,
            seen=tally.seen,
            changed=tally.changed,
            failed=tally.failed,
            report=to_text(tally),
            updated_at=tx.now,
            finished_at=tx.now if progress.state == "done" else None,
        )
    )


def add_batch(
    tx: Transaction, migration: str, after: int, through: int, digests: dict[int, str], failed: list[int]
) -> None:
    """Save a batch to be verified."""
    now = tx.instant(tx.now)
    batch = dumps({"after": after, "digests": list(digests.items()), "failed": failed}).decode()
    name = f"{through:0{DIGITS}} {row_name(tx, migration)}"
    tx.sql(INSERT, (name, through, BATCH, 0, len(digests), len(failed), batch, now, now, None))


def next_batch(tx: Transaction, migration: str) -> Batch | None:
    """The first batch of a migration that is not verified."""
    query = select(data_migrations).where(*_is_batch_of(tx, migration))
    row = tx.row(query.order_by(data_migrations.c.position).limit(1))
    return None if row is None else _batch(row)


def _is_batch_of(tx: Transaction, migration: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    of_migration = func.substr(data_migrations.c.name, DIGITS + 2) == row_name(tx, migration)
    return data_migrations.c.state == BATCH, of_migration


def _batch(row: Row[Any]) -> Batch:
    batch = loads(row.report)
    digests = {int(key): str(digest) for key, digest in batch["digests"]}
    failed = frozenset(batch["failed"])
    return Batch(row.name, batch["after"], row.position, row.updated_at, digests, failed)


def forget_thread(tx: Transaction, owner: str, thread_id: str) -> None:
    """Remove a deleted thread from the lists of reports, which quote its messages."""
    query = select(data_migrations).where(data_migrations.c.report.contains(thread_id, autoescape=True))
    for row in tx.rows(query.where(data_migrations.c.state != BATCH)):
        report = to_text(from_text(row.report).without_thread(owner, thread_id))
        tx.run(update(data_migrations).where(data_migrations.c.name == row.name).values(report=report))


def forget_owner(tx: Transaction, owner: str) -> None:
    """Remove the reports of an owner, and the threads of the owner from the lists of others."""
    for row in tx.rows(select(data_migrations)):
        if row.name.partition("@")[2] == owner:
            tx.run(delete(data_migrations).where(data_migrations.c.name == row.name))
        elif row.state != BATCH and row.report is not None:
            report = to_text(from_text(row.report).without_thread(owner))
            tx.run(update(data_migrations).where(data_migrations.c.name == row.name).values(report=report))


def delete_batch(tx: Transaction, batch: Batch) -> None:
    """Delete a batch that is verified."""
    tx.run(delete(data_migrations).where(data_migrations.c.name == batch.name))
