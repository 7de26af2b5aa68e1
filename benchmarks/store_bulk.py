"""How fast are many messages saved, compared with the same rows written with the driver directly?

The rival is given the finished rows, and writes them to the same tables (messages, parts, search index) in
batches of the same size; we make them from messages, find out which are known, number them, and write them.
Beside both: a bare insert of the JSON alone, into a table of its own.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

from partita.store.connection import open_store
from partita.store.engines.location import locate
from partita.types.codec import encode

from .store_messages import two_kilobytes
from .store_places import PLACES, Place
from .table import print_table

COUNT, BATCH, TRIES = 10_000, 500, 3
MESSAGES = [two_kilobytes(number) for number in range(COUNT)]
TABLES = ("messages", "parts", "search")
JSON_TABLE = "CREATE TABLE bare_json (id TEXT PRIMARY KEY, content TEXT)"


def batches(rows: Sequence[Any], count: int = COUNT // BATCH) -> list[Sequence[Any]]:
    """Rows in this many batches of about the same size."""
    size = -(-len(rows) // count)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


async def ours(url: str) -> float:
    """Seconds to save all messages."""
    async with open_store(url) as store:
        await store.threads.create("t")
        begun = perf_counter()
        for batch in batches(MESSAGES):
            await store.messages.save(batch, thread_id="t")
        return perf_counter() - begun


def sqlite_rivals(url: str) -> tuple[float, float]:
    """Seconds to write the same rows by hand, and the JSON alone."""
    path = locate(url).path
    assert path is not None, "a file"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    columns = {table: "rowid, *" if table == "search" else "*" for table in TABLES}
    rows = {table: connection.execute(f"SELECT {columns[table]} FROM {table}").fetchall() for table in TABLES}
    names = {
        table: ", ".join(
            c[0] for c in connection.execute(f"SELECT {columns[table]} FROM {table}").description
        )
        for table in TABLES
    }
    for table in reversed(TABLES):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("VACUUM")
    statements = {
        table: f"INSERT INTO {table} ({names[table]}) VALUES ({', '.join('?' * len(rows[table][0]))})"
        for table in TABLES
    }
    by_hand = _timed_sqlite(connection, [(statements[table], batches(rows[table])) for table in TABLES])
    connection.execute(JSON_TABLE)
    alone = [(m.id, encode(m).decode()) for m in MESSAGES]
    bare = _timed_sqlite(connection, [("INSERT INTO bare_json VALUES (?, ?)", batches(alone))])
    connection.close()
    return by_hand, bare


def _timed_sqlite(connection: sqlite3.Connection, work: list[tuple[str, list[Sequence[Any]]]]) -> float:
    begun = perf_counter()
    for number in range(len(work[0][1])):
        connection.execute("BEGIN IMMEDIATE")
        for statement, parts in work:
            connection.executemany(statement, parts[number])
        connection.execute("COMMIT")
    return perf_counter() - begun


async def postgres_rivals(url: str) -> tuple[float, float]:
    """Seconds to write the same rows by hand, and the JSON alone."""
    asyncpg: Any = import_module("asyncpg")  # it has no types
    connection: Any = await asyncpg.connect(url)
    order = {"messages": "key", "parts": "message, number", "search": "key"}
    rows = {
        table: await connection.fetch(f"SELECT * FROM {table} ORDER BY {order[table]}") for table in TABLES
    }
    await connection.execute(f"TRUNCATE {', '.join(TABLES)}, blob_refs")
    statements: dict[str, str] = {}
    for table in TABLES:
        names: list[str] = list(rows[table][0].keys())
        marks = ", ".join(
            f"${n}{'::text::tsvector' if name == 'words' else ''}" for n, name in enumerate(names, 1)
        )
        statements[table] = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"
    work = [(statements[table], batches([tuple(row) for row in rows[table]])) for table in TABLES]
    by_hand = await _timed_postgres(connection, work)
    await connection.execute(JSON_TABLE)
    alone = [(m.id, encode(m).decode()) for m in MESSAGES]
    bare = await _timed_postgres(connection, [("INSERT INTO bare_json VALUES ($1, $2)", batches(alone))])
    await connection.close()
    return by_hand, bare


async def _timed_postgres(connection: Any, work: list[tuple[str, list[Sequence[Any]]]]) -> float:
    begun = perf_counter()
    for number in range(len(work[0][1])):
        async with connection.transaction():
            for statement, parts in work:
                await connection.executemany(statement, parts[number])
    return perf_counter() - begun


async def _once(name: str, place: Place) -> tuple[float, float, float]:
    """Seconds for Partita, for the rows alone, and for the JSON alone, in the same place."""
    with place() as url:
        mine = await ours(url)
        return mine, *(sqlite_rivals(url) if name == "SQLite" else await postgres_rivals(url))


async def measure() -> list[list[str]]:
    """One row for each engine."""
    rows: list[list[str]] = []
    for name, place in PLACES.items():
        tries = [await _once(name, place) for _ in range(TRIES)]
        mine, by_hand, bare = (min(times) for times in zip(*tries, strict=True))
        rows.append(
            [
                name,
                *(f"{COUNT / t:,.0f}" for t in (mine, by_hand, bare)),
                f"{by_hand / mine:.0%}",
                f"{bare / mine:.0%}",
            ]
        )
    return rows


def main() -> None:
    """Measure and print."""
    size = sum(len(encode(m)) for m in MESSAGES) / COUNT
    print_table(
        f"Saving {COUNT:,} messages of {size:,.0f} bytes, {BATCH} at a time (messages a second)",
        ["engine", "save_messages", "same rows by hand", "JSON alone", "of by hand", "of JSON alone"],
        asyncio.run(measure()),
    )


if __name__ == "__main__":
    main()
