"""The rows of a backup, table by table, checked against the sums at its end."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import Table

from partita.errors import NotFoundError, StoreError, UnavailableError
from partita.store.migrations import HEAD
from partita.version import __version__

from .archive import End, Head, Rows, records, verify
from .contents import BY_NAME, Row, Sum, decoder_of
from .report import BackupReport, report

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how much is done, and how much there is."""


class SomeRows(NamedTuple):
    """Rows of a table, and which columns they have."""

    table: Table
    names: Sequence[str]
    rows: list[Row]


class Backup:
    """An open backup whose bytes are what was written."""

    def __init__(self, path: Path, file: BinaryIO, progress: Progress | None = None) -> None:
        self.path = path
        self._file = file
        self._progress = progress
        self._body = verify(path, file)
        self.head = self._read_head()
        self.end: End | None = None

    @property
    def report(self) -> BackupReport:
        """What it holds, once all of it was read."""
        assert self.end is not None, "read to its end"
        self._file.seek(0, 2)
        return report(self.path, self._file.tell(), self.head, self.end)

    def _read_head(self) -> Head:
        for record, _ in records(self.path, self._file, self._body):
            if isinstance(record, Head):
                self._refuse_unknown(record)
                return record
            break
        raise StoreError("the backup does not say what it holds", where=str(self.path))

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
                raise StoreError(f"the backup holds {what}, which no store has", where=str(self.path))

    def rows(self) -> Iterator[SomeRows]:
        """All rows. What is missing or too much is an error at the end."""
        sums = {name: Sum() for name in self.head.tables}
        decoders = {name: decoder_of(BY_NAME[name], names) for name, names in self.head.tables.items()}
        self.end = None
        for record, read in records(self.path, self._file, self._body):
            match record:
                case Head():
                    continue
                case End():
                    self.end = record
                case Rows(table=name, rows=raw):
                    if name not in sums or self.end is not None:
                        raise self._wrong(f"rows of {name!r} where none should be")
                    rows = self._decoded(decoders[name], raw)
                    for row in rows:
                        sums[name].add(row)
                    yield SomeRows(BY_NAME[name], self.head.tables[name], rows)
            if self._progress is not None:
                self._progress(read, self._body)
        self._compare(sums)

    def _decoded(self, decoder: "msgspec.msgpack.Decoder[list[Row]]", raw: msgspec.Raw) -> list[Row]:
        try:
            return decoder.decode(raw)
        except msgspec.DecodeError as error:
            raise self._wrong(f"rows that cannot be read: {error}") from None

    def _compare(self, sums: dict[str, Sum]) -> None:
        if self.end is None:
            raise self._wrong("no end")
        for name, found in sums.items():
            said = self.end.tables.get(name)
            if said is None or (said.rows, said.digest) != (found.rows, found.digest):
                raise self._wrong(f"{found.rows} rows of {name}, and they are not those it tells of")

    def _wrong(self, what: str) -> StoreError:
        return StoreError(
            f"the backup is wrong: it has {what}", where=str(self.path), hint="take another one"
        )


@contextmanager
def opened_backup(path: Path, progress: Progress | None = None) -> Generator[Backup, None, None]:
    """A backup, its bytes verified."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise NotFoundError("there is no such file", where=str(path), hint="name a backup") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(f"the backup cannot be read: {reason}", where=str(path)) from error
    with file:
        yield Backup(path, file, progress)


def check(path: Path, progress: Progress | None = None) -> BackupReport:
    """Read all of a backup; what it holds, or an error that says what is wrong with it."""
    with opened_backup(path, progress) as backup:
        for _ in backup.rows():
            pass
        return backup.report
