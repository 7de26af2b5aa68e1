"""SQLite files of other programs, opened for reading so that the files and their folder stay unchanged.

If a `-wal` file exists, a program is using the database, and both files are read. Otherwise the file is
opened as immutable, because SQLite would create a `-wal` file even for reading.
"""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from partita.errors import UnavailableError
from partita.types.json import JsonObject

MAGIC: Final = b"SQLite format 3\x00"
_WAL_FLAG: Final = slice(18, 20)
"""Where the header of a database says whether it is in WAL mode: https://sqlite.org/fileformat.html"""

_ERRORS: Final = {
    "SQLITE_NOTADB": ("this file is not a SQLite database", "is it encrypted, or another file?"),
    "SQLITE_CORRUPT": ("the database is damaged", "repair a copy: sqlite3 FILE .recover | sqlite3 NEW"),
    "SQLITE_BUSY": ("another program has locked the database", "stop it, or try again"),
    "SQLITE_CANTOPEN": ("the database cannot be opened", "copy it, with its -wal file, to a folder of yours"),
    "SQLITE_READONLY": (
        "its program was not closed properly",
        "start it once, so that SQLite repairs the file; or use a copy",
    ),
}
"""By the first part of the names of SQLite's errors: what is wrong, and what to do."""


class ReadOnlyDatabase:
    """A SQLite file of another program. It may be used by several threads, one after the other."""

    def __init__(self, path: Path, *, wait: float, text_errors: str = "replace") -> None:
        """`wait`: how many seconds for a lock; `text_errors`: what becomes of bytes that are not UTF-8."""
        self.path = path
        with self.errors():
            self._is_immutable = _is_wal(path) and not _wal_of(path).exists()
            self._stamp = _stamp(path)
            mode = "immutable=1" if self._is_immutable else "mode=ro"
            self.connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?{mode}",
                uri=True,
                timeout=wait,
                isolation_level=None,
                check_same_thread=False,
            )
            self.connection.text_factory = lambda text: text.decode(errors=text_errors)

    def rows(self, query: str, *values: Any) -> Iterator[JsonObject]:
        """The rows of a query, each by column."""
        with self.errors():
            cursor = self.connection.execute(query, values)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))

    @contextmanager
    def errors(self) -> Generator[None, None, None]:
        """Turn errors of SQLite and of the file system into ones that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            what, hint = next(
                (known for prefix, known in _ERRORS.items() if name.startswith(prefix)),
                (f"SQLite reports: {error}", "look at the file with sqlite3"),
            )
            raise UnavailableError(what, where=str(self.path), hint=hint) from error
        except OSError as error:
            what = error.strerror or type(error).__name__
            raise UnavailableError(what, where=str(self.path), hint="check who may read it") from error

    def close(self) -> None:
        """Close the file. Raises an error if it was written to meanwhile: the rows may be inconsistent."""
        self.connection.close()
        if self._is_immutable and (_wal_of(self.path).exists() or _stamp(self.path) != self._stamp):
            raise UnavailableError(
                "a program began to use the file while it was read",
                where=str(self.path),
                hint="try again",
            )


def _is_wal(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(_WAL_FLAG.stop)[_WAL_FLAG] == b"\x02\x02"


def _wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
