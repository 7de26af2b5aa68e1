"""The sessions that OpenCode stores, in all versions, are read without changing any file."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from partita.errors import NotFoundError, UnavailableError
from partita.logs.sources.opencode_store import open_store
from partita.logs.sources.source import SessionStore, StoredSession
from partita.types.json import Json, JsonObject, dumps
from tests.formats.opencode_counts import read
from tests.logs.opencode_databases import add_second

INFO: JsonObject = {
    "id": "ses_1",
    "projectID": "p1",
    "parentID": "ses_0",
    "directory": "/work",
    "title": "Repair the fence",
    "version": "1.2.20",
    "time": {"created": 1000, "updated": 9000},
    "summary": {"additions": 2, "deletions": 1, "files": 1},
    "revert": {"messageID": "msg_9"},
}
MESSAGES: list[JsonObject] = [
    {
        "info": {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1000}},
        "parts": [{"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text", "text": "Go"}],
    },
    {
        "info": {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": 2000}},
        "parts": [
            {"id": "prt_2", "messageID": "msg_2", "sessionID": "ses_1", "type": "step-start"},
            {"id": "prt_3", "messageID": "msg_2", "sessionID": "ses_1", "type": "text", "text": "Done."},
        ],
    },
]

SCHEMA = """
CREATE TABLE session (
    id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
    share_url TEXT, summary_additions INTEGER, summary_deletions INTEGER, summary_files INTEGER, revert TEXT,
    time_created INTEGER, time_updated INTEGER, time_archived INTEGER
);
CREATE TABLE message (
    id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT
);
CREATE TABLE part (
    id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT
);
"""


def write(file: Path, value: Json) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(dumps(value))


def in_folders(root: Path) -> Path:
    storage = root / "storage"
    write(storage / "session" / "p1" / "ses_1.json", INFO)
    for message in MESSAGES:
        write(storage / "message" / "ses_1" / f"{message['info']['id']}.json", message["info"])
        for part in message["parts"]:
            write(storage / "part" / message["info"]["id"] / f"{part['id']}.json", part)
    return storage


def in_old_folders(root: Path) -> Path:
    storage = root / "project" / "fence" / "storage"
    write(storage / "session" / "info" / "ses_1.json", INFO)
    for message in MESSAGES:
        write(storage / "session" / "message" / "ses_1" / f"{message['info']['id']}.json", message["info"])
        for part in message["parts"]:
            write(storage / "session" / "part" / "ses_1" / message["info"]["id"] / f"{part['id']}.json", part)
    return storage


def without_ids(fields: JsonObject) -> str:
    return dumps({key: fields[key] for key in fields if key not in ("id", "sessionID", "messageID")}).decode()


def in_database(root: Path) -> Path:
    path = root / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
        database.execute(
            "INSERT INTO session VALUES ('ses_1', 'p1', 'ses_0', '/work', 'Repair the fence', '1.2.20', NULL,"
            """ 2, 1, 1, '{"messageID":"msg_9"}', 1000, 9000, NULL)"""
        )
        for message in MESSAGES:
            info = message["info"]
            at = info["time"]["created"]
            row = (info["id"], "ses_1", at, at, without_ids(info))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
            for part in message["parts"]:
                row = (part["id"], info["id"], "ses_1", at, at, without_ids(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    return path


KINDS = {"folders": in_folders, "the oldest folders": in_old_folders, "a database": in_database}


@pytest.fixture(params=KINDS.values(), ids=list(KINDS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = request.param(tmp_path)
    return path


@pytest.fixture
def store(place: Path) -> Iterator[SessionStore]:
    opened = open_store(place)
    yield opened
    opened.close()


def info(store: SessionStore, session: str = "ses_1") -> JsonObject:
    return next(store.records(session))


def messages(store: SessionStore, session: str = "ses_1") -> list[JsonObject]:
    return list(store.records(session))[1:]


def test_a_session_is_read_as_it_would_be_exported(store: SessionStore) -> None:
    assert list(store.list_sessions()) == [StoredSession("ses_1", "ses_0")]
    assert list(store.records("ses_1")) == [INFO, *MESSAGES]
    assert store.problems == []


def test_the_file_of_a_session_opens_its_folder(tmp_path: Path) -> None:
    with closing(open_store(in_folders(tmp_path) / "session" / "p1" / "ses_1.json")) as store:
        assert messages(store) == MESSAGES


def test_several_threads_read_one_after_the_other(place: Path) -> None:
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        store = one.submit(open_store, place).result()
        records = store.records("ses_1")
        assert [one.submit(next, records).result(), other.submit(next, records).result()] == [
            INFO,
            MESSAGES[0],
        ]
        other.submit(store.close).result()


PRUNED: list[JsonObject] = [
    {"id": "msg_b", "type": "user", "sessionID": "ses_2", "text": "Prune", "time": {"created": 2000}},
    {"id": "msg_a", "type": "assistant", "sessionID": "ses_2", "content": [], "time": {"created": 2500}},
]


def test_a_database_of_version_2(tmp_path: Path) -> None:
    add_second(tmp_path / "opencode.db", "ses_2", *PRUNED)
    with closing(open_store(tmp_path / "opencode.db")) as store:
        assert messages(store, "ses_2") == PRUNED
        session, stamp = info(store, "ses_2"), store.stamp("ses_2")
    assert (session["directory"], session["model"]["id"], session["tokens"]) == (
        "/orchard",
        "m",
        {"input": 7},
    )
    assert stamp == (3001, 2, 0)


def test_a_database_of_both_versions(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    add_second(path, "ses_2", *PRUNED)
    with closing(open_store(path)) as store:
        assert [session.id for session in store.list_sessions()] == ["ses_1", "ses_2"]
        assert messages(store, "ses_1") == MESSAGES
        assert messages(store, "ses_2") == PRUNED


def test_a_session_that_version_2_took_over(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    add_second(path, "ses_1")
    with closing(open_store(path)) as store:  # its messages are not there yet
        assert messages(store) == MESSAGES
        assert len(list(store.list_sessions())) == 1
        assert info(store)["version"] == "1.2.20"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            """INSERT INTO session_message VALUES ('msg_1', 'ses_1', 'idle', 1, 1, 1, '{"a":1}')"""
        )
    with closing(open_store(path)) as store:
        own = {"id": "msg_1", "type": "idle", "sessionID": "ses_1", "a": 1}
        assert messages(store) == [own]
        assert len(list(store.list_sessions())) == 1
        assert (info(store)["version"], info(store)["directory"]) == ("2.0.12", "/orchard")


def test_a_missing_session_is_an_error(store: SessionStore) -> None:
    for name in ("ses_9", "../ses_1", "", "*"):
        with pytest.raises(NotFoundError, match="no session"):
            next(store.records(name))


def test_a_session_without_messages(tmp_path: Path) -> None:
    path = in_folders(tmp_path)
    shutil.rmtree(path / "message")
    with closing(open_store(path)) as store:
        assert list(store.records("ses_1")) == [INFO]


def test_nothing_is_written(place: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    with closing(open_store(place)) as store:
        list(store.records("ses_1"))
    assert snapshot(tmp_path) == before


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in root.rglob("*")}


# Changes


def test_the_stamp_of_files_differs_after_every_change(tmp_path: Path) -> None:
    path = in_folders(tmp_path)
    store = open_store(path)
    stamps = [store.stamp("ses_1")]
    assert stamps[0][1:] == (2, 3)
    write(path / "part" / "msg_2" / "prt_4.json", {"type": "patch"})
    stamps.append(store.stamp("ses_1"))
    os.utime(path / "part" / "msg_2" / "prt_3.json", ns=(2**62, 2**62))
    stamps.append(store.stamp("ses_1"))
    (path / "message" / "ses_1" / "msg_1.json").unlink()
    stamps.append(store.stamp("ses_1"))
    assert len(set(stamps)) == len(stamps)


def test_the_stamp_of_rows_differs_after_every_change(tmp_path: Path) -> None:
    path = in_database(tmp_path)

    def stamp(change: str = "") -> tuple[int, int, int]:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(change or "SELECT 1")
        store = open_store(path)
        found = store.stamp("ses_1")
        store.close()
        return found

    assert stamp() == (9000, 2, 3)
    assert stamp("UPDATE part SET time_updated = 9500 WHERE id = 'prt_3'") == (9500, 2, 3)
    assert stamp("UPDATE session SET time_updated = 9600") == (9600, 2, 3)
    assert stamp("DELETE FROM part WHERE id = 'prt_2'") == (9600, 2, 2)


# A database that is in use


def test_the_write_ahead_log_of_a_database_is_read(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE session SET title = 'Paint the fence'")
        store = open_store(path)
        assert info(store)["title"] == "Paint the fence"
        store.close()


def test_a_database_is_not_changed_by_reading(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    store = open_store(path)
    assert info(store) == INFO
    assert list(tmp_path.iterdir()) == [path]
    store.close()


def test_a_database_that_is_opened_while_it_is_read(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    store = open_store(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE session SET title = 'x'")
        with pytest.raises(UnavailableError, match="began to use"):
            store.close()


def test_a_locked_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.logs.sources.opencode_store.BUSY_SECONDS", 0.0)
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UnavailableError, match="another program has locked"):
            open_store(path)


# Damage


def test_other_paths_are_not_stores(tmp_path: Path) -> None:
    other, nothing = tmp_path / "notes.db", tmp_path / "opencode.db"
    other.write_bytes(b"no database at all, but long enough to be one" * 40)
    with closing(sqlite3.connect(nothing)) as database:
        database.execute("CREATE TABLE session (id TEXT)")
    with pytest.raises(UnavailableError, match="not a SQLite database"):
        open_store(other)
    with pytest.raises(NotFoundError, match="no table 'message'"):
        open_store(nothing)
    with pytest.raises(NotFoundError, match="no sessions of OpenCode"):
        open_store(tmp_path)
    with pytest.raises(NotFoundError, match="no such file"):
        open_store(tmp_path / "gone")


def test_a_damaged_database(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    store = open_store(path)
    with pytest.raises(UnavailableError, match="damaged"):
        list(store.list_sessions())
    store.close()


@pytest.mark.parametrize("content", [b"", b'{"type": "te', b"[1]", b"\xff\x00"], ids=repr)
def test_damaged_files_do_not_stop_the_rest(tmp_path: Path, content: bytes) -> None:
    path = in_folders(tmp_path)
    for file in ("session/p1/ses_1.json", "message/ses_1/msg_1.json", "part/msg_2/prt_3.json"):
        (path / file).write_bytes(content)
    store = open_store(path)
    found, builder = read(store.records("ses_1"))
    assert list(found) == ["ses_1", "msg_1", "msg_2"]
    assert len(found["msg_2"].parts) == 2
    assert len(store.problems) == len({problem.where for problem in store.problems}) == 3
    assert {finding.what for finding in builder.unknown_records} == {
        "unknown message role None",
        "unknown part type 'damaged'",
    }


@pytest.mark.parametrize("content", ["", '{"type": "te', "[1]", b"\xff\x00", 7], ids=repr)
def test_damaged_rows_do_not_stop_the_rest(tmp_path: Path, content: Json) -> None:
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE message SET data = ? WHERE id = 'msg_1'", (content,))
        database.execute("UPDATE part SET data = CAST(? AS TEXT) WHERE id = 'prt_3'", (content,))
        database.execute("UPDATE session SET revert = '{', title = CAST(x'ff' AS TEXT)")
    store = open_store(path)
    found, _ = read(store.records("ses_1"))
    assert list(found) == ["ses_1", "msg_1", "msg_2"]
    assert len(store.problems) == 2
    store.close()


def test_a_file_that_is_removed_meanwhile_is_empty(tmp_path: Path) -> None:
    path = in_folders(tmp_path)
    (path / "part" / "msg_2" / "prt_3.json").unlink()
    (path / "part" / "msg_2" / "prt_3.json").symlink_to(tmp_path / "gone")
    store = open_store(path)
    (_, message) = messages(store)
    assert message["parts"][1] == {"type": "damaged", "id": "prt_3", "messageID": "msg_2"}


def test_parts_inside_messages_as_the_oldest_versions_have_them(tmp_path: Path) -> None:
    path = in_folders(tmp_path)
    inline = {**MESSAGES[0]["info"], "parts": [{"type": "text", "text": "Go"}]}
    write(path / "message" / "ses_1" / "msg_1.json", inline)
    (message, _) = messages(open_store(path))
    assert message["info"] == MESSAGES[0]["info"]
    assert message["parts"][0] == {"type": "text", "text": "Go"}
