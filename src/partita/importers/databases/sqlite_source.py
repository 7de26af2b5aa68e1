"""A SQLite file of another program as a source of rows."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Final

from partita.logs.sqlite import ReadOnlyDatabase

from .report import Failure
from .source import SourceRow, SourceTable, count_characters, next_batch, quoted
from .system import Table
from .values import parse_time, to_json

BUSY_SECONDS: Final = 30.0
IS_VIEW: Final = "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?"


class SqliteSource:
    """The tables of a SQLite file."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self._file = ReadOnlyDatabase(path, wait=BUSY_SECONDS, text_errors="surrogateescape")
        with self._file.errors():
            self._database = self._file.connection
            self._database.create_function("partita_time", 1, parse_time, deterministic=True)
            self._database.execute("BEGIN")  # all queries see the same state

    async def tables(self) -> Sequence[SourceTable]:
        """The tables and views of the file."""
        return await asyncio.to_thread(self._tables)

    def _tables(self) -> list[SourceTable]:
        with self._file.errors():
            names = self._database.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            ).fetchall()
            return [SourceTable(name, self._columns(name)) for (name,) in names]

    def _columns(self, name: str) -> tuple[str, ...]:
        try:
            found = self._database.execute(f"SELECT * FROM {quoted(name)} LIMIT 0").description
        except sqlite3.OperationalError:  # a view of a deleted table, or a module that is not loaded
            return ()
        return tuple(column[0] for column in found)

    async def count(self, stored: SourceTable) -> int:
        """The number of rows of a table."""

        def counted() -> int:
            with self._file.errors():
                row = self._database.execute(f"SELECT count(*) FROM {quoted(stored.name)}").fetchone()
                return int(row[0])

        return await asyncio.to_thread(counted)

    async def rows(self, table: Table, stored: SourceTable) -> AsyncGenerator[Sequence[SourceRow], None]:
        """The rows of a table, by thread and in order."""
        with self._file.errors():
            rows = self._sorted(table, stored)
            while batch := await asyncio.to_thread(next_batch, rows):
                yield batch

    def _sorted(self, table: Table, stored: SourceTable) -> Iterator[SourceRow]:
        """The rows with their threads. Only row numbers are sorted: whole rows would fill the memory."""
        numbered = self._has_rowid(stored)
        columns = ", ".join(quoted(name) for name in stored.columns)
        key = f"CAST(coalesce(CAST({quoted(stored.column(table.key) or '')} AS TEXT), '') AS BLOB)"
        wanted = f"SELECT {key}, {'rowid' if numbered else columns}"
        one = f"SELECT {columns} FROM {quoted(stored.name)} WHERE rowid = ?"
        order = _order(table, stored, "rowid" if numbered else "id")
        for found, *row in self._database.execute(f"{wanted} FROM {quoted(stored.name)} ORDER BY {order}"):
            values = self._database.execute(one, row).fetchone() if numbered else row
            yield SourceRow(
                found, dict(zip(stored.columns, map(to_json, values), strict=True)), count_characters(values)
            )

    def _has_rowid(self, stored: SourceTable) -> bool:
        """Whether the row number shows the order of insertion. In a view it may be any number."""
        try:
            self._database.execute(f"SELECT rowid FROM {quoted(stored.name)} LIMIT 0")
        except sqlite3.OperationalError:
            return False
        return self._database.execute(IS_VIEW, (stored.name,)).fetchone() is None

    def problems(self) -> Sequence[Failure]:
        """None: a database has only complete rows."""
        return ()

    async def close(self) -> None:
        """Close the file. Raises an error if it was written to meanwhile: the rows may be inconsistent."""
        self._file.close()


def _order(table: Table, stored: SourceTable, default: str) -> str:
    """The ORDER BY clause: thread (the first column), time, and a column for rows of the same time."""
    times = [_time(column) for name in table.times if (column := stored.column(name))]
    tie = stored.column(table.tie) if table.tie else default
    return ", ".join(["1", f"coalesce({', '.join([*times, 'NULL', 'NULL'])})", quoted(tie or default)])


def _time(column: str) -> str:
    """SQL for a time as a number. Text is passed as bytes, because invalid UTF-8 would stop the query."""
    name = quoted(column)
    return f"partita_time(CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END)"
