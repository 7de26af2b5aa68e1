"""Opening a store: a newer schema is refused, an older one brought up to date, and never by halves."""

import asyncio
import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from partita.errors import StoreError
from partita.store import changes, role_schema
from partita.store.content_schema import SQLITE_COLUMNS
from partita.store.engines.engine import Engine
from partita.store.engines.location import locate
from partita.store.opening import open_engine, open_store
from partita.store.schema import NEWEST, Schema, revision_of, run_scripts
from partita.store.tables import metadata
from partita.types.messages import text_of
from tests.store.emptying import empty, new_folder
from tests.store.engines import in_a_file_and_on_a_server
from tests.store.examples import ask
from tests.store.workers import PROCESSES, exit_code, open_together, started
from tests.tables import each_row

OURS = "from partita.store.migrations.versions.{} import down_revision, revision, upgrade\n"
LATER = f"{int(NEWEST.head) + 1:04}"
NEXT = f"""
from alembic import op

revision = "{LATER}"
down_revision = "{NEWEST.head}"


def upgrade() -> None:
    op.execute("ALTER TABLE threads ADD COLUMN mood TEXT")
    op.execute("UPDATE threads SET mood = 'calm'")
"""
BROKEN = NEXT + '    op.execute("UPDATE nonsense SET mood = 1")\n'
FAILING = NEXT + '    raise KeyError("mood")\n'


def next_schema(folder: Path, script: str = NEXT) -> Schema:
    """The schema of a later version of this program."""
    scripts = folder / "scripts"
    (scripts / "versions").mkdir(parents=True)
    environment = files("partita.store.migrations") / "env.py"
    (scripts / "env.py").write_text(environment.read_text())
    for ours in (files("partita.store.migrations") / "versions").iterdir():
        if ours.name.startswith("v"):
            (scripts / "versions" / ours.name).write_text(OURS.format(ours.name.removesuffix(".py")))
    (scripts / "versions" / f"v{LATER}.py").write_text(script)
    return Schema(LATER, str(scripts))


async def with_message(url: str) -> None:
    """Put a message into a store."""
    async with open_store(url) as store:
        await store.create_thread("t1", title="Lighthouses")
        await store.save_messages([ask("m1", "How tall?")], thread_id="t1")


async def later(url: str, schema: Schema) -> Engine:
    """A store as a later version opens it."""
    return await open_engine(locate(url), schema=schema)


def moods(connection: Connection) -> list[str]:
    return list(connection.execute(text("SELECT mood FROM threads")).scalars())


def content(path: Path) -> bytes:
    """The bytes of a file that nobody has open."""
    assert [found.name for found in path.parent.glob(f"{path.name}-*")] == []
    return path.read_bytes()


@in_a_file_and_on_a_server
async def test_a_newer_schema_is_refused(url: str, tmp_path: Path) -> None:
    await with_message(url)
    engine = await later(url, next_schema(tmp_path))
    assert await engine.read(moods) == ["calm"]
    await engine.close()
    path = locate(url).path
    before = content(path) if path else b""
    with pytest.raises(
        StoreError, match=rf"the store has schema {LATER}, and Partita \S+ knows up to {NEWEST.head}"
    ) as caught:
        await open_store(url)
    assert caught.value.hint == "a newer Partita wrote it: upgrade with pip install -U partita"
    assert caught.value.where
    assert (content(path) if path else b"") == before


async def test_an_older_file_is_copied_then_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await with_message(str(path))
    engine = await later(str(path), next_schema(tmp_path))
    assert await engine.read(moods) == ["calm"]
    await engine.close()
    async with open_store(
        tmp_path / f"store.db.schema-{NEWEST.head}.bak"
    ) as copy:  # as it was, for today's version
        assert [message.id for message in await copy.list_messages("t1")] == ["m1"]
        thread = await copy.get_thread_by_id("t1")
        assert thread is not None
        assert thread.title == "Lighthouses"
        assert len(await copy.search("tall")) == 1
    assert [found.name for found in tmp_path.glob("*.part")] == []


UNDONE = {
    "0007": ["DROP TABLE counters"],
    "0005": ["DROP INDEX messages_with_tool_calls"],
    "0004": ["ALTER TABLE runs DROP COLUMN agent_result"],
    "0003": ["DROP INDEX threads_by_change", "ALTER TABLE threads DROP COLUMN changed_at"],
    "0002": ["DROP TABLE api_keys"],
}
"""What takes each schema away, the newest first."""


def undo_roles(connection: Connection) -> None:
    """Take the role `chat` away, which the sixth schema added."""
    if connection.dialect.name == "sqlite":
        now, then = (one.replace("'", "''") for one in (role_schema.ROLES, role_schema.BEFORE))
        connection.exec_driver_sql("PRAGMA writable_schema = ON")
        connection.exec_driver_sql(f"UPDATE sqlite_master SET sql = replace(sql, '{now}', '{then}')")
        connection.exec_driver_sql("PRAGMA writable_schema = RESET")
    else:
        connection.exec_driver_sql("ALTER TABLE api_keys DROP CONSTRAINT api_keys_role_check")
        connection.exec_driver_sql(
            f"ALTER TABLE api_keys ADD CONSTRAINT api_keys_role_check CHECK ({role_schema.BEFORE})"
        )


def undo_contents(connection: Connection) -> None:
    """Take away the checks, defaults and views of the fifth schema, whose statements differ by engine."""
    if connection.dialect.name == "sqlite":
        declared = "sql"
        for before, after in SQLITE_COLUMNS.items():
            now, then = (one.replace("'", "''") for one in (after, before))
            declared = f"replace({declared}, '{now}', '{then}')"
        connection.exec_driver_sql("PRAGMA writable_schema = ON")
        connection.exec_driver_sql(f"UPDATE sqlite_master SET sql = {declared} WHERE type = 'table'")
        connection.exec_driver_sql("PRAGMA writable_schema = RESET")
    else:
        connection.exec_driver_sql("DROP FUNCTION partita_jsonb CASCADE")
        for name in ("messages_role", "messages_type"):
            connection.exec_driver_sql(f"ALTER TABLE messages DROP CONSTRAINT {name}")
    # A row that such a database could hold, and that the new checks would refuse.
    connection.exec_driver_sql("UPDATE messages SET type = 'v2', content = 'Only words.' WHERE id = 'old'")


@in_a_file_and_on_a_server
@each_row("version", ["0001", "0002", "0003", "0004", "0005", "0006"])
async def test_a_store_of_every_earlier_version_is_brought_up_to_date(url: str, version: str) -> None:
    engine = await open_engine(locate(url))
    await empty(engine)
    await engine.close()
    await with_message(url)
    async with open_store(url) as store:
        await store.save_messages([ask("old")], thread_id="t1")
    expected = "Only words." if version < "0005" else text_of(ask("old"))

    def undo(connection: Connection) -> None:
        if version < "0006":
            undo_roles(connection)
        if version < "0005":
            undo_contents(connection)
        later = [statements for revision, statements in UNDONE.items() if revision > version]
        for statement in (one for statements in later for one in statements):
            connection.execute(text(statement))
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))

    engine = await open_engine(locate(url))
    await engine.make(undo)
    await engine.close()
    async with open_store(url) as store:
        assert [text_of(one) for one in await store.list_messages("t1")] == ["How tall?", expected]
        with pytest.raises(StoreError, match=r"messages_role|CHECK"):
            await store.write(
                lambda tx: tx.sql("UPDATE messages SET role = 'ghost' WHERE id = 'm1'") and None
            )
        await store.create_key("ada", "chat")
        assert [key.role for key in await store.list_keys()] == ["chat"]
        seen = await store.read(changes.begin)
        await store.set_title("t1", "Lamps")
        assert [one.id for one in (await store.read(changes.look, seen)).threads] == ["t1"]
        run = await store.open_run("t1")
        assert (await store.finish_run(run.id, agent_result=[1])).agent_result == [1]
    engine = await open_engine(locate(url))
    assert await engine.read(revision_of) == NEWEST.head
    await engine.close()


async def test_a_copy_never_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await with_message(str(path))
    (tmp_path / f"store.db.schema-{NEWEST.head}.bak").write_text("mine")
    (tmp_path / f"store.db.schema-{NEWEST.head}-2.bak.part").write_text("of one who was killed")
    engine = await later(str(path), next_schema(tmp_path))
    await engine.close()
    assert (tmp_path / f"store.db.schema-{NEWEST.head}.bak").read_text() == "mine"
    async with open_store(tmp_path / f"store.db.schema-{NEWEST.head}-2.bak") as copy:
        assert await copy.count_threads() == 1


@in_a_file_and_on_a_server
@pytest.mark.parametrize(
    ("script", "reason"), [(BROKEN, "nonsense"), (FAILING, "mood")], ids=["broken SQL", "an error"]
)
async def test_a_migration_that_fails_leaves_everything_as_it_was(
    url: str, tmp_path: Path, script: str, reason: str
) -> None:
    await with_message(url)
    path = locate(url).path
    before = content(path) if path else b""
    with pytest.raises(
        StoreError, match=f"the schema cannot be brought from {NEWEST.head} to {LATER}"
    ) as caught:
        await later(url, next_schema(tmp_path, script))
    assert reason in caught.value.what
    assert caught.value.where
    assert caught.value.hint.startswith("nothing was changed")
    if path is not None:
        copy = path.with_name(f"{path.name}.schema-{NEWEST.head}.bak")
        assert caught.value.hint.endswith(f"a copy from before is {copy}")
        assert copy.exists()
        assert content(path) == before
    async with open_store(url) as store:
        assert [message.id for message in await store.list_messages("t1")] == ["m1"]


@each_row("name", ["memory:", "new.db"])
async def test_a_new_database_needs_no_copy(tmp_path: Path, name: str) -> None:
    folder = new_folder(tmp_path)
    place = name if name == "memory:" else str(folder / name)
    engine = await later(place, next_schema(folder))
    assert await engine.read(moods) == []
    await engine.close()
    assert list(folder.glob("*.bak")) == []


@in_a_file_and_on_a_server
async def test_processes_that_open_a_new_database_at_the_same_moment(url: str, tmp_path: Path) -> None:
    if url.startswith("postgresql"):
        engine = await open_engine(locate(url))
        await engine.make(_empty)
        await engine.close()
    else:
        url = f"sqlite:///{tmp_path / 'new.db'}"
    everybody = PROCESSES.Barrier(3)
    openers = [started(open_together, url, f"p{number}", everybody) for number in range(3)]
    assert await asyncio.gather(*map(exit_code, openers)) == [0, 0, 0]
    async with open_store(url) as store:
        assert await store.count_threads() == 3


async def test_an_old_file_that_two_open_at_the_same_moment_is_copied_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await with_message(str(path))
    schema = next_schema(tmp_path)
    engines = await asyncio.gather(*(later(str(path), schema) for _ in range(3)))
    for engine in engines:
        assert await engine.read(moods) == ["calm"]
        await engine.close()
    assert [found.name for found in tmp_path.glob("*.bak")] == [f"store.db.schema-{NEWEST.head}.bak"]


def _empty(connection: Connection) -> None:
    connection.execute(text("DROP SCHEMA public CASCADE"))
    connection.execute(text("CREATE SCHEMA public"))


async def test_the_tables_are_as_statements_are_built_from_them(engine: Engine) -> None:
    def columns(connection: Connection) -> dict[str, list[str]]:
        found = inspect(connection)
        return {
            name: [column["name"] for column in found.get_columns(name)] for name in found.get_table_names()
        }

    real = await engine.read(columns)
    described = {name: [column.name for column in table.columns] for name, table in metadata.tables.items()}
    assert described.keys() - real.keys() <= {"write_tokens", "log_tail"}  # one engine's own
    for name in described.keys() & real.keys():
        assert set(described[name]) <= set(real[name]), name
        assert set(real[name]) - set(described[name]) <= {"key"}, name  # which SQLite fills in by itself


async def test_tables_made_at_once_are_those_that_the_scripts_make(tmp_path: Path) -> None:
    async with open_store(tmp_path / "store.db"):
        pass
    scripted = create_engine(f"sqlite:///{tmp_path / 'scripted.db'}")
    with scripted.begin() as connection:
        run_scripts(connection, Schema("head", NEWEST.scripts))
    scripted.dispose()
    assert made(tmp_path / "store.db") == made(tmp_path / "scripted.db")


def made(path: Path) -> tuple[list[tuple[str, str]], list[tuple[str]]]:
    """What a file was told to make, and the version that it says it has."""
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        version = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    return [(name, "".join(str(sql).split())) for name, sql in made], version
