"""What every storage of OpenCode is, and how what is wrong with one is told.

Nothing is ever written. A file or a row that holds no JSON object is given as one that says so, and is listed
in `problems`; it does not stop the rest. Open a storage anew for every look: OpenCode may be at work on it.
"""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from partita.errors import DecodeError, NotFoundError, UnavailableError
from partita.types.json import JsonObject, is_object, loads

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


def object_in(content: bytes, where: str, problems: list[DecodeError]) -> JsonObject:
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


def unknown(session_id: str, path: Path | str = "") -> NotFoundError:
    """What is raised for a session that is not there."""
    return NotFoundError(f"no session {session_id!r}", where=str(path), hint="look at the list of sessions")


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
def told(path: Path) -> Generator[None, None, None]:
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
