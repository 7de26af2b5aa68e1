"""Dumps: JSON, JSON lines, CSV with a header; one file, or a folder of them named after their tables.

The rows are sorted in a temporary database, because a dump may be larger than the memory. Only a file that is
one JSON document is read as a whole.
"""

import asyncio
import csv
import sqlite3
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from partita.errors import DecodeError, StoreError
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of, loads

from .report import Failure
from .source import SourceRow, SourceTable, next_batch
from .system import System, Table, find_column
from .values import parse_time

ENDINGS: Final = (".json", ".jsonl", ".ndjson", ".csv")
BATCH_ROWS: Final = 500
MAX_FIELD_BYTES: Final = 1 << 30
CSV_HINT: Final = "write it by: \\copy TABLE TO FILE WITH (FORMAT csv, HEADER)"

CREATE_TABLE: Final = (
    "CREATE TABLE dumped (number INTEGER PRIMARY KEY, table_name TEXT, key BLOB, time INTEGER, tie, row TEXT)"
)
INSERT_ROW: Final = "INSERT INTO dumped (table_name, key, time, tie, row) VALUES (?, ?, ?, ?, ?)"
SELECT_ORDERED: Final = "SELECT number FROM dumped WHERE table_name = ? ORDER BY key, time, tie, number"
SELECT_ROW: Final = "SELECT key, row FROM dumped WHERE number = ?"


class Dumped(NamedTuple):
    """A row of a dump: its table, if that is known, and its position for error messages."""

    table: str | None
    row: Json
    where: str


class DumpSource:
    """The tables of a dump."""

    def __init__(self, path: Path, system: System) -> None:
        self.where = str(path)
        self._path = path
        self._tables = known_tables(system)
        self._columns: dict[str, dict[str, None]] = {}
        self._others: dict[str, None] = {}  # names that are not tables of the system
        self._problems: list[Failure] = []
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)

    async def tables(self) -> Sequence[SourceTable]:
        """The tables with rows, and the names of unknown ones."""
        if not self._columns:
            await asyncio.to_thread(self._fill)
        found = [SourceTable(name, tuple(columns)) for name, columns in self._columns.items()]
        return [*found, *(SourceTable(name, ()) for name in self._others)]

    async def count(self, stored: SourceTable) -> int:
        """The number of rows of a table."""
        query = "SELECT count(*) FROM dumped WHERE table_name = ?"
        return int(self._database.execute(query, (stored.name,)).fetchone()[0])

    async def rows(self, table: Table, stored: SourceTable) -> AsyncGenerator[Sequence[SourceRow], None]:
        """The rows of a table, by thread and in order."""
        rows = self._sorted(stored.name)
        while batch := await asyncio.to_thread(next_batch, rows):
            yield batch

    def _sorted(self, name: str) -> Iterator[SourceRow]:
        """The rows of a table. Only row numbers are sorted: whole rows would fill the memory."""
        for (number,) in self._database.execute(SELECT_ORDERED, (name,)):
            key, row = self._database.execute(SELECT_ROW, (number,)).fetchone()
            yield SourceRow(key, loads(row), len(row))

    def problems(self) -> Sequence[Failure]:
        """Lines and values that are not rows."""
        return self._problems

    async def close(self) -> None:
        """Delete the temporary database."""
        self._database.close()

    # Filling

    def _fill(self) -> None:
        self._database.execute(CREATE_TABLE)
        self._database.execute("BEGIN")
        batch: list[tuple[object, ...]] = []
        for dumped in self._dumped():
            values = self._database_row(dumped)
            if values is not None:
                batch.append(values)
            if len(batch) == BATCH_ROWS:
                self._database.executemany(INSERT_ROW, batch)
                batch.clear()
        self._database.executemany(INSERT_ROW, batch)
        self._database.execute("COMMIT")

    def _dumped(self) -> Iterator[Dumped]:
        """The rows of the file, or of the files in a folder that are named after tables."""
        if not self._path.is_dir():
            yield from self._rows_of(self._path, self._named(self._path))
            return
        for path in sorted(self._path.iterdir()):
            table = self._named(path)
            if path.suffix.lower() in ENDINGS and path.is_file():
                if table is None:
                    self._others[path.stem] = None
                else:
                    yield from self._rows_of(path, table)

    def _named(self, path: Path) -> str | None:
        """The table that a file is named after, without schema and prefix."""
        return table_named(path.stem, self._tables)

    def _rows_of(self, path: Path, table: str | None) -> Iterator[Dumped]:
        try:
            if looks_like_json(path):
                yield from self._json_rows(path, table)
            else:
                yield from self._csv_rows(path, table)
        except OSError as error:
            raise StoreError(
                f"the dump cannot be read: {error.strerror}", where=str(path), hint="check who may read it"
            ) from None

    def _json_rows(self, path: Path, table: str | None) -> Iterator[Dumped]:
        if _is_lines(path):
            yield from self._json_lines(path, table)
            return
        try:
            document = loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
        except DecodeError as error:
            error.where = f"{path}{f', {error.where}' if error.where else ''}"
            raise
        lists = document if is_object(document) and _is_by_table(document) else {"": document}
        for name, rows in lists.items():
            of = table_named(name, self._tables) if name else table
            if name and of is None:
                self._others[name] = None
                continue
            for number, row in enumerate(rows if is_array(rows) else [rows], 1):
                yield Dumped(of, row, f"{name or path.name} row {number}")

    def _json_lines(self, path: Path, table: str | None) -> Iterator[Dumped]:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                where = f"{path.name} line {number}"
                if not line.strip():
                    continue
                try:
                    yield Dumped(table, loads(line.removeprefix(b"\xef\xbb\xbf")), where)
                except DecodeError as error:
                    self._problems.append(Failure(path.name, f"line {number}", str(error)))

    def _csv_rows(self, path: Path, table: str | None) -> Iterator[Dumped]:
        """The rows of a CSV file with a header. An empty field is null: CSV cannot express it."""
        csv.field_size_limit(MAX_FIELD_BYTES)
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            reader = csv.reader(file, strict=True)
            try:
                header = next(reader, list[str]())
                for fields in reader:
                    where = f"line {reader.line_num}"
                    if len(fields) == len(header):
                        row = {name: field or None for name, field in zip(header, fields, strict=True)}
                        yield Dumped(table, row, f"{path.name} {where}")
                    else:
                        reason = f"{len(fields)} fields under a header of {len(header)}"
                        self._problems.append(Failure(path.name, where, reason))
            except csv.Error as error:
                raise StoreError(
                    f"this is not CSV: {error}", where=f"{path} line {reader.line_num}", hint=CSV_HINT
                ) from None

    def _database_row(self, dumped: Dumped) -> tuple[object, ...] | None:
        """The columns for the temporary database; `None`, and a problem, if the row belongs to no table."""
        row = dumped.row
        if not is_object(row):
            self._problems.append(Failure("?", dumped.where, f"a row is an object, found {kind_of(row)}"))
            return None
        name = dumped.table or self._table_of(row)
        if name is None:
            self._problems.append(Failure("?", dumped.where, "no table has these columns"))
            return None
        try:
            written = dumps(row).decode()
        except DecodeError as error:
            self._problems.append(Failure(name, dumped.where, str(error)))
            return None
        self._columns.setdefault(name, {}).update(dict.fromkeys(row))
        return (name, *_sort_key(row, self._tables[name]), written)

    def _table_of(self, row: JsonObject) -> str | None:
        """The table that has the columns of a row."""
        for name, table in self._tables.items():
            if table.needs and all(find_column(column, row) for column in (table.key, *table.needs)):
                return name
        return None


def known_tables(system: System) -> Mapping[str, Table]:
    """Every table that a dump of a system may contain, by name."""
    tables = {table.name: table for layout in system.layouts for table in layout.all_tables}
    lookups = {name: Table(name, key="id") for layout in system.layouts for name in layout.lookups}
    return {**lookups, **tables}


def table_named(name: str, tables: Mapping[str, Table]) -> str | None:
    """The table of a name that may have a schema or a prefix."""
    bare = name.rpartition(".")[2]
    found = [table for table in tables if bare == table or bare.endswith(f"_{table}")]
    return max(found, key=len, default=None)


def looks_like_json(path: Path) -> bool:
    """Whether a file starts with `{` or `[`."""
    with path.open("rb") as file:
        start = next((line for line in file if line.strip(b"\xef\xbb\xbf \t\r\n")), b"")
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def _is_lines(path: Path) -> bool:
    """Whether a file has one object per line: the first line is one, and there is a second line."""
    with path.open("rb") as file:
        lines = (line.removeprefix(b"\xef\xbb\xbf") for line in file)
        filled = (line for line in lines if line.strip())
        first, second = next(filled, b""), next(filled, b"")
    try:
        return bool(second) and is_object(loads(first))
    except DecodeError:
        return first.lstrip().startswith(b"{") and second.lstrip().startswith(b"{")


def _is_by_table(document: JsonObject) -> bool:
    return bool(document) and all(is_array(rows) for rows in document.values())


def _sort_key(row: JsonObject, table: Table) -> tuple[bytes, int | None, int | str | None]:
    """What rows are sorted by: thread, time, and the column that orders rows of the same time."""
    key = _get(row, table.key)
    times = (parse_time(_get(row, name)) for name in table.times)
    time = next((found for found in times if found is not None), None)
    tie = _get(row, table.tie) if table.tie else None
    if isinstance(tie, str) and tie.isascii() and tie.isdigit() and len(tie) < 19:
        tie = int(tie)
    text = "" if key is None else str(key)
    sortable = tie if isinstance(tie, int) and abs(tie) < 1 << 63 else None if tie is None else ascii(tie)
    return text.encode(errors="surrogatepass"), time, sortable


def _get(row: JsonObject, name: str) -> Json:
    return row.get(find_column(name, row) or "")
