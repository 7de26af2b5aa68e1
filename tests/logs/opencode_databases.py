"""Databases of OpenCode 2, for tests."""

import sqlite3
from contextlib import closing
from pathlib import Path

from partita.types.json import JsonObject, dumps

SECOND_SCHEMA = """
CREATE TABLE session_v2 (
    id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, fork_session_id TEXT, fork_boundary TEXT,
    directory TEXT, title TEXT, version TEXT, cost REAL, tokens_input INTEGER, model TEXT,
    time_created INTEGER, time_updated INTEGER
);
CREATE TABLE session_message (
    id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, time_updated INTEGER,
    data TEXT
);
"""


def add_second(path: Path, session: str, *records: JsonObject, parent: str | None = None) -> None:
    """A session in the tables of version 2, which may be beside those of version 1."""
    with closing(sqlite3.connect(path)) as database, database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'session_v2'").fetchall():
            database.executescript(SECOND_SCHEMA)
        model = '{"id":"m","providerID":"acme"}'
        row = (session, "p1", parent, None, None, "/orchard", "Prune", "2.0.12", 0.5, 7, model, 2000, 3000)
        database.execute(f"INSERT INTO session_v2 VALUES ({', '.join('?' * len(row))})", row)
        for number, record in enumerate(records):
            data = dumps({key: record[key] for key in record if key not in ("id", "type", "sessionID")})
            row_of_message = (
                record["id"],
                session,
                record["type"],
                number * 3,
                2000,
                3000 + number,
                data.decode(),
            )
            database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row_of_message)
