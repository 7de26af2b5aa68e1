"""Statements that are built once.

To build an expression, and to look up what it was compiled to, takes SQLAlchemy ten times as long as SQLite
takes to carry it out. So what is needed all the time is built when the module is loaded, and SQLite is given
the compiled text with the bare driver. PostgreSQL gets it through SQLAlchemy, which knows it by then.
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

from .microseconds import from_microseconds
from .tables import Instant
from .transaction import Transaction

SQLITE = sqlite.dialect()

Convert: TypeAlias = Callable[[Any], Any]


class _Compiled(NamedTuple):
    """A statement as the driver of SQLite takes it, and what becomes of values on their way in and out."""

    text: str
    names: Sequence[str]
    fixed: Mapping[str, Any]  # values that are part of the statement
    into: Sequence[tuple[str, Convert]]
    out: Sequence[tuple[int, Convert]]
    make: Callable[[Iterable[Any]], Any]  # read as a `Row` is, by name or place, in a tenth of the time


class Statement:
    """A statement, its values left open: each is a `bindparam`, given by its name."""

    def __init__(self, expression: ExecutableReturnsRows) -> None:
        self._expression = expression

    def rows(self, tx: Transaction, /, **values: Any) -> Sequence[Row[Any]]:
        """All that it gives."""
        if tx.driver is None:
            return tx.connection.execute(self._expression, values).all()
        compiled = self._compiled
        for name, convert in compiled.into:
            values[name] = convert(values[name])
        if compiled.fixed:
            values = {**compiled.fixed, **values}
        found = tx.driver.execute(compiled.text, [values[name] for name in compiled.names]).fetchall()
        return [_found(compiled, raw) for raw in found]

    def run(self, tx: Transaction, /, **values: Any) -> None:
        """Carry it out, for one that gives nothing."""
        if tx.driver is None:
            tx.connection.execute(self._expression, values)
        else:
            self.rows(tx, **values)

    def row(self, tx: Transaction, /, **values: Any) -> Row[Any] | None:
        """The first that it gives."""
        found = self.rows(tx, **values)
        return found[0] if found else None

    @cached_property
    def _compiled(self) -> _Compiled:
        compiled = self._expression.compile(dialect=SQLITE)
        assert isinstance(compiled, SQLCompiler), "what is executed is compiled to SQL"
        names = compiled.positiontup or []
        into = {name: compiled.binds[name].type.dialect_impl(SQLITE) for name in names}
        columns: list[Any] = list(self._expression.exported_columns)
        out = [_read_by(column.type) for column in columns]
        return _Compiled(
            compiled.string,
            names,
            {name: value for name, value in compiled.params.items() if value is not None},
            [(name, convert) for name, kind in into.items() if (convert := kind.bind_processor(SQLITE))],
            [(place, convert) for place, convert in enumerate(out) if convert is not None],
            _shape([column.name for column in columns]),
        )


def _read_by(kind: TypeEngine[Any]) -> Convert | None:
    """What makes a value of a column out of what the driver gives."""
    if isinstance(kind, Instant):
        return _moment  # without the two calls that every `TypeDecorator` adds
    return kind.dialect_impl(SQLITE).result_processor(SQLITE, None)


def _moment(value: int | None) -> datetime | None:
    return None if value is None else from_microseconds(value)


def _shape(names: Sequence[str]) -> Callable[[Iterable[Any]], Any]:
    """Makes tuples whose members have names."""
    members = {name: property(itemgetter(place)) for place, name in enumerate(names)}
    return type("Found", (tuple,), {"__slots__": (), **members})


def _found(compiled: _Compiled, raw: tuple[Any, ...]) -> Any:
    if not compiled.out:
        return compiled.make(raw)
    values = list(raw)
    for place, convert in compiled.out:
        values[place] = convert(values[place])
    return compiled.make(values)
