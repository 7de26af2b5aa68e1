"""Opening a store: which schemas are accepted, and that a failed upgrade changes nothing."""

import asyncio
import gzip
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text

from partita.errors import NotFoundError, StoreError
from partita.store.backup.restore import restore_backup
from partita.store.connection import open_engine, open_store
from partita.store.doctor.doctor import check_store
from partita.store.engines.engine import Engine
from partita.store.engines.location import locate
from partita.store.logs.run_log import LogEntry
from partita.store.migrations import CURRENT, HEAD, Schema, Step
from partita.store.schema import metadata
from partita.store.sql.transaction import Transaction
from partita.types.messages import AssistantMessage, ToolCallPart, text_of
from partita.types.parts import ErrorTextOutput, StepStartPart, TextPart, UnknownPart
from partita.types.value import Extra
from tests.store.databases import execute as execute_on_server
from tests.store.emptying import empty, new_folder
from tests.store.engines import in_a_file_and_on_a_server
from tests.store.examples import tool_call_message, user_message
from tests.store.workers import PROCESSES, exit_code, open_together, started
from tests.tables import each_row

from .running import NOON

FIXTURES = Path(__file__).parents[1] / "fixtures" / "store"
LATER = f"{int(HEAD) + 1:04}"
ADD_MOOD = ("ALTER TABLE threads ADD COLUMN mood TEXT", "UPDATE threads SET mood = 'calm'")


def add_mood(dialect: str) -> Iterator[str]:
    yield from ADD_MOOD


def with_mood(dialect: str) -> Iterator[str]:
    yield from CURRENT.create(dialect)
    yield ADD_MOOD[0]


def add_mood_to_no_table(dialect: str) -> Iterator[str]:
    yield from (*ADD_MOOD, "UPDATE nonsense SET mood = 1")


def add_mood_and_fail(dialect: str) -> Iterator[str]:
    yield from ADD_MOOD
    raise KeyError("mood")


LATER_SCHEMA = Schema(with_mood, CURRENT.oldest, (*CURRENT.upgrades, Step(LATER, add_mood)))
"""The schema of a later version of this program."""


async def with_message(url: str) -> None:
    """Save a message in a store."""
    async with open_store(url) as store:
        await store.threads.create("t1", title="Lighthouses")
        await store.messages.save([user_message("m1", "How tall?")], thread_id="t1")


async def later(url: str, schema: Schema = LATER_SCHEMA) -> Engine:
    """A store as a later version opens it."""
    return await open_engine(locate(url), schema=schema)


def moods(connection: Connection) -> list[str]:
    return list(connection.execute(text("SELECT mood FROM threads")).scalars())


def content(path: Path) -> bytes:
    """The bytes of a file that is not open."""
    assert [found.name for found in path.parent.glob(f"{path.name}-*")] == []
    return path.read_bytes()


@in_a_file_and_on_a_server
async def test_a_newer_schema_is_refused(url: str, tmp_path: Path) -> None:
    await with_message(url)
    engine = await later(url)
    assert await engine.read(moods) == ["calm"]
    await engine.close()
    path = locate(url).path
    before = content(path) if path else b""
    with pytest.raises(
        StoreError, match=rf"the store has schema {LATER}, and Partita \S+ knows up to {HEAD}"
    ) as caught:
        await open_store(url)
    assert caught.value.hint == "a newer Partita wrote it: upgrade with pip install -U partita"
    assert caught.value.where
    assert (content(path) if path else b"") == before


async def test_an_older_file_is_copied_and_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await with_message(str(path))
    engine = await later(str(path))
    assert await engine.read(moods) == ["calm"]
    await engine.close()
    async with open_store(
        tmp_path / f"store.db.schema-{HEAD}.bak"
    ) as copy:  # unchanged, readable by this version
        assert [message.id for message in await copy.messages.list("t1")] == ["m1"]
        thread = await copy.threads.get("t1")
        assert thread is not None
        assert thread.title == "Lighthouses"
        assert len(await copy.search("tall")) == 1
    assert [found.name for found in tmp_path.glob("*.part")] == []


@in_a_file_and_on_a_server
@each_row("version", ["0001", "0004", "0006"])
async def test_a_store_of_a_development_version_is_refused_and_not_changed(url: str, version: str) -> None:
    engine = await open_engine(locate(url))
    await empty(engine)
    await engine.close()
    await with_message(url)
    await set_version(url, version)
    path = locate(url).path
    before = content(path) if path else b""
    with pytest.raises(StoreError, match=f"has schema {version} of a development version") as caught:
        await open_store(url)
    assert f"supports {CURRENT.oldest} and later" in caught.value.what
    assert "nothing was changed; keep it, and import your sessions again" in caught.value.hint
    assert caught.value.where
    assert (content(path) if path else b"") == before
    assert path is None or [found.name for found in path.parent.iterdir()] == [path.name]
    await set_version(url, HEAD)
    async with open_store(url) as store:
        assert [text_of(one) for one in await store.messages.list("t1")] == ["How tall?"]


async def set_version(url: str, version: str) -> None:
    """Write a version into a database that no store has open."""
    statement = f"UPDATE alembic_version SET version_num = '{version}'"
    path = locate(url).path
    if path is None:
        await asyncio.to_thread(execute_on_server, url, statement)
        return
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


async def test_a_file_with_schema_0007_is_upgraded(tmp_path: Path) -> None:
    path = old_file(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE messages SET internal = 1 WHERE id = 'm1'")  # it still counts
    before = rows_of(path)
    async with open_store(path) as store:
        assert [text_of(one) for one in await store.messages.list("t1")] == ["Thirty metres."]
        assert [one.message_count for one in await store.threads.list()] == [1]
        assert [hit.message_id for hit in await store.search("metres")] == ["m2"]
        assert [key.role for key in await store.keys.list()] == ["chat"]
        logs = {run: await store.logs.read(run) for run in ("r1", "r2", "r3", "r4")}
        assert [len(logs[run]) for run in ("r1", "r2")] == [1, 1]
        assert [entry.raw for entry in logs["r3"]] == [b"line %d\n" % number for number in range(130)]
        assert [len(entry.raw or b"") for entry in logs["r4"]] == [2, 3, 3, 3, 3, 9000, 3, 3, 3, 3, 4, 4, 4]
        for run, entries in logs.items():
            if run != "r1":  # an ended run
                entry = entries[-1]
                number = await store.logs.append(run, [LogEntry(entry.time, entry.chunk, entry.raw)])
                assert number == len(entries) + 1
                await store.runs.finish(run, agent_result=[2])
            await store.logs.seal(run)
            assert (await store.logs.read(run))[: len(entries)] == entries
        assert (await check_store(store, full=True)).healthy
    async with open_store(tmp_path / "new.db"):
        pass
    assert statements_of(path) == statements_of(tmp_path / "new.db")
    assert rows_of(tmp_path / "store.db.schema-0007.bak") == before


@pytest.mark.parametrize("version", ["0001", "0006"])
async def test_a_file_of_a_development_version_is_not_changed(tmp_path: Path, version: str) -> None:
    path = old_file(tmp_path)
    await set_version(str(path), version)
    before = content(path)
    with pytest.raises(StoreError, match=f"has schema {version} of a development version") as caught:
        await open_store(path)
    assert caught.value.where == str(path)
    assert content(path) == before
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


async def test_a_server_with_schema_0007_is_upgraded(postgres_url: str) -> None:
    await with_message(postgres_url)
    async with open_store(postgres_url) as store:
        run = await store.runs.open("t1")
        for line in (b"1", b"2"):
            await store.logs.append(run.id, [LogEntry(NOON, raw=line)])
        described = await store.read(describe_server)
        await store.write(make_schema_0007)
    async with open_store(postgres_url) as store:
        assert await store.read(describe_server) == described
        assert await store.logs.append(run.id, [LogEntry(NOON, raw=b"3")]) == 3
        assert [entry.raw for entry in await store.logs.read(run.id)] == [b"1", b"2", b"3"]
        assert [text_of(one) for one in await store.messages.list("t1")] == ["How tall?"]


def make_schema_0007(tx: Transaction) -> None:
    """Give a server the schema 0007, and the rows that it has there."""
    tx.sql("ALTER TABLE runs ADD COLUMN tail BIGINT, ADD COLUMN tail_rows INTEGER")
    tx.sql("ALTER TABLE threads DROP COLUMN repository")
    tx.sql("ALTER TABLE messages DROP COLUMN parts_summary")
    tx.sql("UPDATE run_log SET encoding = 'plain', data = '\\xdd00000001'::bytea || data")
    tx.sql("UPDATE alembic_version SET version_num = '0007'")


@in_a_file_and_on_a_server
async def test_messages_with_schema_0010_get_summaries_of_their_parts(url: str) -> None:
    child = tool_call_message("inner", call="c2")
    calls = [
        TextPart(text="First."),
        StepStartPart(),
        ToolCallPart(id="c1", name="two\nlines", state="approval-requested", input={}),
        ToolCallPart(
            id="c3", name="Task", state="output-error", output=ErrorTextOutput("lost"), children=(child,)
        ),
        UnknownPart(raw=Extra({"type": "a new\ntype"})),
    ]
    async with open_store(url) as store:
        await store.threads.create("t1")
        messages = [user_message("m1"), tool_call_message("m2"), AssistantMessage(id="m3", content=calls)]
        await store.messages.save(messages, thread_id="t1")
        outline = await store.threads.outline("t1")
        await store.write(drop_summaries)
    async with open_store(url) as store:
        assert await store.threads.outline("t1") == outline
        assert (await check_store(store)).healthy
    assert outline.rows[-1].calls == {"other": 1, "agent": 1}


def drop_summaries(tx: Transaction) -> None:
    """Give a store the schema 0010."""
    tx.sql("ALTER TABLE messages DROP COLUMN parts_summary")
    tx.sql("UPDATE alembic_version SET version_num = '0010'")


@in_a_file_and_on_a_server
async def test_a_backup_with_schema_0007_is_restored(url: str) -> None:
    async with open_store(url) as store:
        report = await restore_backup(store, FIXTURES / "schema-0007.backup")
        assert (report.schema, report.rows["messages"]) == ("0007", 2)
        assert [hit.message_id for hit in await store.search("metres")] == ["m2"]
        assert [len(await store.logs.read(run)) for run in ("r1", "r2")] == [1, 1]
        assert (await check_store(store)).healthy


async def test_a_copy_does_not_replace_an_earlier_copy(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await with_message(str(path))
    (tmp_path / f"store.db.schema-{HEAD}.bak").write_text("mine")
    (tmp_path / f"store.db.schema-{HEAD}-2.bak.part").write_text("of one who was killed")
    engine = await later(str(path))
    await engine.close()
    assert (tmp_path / f"store.db.schema-{HEAD}.bak").read_text() == "mine"
    async with open_store(tmp_path / f"store.db.schema-{HEAD}-2.bak") as copy:
        assert await copy.threads.count() == 1


@in_a_file_and_on_a_server
@pytest.mark.parametrize(
    ("statements", "reason"),
    [(add_mood_to_no_table, "nonsense"), (add_mood_and_fail, "mood")],
    ids=["broken SQL", "an error"],
)
async def test_a_failed_migration_changes_nothing(
    url: str, statements: Callable[[str], Iterator[str]], reason: str
) -> None:
    await with_message(url)
    path = locate(url).path
    before = content(path) if path else b""
    with pytest.raises(StoreError, match=f"the schema cannot be upgraded from {HEAD} to {LATER}") as caught:
        await later(url, CURRENT._replace(upgrades=(*CURRENT.upgrades, Step(LATER, statements))))
    assert reason in caught.value.what
    assert caught.value.where
    assert caught.value.hint.startswith("nothing was changed")
    if path is not None:
        copy = path.with_name(f"{path.name}.schema-{HEAD}.bak")
        assert caught.value.hint.endswith(f"a copy from before is {copy}")
        assert copy.exists()
        assert content(path) == before
    async with open_store(url) as store:
        assert [message.id for message in await store.messages.list("t1")] == ["m1"]


@each_row("name", ["memory:", "new.db"])
async def test_a_new_database_needs_no_copy(tmp_path: Path, name: str) -> None:
    folder = new_folder(tmp_path)
    place = name if name == "memory:" else str(folder / name)
    engine = await later(place)
    assert await engine.read(moods) == []
    await engine.close()
    assert list(folder.glob("*.bak")) == []


@in_a_file_and_on_a_server
async def test_processes_that_open_a_new_database_at_the_same_moment(url: str, tmp_path: Path) -> None:
    if url.startswith("postgresql"):
        engine = await open_engine(locate(url))
        await engine.change_schema(_empty)
        await engine.close()
    else:
        url = f"sqlite:///{tmp_path / 'new.db'}"
    everybody = PROCESSES.Barrier(3)
    openers = [started(open_together, url, f"p{number}", everybody) for number in range(3)]
    assert await asyncio.gather(*map(exit_code, openers)) == [0, 0, 0]
    async with open_store(url) as store:
        assert await store.threads.count() == 3


async def test_an_old_file_is_copied_once_if_two_processes_open_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await with_message(str(path))
    engines = await asyncio.gather(*(later(str(path)) for _ in range(3)))
    for engine in engines:
        assert await engine.read(moods) == ["calm"]
        await engine.close()
    assert [found.name for found in tmp_path.glob("*.bak")] == [f"store.db.schema-{HEAD}.bak"]


def _empty(connection: Connection) -> None:
    connection.execute(text("DROP SCHEMA public CASCADE"))
    connection.execute(text("CREATE SCHEMA public"))


async def test_the_tables_match_the_table_objects(engine: Engine) -> None:
    def columns(connection: Connection) -> dict[str, list[str]]:
        found = inspect(connection)
        return {
            name: [column["name"] for column in found.get_columns(name)] for name in found.get_table_names()
        }

    real = await engine.read(columns)
    described = {name: [column.name for column in table.columns] for name, table in metadata.tables.items()}
    assert described.keys() - real.keys() <= {"write_tokens", "log_tail"}  # of one engine only
    for name in described.keys() & real.keys():
        assert set(described[name]) <= set(real[name]), name
        assert set(real[name]) - set(described[name]) <= {"key"}, name  # filled in by SQLite


async def test_a_new_database_on_a_server_has_the_tables_that_are_described(postgres_url: str) -> None:
    async with open_store(postgres_url) as store:
        found = await store.read(describe_server)
    expected = (FIXTURES / f"schema-{HEAD}.postgresql.txt").read_text()
    assert "\n".join(found) + "\n" == expected


def describe_server(tx: Transaction) -> list[str]:
    """All tables, columns, indexes, constraints, views and functions of a server."""
    return [row[0] for row in tx.sql(DESCRIBE_POSTGRES)]


def old_file(folder: Path) -> Path:
    """A store that an earlier version wrote, with schema 0007. The runs `r2` to `r4` are active."""
    path = folder / "store.db"
    path.write_bytes(gzip.decompress((FIXTURES / "schema-0007.db.gz").read_bytes()))
    return path


def statements_of(path: Path) -> tuple[list[tuple[str, str]], list[tuple[str]]]:
    """The statements that created the tables of a file, without spaces; and its version."""
    with closing(sqlite3.connect(path)) as connection:
        created = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        version = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    return [(name, _normalized(str(sql))) for name, sql in created], version


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a file."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in tables}


def _normalized(sql: str) -> str:
    sql = re.sub(r"CONSTRAINT messages_\w+ ", "", sql).replace(
        " REAL ", " DOUBLE PRECISION "
    )  # the same in SQLite
    return "".join(sql.split())


DESCRIBE_POSTGRES = """
SELECT line FROM (
    SELECT concat('column ', attrelid::regclass, '.', attname, ' ', format_type(atttypid, atttypmod),
        CASE WHEN attnotnull THEN ' NOT NULL' END, ' ' || pg_get_expr(adbin, adrelid),
        CASE WHEN attidentity <> '' THEN ' IDENTITY' END) AS line
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped
UNION ALL
    SELECT concat('table ', oid::regclass, ' ', reloptions) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
UNION ALL
    SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL
    SELECT concat('constraint ', conrelid::regclass, ' ', conname, ' ',
        replace(pg_get_constraintdef(oid), ' NOT VALID', ''))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
UNION ALL
    SELECT concat('view ', viewname) FROM pg_views WHERE schemaname = 'public'
UNION ALL
    SELECT concat('function ', proname, ' ', md5(prosrc)) FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
) AS described (line)
ORDER BY line COLLATE "C"
"""


@in_a_file_and_on_a_server
async def test_a_store_is_not_created_unless_wanted(url: str) -> None:
    path = locate(url).path
    if path is not None:
        path.unlink()
    else:
        engine = await open_engine(locate(url))
        await engine.autocommit(_empty)
        await engine.close()
    for _ in range(2):  # the first attempt leaves nothing
        with pytest.raises(NotFoundError, match="the store does not exist" if path else "has no tables of"):
            await open_store(url, create=False)
    assert path is None or list(path.parent.iterdir()) == []
    await with_message(url)
    async with open_store(url, create=False) as store:
        assert await store.threads.count() == 1
