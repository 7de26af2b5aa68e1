"""Statements that are compiled once.

SQLAlchemy takes ten times as long to build and look up an expression as SQLite takes to execute it. So a
frequent statement is built when its module is imported, and SQLite executes the compiled text through the
`sqlite3` module. For PostgreSQL SQLAlchemy executes it, from its cache of compiled statements.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Row
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.selectable import ExecutableReturnsRows
from sqlalchemy.types import TypeEngine

from partita.store.schema import Instant, RequiredInstant, from_microseconds

from .transaction import Transaction

SQLITE = sqlite.dialect()

Convert: TypeAlias = Callable[[Any], Any]


class _Compiled(NamedTuple):
    """A statement for the `sqlite3` module, and how its parameters and results are converted."""

    text: str
    names: Sequence[str]
    constants: Mapping[str, Any]  # parameters whose values are part of the statement
    parameters: Sequence[tuple[str, Convert]]
    columns: Sequence[tuple[int, Convert]]
    row: Callable[[Iterable[Any]], Any]  # a tuple with names, like `Row`, in a tenth of the time


class Statement:
    """A statement whose parameters are `bindparam`s, passed by name."""

    def __init__(self, expression: ExecutableReturnsRows) -> None:
        self._expression = expression

    def rows(self, tx: Transaction, /, **values: Any) -> Sequence[Row[Any]]:
        """All rows of the result."""
        if tx.driver is None:
            return tx.connection.execute(self._expression, values).all()
        compiled = self._compiled
        for name, convert in compiled.parameters:
            values[name] = convert(values[name])
        if compiled.constants:
            values = {**compiled.constants, **values}
        found = tx.driver.execute(compiled.text, [values[name] for name in compiled.names]).fetchall()
        if not compiled.columns or not found:
            return [compiled.row(raw) for raw in found]
        columns: list[Iterable[Any]] = list(
            zip(*found, strict=True)
        )  # converted by column: faster than by row
        for index, convert in compiled.columns:
            columns[index] = map(convert, columns[index])
        return list(map(compiled.row, zip(*columns, strict=True)))

    def run(self, tx: Transaction, /, **values: Any) -> None:
        """Execute a statement without a result."""
        if tx.driver is None:
            tx.connection.execute(self._expression, values)
        else:
            self.rows(tx, **values)

    def row(self, tx: Transaction, /, **values: Any) -> Row[Any] | None:
        """The first row of the result."""
        found = self.rows(tx, **values)
        return found[0] if found else None

    @cached_property
    def _compiled(self) -> _Compiled:
        compiled = self._expression.compile(dialect=SQLITE)
        assert isinstance(compiled, SQLCompiler), "what is executed is compiled to SQL"
        names = compiled.positiontup or []
        types = {name: compiled.binds[name].type.dialect_impl(SQLITE) for name in names}
        columns: list[Any] = list(self._expression.exported_columns)
        converters = [_result_converter(column.type) for column in columns]
        return _Compiled(
            compiled.string,
            names,
            {name: value for name, value in compiled.params.items() if value is not None},
            [(name, convert) for name, kind in types.items() if (convert := kind.bind_processor(SQLITE))],
            [(index, convert) for index, convert in enumerate(converters) if convert is not None],
            _row_type([column.name for column in columns]),
        )


def _result_converter(type: TypeEngine[Any]) -> Convert | None:
    """The function that converts a value of the driver to one of the column's type."""
    if isinstance(type, RequiredInstant):
        return _to_known_datetime
    if isinstance(type, Instant):
        return _to_datetime  # without the two calls that every `TypeDecorator` adds
    return type.dialect_impl(SQLITE).result_processor(SQLITE, None)


def _to_datetime(value: int | None) -> datetime | None:
    return None if value is None else from_microseconds(value)


def _to_known_datetime(value: int) -> datetime | None:
    return from_microseconds(value) if value else None


def _row_type(names: Sequence[str]) -> Callable[[Iterable[Any]], Any]:
    """A subclass of tuple whose members have names."""
    members = {name: property(itemgetter(index)) for index, name in enumerate(names)}
    return type("StatementRow", (tuple,), {"__slots__": (), **members})
