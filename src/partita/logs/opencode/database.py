"""Storages of OpenCode from 1.2 on: a SQLite database, which version 2 shares with version 1.

Version 2 has tables of its own, and copies the sessions of version 1 into them when it first meets them. A
session that is in both is read as version 2 has it, once there are messages of it.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from partita.errors import DecodeError, NotFoundError, UnavailableError
from partita.types.json import Json, JsonObject

from .rows import session_of
from .storage import DAMAGED, Stamp, object_in, told, unknown

PATIENCE: Final = 5.0
"""How many seconds to wait for a database that is locked."""

WAL_FLAG: Final = slice(18, 20)
"""Where a database says, in its first bytes, that it is in WAL mode."""


class Generation(NamedTuple):
    """The tables of a version: where sessions are, and what changes when a session does."""

    sessions: str
    messages: str
    parts: str | None


SECOND: Final = Generation("session_v2", "session_message", None)
FIRST: Final = Generation("session", "message", "part")


class DatabaseStorage:
    """Rows of a SQLite database."""

    def __init__(self, path: Path) -> None:
        self.problems: list[DecodeError] = []
        self._path = path
        with told(path):
            self._is_alone = _is_alone(path)
            # Even a reader leaves files beside a database in WAL mode, unless it is told that nobody writes.
            address = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if self._is_alone else ''}"
            # It is read by one thread after the other, as an import goes on, and never by two at once.
            self._database = sqlite3.connect(
                address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            self._generations = self._check()
        except BaseException:
            self._database.close()
            raise

    def _check(self) -> list[Generation]:
        """The generations that are there; a file that is no database, or another one, is refused."""
        self._database.text_factory = _decoded
        found = {row["name"] for row in self._rows("SELECT name FROM sqlite_master")}
        whole = [each for each in (SECOND, FIRST) if found.issuperset(filter(None, each))]
        if not whole:
            missing = next(name for name in FIRST if name not in found)
            hint = "name a database that OpenCode 1.2 or later wrote"
            raise NotFoundError(f"there is no table {missing!r}", where=str(self._path), hint=hint)
        return whole

    def sessions(self) -> Iterator[JsonObject]:
        """What each session says of itself, in the words of an export."""
        rows: dict[str, JsonObject] = {}
        for generation in self._generations:
            for row in self._rows(f"SELECT * FROM {generation.sessions}"):
                if row["id"] not in rows and self._generation_of(row["id"]) == generation:
                    rows[row["id"]] = row
        for row in sorted(rows.values(), key=lambda row: (row["time_created"], row["id"])):
            yield session_of(row)

    def session(self, session_id: str) -> JsonObject:
        """What one session says of itself."""
        table = self._generation_of(session_id).sessions
        for row in self._rows(f"SELECT * FROM {table} WHERE id = ?", session_id):
            return session_of(row)
        raise unknown(session_id, self._path)

    def messages(self, session_id: str) -> Iterator[JsonObject]:
        """The messages of a session, one at a time."""
        if self._generation_of(session_id) == SECOND:
            return self._second(session_id)
        return self._first(session_id)

    def stamp(self, session_id: str) -> Stamp:
        """What tells whether a session has changed."""
        tables = self._generation_of(session_id)
        query = f"SELECT max(time_updated) AS updated FROM {tables.sessions} WHERE id = ?"
        (own,) = self._rows(query, session_id)
        messages = self._changes(tables.messages, session_id)
        parts = None if tables.parts is None else self._changes(tables.parts, session_id)
        updated = max(row["updated"] or 0 for row in (own, messages, parts) if row is not None)
        return Stamp(updated, messages["count"], 0 if parts is None else parts["count"])

    def close(self) -> None:
        """Let go of the database. If OpenCode began to write to it meanwhile, what was read may be torn."""
        self._database.close()
        if self._is_alone and _wal_of(self._path).exists():
            raise UnavailableError(
                "OpenCode began to use the database while it was read",
                where=str(self._path),
                hint="read it again",
            )

    def _generation_of(self, session_id: str) -> Generation:
        """The tables that have a session: the newest ones with messages of it, else with itself."""
        if len(self._generations) == 1:
            return self._generations[0]
        for column, place in (("session_id", 1), ("id", 0)):
            for tables in self._generations:
                query = f"SELECT 1 FROM {tables[place]} WHERE {column} = ? LIMIT 1"
                if any(True for _ in self._rows(query, session_id)):
                    return tables
        return self._generations[0]

    def _changes(self, table: str, session_id: str) -> JsonObject:
        query = f"SELECT count(*) AS count, max(time_updated) AS updated FROM {table} WHERE session_id = ?"
        (found,) = self._rows(query, session_id)
        return found

    def _second(self, session_id: str) -> Iterator[JsonObject]:
        """Messages of version 2: all of one in a row, whose `type` tells what it is."""
        query = "SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq"
        for row in self._rows(query, session_id):
            own = {"id": row["id"], "type": row["type"], "sessionID": session_id}
            yield {**self._object(row["data"], f"message {row['id']}"), **own}

    def _first(self, session_id: str) -> Iterator[JsonObject]:
        """Messages of version 1, with their parts from another table."""
        query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for row in self._rows(query, session_id):
            own = {"id": row["id"], "sessionID": session_id}
            info = {**self._object(row["data"], f"message {row['id']}"), **own}
            yield {"info": info, "parts": list(self._parts(session_id, row["id"]))}

    def _parts(self, session_id: str, message_id: str) -> Iterator[JsonObject]:
        for row in self._rows("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", message_id):
            own = {"id": row["id"], "messageID": message_id, "sessionID": session_id}
            yield {"type": DAMAGED, **self._object(row["data"], f"part {row['id']}"), **own}

    def _object(self, data: Json, what: str) -> JsonObject:
        content = data.encode() if isinstance(data, str) else data if isinstance(data, bytes) else b""
        return object_in(content, f"{self._path}, {what}", self.problems)

    def _rows(self, query: str, *values: str) -> Iterator[JsonObject]:
        with told(self._path):
            cursor = self._database.execute(query, values)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))


def _is_alone(path: Path) -> bool:
    """Whether nobody has a database open that is in WAL mode."""
    with path.open("rb") as file:
        return file.read(WAL_FLAG.stop)[WAL_FLAG] == b"\x02\x02" and not _wal_of(path).exists()


def _wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _decoded(text: bytes) -> str:
    return text.decode(errors="replace")
