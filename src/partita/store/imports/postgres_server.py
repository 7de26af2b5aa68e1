"""A foreign PostgreSQL database, in one transaction that can only read.

Rows come by cursors of the server, some at a time, however large the tables are.
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
from partita.store.engines.failures import TELLABLE, explained
from partita.store.engines.location import Location, without_password
from partita.types.json import Json

from .foreign import to_json, to_moment
from .report import Failure
from .source import Keyed, Stored, size_of
from .sqlite_file import quoted
from .system import Table

CATALOG: Final = text(
    "SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns"
    " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
    " ORDER BY table_schema, table_name, ordinal_position"
)
AS_THEY_ARE: Final = frozenset(
    {"text", "boolean", "smallint", "integer", "bigint", "real", "double precision", "bytea"}
)
"""Types that the driver gives without fail. Others come as text: a time may lie beyond what Python has."""

READERS: Final[Mapping[str, Callable[[str], Json]]] = {
    **dict.fromkeys(("json", "jsonb", "numeric"), parsed),
    **dict.fromkeys(("timestamp without time zone", "timestamp with time zone"), to_moment),
}
"""By type, what the text of a value becomes."""

PATIENCE: Final = 30.0
FETCHED: Final = 20
"""How many rows a cursor hands out at once. Few, for how large they are is not known before."""

SETTINGS: Final = {
    "application_name": "partita import",
    "timezone": "UTC",  # times without a zone are taken for UTC
    "datestyle": "ISO",
    "idle_in_transaction_session_timeout": "0",  # we wait for our own store between two batches
}


class PostgresSource:
    """The tables of a PostgreSQL database."""

    def __init__(self, location: Location) -> None:
        self.where = without_password(location.url).replace("+asyncpg", "")
        self._engine = _engine(location.url, self.where)
        self._connection: AsyncConnection | None = None

    async def _reading(self) -> AsyncConnection:
        """The connection, in its one transaction."""
        if self._connection is None:
            self._connection = await self._engine.connect()
            await self._connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        return self._connection

    async def tables(self) -> Sequence[Stored]:
        """The tables and views of every schema."""
        with self._told():
            rows = (await (await self._reading()).execute(CATALOG)).all()
        types: dict[tuple[str, str], dict[str, str]] = {}
        for schema, name, column, type_ in rows:
            types.setdefault((schema, name), {})[column] = type_
        return [Stored(name, tuple(found), schema, found) for (schema, name), found in types.items()]

    async def count(self, stored: Stored) -> int:
        """How many rows a table has."""
        with self._told():
            result = await (await self._reading()).execute(_text(f"SELECT count(*) FROM {_named(stored)}"))
            return int(result.scalar_one())

    async def rows(self, table: Table, stored: Stored) -> AsyncGenerator[Sequence[Keyed], None]:
        """The rows of a table, by thread and in order."""
        with self._told():
            connection = await self._reading()
            result = await connection.stream(
                _statement(table, stored), execution_options={"yield_per": FETCHED}
            )
            try:
                async for batch in result.partitions():
                    yield [_keyed(stored, row) for row in batch]
            finally:
                await result.close()

    @contextmanager
    def _told(self) -> Generator[None, None, None]:
        try:
            yield
        except TELLABLE as error:
            raise explained(error, self.where) from error

    def problems(self) -> Sequence[Failure]:
        """Nothing: the server has rows or none."""
        return ()

    async def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            await self._connection.close()
        await self._engine.dispose()


def _engine(url: str, where: str) -> AsyncEngine:
    try:
        return create_async_engine(
            url, poolclass=NullPool, connect_args={"timeout": PATIENCE, "server_settings": SETTINGS}
        )
    except ModuleNotFoundError:
        raise StoreError(
            "the PostgreSQL driver is not installed", hint="pip install 'partita[postgres]'"
        ) from None
    except (ArgumentError, ValueError) as error:
        raise StoreError(
            "the URL of the server is wrong",
            where=where,
            hint=f"postgresql://USER:PASSWORD@HOST/DATABASE ({error})",
        ) from None


def _statement(table: Table, stored: Stored) -> TextClause:
    """All rows: by the bytes of their thread's id, by time, by id. The server knows no other order."""
    tie = stored.column(table.tie or "id")
    order = ["1", *_moment(table, stored), *([_of_row(tie)] if tie else [])]
    columns = ", ".join(_column(name, stored.types[name]) for name in stored.columns)
    key = f"convert_to(coalesce({_of_row(stored.column(table.key) or '')}::text, ''), 'UTF8')"
    return _text(f"SELECT {key}, {columns} FROM {_named(stored)} AS stored ORDER BY {', '.join(order)}")


def _moment(table: Table, stored: Stored) -> list[str]:
    """The moment of a row. Columns of several kinds cannot be compared: then it is the first of them."""
    there = [column for name in table.moments if (column := stored.column(name))]
    kinds = {stored.types[column].partition(" ")[0] for column in there}
    if not there:
        return []
    return [f"coalesce({', '.join(map(_of_row, there))})" if len(kinds) == 1 else _of_row(there[0])]


def _of_row(column: str) -> str:
    """A column as it is stored, not as it is selected."""
    return f"stored.{quoted(column)}"


def _column(name: str, type_: str) -> str:
    return _of_row(name) if type_ in AS_THEY_ARE else f"{_of_row(name)}::text"


def _keyed(stored: Stored, row: Row[Any]) -> Keyed:
    values: Sequence[Any] = row[1:]
    found = {
        name: READERS.get(stored.types[name], to_json)(value)
        for name, value in zip(stored.columns, values, strict=True)
    }
    return Keyed(bytes(row[0]), found, size_of(values))


def _named(stored: Stored) -> str:
    return f"{quoted(stored.schema)}.{quoted(stored.name)}"


def _text(statement: str) -> TextClause:
    """A statement without parameters: a colon is a colon."""
    return text(statement.replace(":", "\\:"))
