"""OpenCode's own storage, read as the sessions it would export.

| version | where | what |
|---|---|---|
| the first ones | `project/NAME/storage/` | a JSON file for each session, message and part |
| to 1.1 | `storage/` | the same, in other folders |
| from 1.2 | `opencode.db`, `opencode-CHANNEL.db` | SQLite: the same JSON in rows, without its ids |

Nothing is ever written. A file or a row that holds no JSON object is given as one that says so, and is listed
in `problems`; it does not stop the rest. Open a storage anew for every look: OpenCode may be at work on it.
"""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from partita.errors import DecodeError, NotFoundError, UnavailableError
from partita.types.json import Json, JsonObject, is_array, is_object, loads

PATIENCE: Final = 5.0
"""How many seconds to wait for a database that is locked."""

WAL_FLAG: Final = slice(18, 20)
"""Where a database says, in its first bytes, that it is in WAL mode."""

TABLES: Final = ("session", "message", "part")
DAMAGED: Final = "damaged"
SHOWN: Final = 1000
"""How much of something damaged is shown, in characters."""


class Stamp(NamedTuple):
    """Changes whenever a session does: its newest change, and how many messages and parts it has."""

    updated: int
    messages: int
    parts: int


class Storage(Protocol):
    """A place that holds sessions."""

    problems: list[DecodeError]

    def sessions(self) -> Iterator[JsonObject]:
        """What each session says of itself."""
        ...

    def session(self, session_id: str) -> JsonObject:
        """What one session says of itself."""
        ...

    def messages(self, session_id: str) -> Iterator[JsonObject]:
        """The messages of a session in their order, each `{info, parts}`."""
        ...

    def stamp(self, session_id: str) -> Stamp:
        """What tells whether a session has changed."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def open_storage(path: Path) -> Storage:
    """The storage at `path`: a database, or a folder of JSON files."""
    if path.is_file():
        return DatabaseStorage(path)
    if (path / "session").is_dir():
        return FolderStorage(path)
    if path.exists():
        hint = "name opencode.db, or the folder `storage` beside it"
        raise NotFoundError("no sessions of OpenCode are here", where=str(path), hint=hint)
    raise NotFoundError(
        "there is no such file or folder", where=str(path), hint="is OpenCode installed here?"
    )


def storages_in(folder: Path) -> list[Path]:
    """The storages under OpenCode's data folder, the newest kind first."""
    folders = [folder / "storage", *sorted(folder.glob("project/*/storage"))]
    return [*sorted(folder.glob("opencode*.db")), *(path for path in folders if (path / "session").is_dir())]


def document_of(storage: Storage, session_id: str) -> JsonObject:
    """A session as `opencode export` gives it."""
    return {"info": storage.session(session_id), "messages": list(storage.messages(session_id))}


def records_in(storage: Storage, session_id: str) -> Iterator[JsonObject]:
    """A session as records: what it says of itself, then its messages, one at a time."""
    yield storage.session(session_id)
    yield from storage.messages(session_id)


class FolderStorage:
    """A JSON file for each session, message and part."""

    def __init__(self, path: Path) -> None:
        self.problems: list[DecodeError] = []
        self._path = path
        self._is_old = (path / "session" / "info").is_dir()

    def sessions(self) -> Iterator[JsonObject]:
        """What each session says of itself."""
        for file in self._session_files():
            yield self._session(file)

    def session(self, session_id: str) -> JsonObject:
        """What one session says of itself."""
        for file in self._session_files(_plain(session_id)):
            return self._session(file)
        raise _unknown(session_id, self._path)

    def messages(self, session_id: str) -> Iterator[JsonObject]:
        """The messages of a session. Names sort by time, as ids of OpenCode do."""
        for file in self._message_files(session_id):
            info = {**self._read(file), "id": file.stem, "sessionID": session_id}
            inline = info.pop("parts", None)  # as the oldest versions have them
            parts = [
                {"type": DAMAGED, **self._read(part), "id": part.stem, "messageID": file.stem}
                for part in self._part_files(session_id, file.stem)
            ]
            yield {"info": info, "parts": [*(inline if is_array(inline) else ()), *parts]}

    def stamp(self, session_id: str) -> Stamp:
        """What tells whether a session has changed."""
        messages = self._message_files(session_id)
        parts = [part for file in messages for part in self._part_files(session_id, file.stem)]
        own = self._session_files(_plain(session_id))
        updated = max((_changed(file) for file in (*own, *messages, *parts)), default=0)
        return Stamp(updated, len(messages), len(parts))

    def close(self) -> None:
        """Nothing is held."""

    def _session(self, file: Path) -> JsonObject:
        return {"time": {}, **self._read(file), "id": file.stem}

    def _session_files(self, name: str = "*") -> list[Path]:
        return self._files("session/info" if self._is_old else "session/*", name)

    def _message_files(self, session_id: str) -> list[Path]:
        return self._files(f"{'session/' if self._is_old else ''}message/{_plain(session_id)}")

    def _part_files(self, session_id: str, message_id: str) -> list[Path]:
        if self._is_old:
            return self._files(f"session/part/{_plain(session_id)}/{message_id}")
        return self._files(f"part/{message_id}")

    def _files(self, folder: str, name: str = "*") -> list[Path]:
        with _told(self._path):
            return sorted(self._path.glob(f"{folder}/{name}.json"), key=lambda file: file.name)

    def _read(self, file: Path) -> JsonObject:
        """What a file says. One that went away meanwhile says nothing."""
        with _told(file):
            try:
                content = file.read_bytes()
            except FileNotFoundError:
                return {}
        return _object_in(content, str(file), self.problems)


class DatabaseStorage:
    """Rows of a SQLite database."""

    def __init__(self, path: Path) -> None:
        self.problems: list[DecodeError] = []
        self._path = path
        with _told(path):
            self._is_alone = _is_alone(path)
            # Even a reader leaves files beside a database in WAL mode, unless it is told that nobody writes.
            address = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if self._is_alone else ''}"
            self._database = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
        try:
            self._check()
        except BaseException:
            self._database.close()
            raise

    def _check(self) -> None:
        """Refuse a file that is no database, and a database that is not OpenCode's."""
        self._database.text_factory = _decoded
        found = {row["name"] for row in self._rows("SELECT name FROM sqlite_master")}
        if missing := [name for name in TABLES if name not in found]:
            hint = "name a database that OpenCode 1.2 or later wrote"
            raise NotFoundError(f"there is no table {missing[0]!r}", where=str(self._path), hint=hint)

    def sessions(self) -> Iterator[JsonObject]:
        """What each session says of itself, in the words of an export."""
        for row in self._rows("SELECT * FROM session ORDER BY time_created, id"):
            yield _session_of(row)

    def session(self, session_id: str) -> JsonObject:
        """What one session says of itself."""
        for row in self._rows("SELECT * FROM session WHERE id = ?", session_id):
            return _session_of(row)
        raise _unknown(session_id, self._path)

    def messages(self, session_id: str) -> Iterator[JsonObject]:
        """The messages of a session, one at a time."""
        query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for row in self._rows(query, session_id):
            own = {"id": row["id"], "sessionID": session_id}
            info = {**self._object(row["data"], f"message {row['id']}"), **own}
            yield {"info": info, "parts": list(self._parts(session_id, row["id"]))}

    def stamp(self, session_id: str) -> Stamp:
        """What tells whether a session has changed."""
        (own,) = self._rows("SELECT max(time_updated) AS updated FROM session WHERE id = ?", session_id)
        query = "SELECT count(*) AS count, max(time_updated) AS updated FROM {} WHERE session_id = ?"
        (messages,) = self._rows(query.format("message"), session_id)
        (parts,) = self._rows(query.format("part"), session_id)
        updated = max(row["updated"] or 0 for row in (own, messages, parts))
        return Stamp(updated, messages["count"], parts["count"])

    def close(self) -> None:
        """Let go of the database. If OpenCode began to write to it meanwhile, what was read may be torn."""
        self._database.close()
        if self._is_alone and _wal_of(self._path).exists():
            raise UnavailableError(
                "OpenCode began to use the database while it was read",
                where=str(self._path),
                hint="read it again",
            )

    def _parts(self, session_id: str, message_id: str) -> Iterator[JsonObject]:
        for row in self._rows("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", message_id):
            own = {"id": row["id"], "messageID": message_id, "sessionID": session_id}
            yield {"type": DAMAGED, **self._object(row["data"], f"part {row['id']}"), **own}

    def _object(self, data: Json, what: str) -> JsonObject:
        content = data.encode() if isinstance(data, str) else data if isinstance(data, bytes) else b""
        return _object_in(content, f"{self._path}, {what}", self.problems)

    def _rows(self, query: str, *values: str) -> Iterator[JsonObject]:
        with _told(self._path):
            cursor = self._database.execute(query, values)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))


RENAMED: Final = {
    "project_id": "projectID",
    "workspace_id": "workspaceID",
    "parent_id": "parentID",
    "fork_session_id": "forkSessionID",
}
GROUPED: Final = ("time", "summary", "tokens")
"""Columns that begin with these are members of an object in an export."""


def _session_of(row: JsonObject) -> JsonObject:
    """A row of the session table as an export has it: `time_created` is `time.created`, and so on."""
    info: JsonObject = {"time": {}}
    for column, value in row.items():
        if value is None:
            continue
        group, _, member = column.partition("_")
        if column == "share_url":
            info["share"] = {"url": value}
        elif group in GROUPED and member:
            info.setdefault(group, {})[member] = _unpacked(value)
        else:
            info[RENAMED.get(column, column)] = _unpacked(value)
    return info


def _unpacked(value: Json) -> Json:
    """A value of a column; those that hold objects and lists have them as text."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return loads(value)
    except DecodeError:
        return value


def _object_in(content: bytes, where: str, problems: list[DecodeError]) -> JsonObject:
    """The object in a file or a row; what is none is told, and shown as it is."""
    try:
        value = loads(content)
        if is_object(value):
            return value
        problem = DecodeError("this is no JSON object", where=where, hint="OpenCode may have been cut off")
    except DecodeError as error:
        problem = DecodeError(error.what, where=where, hint="OpenCode may have been cut off")
    problems.append(problem)
    return {DAMAGED: content[:SHOWN].decode(errors="replace")}


def _plain(name: str) -> str:
    """An id, if it can be the name of a file and of nothing else."""
    if not name.replace("_", "").replace("-", "").isalnum():
        raise _unknown(name)
    return name


def _unknown(session_id: str, path: Path | str = "") -> NotFoundError:
    return NotFoundError(f"no session {session_id!r}", where=str(path), hint="look at the list of sessions")


def _changed(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:  # gone meanwhile: the counts will tell
        return 0


def _is_alone(path: Path) -> bool:
    """Whether nobody has a database open that is in WAL mode."""
    with path.open("rb") as file:
        return file.read(WAL_FLAG.stop)[WAL_FLAG] == b"\x02\x02" and not _wal_of(path).exists()


def _wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _decoded(text: bytes) -> str:
    return text.decode(errors="replace")


SAYINGS: Final = {
    "SQLITE_NOTADB": ("this file is no SQLite database", "is it another file, or encrypted?"),
    "SQLITE_CORRUPT": ("the database is damaged", "mend a copy: sqlite3 FILE .recover | sqlite3 NEW"),
    "SQLITE_BUSY": ("OpenCode is holding the database", "try again in a moment"),
    "SQLITE_CANTOPEN": ("the database cannot be opened", "may you read it, and write beside it?"),
    "SQLITE_READONLY": (
        "OpenCode was cut off while it wrote",
        "start it once, so that it mends its database",
    ),
}
"""What SQLite says, by the beginning of the name of its error, and what to do."""


@contextmanager
def _told(path: Path) -> Generator[None, None, None]:
    """Turn what SQLite or the file system raises inside into an error that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        what, hint = next(
            (said for prefix, said in SAYINGS.items() if name.startswith(prefix)),
            (f"SQLite says: {error}", "look at the file with sqlite3"),
        )
        raise UnavailableError(what, where=str(path), hint=hint) from error
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise UnavailableError(what, where=str(path), hint="may you read it?") from error
