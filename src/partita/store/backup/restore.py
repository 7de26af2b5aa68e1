"""Restore a backup into an empty store of either engine: everything or nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Row as SqlRow
from sqlalchemy import select

from partita.errors import PartitaError, StoreError
from partita.store.messages.prepared import TYPES
from partita.store.messages.rows import MESSAGES, read_messages
from partita.store.migrations import data_statements
from partita.store.schema import messages, threads, without_checks
from partita.store.search import index as search_index
from partita.store.search.fields import NO_FIELDS, SearchEntry, fields_of
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import OnProgress

from .archive import End
from .backup import Backup, BackupReport, open_backup
from .tables import BY_NAME, Checksum, Row, refuse_unless_empty, rows_of, set_last_keys, write_rows

INDEX_BATCH: Final = 200


async def restore_backup(store: Store, path: Path, *, progress: OnProgress | None = None) -> BackupReport:
    """Restore a backup into an empty store, in one transaction: after an error the store is still empty.

    Before the commit, the rows are read from the database and compared with the checksums of the backup.
    """
    if store.owner is not None:
        raise StoreError("this is the store of one owner", hint="a backup is of a whole store")
    with open_backup(path, progress) as backup:
        try:
            return await store.write(_restore, backup)
        except StoreError as error:
            error.where = error.where or store.engine.where
            raise


def _restore(tx: Transaction, backup: Backup) -> BackupReport:
    refuse_unless_empty(tx)
    off, on = without_checks(tx.connection.dialect.name)
    is_checked = True
    for table, names, rows in backup.rows():
        if is_checked and table is messages and not _satisfy_checks(names, rows):
            tx.sql(off)  # rows of old stores may violate them: the doctor reports these
            is_checked = False
        write_rows(tx, table, names, rows)
    if not is_checked:
        tx.sql(on)
    end = backup.end
    assert end is not None, "all rows were read"
    _compare(tx, backup, end)
    set_last_keys(tx, end.last_keys)
    for statement in data_statements(backup.head.schema, tx.connection.dialect.name):
        tx.connection.exec_driver_sql(statement)
    return replace(backup.report, unfindable=_index(tx))


def _satisfy_checks(names: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether messages satisfy the checks of roles and types."""
    role, type_ = names.index("role"), names.index("type")
    return all(row[role] in MESSAGES and row[type_] in TYPES for row in rows)


def _compare(tx: Transaction, backup: Backup, end: End) -> None:
    """Raise an error if the rows in the database differ from those of the backup."""
    for name, names in backup.head.tables.items():
        found = Checksum()
        for row in rows_of(tx, BY_NAME[name], names, tail=False):
            found.add(row)
        expected = end.tables[name]
        if (found.rows, found.digest) != (expected.rows, expected.digest):
            raise StoreError(
                f"the rows of {name} differ in the database: {found.rows} rows of {expected.rows}",
                where=str(backup.path),
                hint="nothing was restored",
            )


def _index(tx: Transaction) -> int:
    """Rebuild the search index; returns the number of messages that cannot be read, and so are not in it."""
    unreadable, key = 0, 0
    titles = select(threads.c.owner, threads.c.key, threads.c.title).order_by(threads.c.key)
    while rows := tx.rows(titles.where(threads.c.key > key).limit(INDEX_BATCH)):
        search_index.add(
            tx, [SearchEntry(row.owner, -row.key, row.title, NO_FIELDS) for row in rows if row.title]
        )
        key = rows[-1].key
    key = 0
    every = select(messages).order_by(messages.c.key).limit(INDEX_BATCH)
    while rows := tx.rows(every.where(messages.c.key > key)):
        found = _entries(tx, rows)
        search_index.add(tx, found)
        unreadable += len(rows) - len(found)
        key = rows[-1].key
    return unreadable


def _entries(tx: Transaction, rows: Sequence[SqlRow[Any]]) -> list[SearchEntry]:
    """The index entries of messages; damaged messages have none."""
    try:
        read = read_messages(tx, rows, "inline")
    except PartitaError:
        return [] if len(rows) == 1 else [entry for row in rows for entry in _entries(tx, [row])]
    return [
        SearchEntry(row.owner, row.key, "", fields_of(message))
        for row, message in zip(rows, read, strict=True)
    ]
