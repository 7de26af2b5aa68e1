"""Databases on a real server: made once, and emptied for each test that asks for one.

To make one takes as long as ten tests do. One whose tables are no longer as they were is thrown away.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from partita.store.engines.location import locate
from partita.store.opening import open_engine

T = TypeVar("T")
Work: TypeAlias = Callable[[AsyncConnection], Awaitable[T]]

MOST_USES = 50
"""What was deleted is still in the files: after so many tests they are too large."""

SHAPE = """
SELECT md5(string_agg(line, ' ' ORDER BY line)) FROM (
    SELECT concat(relname, relkind, relpersistence, reloptions) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
UNION ALL
    SELECT concat(attrelid::regclass, attnum, attname, atttypid, attnotnull, attidentity, attgenerated,
        pg_get_expr(adbin, adrelid))
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'public'::regnamespace
UNION ALL
    SELECT concat(pg_get_indexdef(indexrelid), indisvalid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = 'public'::regnamespace
UNION ALL
    SELECT concat(conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
UNION ALL
    SELECT concat(proname, prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL
    SELECT concat(tgrelid::regclass, tgname, tgenabled) FROM pg_trigger
    WHERE NOT tgisinternal OR tgenabled <> 'O'
UNION ALL
    SELECT concat(setdatabase, setconfig) FROM pg_db_role_setting
    JOIN pg_database ON pg_database.oid = setdatabase WHERE datname = current_database()
UNION ALL
    SELECT version_num FROM alembic_version
) AS shape (line)
"""
"""All that makes a database what it is, besides what the tests write to it."""

TABLES = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
VERSIONS = "alembic_version"
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
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
        self._template = self._new_name()
        ask(
            self._server, f'DROP DATABASE IF EXISTS "{self._template}"', f'CREATE DATABASE "{self._template}"'
        )
        asyncio.run(self._prepare())
        self._shape, self._tables = self._on(self._template, _look)
        # To copy its files is four times as fast as to write all of them to the server's log. Before
        # release 15 nothing else is done.
        self._strategy = "STRATEGY FILE_COPY" if self._on(self._template, _release) >= 15 else ""

    async def _prepare(self) -> None:
        await (await open_engine(locate(self._url(self._template)))).close()

    def take(self) -> str:
        """The name of a database that has the schema and nothing else."""
        while self._free:
            name = self._free.pop()
            if self._uses[name] < MOST_USES and self._on(name, self._empty):
                self._uses[name] += 1
                return name
            self._unwanted.append(name)
        name = self._new_name()
        create = f'CREATE DATABASE "{name}" TEMPLATE "{self._template}" {self._strategy}'
        ask(self._server, *self._drops(), f'DROP DATABASE IF EXISTS "{name}"', create)
        self._uses[name] = 1
        return name

    def give_back(self, name: str) -> None:
        """Nobody needs it any more."""
        self._free.append(name)

    def close(self) -> None:
        """Drop all of them."""
        self._unwanted += self._free
        ask(self._server, *self._drops(), f'DROP DATABASE IF EXISTS "{self._template}"')

    def _new_name(self) -> str:
        return f"partita_{self._worker}_{next(self._numbers)}"

    def _drops(self) -> list[str]:
        drops = [f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)' for name in self._unwanted]
        self._unwanted.clear()
        return drops

    async def _empty(self, connection: AsyncConnection) -> bool:
        """Whether it is empty now, and otherwise as it was at first."""
        if await connection.scalar(text(OTHERS)):  # somebody was left behind, and may hold anything
            return False
        if await _look(connection) != (self._shape, self._tables):
            return False
        # In one statement, so that it does not matter which one refers to which.
        deletes = [f"d{place} AS (DELETE FROM {name})" for place, name in enumerate(self._tables)]
        await connection.execute(text(f"WITH {', '.join(deletes)} SELECT 1"))
        await connection.execute(text(RESTART))
        return True

    def _on(self, name: str, work: Work[T]) -> T:
        return asyncio.run(_done(self._url(name), work))

    def _url(self, name: str) -> str:
        return with_database(self._server, name)


def ask(url: str, *statements: str) -> None:
    """Carry out statements, each by itself."""

    async def run(connection: AsyncConnection) -> None:
        for statement in statements:
            await connection.execute(text(statement))

    asyncio.run(_done(url, run))


async def _done(url: str, work: Work[T]) -> T:
    engine = create_async_engine(locate(url).url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    async with engine.connect() as connection:
        return await work(connection)


async def _release(connection: AsyncConnection) -> int:
    return int(str(await connection.scalar(text("SHOW server_version_num")))) // 10_000


async def _look(connection: AsyncConnection) -> tuple[str, list[str]]:
    """What makes the database what it is, and the tables that tests write to."""
    tables = (await connection.execute(text(TABLES))).scalars().all()
    shape = str(await connection.scalar(text(SHAPE))) if VERSIONS in tables else ""
    return shape, [name for name in tables if name != VERSIONS]


def with_database(server: str, name: str) -> str:
    """The URL of a database on a server."""
    head, _, query = server.partition("?")
    scheme, _, rest = head.partition("://")
    host = rest.partition("/")[0]
    return f"{scheme}://{host}/{name}" + (f"?{query}" if query else "")
