"""One transaction: a connection, the owner whose rows it can read and write, and the time."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Any

from sqlalchemy import (
    ARRAY,
    BindParameter,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Row,
    Table,
    Text,
    any_,
    bindparam,
    func,
    select,
    true,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeEngine

from partita.errors import NotFoundError
from partita.store.schema import to_microseconds
from partita.types.json import dumps

from .texts import storable

POSTGRES = postgresql.dialect()  # type: ignore[no-untyped-call] # SQLAlchemy gives it no types

LIST_TYPES: dict[bool, TypeEngine[Any]] = {True: Text(), False: ARRAY(Text)}
"""The type of a parameter that holds many values: JSON in SQLite, an array in PostgreSQL."""

BATCH_SIZE = 500
"""The number of values in one `IN (…)`: older versions of SQLite allow 999 parameters."""


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


@dataclass(slots=True)
class Transaction:
    """A connection inside a transaction. With an owner, only the rows of that owner are read and written."""

    connection: Connection
    owner: str | None
    now: datetime
    by_system_clock: bool = False
    """Whether `now` is the time of this machine, which may differ from that of the database server."""
    driver: sqlite3.Connection | None = field(init=False)
    """The SQLite connection of the same transaction; `None` for PostgreSQL."""

    def __post_init__(self) -> None:
        driver = self.connection.connection.driver_connection
        self.driver = driver if isinstance(driver, sqlite3.Connection) else None

    @property
    def is_sqlite(self) -> bool:
        """Whether the engine is SQLite."""
        return self.driver is not None

    def run(self, statement: Executable, parameters: Any = None) -> CursorResult[Any]:
        """Execute a statement."""
        return self.connection.execute(statement, parameters)

    def rows(self, statement: Executable, parameters: Any = None) -> Sequence[Row[Any]]:
        """All rows of a query."""
        return self.connection.execute(statement, parameters).all()

    def row(self, statement: Executable, parameters: Any = None) -> Row[Any] | None:
        """The first row of a query."""
        return self.connection.execute(statement, parameters).first()

    def sql(self, text: str, parameters: tuple[Any, ...] = ()) -> CursorResult[Any]:
        """Execute SQL text. Its parameters are written as `?`."""
        return self.connection.exec_driver_sql(text if self.is_sqlite else numbered(text), parameters)

    def many(self, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute SQL text once for every row, without SQLAlchemy."""
        if not rows:
            return
        if self.driver is not None:
            self.driver.executemany(text, rows)
        else:
            self.connection.exec_driver_sql(numbered(text), list(rows))

    def insert(self, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows that have every column of the table, in order, as values of the driver."""
        if self.is_sqlite:
            self.many(insert_text(table), rows)
        elif rows:  # one array a column: the server plans and starts once, not once for every row
            self.sql(insert_arrays_text(table), tuple(map(list, zip(*rows, strict=True))))

    def instant(self, time: datetime | None) -> Any:
        """A time as a value of the driver."""
        return to_microseconds(time) if self.is_sqlite and time is not None else time

    def owned(self, table: Table) -> ColumnElement[bool]:
        """The condition that a row belongs to the owner; true without one."""
        return true() if self.owner is None else table.c.owner == self.owner

    def among(self, column: ColumnElement[str], values: Sequence[str]) -> ColumnElement[bool]:
        """The condition that a column holds one of the values: one parameter, however many there are."""
        parameter = bindparam(None, self.list_parameter(values), LIST_TYPES[self.is_sqlite])
        return among(column, parameter, is_sqlite=self.is_sqlite)

    def list_parameter(self, values: Sequence[str] | Sequence[int]) -> Any:
        """Values as one parameter."""
        return dumps(list(values)).decode() if self.is_sqlite else list(values)

    def next_keys(self, table: str, count: int) -> Sequence[int]:
        """Keys for new rows, before they are written: the rows of their parts refer to them."""
        if self.driver is None:
            result = self.sql(
                "SELECT nextval(pg_get_serial_sequence(?, 'key')) FROM generate_series(1, ?)", (table, count)
            )
            return [row[0] for row in result]
        known = self.driver.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        last = known[0] if known else 0
        return range(last + 1, last + 1 + count)


def among(
    column: ColumnElement[str], parameter: BindParameter[Any], *, is_sqlite: bool
) -> ColumnElement[bool]:
    """The condition that a column holds one of the values of a `Transaction.list_parameter`."""
    if is_sqlite:
        each = func.json_each(parameter).table_valued("value")
        return column.in_(select(each.c.value))
    return column == any_(parameter)


def owner_of(tx: Transaction, resource_id: str | None) -> str:
    """The owner of a new row, which must be the owner of the transaction if that has one."""
    if tx.owner is None:
        return storable(resource_id, "the resource id") or ""
    if resource_id is not None and resource_id != tx.owner:
        raise NotFoundError(
            f"this store belongs to {tx.owner!r}, not to {resource_id!r}", hint="use the store of that owner"
        )
    return tx.owner


def require_row(row: Row[Any] | None, kind: str, id: str) -> Row[Any]:
    """The row, or a `NotFoundError` if there is none."""
    if row is None:
        raise NotFoundError(f"no {kind} {id!r}", hint=f"list the {kind}s to see their ids")
    return row


@lru_cache(maxsize=256)
def numbered(text: str) -> str:
    """SQL text with the parameters of PostgreSQL, `$1`, `$2` …, instead of `?`."""
    pieces = text.split("?")
    return "".join(piece if number == 0 else f"${number}{piece}" for number, piece in enumerate(pieces))


@lru_cache(maxsize=64)
def insert_text(table: Table) -> str:
    """An `INSERT` of all columns."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    return f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(table.columns))})"


@lru_cache(maxsize=64)
def insert_arrays_text(table: Table) -> str:
    """An `INSERT` of all columns for PostgreSQL, with one array for each column."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    types = (column.type.compile(dialect=POSTGRES) for column in table.columns)
    return f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({', '.join(f'?::{t}[]' for t in types)})"


def batched(values: Iterable[Any], size: int = BATCH_SIZE) -> Iterator[list[Any]]:
    """Values in lists of at most `size`."""
    remaining = iter(values)
    while batch := list(islice(remaining, size)):
        yield batch
