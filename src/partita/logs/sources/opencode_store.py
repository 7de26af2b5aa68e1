"""The sessions that OpenCode stores, in a database or in folders: see `opencode`.

Version 2 has separate tables in the same database, and copies the sessions of version 1 into them when it
first opens them. A session that is in both is read from those of version 2, once they have messages of it.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from partita.errors import DecodeError, NotFoundError, UnavailableError
from partita.logs.sqlite import ReadOnlyDatabase
from partita.types.json import Json, JsonObject, is_array, is_object, loads

from .source import SessionStore, Stamp, StoredSession

BUSY_SECONDS: Final = 5.0
"""How long to wait for a database that is locked."""

DAMAGED: Final = "damaged"
"""The member of a record that replaces a file or a row which is not a JSON object."""

SHOWN: Final = 1000
"""How many characters of something damaged are kept."""


def open_store(path: Path) -> SessionStore:
    """The store at `path`: a database, a folder of JSON files, or the file of a session in such a folder."""
    if path.suffix == ".json":
        return FolderStore(path.parents[2])
    if path.is_file():
        return DatabaseStore(path)
    if (path / "session").is_dir():
        return FolderStore(path)
    if path.exists():
        hint = "name opencode.db, or the folder `storage` beside it"
        raise NotFoundError("there are no sessions of OpenCode in it", where=str(path), hint=hint)
    raise NotFoundError("no such file or folder", where=str(path), hint="is OpenCode installed here?")


def _object_in(content: bytes, where: str, problems: list[DecodeError]) -> JsonObject:
    """The object in a file or a row. Anything else is added to `problems`, and kept as text."""
    try:
        value = loads(content)
        if is_object(value):
            return value
        what = "this is not a JSON object"
    except DecodeError as error:
        what = error.what
    problems.append(DecodeError(what, where=where, hint="OpenCode may have been killed while it wrote"))
    return {DAMAGED: content[:SHOWN].decode(errors="replace")}


def _no_session(session_id: str, path: Path) -> NotFoundError:
    return NotFoundError(f"no session {session_id!r}", where=str(path), hint="list the sessions")


def _stored(info: JsonObject) -> StoredSession:
    parent = info.get("parentID")
    return StoredSession(str(info.get("id")), parent if isinstance(parent, str) else None)


# From 1.2: a database


class Tables(NamedTuple):
    """The tables of a version. In version 2 messages contain their parts."""

    sessions: str
    messages: str
    parts: str | None


SECOND: Final = Tables("session_v2", "session_message", None)
FIRST: Final = Tables("session", "message", "part")


class DatabaseStore:
    """Rows of a SQLite database."""

    def __init__(self, path: Path) -> None:
        self.problems: list[DecodeError] = []
        self._database = ReadOnlyDatabase(path, wait=BUSY_SECONDS)
        try:
            self._versions = self._check()
        except BaseException:
            self._database.connection.close()
            raise

    def _check(self) -> list[Tables]:
        """Return the versions whose tables exist. Raises an error for other databases."""
        found = {row["name"] for row in self._database.rows("SELECT name FROM sqlite_master")}
        complete = [tables for tables in (SECOND, FIRST) if found.issuperset(filter(None, tables))]
        if not complete:
            missing = next(name for name in FIRST if name not in found)
            where, hint = str(self._database.path), "name a database of OpenCode 1.2 or later"
            raise NotFoundError(f"there is no table {missing!r}", where=where, hint=hint)
        return complete

    def list_sessions(self) -> Iterator[StoredSession]:
        """All sessions, by the time of their creation."""
        rows: dict[str, JsonObject] = {}
        for tables in self._versions:
            for row in self._database.rows(f"SELECT * FROM {tables.sessions}"):
                if row["id"] not in rows and self._tables_of(row["id"]) == tables:
                    rows[row["id"]] = row
        for row in sorted(rows.values(), key=lambda row: (row["time_created"], row["id"])):
            yield _stored(_session_info(row))

    def records(self, session_id: str) -> Iterator[JsonObject]:
        """Yield the session in the form of an export, then its messages."""
        tables = self._tables_of(session_id)
        found = self._database.rows(f"SELECT * FROM {tables.sessions} WHERE id = ?", session_id)
        info = next(found, None)
        if info is None:
            raise _no_session(session_id, self._database.path)
        yield _session_info(info)
        yield from (
            self._records_of_version_2(session_id)
            if tables == SECOND
            else self._records_of_version_1(session_id)
        )

    def stamp(self, session_id: str) -> Stamp:
        """Return a value that differs after each change of the session."""
        tables = self._tables_of(session_id)
        query = f"SELECT max(time_updated) AS updated FROM {tables.sessions} WHERE id = ?"
        (own,) = self._database.rows(query, session_id)
        messages = self._changes(tables.messages, session_id)
        parts = None if tables.parts is None else self._changes(tables.parts, session_id)
        updated = max(row["updated"] or 0 for row in (own, messages, parts) if row is not None)
        return Stamp(updated, messages["count"], 0 if parts is None else parts["count"])

    def close(self) -> None:
        """Close the database. Raises an error if OpenCode began to use it meanwhile."""
        self._database.close()

    def _tables_of(self, session_id: str) -> Tables:
        """The tables that have a session: the newest with messages of it, else with the session itself."""
        if len(self._versions) == 1:
            return self._versions[0]
        for column, position in (("session_id", 1), ("id", 0)):
            for tables in self._versions:
                query = f"SELECT 1 FROM {tables[position]} WHERE {column} = ? LIMIT 1"
                if any(True for _ in self._database.rows(query, session_id)):
                    return tables
        return self._versions[0]

    def _changes(self, table: str, session_id: str) -> JsonObject:
        query = f"SELECT count(*) AS count, max(time_updated) AS updated FROM {table} WHERE session_id = ?"
        (found,) = self._database.rows(query, session_id)
        return found

    def _records_of_version_2(self, session_id: str) -> Iterator[JsonObject]:
        """Yield the messages of version 2. The column `type` has the type of a message."""
        query = "SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq"
        for row in self._database.rows(query, session_id):
            own = {"id": row["id"], "type": row["type"], "sessionID": session_id}
            yield {**self._object(row["data"], f"message {row['id']}"), **own}

    def _records_of_version_1(self, session_id: str) -> Iterator[JsonObject]:
        """Yield the messages of version 1, with their parts from another table."""
        query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for row in self._database.rows(query, session_id):
            own = {"id": row["id"], "sessionID": session_id}
            info = {**self._object(row["data"], f"message {row['id']}"), **own}
            yield {"info": info, "parts": list(self._parts(session_id, row["id"]))}

    def _parts(self, session_id: str, message_id: str) -> Iterator[JsonObject]:
        query = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
        for row in self._database.rows(query, message_id):
            own = {"id": row["id"], "messageID": message_id, "sessionID": session_id}
            yield {"type": DAMAGED, **self._object(row["data"], f"part {row['id']}"), **own}

    def _object(self, data: Json, what: str) -> JsonObject:
        content = data.encode() if isinstance(data, str) else data if isinstance(data, bytes) else b""
        return _object_in(content, f"{self._database.path}, {what}", self.problems)


RENAMED: Final = {
    "project_id": "projectID",
    "workspace_id": "workspaceID",
    "parent_id": "parentID",
    "fork_session_id": "forkSessionID",
    "fork_boundary": "forkBoundary",
}
GROUPED: Final = ("time", "summary", "tokens")
"""Prefixes of columns that are members of an object in an export."""


def _session_info(row: JsonObject) -> JsonObject:
    """Return a row of a table of sessions in the form of an export: `time_created` becomes `time.created`."""
    info: JsonObject = {"time": {}}
    for column, value in row.items():
        if value is None:
            continue
        group, _, member = column.partition("_")
        if column == "share_url":
            info["share"] = {"url": value}
        elif group in GROUPED and member:
            info.setdefault(group, {})[member] = _column_value(value)
        else:
            info[RENAMED.get(column, column)] = _column_value(value)
    return info


def _column_value(value: Json) -> Json:
    """The value of a column, which has objects and lists as text."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return loads(value)
    except DecodeError:
        return value


# To 1.1: a folder


class FolderStore:
    """A JSON file for each session, message and part."""

    def __init__(self, path: Path) -> None:
        self.problems: list[DecodeError] = []
        self._path = path
        self._is_old = (path / "session" / "info").is_dir()

    def list_sessions(self) -> Iterator[StoredSession]:
        """All sessions."""
        for file in self._session_files():
            yield _stored(self._session(file))

    def records(self, session_id: str) -> Iterator[JsonObject]:
        """Yield the session in the form of an export, then its messages. Names sort by time, as ids do."""
        file = next(iter(self._session_files(self._checked(session_id))), None)
        if file is None:
            raise _no_session(session_id, self._path)
        yield self._session(file)
        for message in self._message_files(session_id):
            info = {**self._read(message), "id": message.stem, "sessionID": session_id}
            inline = info.pop("parts", None)  # the oldest versions have parts in their messages
            parts = [
                {"type": DAMAGED, **self._read(part), "id": part.stem, "messageID": message.stem}
                for part in self._part_files(session_id, message.stem)
            ]
            yield {"info": info, "parts": [*(inline if is_array(inline) else ()), *parts]}

    def stamp(self, session_id: str) -> Stamp:
        """Return a value that differs after each change of the session."""
        messages = self._message_files(session_id)
        parts = [part for file in messages for part in self._part_files(session_id, file.stem)]
        own = self._session_files(self._checked(session_id))
        updated = max((_changed_at(file) for file in (*own, *messages, *parts)), default=0)
        return Stamp(updated, len(messages), len(parts))

    def close(self) -> None:
        """Do nothing, because no file is open."""

    def _session(self, file: Path) -> JsonObject:
        return {"time": {}, **self._read(file), "id": file.stem}

    def _session_files(self, name: str = "*") -> list[Path]:
        return self._files("session/info" if self._is_old else "session/*", name)

    def _message_files(self, session_id: str) -> list[Path]:
        return self._files(f"{'session/' if self._is_old else ''}message/{self._checked(session_id)}")

    def _part_files(self, session_id: str, message_id: str) -> list[Path]:
        if self._is_old:
            return self._files(f"session/part/{self._checked(session_id)}/{message_id}")
        return self._files(f"part/{message_id}")

    def _files(self, folder: str, name: str = "*") -> list[Path]:
        with _file_errors(self._path):
            return sorted(self._path.glob(f"{folder}/{name}.json"), key=lambda file: file.name)

    def _read(self, file: Path) -> JsonObject:
        """The content of a file; empty if the file was removed meanwhile."""
        with _file_errors(file):
            try:
                content = file.read_bytes()
            except FileNotFoundError:
                return {}
        return _object_in(content, str(file), self.problems)

    def _checked(self, session_id: str) -> str:
        """Return an id that is a file name. Raises an error for patterns and paths."""
        if not session_id.replace("_", "").replace("-", "").isalnum():
            raise _no_session(session_id, self._path)
        return session_id


@contextmanager
def _file_errors(path: Path) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise UnavailableError(what, where=str(path), hint="check who may read it") from error


def _changed_at(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:  # removed meanwhile: the counts differ then
        return 0
