"""OpenCode's storage, old and new, read without a trace."""

import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from partita.errors import NotFoundError, UnavailableError
from partita.logs.opencode.opening import document_of, open_storage, records_in, storages_in
from partita.logs.opencode.storage import Storage
from partita.types.json import Json, JsonObject, dumps
from tests.formats.opencode_counts import read
from tests.logs.opencode_databases import add_second

INFO: JsonObject = {
    "id": "ses_1",
    "projectID": "p1",
    "parentID": "ses_0",
    "directory": "/work",
    "title": "Mend the fence",
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
            "INSERT INTO session VALUES ('ses_1', 'p1', 'ses_0', '/work', 'Mend the fence', '1.2.20', NULL,"
            """ 2, 1, 1, '{"messageID":"msg_9"}', 1000, 9000, NULL)"""
        )
        for message in MESSAGES:
            info = message["info"]
            at = info["time"]["created"]
            told = (info["id"], "ses_1", at, at, without_ids(info))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", told)
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
def storage(place: Path) -> Iterator[Storage]:
    opened = open_storage(place)
    yield opened
    opened.close()


def test_a_session_is_read_as_it_would_be_exported(storage: Storage) -> None:
    assert document_of(storage, "ses_1") == {"info": INFO, "messages": MESSAGES}
    assert list(storage.sessions()) == [INFO]
    assert list(records_in(storage, "ses_1")) == [INFO, *MESSAGES]
    assert storage.problems == []


def test_one_thread_after_the_other_reads_on(place: Path) -> None:
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        storage = one.submit(open_storage, place).result()
        messages = iter(storage.messages("ses_1"))
        assert [one.submit(next, messages).result(), other.submit(next, messages).result()] == MESSAGES
        other.submit(storage.close).result()


def test_storages_are_found_in_the_data_folder(place: Path, tmp_path: Path) -> None:
    assert storages_in(tmp_path) == [place]


PRUNED: list[JsonObject] = [
    {"id": "msg_b", "type": "user", "sessionID": "ses_2", "text": "Prune", "time": {"created": 2000}},
    {"id": "msg_a", "type": "assistant", "sessionID": "ses_2", "content": [], "time": {"created": 2500}},
]


def test_a_database_of_version_2(tmp_path: Path) -> None:
    add_second(tmp_path / "opencode.db", "ses_2", *PRUNED)
    with closing(open_storage(tmp_path / "opencode.db")) as storage:
        assert list(storage.messages("ses_2")) == PRUNED
        (info,) = storage.sessions()
        stamp = storage.stamp("ses_2")
    assert (info["directory"], info["model"]["id"], info["tokens"]) == ("/orchard", "m", {"input": 7})
    assert stamp == (3001, 2, 0)


def test_a_database_of_both_versions(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    add_second(path, "ses_2", *PRUNED)
    with closing(open_storage(path)) as storage:
        assert [info["id"] for info in storage.sessions()] == ["ses_1", "ses_2"]
        assert list(storage.messages("ses_1")) == MESSAGES
        assert list(storage.messages("ses_2")) == PRUNED


def test_a_session_that_version_2_took_over(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    add_second(path, "ses_1")
    with closing(open_storage(path)) as storage:  # its messages are not there yet
        assert list(storage.messages("ses_1")) == MESSAGES
        assert [info["version"] for info in storage.sessions()] == ["1.2.20"]
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            """INSERT INTO session_message VALUES ('msg_1', 'ses_1', 'idle', 1, 1, 1, '{"a":1}')"""
        )
    with closing(open_storage(path)) as storage:
        own = {"id": "msg_1", "type": "idle", "sessionID": "ses_1", "a": 1}
        assert list(storage.messages("ses_1")) == [own]
        assert [info["version"] for info in storage.sessions()] == ["2.0.12"]
        assert storage.session("ses_1")["directory"] == "/orchard"


def test_a_session_that_is_not_there(storage: Storage) -> None:
    for name in ("ses_9", "../ses_1", "", "*"):
        with pytest.raises(NotFoundError, match="no session"):
            storage.session(name)


def test_a_session_without_messages(storage: Storage) -> None:
    assert list(storage.messages("ses_9")) == []


def test_nothing_is_written(place: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    opened = open_storage(place)
    document_of(opened, "ses_1")
    opened.close()
    assert snapshot(tmp_path) == before


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in root.rglob("*")}


# Changes


def test_the_stamp_of_files_tells_every_change(tmp_path: Path) -> None:
    path = in_folders(tmp_path)
    storage = open_storage(path)
    stamps = [storage.stamp("ses_1")]
    assert stamps[0][1:] == (2, 3)
    write(path / "part" / "msg_2" / "prt_4.json", {"type": "patch"})
    stamps.append(storage.stamp("ses_1"))
    os.utime(path / "part" / "msg_2" / "prt_3.json", ns=(2**62, 2**62))
    stamps.append(storage.stamp("ses_1"))
    (path / "message" / "ses_1" / "msg_1.json").unlink()
    stamps.append(storage.stamp("ses_1"))
    assert len(set(stamps)) == len(stamps)


def test_the_stamp_of_rows_tells_every_change(tmp_path: Path) -> None:
    path = in_database(tmp_path)

    def stamp(change: str = "") -> tuple[int, int, int]:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(change or "SELECT 1")
        storage = open_storage(path)
        found = storage.stamp("ses_1")
        storage.close()
        return found

    assert stamp() == (9000, 2, 3)
    assert stamp("UPDATE part SET time_updated = 9500 WHERE id = 'prt_3'") == (9500, 2, 3)
    assert stamp("UPDATE session SET time_updated = 9600") == (9600, 2, 3)
    assert stamp("DELETE FROM part WHERE id = 'prt_2'") == (9600, 2, 2)


# A database that is in use


def test_what_is_still_in_the_log_of_a_database_is_read(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE session SET title = 'Paint the fence'")
        storage = open_storage(path)
        assert storage.session("ses_1")["title"] == "Paint the fence"
        storage.close()


def test_a_database_at_rest_is_left_alone(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    storage = open_storage(path)
    assert storage.session("ses_1") == INFO
    assert list(tmp_path.iterdir()) == [path]
    storage.close()


def test_a_database_that_came_into_use_while_it_was_read(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    storage = open_storage(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE session SET title = 'x'")
        with pytest.raises(UnavailableError, match="began to use"):
            storage.close()


def test_a_locked_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.logs.opencode.database.PATIENCE", 0.0)
    path = in_database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UnavailableError, match="holding the database"):
            open_storage(path)


# Damage


def test_what_is_no_storage(tmp_path: Path) -> None:
    other, nothing = tmp_path / "notes.db", tmp_path / "opencode.db"
    other.write_bytes(b"no database at all, but long enough to be one" * 40)
    with closing(sqlite3.connect(nothing)) as database:
        database.execute("CREATE TABLE session (id TEXT)")
    with pytest.raises(UnavailableError, match="no SQLite database"):
        open_storage(other)
    with pytest.raises(NotFoundError, match="no table 'message'"):
        open_storage(nothing)
    with pytest.raises(NotFoundError, match="no sessions of OpenCode"):
        open_storage(tmp_path)
    with pytest.raises(NotFoundError, match="no such file"):
        open_storage(tmp_path / "gone")


def test_a_damaged_database(tmp_path: Path) -> None:
    path = in_database(tmp_path)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    storage = open_storage(path)
    with pytest.raises(UnavailableError, match="damaged"):
        list(storage.sessions())
    storage.close()


@pytest.mark.parametrize("content", [b"", b'{"type": "te', b"[1]", b"\xff\x00"], ids=repr)
def test_damaged_files_do_not_stop_the_rest(tmp_path: Path, content: bytes) -> None:
    path = in_folders(tmp_path)
    for file in ("session/p1/ses_1.json", "message/ses_1/msg_1.json", "part/msg_2/prt_3.json"):
        (path / file).write_bytes(content)
    storage = open_storage(path)
    messages, assembly = read(records_in(storage, "ses_1"))
    assert list(messages) == ["ses_1", "msg_1", "msg_2"]
    assert len(messages["msg_2"].parts) == 2
    assert len(storage.problems) == len({problem.where for problem in storage.problems}) == 3
    assert {finding.what for finding in assembly.diagnostics} == {
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
    storage = open_storage(path)
    messages, _ = read(records_in(storage, "ses_1"))
    assert list(messages) == ["ses_1", "msg_1", "msg_2"]
    assert len(storage.problems) == 2
    storage.close()


def test_a_file_that_went_away_meanwhile_says_nothing(tmp_path: Path) -> None:
    path = in_folders(tmp_path)
    (path / "part" / "msg_2" / "prt_3.json").unlink()
    (path / "part" / "msg_2" / "prt_3.json").symlink_to(tmp_path / "gone")
    storage = open_storage(path)
    (_, message) = storage.messages("ses_1")
    assert message["parts"][1] == {"type": "damaged", "id": "prt_3", "messageID": "msg_2"}


def test_parts_inside_messages_as_the_oldest_versions_have_them(tmp_path: Path) -> None:
    path = in_folders(tmp_path)
    inline = {**MESSAGES[0]["info"], "parts": [{"type": "text", "text": "Go"}]}
    write(path / "message" / "ses_1" / "msg_1.json", inline)
    (message, _) = open_storage(path).messages("ses_1")
    assert message["info"] == MESSAGES[0]["info"]
    assert message["parts"][0] == {"type": "text", "text": "Go"}
