"""Bringing a backup back: into an empty store of either engine, all of it or nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Row as SqlRow
from sqlalchemy import select

from partita.errors import PartitaError, StoreError
from partita.store.messages.prepared import TYPES
from partita.store.messages.rows import MESSAGES, read_messages
from partita.store.schema import messages, threads, without_checks
from partita.store.search import index as search_index
from partita.store.search.fields import NO_FIELDS, SearchEntry, fields_of
from partita.store.sql.transaction import Transaction
from partita.store.store import Store

from .archive import End
from .contents import BY_NAME, Row, Sum, refuse_unless_empty, rows_of, set_last_keys, write_rows
from .reading import Backup, Progress, opened_backup
from .report import BackupReport

INDEXED_AT_ONCE: Final = 200


async def restore(store: Store, path: Path, *, progress: Progress | None = None) -> BackupReport:
    """Bring a backup into an empty store, in one transaction: whatever goes wrong, it stays empty.

    The rows are read again from the database and compared with the sums of the backup before they count.
    """
    if store.owner is not None:
        raise StoreError("this is the store of one owner", hint="a backup is of a whole store")
    with opened_backup(path, progress) as backup:
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
        if is_checked and table is messages and not _fit(names, rows):
            tx.sql(off)  # of a store from before roles and types were checked: the doctor reports them
            is_checked = False
        write_rows(tx, table, names, rows)
    if not is_checked:
        tx.sql(on)
    end = backup.end
    assert end is not None, "read to its end"
    _compare(tx, backup, end)
    set_last_keys(tx, end.last_keys)
    return replace(backup.report, unfindable=_index(tx))


def _fit(names: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether the database would take these messages."""
    role, type_ = names.index("role"), names.index("type")
    return all(row[role] in MESSAGES and row[type_] in TYPES for row in rows)


def _compare(tx: Transaction, backup: Backup, end: End) -> None:
    """Refuse what the database has made of the rows, if it is anything else."""
    for name, names in backup.head.tables.items():
        found = Sum()
        for row in rows_of(tx, BY_NAME[name], names, tail=False):
            found.add(row)
        said = end.tables[name]
        if (found.rows, found.digest) != (said.rows, said.digest):
            raise StoreError(
                f"the database did not keep {name} as they were: {found.rows} rows of {said.rows}",
                where=str(backup.path),
                hint="nothing was restored",
            )


def _index(tx: Transaction) -> int:
    """Make titles and messages findable; gives how many messages cannot be read, and so cannot be found."""
    unreadable, key = 0, 0
    titles = select(threads.c.owner, threads.c.key, threads.c.title).order_by(threads.c.key)
    while rows := tx.rows(titles.where(threads.c.key > key).limit(INDEXED_AT_ONCE)):
        search_index.add(
            tx, [SearchEntry(row.owner, -row.key, row.title, NO_FIELDS) for row in rows if row.title]
        )
        key = rows[-1].key
    key = 0
    every = select(messages).order_by(messages.c.key).limit(INDEXED_AT_ONCE)
    while rows := tx.rows(every.where(messages.c.key > key)):
        found = _entries(tx, rows)
        search_index.add(tx, found)
        unreadable += len(rows) - len(found)
        key = rows[-1].key
    return unreadable


def _entries(tx: Transaction, rows: Sequence[SqlRow[Any]]) -> list[SearchEntry]:
    """Messages as they go to the index; when one of them is damaged, the others all the same."""
    try:
        whole = read_messages(tx, rows, "inline")
    except PartitaError:
        return [] if len(rows) == 1 else [entry for row in rows for entry in _entries(tx, [row])]
    return [
        SearchEntry(row.owner, row.key, "", fields_of(message))
        for row, message in zip(rows, whole, strict=True)
    ]
