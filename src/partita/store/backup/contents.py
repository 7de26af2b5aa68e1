"""What of a store goes into a backup: the tables, their rows as plain values, and the sum of a table.

The search index is made anew from the messages, for each engine has its own. What only one engine has does
not go in: the tail of SQLite's logs is told as rows of `run_log`, and the tokens of PostgreSQL's writes are
of use for an hour, to those who made them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Float,
    FromClause,
    Integer,
    LargeBinary,
    Select,
    Table,
    func,
    select,
    tuple_,
    type_coerce,
)
from sqlalchemy import Row as SqlRow
from sqlalchemy.types import TypeEngine

from partita.errors import StoreError
from partita.store.logs.run_log import every_row
from partita.store.schema import (
    Instant,
    api_keys,
    blob_refs,
    blobs,
    consumptions,
    data_migrations,
    from_microseconds,
    messages,
    parts,
    run_blobs,
    run_log,
    runs,
    sources,
    thread_labels,
    threads,
    to_microseconds,
)
from partita.store.sql.transaction import POSTGRES, Transaction

Row: TypeAlias = tuple[Any, ...]
"""A row as plain values; moments are microseconds since 1970."""

TABLES: Final = (
    threads,
    thread_labels,
    messages,
    parts,
    runs,
    run_log,
    blobs,
    blob_refs,
    run_blobs,
    consumptions,
    sources,
    data_migrations,
    api_keys,
)
"""The tables of a backup. One that refers to another comes after it."""

BY_NAME: Final[Mapping[str, Table]] = {str(table.name): table for table in TABLES}
LOCAL: Final = frozenset({"tail_seq"})
"""The column of `runs` that is about `log_tail` of SQLite."""

COUNTED: Final = ("threads", "messages")
"""The tables whose rows have a number that is never given twice."""

LARGE: Final[Mapping[Table, Sequence[str]]] = {
    run_log: ("owner", "run_id", "first_seq"),
    blobs: ("owner", "hash"),
}
"""The tables whose rows may have many bytes of `data`, and their keys."""

AT_ONCE: Final = 500
LARGE_AT_ONCE: Final = 4
BYTES_AT_ONCE: Final = 4 * 1024 * 1024
"""How many rows are asked for at once, and how many bytes of them, unless one alone has more."""


def columns_of(table: Table) -> list[str]:
    """The columns of a table that go into a backup."""
    return [str(column.name) for column in table.columns if not (table is runs and column.name in LOCAL)]


def rows_of(tx: Transaction, table: Table, names: Sequence[str], *, tail: bool = True) -> Iterator[Row]:
    """All rows of a table, some at a time; with `tail`, the rows of logs wherever they are."""
    source: FromClause = every_row(tx) if table is run_log and tail else table
    if tx.is_sqlite:  # which keeps moments as we do
        plain = [_coerced(source.c[name], table.c[name].type) for name in names]
        yield from map(tuple, _streamed(tx, select(*plain), LARGE_AT_ONCE if table in LARGE else AT_ONCE))
        return
    columns = [source.c[name] for name in names]
    moments = [place for place, name in enumerate(names) if isinstance(table.c[name].type, Instant)]
    key = LARGE.get(table)
    found = _streamed(tx, select(*columns), AT_ONCE) if key is None else _by_size(tx, columns, source, key)
    for row in found:
        values = list(row)
        for place in moments:
            moment: datetime | None = values[place]
            values[place] = None if moment is None else to_microseconds(moment)
        yield tuple(values)


def _coerced(column: ColumnElement[Any], kind: TypeEngine[Any]) -> ColumnElement[Any]:
    return type_coerce(column, BigInteger) if isinstance(kind, Instant) else column


def _streamed(tx: Transaction, query: Select[*tuple[Any, ...]], at_once: int) -> Iterator[SqlRow[Any]]:
    return iter(tx.connection.execute(query, execution_options={"yield_per": at_once}))


def _by_size(
    tx: Transaction, columns: Sequence[ColumnElement[Any]], source: FromClause, key: Sequence[str]
) -> Iterator[SqlRow[Any]]:
    """Rows by their keys, as many at a time as have few bytes: a driver that streams takes fifty or more."""
    keys = [source.c[name] for name in key]
    waiting: list[tuple[Any, ...]] = []
    size = 0
    for row in _streamed(tx, select(*keys, func.length(source.c.data)), AT_ONCE):
        if waiting and (size + row[-1] > BYTES_AT_ONCE or len(waiting) >= AT_ONCE):
            yield from tx.rows(select(*columns).where(tuple_(*keys).in_(waiting)))
            waiting, size = [], 0
        waiting.append(tuple(row[:-1]))
        size += row[-1]
    if waiting:
        yield from tx.rows(select(*columns).where(tuple_(*keys).in_(waiting)))


def count_rows(tx: Transaction) -> int:
    """About how many rows a backup of this store has."""
    return sum(tx.run(select(func.count()).select_from(table)).scalar_one() for table in TABLES)


def refuse_unless_empty(tx: Transaction) -> None:
    """Refuse a store that holds anything."""
    for table in TABLES:
        if tx.row(select(*table.columns).limit(1)) is not None:
            raise StoreError(
                f"this store is not empty: it has {table.name.replace('_', ' ')}",
                hint="restore into a new one: --store sqlite:///NEW.db, or an empty database",
            )


def write_rows(tx: Transaction, table: Table, names: Sequence[str], rows: Sequence[Row]) -> None:
    """Put rows into a table; columns that are not named get what the schema says."""
    listed = ", ".join(f'"{name}"' for name in names)
    if tx.is_sqlite:
        tx.many(f"INSERT INTO {table.name} ({listed}) VALUES ({', '.join('?' * len(names))})", rows)
        return
    types = [table.c[name].type for name in names]
    values = [
        [None if value is None else from_microseconds(value) for value in column]
        if isinstance(kind, Instant)
        else list(column)
        for kind, column in zip(types, zip(*rows, strict=True), strict=True)
    ]
    arrays = ", ".join(f"?::{kind.compile(dialect=POSTGRES)}[]" for kind in types)
    tx.sql(f"INSERT INTO {table.name} ({listed}) SELECT * FROM unnest({arrays})", tuple(values))


def last_keys(tx: Transaction) -> dict[str, int]:
    """The last number that was given to a row, by table."""
    if tx.is_sqlite:
        known = {row.name: row.seq for row in tx.sql("SELECT name, seq FROM sqlite_sequence")}
        return {name: known.get(name, 0) for name in COUNTED}
    query = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(?, 'key')::regclass), 0)"
    return {name: tx.sql(query, (name,)).scalar_one() for name in COUNTED}


def set_last_keys(tx: Transaction, keys: Mapping[str, int]) -> None:
    """Go on counting where the other store would have."""
    for name in COUNTED:
        last = keys.get(name, 0)
        if tx.is_sqlite:
            tx.sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            tx.sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))
        elif last > 0:
            tx.sql("SELECT setval(pg_get_serial_sequence(?, 'key'), ?)", (name, last))


def decoder_of(table: Table, names: Sequence[str]) -> "msgspec.msgpack.Decoder[list[Row]]":
    """What reads rows of a table, and refuses values that do not belong into its columns."""
    kinds = tuple(_kind(table, name) for name in names)
    return msgspec.msgpack.Decoder(list[tuple.__class_getitem__(kinds)])  # type: ignore[misc] # made of data


def _kind(table: Table, name: str) -> Any:
    match table.c[name].type:
        case Instant() | BigInteger() | Integer():
            return int | None
        case Boolean():
            return bool | None
        case Float():
            return float | None
        case LargeBinary():
            return bytes | None
        case _:
            return str | None


class Sum:
    """How many rows, and a number made of all of them, in whatever order they come."""

    __slots__ = ("_total", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self._total = 0

    def add(self, row: Row) -> bytes:
        """Count a row; gives how it is written."""
        written = msgspec.msgpack.encode(row)
        self._total += int.from_bytes(sha256(written).digest())
        self.rows += 1
        return written

    @property
    def digest(self) -> str:
        """The number, in 64 digits."""
        return f"{self._total % (1 << 256):064x}"
