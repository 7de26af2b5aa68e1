"""One transaction: a connection, whose rows it may touch, and what time it is."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
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
from partita.types.json import dumps

from .microseconds import to_microseconds

POSTGRES = postgresql.dialect()  # type: ignore[no-untyped-call] # SQLAlchemy gives it no types

LISTS: dict[bool, TypeEngine[Any]] = {True: Text(), False: ARRAY(Text)}
"""The type of a parameter that holds many values, in SQLite as JSON and in PostgreSQL."""


def utc_now() -> datetime:
    """The time, as messages carry it."""
    return datetime.now(UTC)


AT_ONCE = 500
"""How many values one `IN (…)` takes: SQLite of old allows 999 parameters."""


@dataclass(slots=True)
class Transaction:
    """A connection inside a transaction. With an owner, it sees and touches that owner's rows only."""

    connection: Connection
    owner: str | None
    now: datetime
    by_system_clock: bool = False
    """Whether `now` is the time of this machine, which may differ from that of the database's."""
    driver: sqlite3.Connection | None = field(init=False)
    """The bare driver of SQLite, in the same transaction; `None` where the engine is another."""

    def __post_init__(self) -> None:
        driver = self.connection.connection.driver_connection
        self.driver = driver if isinstance(driver, sqlite3.Connection) else None

    @property
    def lite(self) -> bool:
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
        """Execute a statement in the engine's own words, its parameters written as `?`."""
        return self.connection.exec_driver_sql(text if self.lite else numbered(text), parameters)

    def many(self, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute a statement once for every row, with the bare driver."""
        if not rows:
            return
        if self.driver is not None:
            self.driver.executemany(text, rows)
        else:
            self.connection.exec_driver_sql(numbered(text), list(rows))

    def insert(self, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows that hold every column of the table, in order, as the driver takes them."""
        if self.lite:
            self.many(insert_text(table), rows)
        elif rows:  # one array a column: the server plans and starts once, not once for every row
            self.sql(insert_arrays_text(table), tuple(map(list, zip(*rows, strict=True))))

    def instant(self, moment: datetime | None) -> Any:
        """A moment as the bare driver takes it."""
        return to_microseconds(moment) if self.lite and moment is not None else moment

    def mine(self, table: Table) -> ColumnElement[bool]:
        """The condition that a row belongs to the owner; true without one."""
        return true() if self.owner is None else table.c.owner == self.owner

    def among(self, column: ColumnElement[str], values: Sequence[str]) -> ColumnElement[bool]:
        """The condition that a column holds one of the values: one parameter, however many there are."""
        kind = LISTS[self.lite]
        return among(column, bindparam(None, self.listed(values), kind), lite=self.lite)

    def listed(self, values: Sequence[str]) -> Any:
        """Values as one parameter."""
        return dumps(list(values)).decode() if self.lite else list(values)

    def next_keys(self, table: str, count: int) -> Sequence[int]:
        """Keys for new rows, before they are written: what is derived from them needs to know."""
        if self.driver is None:
            result = self.sql(
                "SELECT nextval(pg_get_serial_sequence(?, 'key')) FROM generate_series(1, ?)", (table, count)
            )
            return [row[0] for row in result]
        known = self.driver.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        last = known[0] if known else 0
        return range(last + 1, last + 1 + count)


def among(column: ColumnElement[str], listed: BindParameter[Any], *, lite: bool) -> ColumnElement[bool]:
    """The condition that a column holds one of the values of a parameter, made by `Transaction.listed`."""
    if lite:
        each = func.json_each(listed).table_valued("value")
        return column.in_(select(each.c.value))
    return column == any_(listed)


@lru_cache(maxsize=256)
def numbered(text: str) -> str:
    """A statement with `?` for its parameters, as PostgreSQL wants them: `$1`, `$2` …"""
    pieces = text.split("?")
    return "".join(piece if number == 0 else f"${number}{piece}" for number, piece in enumerate(pieces))


@lru_cache(maxsize=64)
def insert_text(table: Table) -> str:
    """The plain insert of all columns."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    return f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(table.columns))})"


@lru_cache(maxsize=64)
def insert_arrays_text(table: Table) -> str:
    """The insert of all columns, in PostgreSQL's words: one array for each."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    types = (column.type.compile(dialect=POSTGRES) for column in table.columns)
    return f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({', '.join(f'?::{t}[]' for t in types)})"


def cut(values: Iterable[Any], size: int = AT_ONCE) -> Iterable[list[Any]]:
    """Values in lists of at most `size`."""
    batch: list[Any] = []
    for value in values:
        batch.append(value)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def found(row: Row[Any] | None, kind: str, id: str) -> Row[Any]:
    """The row, or the error that there is none."""
    if row is None:
        raise NotFoundError(f"no {kind} {id!r}", hint=f"look at the ids of the {kind}s you may see")
    return row
