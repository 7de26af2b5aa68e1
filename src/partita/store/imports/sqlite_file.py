"""A foreign SQLite file, opened so that nothing of it changes.

A program may be using it: then its `-wal` file is there, and is read too. Without one nobody has it open, and
SQLite is told so; otherwise even a reader would leave files of its own beside it.
"""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from partita.errors import StoreError, UnavailableError
from partita.store.engines.failures import sqlite_name

from .foreign import instant, to_json
from .report import Failure
from .source import Keyed, Stored, size_of, some
from .system import Table

MAGIC: Final = b"SQLite format 3\x00"
WAL_FLAG: Final = 18
PATIENCE: Final = 30.0
IS_VIEW: Final = "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?"

SAYINGS: Final = {
    "SQLITE_NOTADB": ("this file is no SQLite database", "is it encrypted, or another file?"),
    "SQLITE_CORRUPT": ("the database is damaged", "mend a copy: sqlite3 FILE .recover | sqlite3 NEW"),
    "SQLITE_BUSY": ("another program is holding the database", "stop it, or try again"),
    "SQLITE_CANTOPEN": ("the database cannot be opened", "copy it, with its -wal file, to a folder of yours"),
    "SQLITE_READONLY": ("its program was cut off", "start it once, so that it is mended; or use a copy"),
}


class SqliteSource:
    """The tables of a SQLite file."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self._path = path
        self._alone = _is_wal(path) and not _wal_of(path).exists()
        self._stamp = _stamp(path)
        mode = "immutable=1" if self._alone else "mode=ro"
        with self._told():
            self._database = sqlite3.connect(
                f"{path.resolve().as_uri()}?{mode}",
                uri=True,
                timeout=PATIENCE,
                isolation_level=None,
                check_same_thread=False,
            )
            self._database.text_factory = _decoded
            self._database.create_function("partita_instant", 1, instant, deterministic=True)
            self._database.execute("BEGIN")  # one view for all queries

    async def tables(self) -> Sequence[Stored]:
        """The tables and views of the file."""
        return await asyncio.to_thread(self._tables)

    def _tables(self) -> list[Stored]:
        with self._told():
            names = self._database.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            ).fetchall()
            return [Stored(name, self._columns(name)) for (name,) in names]

    def _columns(self, name: str) -> tuple[str, ...]:
        try:
            found = self._database.execute(f"SELECT * FROM {quoted(name)} LIMIT 0").description
        except sqlite3.OperationalError:  # a view of what is gone, a module that is not loaded
            return ()
        return tuple(column[0] for column in found)

    async def count(self, stored: Stored) -> int:
        """How many rows a table has."""

        def counted() -> int:
            with self._told():
                row = self._database.execute(f"SELECT count(*) FROM {quoted(stored.name)}").fetchone()
                return int(row[0])

        return await asyncio.to_thread(counted)

    async def rows(self, table: Table, stored: Stored) -> AsyncGenerator[Sequence[Keyed], None]:
        """The rows of a table, by thread and in order."""
        with self._told():
            rows = self._sorted(table, stored)
            while batch := await asyncio.to_thread(some, rows):
                yield batch

    def _sorted(self, table: Table, stored: Stored) -> Iterator[Keyed]:
        """The rows with their threads. Only their numbers are sorted: whole rows would fill the memory."""
        numbered = self._has_rowid(stored)
        columns = ", ".join(quoted(name) for name in stored.columns)
        key = f"CAST(coalesce(CAST({quoted(stored.column(table.key) or '')} AS TEXT), '') AS BLOB)"
        wanted = f"SELECT {key}, {'rowid' if numbered else columns}"
        one = f"SELECT {columns} FROM {quoted(stored.name)} WHERE rowid = ?"
        order = _order(table, stored, "rowid" if numbered else "id")
        for found, *row in self._database.execute(f"{wanted} FROM {quoted(stored.name)} ORDER BY {order}"):
            values = self._database.execute(one, row).fetchone() if numbered else row
            yield Keyed(found, dict(zip(stored.columns, map(to_json, values), strict=True)), size_of(values))

    def _has_rowid(self, stored: Stored) -> bool:
        """Whether rows have a number that tells which was inserted first. Of a view it may be anything."""
        try:
            self._database.execute(f"SELECT rowid FROM {quoted(stored.name)} LIMIT 0")
        except sqlite3.OperationalError:
            return False
        return self._database.execute(IS_VIEW, (stored.name,)).fetchone() is None

    @contextmanager
    def _told(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explained(error, self.where) from error

    def problems(self) -> Sequence[Failure]:
        """Nothing: SQLite has rows or none."""
        return ()

    async def close(self) -> None:
        """Let go of the file. If somebody began to write to it meanwhile, what was read may be torn."""
        self._database.close()
        if self._alone and (_wal_of(self._path).exists() or _stamp(self._path) != self._stamp):
            raise UnavailableError(
                "a program began to use the file while it was read", where=self.where, hint="import it again"
            )


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def _order(table: Table, stored: Stored, otherwise: str) -> str:
    """By thread, which is selected first, by time, and then by what decides."""
    moments = [_moment(column) for name in table.moments if (column := stored.column(name))]
    tie = stored.column(table.tie) if table.tie else otherwise
    return ", ".join(["1", f"coalesce({', '.join([*moments, 'NULL', 'NULL'])})", quoted(tie or otherwise)])


def _moment(column: str) -> str:
    """A moment as a number. Text goes as bytes: what is no UTF-8 would stop the query."""
    name = quoted(column)
    return f"partita_instant(CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END)"


def _decoded(text: bytes) -> str:
    return text.decode(errors="surrogateescape")


def _is_wal(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(WAL_FLAG + 2)[WAL_FLAG:] == b"\x02\x02"


def _wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _explained(error: sqlite3.Error, where: str) -> StoreError:
    name = sqlite_name(error)
    for prefix, (what, hint) in SAYINGS.items():
        if name.startswith(prefix):
            return UnavailableError(what, where=where, hint=hint)
    return UnavailableError(f"SQLite says: {error}", where=where, hint="look at the file with sqlite3")
