"""A PostgreSQL database, read in one read-only transaction.

Rows are fetched with server-side cursors, because tables may be larger than the memory.
"""

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Row, TextClause, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from partita.errors import StoreError
from partita.formats.core.members import parsed
from partita.store.engines.driver_errors import DRIVER_ERRORS, store_error
from partita.store.engines.location import Location, without_password
from partita.types.json import Json

from .report import Failure
from .source import SourceRow, SourceTable, count_characters, quoted
from .system import Table
from .values import format_time, to_json

CATALOG: Final = text(
    "SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns"
    " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
    " ORDER BY table_schema, table_name, ordinal_position"
)
NATIVE_TYPES: Final = frozenset(
    {"text", "boolean", "smallint", "integer", "bigint", "real", "double precision", "bytea"}
)
"""Types that the driver always converts. Others are selected as text: a time may be too large for Python."""

READERS: Final[Mapping[str, Callable[[str], Json]]] = {
    **dict.fromkeys(("json", "jsonb", "numeric"), parsed),
    **dict.fromkeys(("timestamp without time zone", "timestamp with time zone"), format_time),
}
"""How the text of a value is converted, by its type."""

CONNECT_SECONDS: Final = 30.0
BATCH_ROWS: Final = 20
"""How many rows a cursor fetches at once: few, because their size is not known before."""

SETTINGS: Final = {
    "application_name": "partita import",
    "timezone": "UTC",  # for times without a zone
    "datestyle": "ISO",
    "idle_in_transaction_session_timeout": "0",  # writing to the store between two batches may take long
}


class PostgresSource:
    """The tables of a PostgreSQL database."""

    def __init__(self, location: Location) -> None:
        self.where = without_password(location.url).replace("+asyncpg", "")
        self._engine = _engine(location.url, self.where)
        self._connection: AsyncConnection | None = None

    async def _connected(self) -> AsyncConnection:
        """The connection, in its one transaction."""
        if self._connection is None:
            self._connection = await self._engine.connect()
            await self._connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        return self._connection

    async def tables(self) -> Sequence[SourceTable]:
        """The tables and views of every schema."""
        with self._errors():
            rows = (await (await self._connected()).execute(CATALOG)).all()
        types: dict[tuple[str, str], dict[str, str]] = {}
        for schema, name, column, type_ in rows:
            types.setdefault((schema, name), {})[column] = type_
        return [SourceTable(name, tuple(found), schema, found) for (schema, name), found in types.items()]

    async def count(self, stored: SourceTable) -> int:
        """The number of rows of a table."""
        with self._errors():
            result = await (await self._connected()).execute(
                _text(f"SELECT count(*) FROM {_qualified(stored)}")
            )
            return int(result.scalar_one())

    async def rows(self, table: Table, stored: SourceTable) -> AsyncGenerator[Sequence[SourceRow], None]:
        """The rows of a table, by thread and in order."""
        with self._errors():
            connection = await self._connected()
            result = await connection.stream(
                _statement(table, stored), execution_options={"yield_per": BATCH_ROWS}
            )
            try:
                async for batch in result.partitions():
                    yield [_source_row(stored, row) for row in batch]
            finally:
                await result.close()

    @contextmanager
    def _errors(self) -> Generator[None, None, None]:
        try:
            yield
        except DRIVER_ERRORS as error:
            raise store_error(error, self.where) from error

    def problems(self) -> Sequence[Failure]:
        """None: a database has only complete rows."""
        return ()

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()
        await self._engine.dispose()


def _engine(url: str, where: str) -> AsyncEngine:
    try:
        return create_async_engine(
            url, poolclass=NullPool, connect_args={"timeout": CONNECT_SECONDS, "server_settings": SETTINGS}
        )
    except (ArgumentError, ValueError) as error:
        raise StoreError(
            "the URL of the server is wrong",
            where=where,
            hint=f"postgresql://USER:PASSWORD@HOST/DATABASE ({error})",
        ) from None


def _statement(table: Table, stored: SourceTable) -> TextClause:
    """All rows, ordered by the bytes of the thread id, by time and by id: there is no order of insertion."""
    tie = stored.column(table.tie or "id")
    order = ["1", *_time(table, stored), *([_of_row(tie)] if tie else [])]
    columns = ", ".join(_column(name, stored.types[name]) for name in stored.columns)
    key = f"convert_to(coalesce({_of_row(stored.column(table.key) or '')}::text, ''), 'UTF8')"
    return _text(f"SELECT {key}, {columns} FROM {_qualified(stored)} AS stored ORDER BY {', '.join(order)}")


def _time(table: Table, stored: SourceTable) -> list[str]:
    """SQL for the time of a row; only the first column if the columns have different types."""
    columns = [column for name in table.times if (column := stored.column(name))]
    kinds = {stored.types[column].partition(" ")[0] for column in columns}
    if not columns:
        return []
    return [f"coalesce({', '.join(map(_of_row, columns))})" if len(kinds) == 1 else _of_row(columns[0])]


def _of_row(column: str) -> str:
    """A column of the table, not of the selection."""
    return f"stored.{quoted(column)}"


def _column(name: str, type_: str) -> str:
    return _of_row(name) if type_ in NATIVE_TYPES else f"{_of_row(name)}::text"


def _source_row(stored: SourceTable, row: Row[Any]) -> SourceRow:
    values: Sequence[Any] = row[1:]
    found = {
        name: READERS.get(stored.types[name], to_json)(value)
        for name, value in zip(stored.columns, values, strict=True)
    }
    return SourceRow(bytes(row[0]), found, count_characters(values))


def _qualified(stored: SourceTable) -> str:
    return f"{quoted(stored.schema)}.{quoted(stored.name)}"


def _text(statement: str) -> TextClause:
    """A statement in which colons do not mark parameters."""
    return text(statement.replace(":", "\\:"))
