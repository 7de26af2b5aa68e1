"""What is told of a backup."""

from pathlib import Path

import msgspec

from partita.types.json import JsonObject

from .archive import End, Head


class BackupReport(msgspec.Struct, frozen=True):
    """A backup that was made, looked at or brought back, and how many rows each of its tables has."""

    path: Path
    size: int
    schema: str
    partita: str
    engine: str
    made_at: str
    rows: dict[str, int]
    unfindable: int = 0
    """Messages that could not be read, and so are in the store but not in its search index."""

    def to_json(self) -> JsonObject:
        """The same as JSON."""
        told: JsonObject = {
            "file": str(self.path),
            "bytes": self.size,
            "schema": self.schema,
            "partita": self.partita,
            "engine": self.engine,
            "madeAt": self.made_at,
            "rows": dict(self.rows),
        }
        return told | ({"unfindable": self.unfindable} if self.unfindable else {})


def report(path: Path, size: int, head: Head, end: End) -> BackupReport:
    """What is told of a file."""
    rows = {name: table.rows for name, table in end.tables.items()}
    return BackupReport(path, size, head.schema, head.partita, head.engine, head.made_at, rows)
