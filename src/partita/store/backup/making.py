"""Making a backup: every table as it was at one moment, while others go on writing."""

from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from partita.errors import StoreError
from partita.private_files import whole_file
from partita.store.migrations import HEAD
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.version import __version__

from .archive import End, Head, Rows, TableSum, Writer
from .contents import BY_NAME, Sum, columns_of, count_rows, last_keys, rows_of
from .reading import Backup, Progress
from .report import BackupReport

ROWS_AT_ONCE: Final = 500
BYTES_AT_ONCE: Final = 1024 * 1024
"""How much one record holds, unless one row alone is larger."""


async def back_up(
    store: Store, path: Path, *, force: bool = False, progress: Progress | None = None
) -> BackupReport:
    """Write all of a store to one file, and read it again before it gets its name.

    All comes from one transaction that only reads: nobody waits for it, and what was acknowledged before it
    began is in it. Who is interrupted closes the file, and so ends the thread that writes to it.
    """
    if store.owner is not None:
        raise StoreError("this is the store of one owner", hint="a backup is made of the whole store")
    with whole_file(path, force=force) as file:
        await store.read(_write, path, file, progress)
        backup = Backup(path, file)
        for _ in backup.rows():
            pass
        return backup.report


def _write(tx: Transaction, path: Path, file: BinaryIO, progress: Progress | None) -> None:
    total, done = count_rows(tx), 0
    writer = Writer(path, file)
    tables = {name: columns_of(table) for name, table in BY_NAME.items()}
    engine = tx.connection.dialect.name
    writer.write(Head(HEAD, __version__, engine, tx.now.isoformat(timespec="seconds"), tables))
    sums: dict[str, TableSum] = {}
    for name, table in BY_NAME.items():
        count = Sum()
        records = _Records(writer, name)
        for row in rows_of(tx, table, tables[name]):
            records.add(count.add(row))
            done += 1
            if progress is not None and done % ROWS_AT_ONCE == 0:
                progress(min(done, total), total)
        records.flush()
        sums[name] = TableSum(count.rows, count.digest)
    writer.write(End(sums, last_keys(tx)))
    writer.finish()


class _Records:
    """Rows of a table, gathered to records."""

    def __init__(self, writer: Writer, table: str) -> None:
        self._write = partial(_write_rows, writer, table)
        self._rows: list[bytes] = []
        self._size = 0

    def add(self, row: bytes) -> None:
        """Add a row as it is written."""
        if self._rows and self._size + len(row) > BYTES_AT_ONCE:
            self.flush()
        self._rows.append(row)
        self._size += len(row)
        if len(self._rows) >= ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what is gathered."""
        if self._rows:
            self._write(self._rows)
        self._rows, self._size = [], 0


def _write_rows(writer: Writer, table: str, rows: list[bytes]) -> None:
    writer.write(Rows(table, msgspec.Raw(msgspec.msgpack.encode([msgspec.Raw(row) for row in rows]))))
