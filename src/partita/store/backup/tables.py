"""The tables of a backup, their rows as plain values, and checksums.

A backup has no search index: it is rebuilt from the messages, because the engines have different ones. It has
nothing that only one engine has: rows of SQLite's `log_tail` become rows of `run_log`, and the tokens of
PostgreSQL's writes are left out.
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
"""A row as plain values; times are microseconds since 1970."""

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
"""The tables of a backup. Each comes after the tables that it refers to."""

BY_NAME: Final[Mapping[str, Table]] = {str(table.name): table for table in TABLES}
LOCAL: Final = frozenset({"tail_seq"})
"""The column of `runs` that refers to `log_tail` of SQLite."""

WITH_KEYS: Final = ("threads", "messages")
"""The tables whose rows have a number as a key, which is never used again."""

LARGE: Final[Mapping[Table, Sequence[str]]] = {
    run_log: ("owner", "run_id", "first_seq"),
    blobs: ("owner", "hash"),
}
"""The tables whose rows may have large `data`, and their keys."""

FETCH_ROWS: Final = 500
FETCH_LARGE_ROWS: Final = 4
FETCH_BYTES: Final = 4 * 1024 * 1024
"""The number of rows that are fetched at once, and of their bytes, unless one row has more."""


def columns_of(table: Table) -> list[str]:
    """The columns of a table that go into a backup."""
    return [str(column.name) for column in table.columns if not (table is runs and column.name in LOCAL)]


def rows_of(tx: Transaction, table: Table, names: Sequence[str], *, tail: bool = True) -> Iterator[Row]:
    """All rows of a table, fetched in parts. With `tail`, those of `log_tail` are among the rows of logs."""
    source: FromClause = every_row(tx) if table is run_log and tail else table
    if tx.is_sqlite:  # it stores times as microseconds
        plain = [_coerced(source.c[name], table.c[name].type) for name in names]
        yield from map(
            tuple, _streamed(tx, select(*plain), FETCH_LARGE_ROWS if table in LARGE else FETCH_ROWS)
        )
        return
    columns = [source.c[name] for name in names]
    times = [index for index, name in enumerate(names) if isinstance(table.c[name].type, Instant)]
    key = LARGE.get(table)
    rows = _streamed(tx, select(*columns), FETCH_ROWS) if key is None else _by_size(tx, columns, source, key)
    for row in rows:
        values = list(row)
        for index in times:
            time: datetime | None = values[index]
            values[index] = None if time is None else to_microseconds(time)
        yield tuple(values)


def _coerced(column: ColumnElement[Any], kind: TypeEngine[Any]) -> ColumnElement[Any]:
    return type_coerce(column, BigInteger) if isinstance(kind, Instant) else column


def _streamed(tx: Transaction, query: Select[*tuple[Any, ...]], count: int) -> Iterator[SqlRow[Any]]:
    return iter(tx.connection.execute(query, execution_options={"yield_per": count}))


def _by_size(
    tx: Transaction, columns: Sequence[ColumnElement[Any]], source: FromClause, key: Sequence[str]
) -> Iterator[SqlRow[Any]]:
    """Rows by their keys, fetched in parts of limited size: a driver that streams fetches fifty or more."""
    keys = [source.c[name] for name in key]
    batch: list[tuple[Any, ...]] = []
    size = 0
    for row in _streamed(tx, select(*keys, func.length(source.c.data)), FETCH_ROWS):
        if batch and (size + row[-1] > FETCH_BYTES or len(batch) >= FETCH_ROWS):
            yield from tx.rows(select(*columns).where(tuple_(*keys).in_(batch)))
            batch, size = [], 0
        batch.append(tuple(row[:-1]))
        size += row[-1]
    if batch:
        yield from tx.rows(select(*columns).where(tuple_(*keys).in_(batch)))


def count_rows(tx: Transaction) -> int:
    """The approximate number of rows of a backup of this store."""
    return sum(tx.run(select(func.count()).select_from(table)).scalar_one() for table in TABLES)


def refuse_unless_empty(tx: Transaction) -> None:
    """Refuse a store that is not empty."""
    for table in TABLES:
        if tx.row(select(*table.columns).limit(1)) is not None:
            raise StoreError(
                f"this store is not empty: it has {table.name.replace('_', ' ')}",
                hint="restore into a new one: --store sqlite:///NEW.db, or an empty database",
            )


def write_rows(tx: Transaction, table: Table, names: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert rows into a table. Other columns get their default values."""
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
    """The last key that was given to a row, by table."""
    if tx.is_sqlite:
        known = {row.name: row.seq for row in tx.sql("SELECT name, seq FROM sqlite_sequence")}
        return {name: known.get(name, 0) for name in WITH_KEYS}
    query = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(?, 'key')::regclass), 0)"
    return {name: tx.sql(query, (name,)).scalar_one() for name in WITH_KEYS}


def set_last_keys(tx: Transaction, keys: Mapping[str, int]) -> None:
    """Continue the keys of rows where the backed-up store would continue."""
    for name in WITH_KEYS:
        last = keys.get(name, 0)
        if tx.is_sqlite:
            tx.sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            tx.sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))
        elif last > 0:
            tx.sql("SELECT setval(pg_get_serial_sequence(?, 'key'), ?)", (name, last))


def decoder_of(table: Table, names: Sequence[str]) -> "msgspec.msgpack.Decoder[list[Row]]":
    """A decoder of rows of a table that refuses values of other types than its columns have."""
    kinds = tuple(_kind(table, name) for name in names)
    return msgspec.msgpack.Decoder(list[tuple.__class_getitem__(kinds)])  # type: ignore[misc] # the types are data


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


class Checksum:
    """The number of rows, and a checksum that does not depend on their order."""

    __slots__ = ("_total", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self._total = 0

    def add(self, row: Row) -> bytes:
        """Add a row, and return it encoded."""
        encoded = msgspec.msgpack.encode(row)
        self._total += int.from_bytes(sha256(encoded).digest())
        self.rows += 1
        return encoded

    @property
    def digest(self) -> str:
        """The checksum, as 64 digits."""
        return f"{self._total % (1 << 256):064x}"
