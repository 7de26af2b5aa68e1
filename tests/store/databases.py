"""Databases on a real server: created once, and emptied for each test that needs one.

Creating one takes as long as ten tests. One whose tables were altered is dropped.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from partita.store.connection import open_engine
from partita.store.engines.location import locate

T = TypeVar("T")
Work: TypeAlias = Callable[[AsyncConnection], Awaitable[T]]

MOST_USES = 50
"""Deleted rows stay in the files: after this many tests they are too large."""

SHAPE = """
SELECT md5(string_agg(line, ' ' ORDER BY line)) FROM (
    SELECT concat('class', oid, ' ', xmin) FROM pg_class WHERE relnamespace = 'public'::regnamespace
UNION ALL
    SELECT concat('column', attrelid, ' ', attnum, ' ', pg_attribute.xmin)
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace
UNION ALL
    SELECT concat('default', oid, ' ', xmin) FROM pg_attrdef
UNION ALL
    SELECT concat('index', indexrelid, ' ', pg_index.xmin)
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = 'public'::regnamespace
UNION ALL
    SELECT concat('constraint', oid, ' ', xmin) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
UNION ALL
    SELECT concat('function', oid, ' ', xmin) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL
    SELECT concat('trigger', oid, ' ', xmin) FROM pg_trigger
UNION ALL
    SELECT concat('setting', setrole, setconfig) FROM pg_db_role_setting
    JOIN pg_database ON pg_database.oid = setdatabase WHERE datname = current_database()
UNION ALL
    SELECT concat('version', version_num) FROM alembic_version
) AS shape (line)
"""
"""Everything that identifies the state of a database, except for the rows that tests write.

A copy of a database has the rows of its catalog, with the transactions (`xmin`) that wrote them; whatever
changes a table afterwards writes other rows.
"""

TABLES = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
VERSIONS = "alembic_version"
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
PAUSE, PAUSES = 0.002, 100
"""The seconds to wait for closed connections to disappear, and between two checks."""

RESTART = "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences"


class Databases:
    """The databases of one worker."""

    _numbers = itertools.count(1)

    def __init__(self, server: str, worker: str) -> None:
        self._server = server
        self._worker = worker
        self._free: list[str] = []
        self._uses: dict[str, int] = {}
        self._unwanted: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._connections: dict[str, AsyncConnection] = {}
        self._template = self._new_name()
        self._execute(f'DROP DATABASE IF EXISTS "{self._template}"', f'CREATE DATABASE "{self._template}"')
        self._loop.run_until_complete(self._prepare())
        self._shape, self._tables, release = self._loop.run_until_complete(
            _done(self._url(self._template), _look)
        )
        # Copying its files is four times as fast as writing them to the log of the server. Before
        # release 15 this is the only strategy.
        self._strategy = "STRATEGY FILE_COPY" if release >= 15 else ""

    async def _prepare(self) -> None:
        await (await open_engine(locate(self._url(self._template)))).close()

    def acquire(self) -> str:
        """The name of a database with the schema and no rows."""
        while self._free:
            name = self._free.pop()
            if self._uses[name] < MOST_USES and self._loop.run_until_complete(self._emptied(name)):
                self._uses[name] += 1
                return name
            self._unwanted.append(name)
        name = self._new_name()
        create = f'CREATE DATABASE "{name}" TEMPLATE "{self._template}" {self._strategy}'
        self._execute(*self._drops(), f'DROP DATABASE IF EXISTS "{name}"', create)
        self._uses[name] = 1
        return name

    def release(self, name: str) -> None:
        """Return a database for other tests."""
        self._free.append(name)

    def close(self) -> None:
        """Drop all databases."""
        self._unwanted += self._free
        self._execute(*self._drops(), f'DROP DATABASE IF EXISTS "{self._template}"')
        self._loop.close()

    def _new_name(self) -> str:
        return f"partita_{self._worker}_{next(self._numbers)}"

    def _drops(self) -> list[str]:
        for name in self._unwanted:
            self._loop.run_until_complete(self._disconnect(name))
        drops = [f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)' for name in self._unwanted]
        self._unwanted.clear()
        return drops

    async def _emptied(self, name: str) -> bool:
        """Whether it is empty now, and otherwise unchanged."""
        try:
            if name not in self._connections:
                self._connections[name] = await _connected(self._url(name))
            return await self._empty(self._connections[name])
        except (SQLAlchemyError, OSError):  # a test dropped a table, or ended our connection
            return False

    async def _empty(self, connection: AsyncConnection) -> bool:
        if not await _alone(connection):  # a connection was left open, and may hold locks
            return False
        if await connection.scalar(text(SHAPE)) != self._shape:
            return False
        # In one statement, so that the order of references does not matter.
        deletes = [f"d{place} AS (DELETE FROM {name})" for place, name in enumerate(self._tables)]
        await connection.execute(text(f"WITH {', '.join(deletes)} SELECT 1"))
        await connection.execute(text(RESTART))
        return True

    async def _disconnect(self, name: str) -> None:
        connection = self._connections.pop(name, None)
        if connection is not None:
            await connection.invalidate()
            await connection.close()

    def _execute(self, *statements: str) -> None:
        self._loop.run_until_complete(_execute(self._server, *statements))

    def _url(self, name: str) -> str:
        return with_database(self._server, name)


def execute(url: str, *statements: str) -> None:
    """Execute statements, each in its own transaction."""
    asyncio.run(_execute(url, *statements))


async def _execute(url: str, *statements: str) -> None:
    async def run(connection: AsyncConnection) -> None:
        for statement in statements:
            await connection.execute(text(statement))

    await _done(url, run)


async def _done(url: str, work: Work[T]) -> T:
    connection = await _connected(url)
    try:
        return await work(connection)
    finally:
        await connection.close()


async def _connected(url: str) -> AsyncConnection:
    engine = create_async_engine(locate(url).url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    return await engine.connect().start()


async def _alone(connection: AsyncConnection) -> bool:
    """Whether there are no other connections, after waiting for closed ones to disappear."""
    for _ in range(PAUSES):
        if not await connection.scalar(text(OTHERS)):
            return True
        await asyncio.sleep(PAUSE)
    return False


async def _look(connection: AsyncConnection) -> tuple[str, list[str], int]:
    """The state of the database, the tables that tests write to, and the release of the server."""
    tables = (await connection.execute(text(TABLES))).scalars().all()
    release = int(str(await connection.scalar(text("SHOW server_version_num")))) // 10_000
    shape = str(await connection.scalar(text(SHAPE)))
    return shape, [name for name in tables if name != VERSIONS], release


def with_database(server: str, name: str) -> str:
    """The URL of a database on a server."""
    head, _, query = server.partition("?")
    scheme, _, rest = head.partition("://")
    host = rest.partition("/")[0]
    return f"{scheme}://{host}/{name}" + (f"?{query}" if query else "")
