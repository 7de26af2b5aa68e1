"""Sources of rows: SQLite files in any state, dumps, and files that are not sources."""

import csv
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from partita.errors import DecodeError, StoreError, UnavailableError
from partita.importers.databases.dump_source import known_tables, table_named
from partita.importers.databases.importer import import_rows
from partita.importers.databases.system import get_system
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.json import JsonObject, dumps
from tests.importers.database_examples import (
    CHERRY_OLD,
    MASTRA,
    SMITHERS_OLD,
    add,
    everything,
    make_sqlite,
    mastra_message,
    mastra_thread,
    texts_of,
)
from tests.store.emptying import in_empty_store, new_folder
from tests.tables import each_row

BEES = ["Where is the hive?", "In the old oak.", "One of two at once.", "The other."]


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with open_store("memory:") as opened:
        yield opened


def files(folder: Path) -> dict[str, bytes]:
    """The files of a folder, byte by byte."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# SQLite


def closed(path: Path) -> sqlite3.Connection | None:
    return None


def closed_after_wal(path: Path) -> sqlite3.Connection | None:
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA journal_mode = wal").fetchone() == ("wal",)
    database.close()
    return None


def running(path: Path) -> sqlite3.Connection | None:
    """A program that has the file open, its last rows still in the write-ahead log."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = wal")
    database.execute("UPDATE mastra_threads SET title = 'Bees in the log' WHERE id = 't1'")
    database.commit()
    return database


STATES: dict[str, tuple[Callable[[Path], sqlite3.Connection | None], str]] = {
    "closed": (closed, "Bees"),
    "closed, with a write-ahead log when it is open": (closed_after_wal, "Bees"),
    "open in a running program": (running, "Bees in the log"),
}


@pytest.mark.parametrize(("bring", "title"), STATES.values(), ids=STATES)
async def test_a_sqlite_file_is_read_and_not_touched(
    store: Store, tmp_path: Path, bring: Callable[[Path], sqlite3.Connection | None], title: str
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    source = make_sqlite(folder / "mastra 100%.db", MASTRA)
    program = bring(source)
    before = files(folder)
    report = await import_rows(store, "mastra", str(source))
    after = files(folder)
    if program is not None:
        program.close()
        shared = f"{source.name}-shm"  # where readers and writers of a log note who reads
        before.pop(shared, None)
        after.pop(shared, None)
    assert after == before
    assert (report.new, report.failed) == (5, 0)
    thread = await store.threads.get("t1")
    assert thread is not None
    assert thread.title == title


async def test_the_write_ahead_log_of_a_crash_is_read(store: Store, tmp_path: Path) -> None:
    source = make_sqlite(tmp_path / "mastra.db", MASTRA)
    program = running(source)
    assert program is not None
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("mastra.db", "mastra.db-wal"):
        shutil.copy(tmp_path / name, crashed / name)
    program.close()
    await import_rows(store, "mastra", str(crashed / "mastra.db"))
    thread = await store.threads.get("t1")
    assert thread is not None
    assert thread.title == "Bees in the log"


async def test_a_program_that_starts_meanwhile_is_reported(store: Store, tmp_path: Path) -> None:
    source = make_sqlite(tmp_path / "mastra.db", MASTRA)
    closed_after_wal(source)
    programs: list[sqlite3.Connection | None] = []

    def start(done: int, total: int) -> None:
        programs.append(running(source))

    with pytest.raises(UnavailableError, match="began to use the file") as caught:
        await import_rows(store, "mastra", str(source), progress=start)
    assert caught.value.hint == "try again"
    for program in programs:
        assert program is not None
        program.close()
    assert (await import_rows(store, "mastra", str(source))).unchanged == 5


async def test_a_prefix_is_found(store: Store, tmp_path: Path) -> None:
    source = make_sqlite(tmp_path / "m.db", MASTRA, prefix="shop_")
    report = await import_rows(store, "mastra", str(source))
    assert report.tables == ("shop_mastra_messages", "shop_mastra_threads")
    assert await texts_of(store, "t1") == BEES


async def test_one_of_several_prefixes_is_chosen(store: Store, tmp_path: Path) -> None:
    source = make_sqlite(tmp_path / "m.db", MASTRA, prefix="shop_")
    make_sqlite(source, {"mastra_threads": [], "mastra_messages": [mastra_message("x", 1)]}, prefix="test_")
    with pytest.raises(StoreError, match="2 times the tables of Mastra") as caught:
        await import_rows(store, "mastra", str(source))
    assert caught.value.hint == "choose a schema or prefix: shop_, test_"
    report = await import_rows(store, "mastra", str(source), tables="test_")
    assert report.messages == 1
    with pytest.raises(StoreError, match="no tables of Mastra under 'other_'"):
        await import_rows(store, "mastra", str(source), tables="other_")


async def test_both_layouts_of_smithers_may_share_a_file(store: Store, tmp_path: Path) -> None:
    memory = {
        "_smithers_memory_messages": [
            {"id": "m", "thread_id": "k", "role": "user", "content_json": '"Hi."', "created_at_ms": 1}
        ]
    }
    source = make_sqlite(tmp_path / "s.db", {**SMITHERS_OLD, **memory})
    report = await import_rows(store, "smithers", str(source))
    assert sorted(thread.id for thread in (await store.threads.list()).items) == ["g0", "g1", "k"]
    assert report.messages == 5


@pytest.mark.parametrize("kind", ["VIEW", "TABLE WITHOUT ROWID"])
async def test_without_an_order_of_insertion_the_id_decides(store: Store, tmp_path: Path, kind: str) -> None:
    source = make_sqlite(tmp_path / "m.db", MASTRA)
    database = sqlite3.connect(source)
    database.execute("ALTER TABLE mastra_messages RENAME TO stored")
    if kind == "VIEW":
        database.execute("CREATE VIEW mastra_messages AS SELECT * FROM stored")
    else:
        columns = 'id TEXT PRIMARY KEY, thread_id, content, role, type, "createdAt", "resourceId"'
        database.execute(f"CREATE TABLE mastra_messages ({columns}) WITHOUT ROWID")
        database.execute("INSERT INTO mastra_messages SELECT * FROM stored")
    database.commit()
    database.close()
    await import_rows(store, "mastra", str(source))
    assert await texts_of(store, "t1") == [*BEES[:2], "The other.", "One of two at once."]


async def test_times_are_compared_as_times(store: Store, tmp_path: Path) -> None:
    spellings = [
        "2026-03-01 08:00:01",
        1_772_352_002_000,
        "2026-03-01T10:00:03+02:00",
        "2026-03-01T08:00:04Z",
    ]
    rows = [
        mastra_message(f"m{number}", 0, str(number), createdAt=spelling)
        for number, spelling in reversed(list(enumerate(spellings)))
    ]
    source = make_sqlite(tmp_path / "m.db", {"mastra_threads": [mastra_thread()], "mastra_messages": rows})
    await import_rows(store, "mastra", str(source))
    assert await texts_of(store, "t1") == ["0", "1", "2", "3"]


async def test_binary_json_and_broken_text_are_read(store: Store, tmp_path: Path) -> None:
    source = make_sqlite(tmp_path / "m.db", {"mastra_threads": [], "mastra_messages": []})
    # {"a": 1}: an object of 4 bytes, a text of 1, an integer of 1
    add(source, "mastra_threads", [mastra_thread(metadata=b"\x4c\x17a\x131")])
    database = sqlite3.connect(source)
    for key, value in (("a", "CAST(x'e9' AS TEXT)"), ("b", "'plain'"), ("c", "x'ff00'")):
        database.execute(
            'INSERT INTO mastra_messages (id, thread_id, role, content, "createdAt")'
            f" VALUES ('{key}', 't1', 'user', {value}, CAST(x'e9' AS TEXT))"
        )
    database.commit()
    database.close()
    report = await import_rows(store, "mastra", str(source))
    thread = await store.threads.get("t1")
    assert thread is not None
    assert thread.metadata == {"a": 1, "imported": {"from": "mastra"}}
    assert report.new + report.failed == 3
    assert (await texts_of(store, "t1"))[:2] == ["\udce9", "plain"]


async def test_too_deep_nesting_is_reported(store: Store, tmp_path: Path) -> None:
    deep = b"".join(b"\xeb" + (5 * inside).to_bytes(4, "big") for inside in reversed(range(5000)))
    content = '{"format": 2, "parts": ' + "[" * 5000 + "]" * 5000 + "}"
    tables = {
        "mastra_threads": [mastra_thread(metadata=deep)],
        "mastra_messages": [mastra_message("a", 1), mastra_message("b", 2, content=content)],
    }
    report = await import_rows(store, "mastra", str(make_sqlite(tmp_path / "m.db", tables)))
    assert [(one.table, one.id) for one in report.failures] == [("mastra_threads", "t1")]
    assert "nested too deeply" in report.failures[0].reason
    assert (report.new, report.lost) == (2, 1)
    thread = await store.threads.get("t1")
    assert thread is not None
    assert (thread.title, thread.metadata) == ("Bees", {"imported": {"from": "mastra"}})


# Dumps


def as_document(folder: Path) -> Path:
    path = folder / "dump.json"
    path.write_bytes(dumps({**MASTRA, "mastra_traces": [{"id": "x"}]}))
    return path


def as_indented_document(folder: Path) -> Path:
    path = folder / "export"
    path.write_text(
        "\ufeff{\n" + ",\n".join(f'"{k}": {dumps(list(v)).decode()}' for k, v in MASTRA.items()) + "\n}"
    )
    return path


def as_list(folder: Path) -> Path:
    path = folder / "rows.json"
    path.write_bytes(dumps([row for rows in MASTRA.values() for row in rows]))
    return path


def as_lines(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    rows = [*MASTRA["mastra_messages"], *MASTRA["mastra_threads"]]
    path.write_bytes(b"\n\n".join(map(dumps, rows)))
    return path


def as_folder_of_csv(folder: Path) -> Path:
    for name, rows in MASTRA.items():
        with (folder / f"public.{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    (folder / "mastra_evals.csv").write_text("id\n1\n")
    (folder / "notes.txt").write_text("not a dump")
    return folder


def as_folder_of_json(folder: Path) -> Path:
    (folder / "mastra_threads.json").write_bytes(dumps(MASTRA["mastra_threads"]))
    (folder / "mastra_messages.jsonl").write_bytes(b"\n".join(map(dumps, MASTRA["mastra_messages"])))
    return folder


DUMPS = {
    "one JSON document by table": as_document,
    "an indented document with a mark before it": as_indented_document,
    "one list of rows of all tables": as_list,
    "JSON lines of all tables": as_lines,
    "a folder of CSV files": as_folder_of_csv,
    "a folder of JSON files": as_folder_of_json,
}


@each_row("write", DUMPS.values(), ids=DUMPS)
@in_empty_store
async def test_every_dump_has_the_rows_of_the_database(
    store: Store, tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    folder = new_folder(tmp_path)
    source = write(folder)
    report = await import_rows(store, "mastra", str(source))
    assert (report.threads, report.new, report.failed) == (2, 5, 0)
    async with open_store("memory:") as other:
        await import_rows(other, "mastra", str(make_sqlite(new_folder(tmp_path) / "m.db", MASTRA)))
        assert await everything(store) == await everything(other)
    assert (await import_rows(store, "mastra", str(source))).unchanged == 5


async def test_numbers_in_a_csv_are_numbers(store: Store, tmp_path: Path) -> None:
    rows = CHERRY_OLD["session_messages"]
    with (tmp_path / "session_messages.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(reversed(rows))
    await import_rows(store, "cherry", str(tmp_path / "session_messages.csv"))
    assert await texts_of(store, "s1") == ["Trim them?", "In June.", "Ok."]


async def test_a_field_may_be_very_long(store: Store, tmp_path: Path) -> None:
    text = "honey " * 100_000
    row = mastra_message("a", 1, text)
    with (tmp_path / "mastra_messages.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, row.keys())
        writer.writeheader()
        writer.writerow(row)
    await import_rows(store, "mastra", str(tmp_path))
    assert await texts_of(store, "t1") == [text]


async def test_lines_that_are_not_rows_are_reported(store: Store, tmp_path: Path) -> None:
    lines = [
        dumps(mastra_message("a", 1)),
        b'{"id": "b", "thr',
        b"[1]",
        dumps({"id": "c"}),
        dumps(mastra_message("d", 2)),
    ]
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join(lines))
    report = await import_rows(store, "mastra", str(tmp_path / "rows.jsonl"))
    assert (report.new, report.failed) == (2, 3)
    failures = [f"{one.id}: {one.reason}" for one in report.failures]
    assert failures[0].startswith("line 2: invalid JSON")
    assert failures[1:] == [
        "rows.jsonl line 3: a row is an object, found array",
        "rows.jsonl line 4: no table has these columns",
    ]


async def test_a_csv_row_of_another_width_is_reported(store: Store, tmp_path: Path) -> None:
    good = "a,t1,hello,user"
    (tmp_path / "mastra_messages.csv").write_text(f"id,thread_id,content,role\n{good}\nb,t1,so,called,user\n")
    report = await import_rows(store, "mastra", str(tmp_path))
    assert [str(one) for one in report.failures] == [
        "mastra_messages.csv line 3: 5 fields under a header of 4"
    ]
    assert await texts_of(store, "t1") == ["hello"]


async def test_rows_without_an_id_get_one_from_their_position(store: Store, tmp_path: Path) -> None:
    rows: list[JsonObject] = [{"threadId": "t", "role": "user", "content": text} for text in ("a", "b", "c")]
    (tmp_path / "x.json").write_bytes(dumps([*rows, {**rows[0], "id": 7}]))
    await import_rows(store, "mastra", str(tmp_path / "x.json"), batch_size=2)
    ids = [message.id for message in (await store.messages.list("t")).items]
    assert ids == ["mastra_messages-1", "mastra_messages-2", "mastra_messages-3", "7"]
    assert (await import_rows(store, "mastra", str(tmp_path / "x.json"))).unchanged == 4


NAMES = {
    "mastra_messages": "mastra_messages",
    "public.mastra_messages": "mastra_messages",
    "shop_mastra_threads": "mastra_threads",
    "messages": None,
    "mastra_messages_old": None,
}


@each_row(("name", "table"), NAMES.items(), ids=NAMES)
def test_a_dump_is_named_after_its_table(name: str, table: str | None) -> None:
    assert table_named(name, known_tables(get_system("mastra"))) == table


# No sources


def other_database(folder: Path) -> Path:
    return make_sqlite(folder / "other.db", CHERRY_OLD)


def other_columns(folder: Path) -> Path:
    path = folder / "other.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE mastra_messages (id TEXT, body TEXT)")
    database.close()
    return path


def empty_database(folder: Path) -> Path:
    path = folder / "empty.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 1")
    database.close()
    return path


def damaged_database(folder: Path) -> Path:
    path = folder / "damaged.db"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 500)
    return path


def written(name: str, content: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


WRONG: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "nothing there": (lambda folder: folder / "gone.db", "cannot be read", "give a SQLite file"),
    "an empty file": (written("a.db", b""), "an empty file", "give a SQLite file"),
    "a picture": (written("a.png", b"\x89PNG\r\n\x1a\n"), "neither a SQLite", "give a SQLite file"),
    "a damaged database": (damaged_database, "not a SQLite database", "encrypted"),
    "a database of another system": (
        other_database,
        "no tables of Mastra",
        "looked for mastra_messages; there are agents, session_messages, sessions",
    ),
    "a table with other columns": (other_columns, "no tables of Mastra", "without threadId, role, content"),
    "a database without tables": (empty_database, "no tables of Mastra", "no tables at all"),
    "a folder without dumps": (lambda folder: folder, "no tables of Mastra", "no tables at all"),
    "a document of other tables": (
        written("a.json", b'{"users": []}'),
        "no tables of Mastra",
        "there are users",
    ),
    "a CSV without a header": (
        written("mastra_messages.csv", b"a,t1,hello,user\nb,t1,hello,user\n"),
        "no tables of Mastra",
        "without threadId, role, content",
    ),
}


@pytest.mark.parametrize(("make", "what", "hint"), WRONG.values(), ids=WRONG)
async def test_a_file_that_is_not_a_source_is_reported(
    store: Store, tmp_path: Path, make: Callable[[Path], Path], what: str, hint: str
) -> None:
    source = make(tmp_path)
    with pytest.raises(StoreError) as caught:
        await import_rows(store, "mastra", str(source))
    assert what in caught.value.what
    assert hint in caught.value.hint
    assert str(source) in caught.value.where


async def test_a_broken_document_is_reported(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"id": "a", ')
    with pytest.raises(DecodeError, match="invalid JSON") as caught:
        await import_rows(store, "mastra", str(tmp_path / "a.json"))
    assert caught.value.where.startswith(str(tmp_path / "a.json"))


@each_row("name", ["", "memory:", "mysql://host/db"])
async def test_a_name_that_is_not_a_source_is_reported(store: Store, name: str) -> None:
    with pytest.raises(StoreError) as caught:
        await import_rows(store, "mastra", name)
    assert caught.value.hint
