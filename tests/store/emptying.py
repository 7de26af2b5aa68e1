"""One open store for all rows of a parametrized test: `@in_empty_store` deletes all its rows before each."""

import tempfile
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, text

from partita.store.context import StoreContext
from partita.store.engines.engine import Engine
from partita.store.engines.sqlite import SqliteEngine
from tests.sampling import sampled
from tests.store.conftest import IN_MEMORY, ON_POSTGRES

Test = TypeVar("Test", bound=Callable[..., Awaitable[None]])

KEPT = {"alembic_version", "sqlite_sequence"}
TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search?_%' ESCAPE '?'",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
}
RESTART = "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences"


def in_empty_store(test: Test) -> Test:
    """Empty the store or the engine that a test is called with; use it below `each_row`.

    What a `Store` remembers in memory, such as the runs it appends to, it remembers in the next row, too.
    """

    @wraps(test)
    async def run(**arguments: Any) -> None:
        engines = [one.engine for one in arguments.values() if isinstance(one, StoreContext)]
        await empty(engines[0] if engines else arguments["engine"])
        await test(**arguments)

    decorated: Any = run
    return decorated  # type: ignore[no-any-return]


def new_folder(parent: Path) -> Path:
    """A folder for one row, in that of the test."""
    return Path(tempfile.mkdtemp(dir=parent))


def left_out(engine: Engine, name: str) -> bool:
    """Whether to skip a slow row: all run in a file, some in memory and on a server."""
    if isinstance(engine, SqliteEngine):
        return engine.path is None and not sampled([name], IN_MEMORY)
    return not sampled([name], ON_POSTGRES)


async def empty(engine: Engine) -> None:
    """Delete all rows, and restart the sequences of the database."""
    await engine.change_schema(_empty)


def _empty(connection: Connection) -> None:
    lite = connection.dialect.name == "sqlite"
    tables = [name for (name,) in connection.exec_driver_sql(TABLES[connection.dialect.name])]
    tables = sorted(name for name in tables if name not in KEPT)
    if lite:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        for name in (*tables, "sqlite_sequence"):
            connection.exec_driver_sql(f'DELETE FROM "{name}"')
    else:  # in one statement, so that the order of references does not matter
        deletes = [f'd{place} AS (DELETE FROM "{name}")' for place, name in enumerate(tables)]
        connection.execute(text(f"WITH {', '.join(deletes)} SELECT 1"))
        connection.execute(text(RESTART))
