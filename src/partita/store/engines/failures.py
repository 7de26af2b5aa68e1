"""What drivers say when something is wrong, told so that one knows what to do."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from partita.errors import StoreError, UnavailableError

# By the name of the error, or the start of it (SQLITE_IOERR_WRITE).
SQLITE = {
    "SQLITE_FULL": ("the disk is full", "free some space; what was acknowledged before is safe"),
    "SQLITE_READONLY": ("the store can only be read", "make the file and its folder writable"),
    "SQLITE_BUSY": ("another process is holding the store", "wait for it, or stop it, and try again"),
    "SQLITE_LOCKED": ("another connection is holding the store", "try again"),
    "SQLITE_CORRUPT": (
        "the store is damaged",
        "copy the file away, then: sqlite3 FILE .recover | sqlite3 NEW; or take the last backup",
    ),
    "SQLITE_NOTADB": ("this file is not a store", "name another file, or move this one away"),
    "SQLITE_CANTOPEN": ("the store cannot be opened", "does its folder exist, and may you write there?"),
    "SQLITE_IOERR": ("the disk cannot be read or written", "look at the disk; then run: partita doctor"),
    "SQLITE_PERM": ("you may not open the store", "change who may read and write the file"),
    "SQLITE_TOOBIG": ("a value is too big for the store", "keep it in a file and store its url"),
}

# By SQLSTATE, or the class of it (its first two characters).
POSTGRES = {
    "28P01": ("the password is wrong", "look at the user and the password in the URL"),
    "28": ("the server does not let this user in", "look at the user in the URL, and at pg_hba.conf"),
    "3D": ("there is no such database", "create it: createdb NAME"),
    "53100": ("the server's disk is full", "free some space; what was acknowledged before is safe"),
    "53300": ("the server has no connection left", "lower pool_size, or raise max_connections"),
    "25006": ("the server can only be read", "connect to the primary, not to a replica"),
    "57014": ("the server gave up a query", "look at its statement_timeout"),
    "42501": ("this user may not do that", "grant it the right, or connect as the owner of the tables"),
    "42P01": ("the tables are not there", "open the store once with a user who may create them"),
    "57": ("the server is shutting down or starting", "wait for it and try again"),
    "08": ("the server does not answer", "is it running, and reachable from here?"),
    "40": ("two writers were in each other's way", "try again"),
    "55P03": ("another process is holding the rows", "try again"),
    "XX": ("the server reports damage", "look at its log before anything else"),
}

GONE = ("the server does not answer", "is it running, and reachable from here?")


TELLABLE = (SQLAlchemyError, sqlite3.Error, OSError, UnicodeEncodeError, OverflowError)


@contextmanager
def told(where: str) -> Generator[None, None, None]:
    """Turn what a driver raises inside into a `StoreError` that says what, where and what to do."""
    try:
        yield
    except TELLABLE as error:
        raise explained(error, where) from error


def explained(error: BaseException, where: str) -> StoreError:
    """The error to show for what a driver raised."""
    cause = root(error)
    if isinstance(cause, UnicodeEncodeError) or sqlstate(cause) == "22021":
        return StoreError(
            "a text holds a NUL or half a surrogate pair", where=where, hint="ask for another text"
        )
    if isinstance(cause, OverflowError) or "out of int64 range" in str(cause):
        return StoreError("a number is too large for the database", where=where, hint="use 64 bits at most")
    if isinstance(cause, OSError) and cause.filename is not None:
        reason = cause.strerror or type(cause).__name__
        place = where if str(cause.filename) == where else f"{where}: {cause.filename}"
        return UnavailableError(reason, where=place, hint=SQLITE["SQLITE_CANTOPEN"][1])
    if isinstance(cause, sqlite3.Error):
        name = sqlite_name(cause)
        what, hint = _by_prefix(SQLITE, name, (f"SQLite reported {name or 'an error'}", ""))
        return UnavailableError(what, where=where if hint else f"{where}: {cause}", hint=hint)
    state = sqlstate(cause)
    if state:
        what, hint = _by_prefix(POSTGRES, state, (f"PostgreSQL reported error {state}", ""))
        return UnavailableError(what, where=where if hint else f"{where}: {cause}", hint=hint)
    if isinstance(error, PoolTimeoutError):
        return UnavailableError(
            "no connection came free", where=where, hint="raise pool_size, or ask for less at once"
        )
    if is_gone(error):
        return UnavailableError(GONE[0], where=where, hint=GONE[1])
    return StoreError(
        "the database reported an error", where=f"{where}: {cause}", hint="partita doctor looks for damage"
    )


def _by_prefix(table: dict[str, tuple[str, str]], name: str, otherwise: tuple[str, str]) -> tuple[str, str]:
    found = [prefix for prefix in table if name.startswith(prefix)]
    return table[max(found, key=len)] if found else otherwise


def root(error: BaseException) -> BaseException:
    """The driver's own error, inside what SQLAlchemy made of it."""
    while isinstance(error, DBAPIError) and error.orig is not None:
        error = error.orig
    # SQLAlchemy's asyncpg adapter raises its own classes from the driver's.
    while error.__cause__ is not None and not isinstance(error, sqlite3.Error | OSError):
        error = error.__cause__
    return error


def sqlite_name(error: sqlite3.Error) -> str:
    """The name of the error code, `SQLITE_BUSY` or the like."""
    name = getattr(error, "sqlite_errorname", None)
    return name if isinstance(name, str) else ""


def sqlstate(error: BaseException) -> str:
    """The five characters of SQLSTATE, or nothing."""
    state = getattr(error, "sqlstate", None)
    return state if isinstance(state, str) else ""


def is_gone(error: BaseException) -> bool:
    """Whether the server went away, so that the same work may succeed once it is back."""
    if isinstance(error, StoreError):
        return False
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    cause = root(error)
    state = sqlstate(cause)
    if state[:2] in ("08", "57"):
        return state != "57014"  # a query that took too long will do so again
    return isinstance(cause, OSError | InterfaceError) or type(cause).__name__ in (
        "InterfaceError",
        "InternalClientError",
        "ConnectionDoesNotExistError",
    )


def is_conflict(error: BaseException) -> bool:
    """Whether two transactions were in each other's way, so that one of them must start over.

    Serialisation failure, deadlock; and a row that came or went between our looking and our writing, which
    the second look will see.
    """
    return sqlstate(root(error)) in ("40001", "40P01", "23503", "23505")


def is_busy(error: BaseException | None) -> bool:
    """Whether SQLite was only busy with another process."""
    driver: object = getattr(error, "orig", error)
    return str(getattr(driver, "sqlite_errorname", "")).startswith("SQLITE_BUSY")
