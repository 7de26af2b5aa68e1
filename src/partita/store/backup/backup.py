"""Create backups, and read them."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec
from sqlalchemy import Table

from partita.errors import NotFoundError, StoreError, UnavailableError
from partita.private_files import whole_file
from partita.store.migrations import HEAD
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import OnProgress
from partita.types.json import JsonObject
from partita.version import __version__

from .archive import End, Head, Rows, TableSum, Writer, records, verify
from .tables import BY_NAME, Checksum, Row, columns_of, count_rows, decoder_of, last_keys, rows_of

RECORD_ROWS: Final = 500
RECORD_BYTES: Final = 1024 * 1024
"""The largest number of rows and of bytes in a record, unless a single row is larger."""


class BackupReport(msgspec.Struct, frozen=True):
    """A backup that was created, checked or restored, and the number of rows in each table."""

    path: Path
    size: int
    schema: str
    partita: str
    engine: str
    made_at: str
    rows: dict[str, int]
    unfindable: int = 0
    """The number of messages that are not in the search index, because they cannot be read."""

    def to_json(self) -> JsonObject:
        """The report as JSON."""
        report: JsonObject = {
            "file": str(self.path),
            "bytes": self.size,
            "schema": self.schema,
            "partita": self.partita,
            "engine": self.engine,
            "madeAt": self.made_at,
            "rows": dict(self.rows),
        }
        return report | ({"unfindable": self.unfindable} if self.unfindable else {})


# Creating


async def create_backup(
    store: Store, path: Path, *, force: bool = False, progress: OnProgress | None = None
) -> BackupReport:
    """Write the whole store to one file, and read it again before it gets its name.

    Everything is read in one transaction, which blocks no writer: the backup has all that was committed
    before it began. If this is cancelled, the file is closed, which ends the thread that writes to it.
    """
    if store.owner is not None:
        raise StoreError("this is the store of one owner", hint="a backup is made of the whole store")
    with whole_file(path, force=force) as file:
        await store.read(_write, path, file, progress)
        return _read_to_end(Backup(path, file))


def _write(tx: Transaction, path: Path, file: BinaryIO, progress: OnProgress | None) -> None:
    total, done = count_rows(tx), 0
    writer = Writer(path, file)
    tables = {name: columns_of(table) for name, table in BY_NAME.items()}
    engine = tx.connection.dialect.name
    writer.write(Head(HEAD, __version__, engine, tx.now.isoformat(timespec="seconds"), tables))
    sums: dict[str, TableSum] = {}
    for name, table in BY_NAME.items():
        checksum = Checksum()
        buffer = _RowBuffer(writer, name)
        for row in rows_of(tx, table, tables[name]):
            buffer.add(checksum.add(row))
            done += 1
            if progress is not None and done % RECORD_ROWS == 0:
                progress(min(done, total), total)
        buffer.flush()
        sums[name] = TableSum(checksum.rows, checksum.digest)
    writer.write(End(sums, last_keys(tx)))
    writer.finish()


class _RowBuffer:
    """Collects encoded rows of a table, and writes them as records."""

    def __init__(self, writer: Writer, table: str) -> None:
        self._writer = writer
        self._table = table
        self._rows: list[msgspec.Raw] = []
        self._size = 0

    def add(self, row: bytes) -> None:
        """Add an encoded row."""
        if self._rows and self._size + len(row) > RECORD_BYTES:
            self.flush()
        self._rows.append(msgspec.Raw(row))
        self._size += len(row)
        if len(self._rows) >= RECORD_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the collected rows."""
        if self._rows:
            self._writer.write(Rows(self._table, msgspec.Raw(msgspec.msgpack.encode(self._rows))))
        self._rows, self._size = [], 0


# Reading


class TableRows(NamedTuple):
    """Rows of a table, and the columns that they have."""

    table: Table
    names: Sequence[str]
    rows: list[Row]


class Backup:
    """An open backup. Its hash was verified."""

    def __init__(self, path: Path, file: BinaryIO, progress: OnProgress | None = None) -> None:
        self.path = path
        self._file = file
        self._progress = progress
        self._length = verify(path, file)
        self.head = self._read_head()
        self.end: End | None = None

    @property
    def report(self) -> BackupReport:
        """The report, after all rows were read."""
        assert self.end is not None, "all rows were read"
        self._file.seek(0, 2)
        rows = {name: table.rows for name, table in self.end.tables.items()}
        head = self.head
        return BackupReport(
            self.path, self._file.tell(), head.schema, head.partita, head.engine, head.made_at, rows
        )

    def _read_head(self) -> Head:
        for record, _ in records(self.path, self._file, self._length):
            if isinstance(record, Head):
                self._refuse_unknown(record)
                return record
            break
        raise StoreError("the backup has no list of its tables", where=str(self.path))

    def _refuse_unknown(self, head: Head) -> None:
        if head.schema > HEAD:
            raise StoreError(
                f"the backup has schema {head.schema}, and Partita {__version__} knows up to {HEAD}",
                where=str(self.path),
                hint=f"Partita {head.partita} wrote it: upgrade with pip install -U partita",
            )
        for name, columns in head.tables.items():
            known = BY_NAME.get(name)
            unknown = [] if known is None else [column for column in columns if column not in known.c]
            if known is None or unknown:
                what = f"{name}.{unknown[0]}" if unknown else name
                raise StoreError(f"the backup has {what}, which is not in the schema", where=str(self.path))

    def rows(self) -> Iterator[TableRows]:
        """All rows. If some are missing or too many, an error is raised at the end."""
        checksums = {name: Checksum() for name in self.head.tables}
        decoders = {name: decoder_of(BY_NAME[name], names) for name, names in self.head.tables.items()}
        self.end = None
        for record, read in records(self.path, self._file, self._length):
            match record:
                case Head():
                    continue
                case End():
                    self.end = record
                case Rows(table=name, rows=raw):
                    if name not in checksums or self.end is not None:
                        raise self._invalid(f"unexpected rows of {name!r}")
                    rows = self._decoded(decoders[name], raw)
                    for row in rows:
                        checksums[name].add(row)
                    yield TableRows(BY_NAME[name], self.head.tables[name], rows)
            if self._progress is not None:
                self._progress(read, self._length)
        self._compare(checksums)

    def _decoded(self, decoder: "msgspec.msgpack.Decoder[list[Row]]", raw: msgspec.Raw) -> list[Row]:
        try:
            return decoder.decode(raw)
        except msgspec.DecodeError as error:
            raise self._invalid(f"rows that cannot be read: {error}") from None

    def _compare(self, checksums: dict[str, Checksum]) -> None:
        if self.end is None:
            raise self._invalid("no end")
        for name, found in checksums.items():
            expected = self.end.tables.get(name)
            if expected is None or (expected.rows, expected.digest) != (found.rows, found.digest):
                raise self._invalid(f"{found.rows} rows of {name}, which do not match its checksum")

    def _invalid(self, what: str) -> StoreError:
        return StoreError(
            f"the backup is invalid: it has {what}", where=str(self.path), hint="use another backup"
        )


def _read_to_end(backup: Backup) -> BackupReport:
    for _ in backup.rows():
        pass
    return backup.report


@contextmanager
def open_backup(path: Path, progress: OnProgress | None = None) -> Generator[Backup, None, None]:
    """Open a backup, and verify its hash."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise NotFoundError("no such file", where=str(path), hint="name a backup") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(f"the backup cannot be read: {reason}", where=str(path)) from error
    with file:
        yield Backup(path, file, progress)


def check_backup(path: Path, progress: OnProgress | None = None) -> BackupReport:
    """Read a whole backup. If something is wrong with it, that is an error."""
    with open_backup(path, progress) as backup:
        return _read_to_end(backup)
