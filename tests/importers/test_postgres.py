"""The import of rows of a PostgreSQL database into stores of every kind."""

import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from partita.errors import StoreError, UnavailableError
from partita.importers.databases.importer import import_rows
from partita.importers.databases.postgres_source import PostgresSource
from partita.store.engines.location import locate
from partita.store.store import Store
from tests.importers.database_examples import everything, texts_of, v2
from tests.store.databases import with_database

CODE = "00000000-0000-0000-0000-000000000001"
_numbers = itertools.count(1)
MOMENT = datetime(2026, 3, 1, 8, tzinfo=UTC)
TABLES = """
CREATE TABLE {0}.mastra_threads (
    id TEXT PRIMARY KEY, "resourceId" TEXT, title TEXT NOT NULL, metadata JSONB,
    "createdAt" TIMESTAMP NOT NULL, "updatedAt" TIMESTAMP NOT NULL,
    "createdAtZ" TIMESTAMPTZ, "updatedAtZ" TIMESTAMPTZ
);
CREATE TABLE {0}.mastra_messages (
    id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT,
    "createdAt" TIMESTAMP NOT NULL, "resourceId" TEXT, "createdAtZ" TIMESTAMPTZ
);
"""


ADD_THREAD = """
INSERT INTO {0}.mastra_threads
VALUES (:id, 'ada', 'Bees\\: a talk', '{{"colour"\\: "amber"}}', :local, :local, :moment, :moment)
"""
ADD_MESSAGE = """
INSERT INTO {0}.mastra_messages VALUES (:id, :thread, :content, 'user', 'v2', :local, 'ada', :moment)
"""


async def execute(url: str, *statements: str, **values: Any) -> None:
    """Run statements on a server, each by itself."""
    engine = create_async_engine(locate(url).url, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        for statement in statements:
            await connection.execute(text(statement), values)
    await engine.dispose()


@pytest.fixture
async def foreign(postgres_server: str, worker_id: str) -> AsyncIterator[str]:
    """The URL of a database of another system, with nothing in it."""
    name = f"foreign_{worker_id}_{next(_numbers)}"
    await execute(postgres_server, f'CREATE DATABASE "{name}"')
    yield with_database(postgres_server, name)
    await execute(postgres_server, f'DROP DATABASE "{name}" WITH (FORCE)')


async def fill(url: str, schema: str = "public", *, count: int = 3, id: str = "t1") -> None:
    """A thread of Mastra and its messages. By the server's clock they are two hours later than they were."""
    place = '"' + schema.replace(":", "\\:") + '"'
    local = MOMENT.replace(tzinfo=None) + timedelta(hours=2)
    rows = [
        {
            "id": f"{id}-{count - number:05}",
            "thread": id,
            "content": v2(f"Question {number}?"),
            "local": local + timedelta(milliseconds=number),
            "moment": MOMENT + timedelta(milliseconds=number),
        }
        for number in range(1, count + 1)
    ]
    engine = create_async_engine(locate(url).url)
    async with engine.begin() as connection:
        for statement in (f"CREATE SCHEMA IF NOT EXISTS {place}", *TABLES.format(place).split(";")[:2]):
            await connection.execute(text(statement))
        head = {"id": id, "local": local, "moment": MOMENT}
        await connection.execute(text(ADD_THREAD.format(place)), head)
        await connection.execute(text(ADD_MESSAGE.format(place)), rows)
    await engine.dispose()


async def test_rows_are_read_in_order_and_repeatedly(store: Store, foreign: str) -> None:
    await fill(foreign, count=230)
    report = await import_rows(store, "mastra", foreign, batch_size=100)
    assert (report.new, report.failed, report.lost) == (230, 0, 0)
    assert await texts_of(store, "t1") == [f"Question {number}?" for number in range(1, 231)]
    before = await everything(store)
    assert (await import_rows(store, "mastra", foreign)).unchanged == 230
    assert await everything(store) == before


async def test_the_time_with_a_zone_is_used(store: Store, foreign: str) -> None:
    await fill(foreign)
    await import_rows(store, "mastra", foreign)
    thread = await store.threads.get("t1")
    assert thread is not None
    assert (thread.title, thread.created_at, thread.updated_at) == ("Bees: a talk", MOMENT, MOMENT)
    assert thread.metadata == {"colour": "amber", "imported": {"from": "mastra"}}
    messages = (await store.messages.list("t1")).items
    assert [message.created_at for message in messages] == [
        MOMENT + timedelta(milliseconds=number) for number in (1, 2, 3)
    ]


async def test_rows_of_the_same_time_are_ordered_by_id(store: Store, foreign: str) -> None:
    await fill(foreign)
    await execute(foreign, 'UPDATE mastra_messages SET "createdAtZ" = NULL, "createdAt" = now()')
    await import_rows(store, "mastra", foreign)
    assert await texts_of(store, "t1") == ["Question 3?", "Question 2?", "Question 1?"]


async def test_values_that_python_does_not_have_are_kept(store: Store, foreign: str) -> None:
    await fill(foreign)
    deep = "[" * 3000 + "]" * 3000
    await execute(
        foreign,
        "ALTER TABLE mastra_threads ADD score NUMERIC, ADD tags TEXT[], ADD code UUID",
        "UPDATE mastra_threads SET score = 2.50, tags = '{a,b}', code = CAST(:code AS UUID),"
        """ metadata = CAST(:deep AS JSONB), "updatedAt" = '4000-01-01 BC', "updatedAtZ" = 'infinity'""",
        code=CODE,
        deep=deep,
    )
    assert (await import_rows(store, "mastra", foreign)).new == 3
    thread = await store.threads.get("t1")
    assert thread is not None
    imported = (thread.metadata or {})["imported"]
    assert imported == {
        "from": "mastra",
        "metadata": deep,
        "score": 2.5,
        "tags": "{a,b}",
        "code": CODE,
        "updatedAt": "4000-01-01 00:00:00 BC",
        "updatedAtZ": "infinity",
    }


async def test_tables_of_any_schema_are_found(store: Store, foreign: str) -> None:
    await fill(foreign, "agents: odd")
    report = await import_rows(store, "mastra", foreign)
    assert report.tables == ("agents: odd.mastra_messages", "agents: odd.mastra_threads")
    assert report.new == 3
    await fill(foreign, "second", id="t2")
    with pytest.raises(StoreError, match="2 times the tables") as caught:
        await import_rows(store, "mastra", foreign)
    assert caught.value.hint == "choose a schema or prefix: agents: odd, second"
    assert (await import_rows(store, "mastra", foreign, tables="second")).new == 3


async def test_other_tables_are_named(store: Store, foreign: str) -> None:
    await execute(foreign, "CREATE TABLE invoices (id TEXT)")
    with pytest.raises(StoreError, match="no tables of Mastra") as caught:
        await import_rows(store, "mastra", foreign)
    assert caught.value.hint == "looked for mastra_messages; there are public.invoices"


async def test_a_read_only_database_is_enough(store: Store, foreign: str) -> None:
    await fill(foreign)
    name = foreign.partition("?")[0].rpartition("/")[2]
    await execute(foreign, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    assert (await import_rows(store, "mastra", foreign)).new == 3


async def test_a_missing_server_is_reported(store: Store) -> None:
    with pytest.raises(UnavailableError) as caught:
        await import_rows(store, "mastra", "postgresql://ada:secret@127.0.0.1:1/hive")
    assert "secret" not in str(caught.value)


async def test_the_connection_is_read_only(foreign: str) -> None:
    await fill(foreign)
    source = PostgresSource(locate(foreign))
    connection = await source._connected()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(DBAPIError, match="read-only transaction"):
        await connection.execute(text("DELETE FROM mastra_messages"))
    await source.close()
