"""Errors of the database drivers, as `StoreError`s that say what, where and what to do."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from partita.errors import StoreError, UnavailableError

# By the name of the error code, or its beginning (SQLITE_IOERR_WRITE).
SQLITE = {
    "SQLITE_FULL": ("the disk is full", "free some space; what was acknowledged before is safe"),
    "SQLITE_READONLY": ("the store can only be read", "make the file and its folder writable"),
    "SQLITE_BUSY": ("another process has locked the store", "wait for it, or stop it, and try again"),
    "SQLITE_LOCKED": ("another connection has locked the store", "try again"),
    "SQLITE_CORRUPT": (
        "the store is damaged",
        "copy the file away, then: sqlite3 FILE .recover | sqlite3 NEW; or restore the last backup",
    ),
    "SQLITE_NOTADB": ("this file is not a store", "name another file, or move this one away"),
    "SQLITE_CANTOPEN": ("the store cannot be opened", "does its folder exist, and may you write there?"),
    "SQLITE_IOERR": ("the disk cannot be read or written", "check the disk; then run: partita doctor"),
    "SQLITE_PERM": ("you may not open the store", "change who may read and write the file"),
    "SQLITE_TOOBIG": ("a value is too big for the store", "keep it in a file and store its URL"),
}

GONE = ("the server does not respond", "is it running, and reachable from here?")

# By SQLSTATE, or its class (the first two characters).
POSTGRES = {
    "28P01": ("the password is wrong", "check the user and the password in the URL"),
    "28": ("the server does not accept this user", "check the user in the URL, and pg_hba.conf"),
    "3D": ("the database does not exist", "create it: createdb NAME"),
    "53100": ("the server's disk is full", "free some space; what was acknowledged before is safe"),
    "53300": ("the server has no connection left", "lower pool_size, or raise max_connections"),
    "25006": ("the server can only be read", "connect to the primary, not to a replica"),
    "57014": ("the server cancelled a query", "check its statement_timeout"),
    "42501": ("this user may not do that", "grant it the right, or connect as the owner of the tables"),
    "42P01": ("the tables do not exist", "open the store once with a user who may create them"),
    "57": ("the server is shutting down or starting", "wait for it and try again"),
    "08": GONE,
    "40": ("two writers were in conflict", "try again"),
    "55P03": ("another process has locked the rows", "try again"),
    "XX": ("the server reports damage", "read its log before anything else"),
}

DRIVER_ERRORS = (SQLAlchemyError, sqlite3.Error, OSError, UnicodeEncodeError, OverflowError)


@contextmanager
def translated_errors(where: str) -> Generator[None, None, None]:
    """Raise a `StoreError` for every error that a driver raises in the block."""
    try:
        yield
    except DRIVER_ERRORS as error:
        raise store_error(error, where) from error


def store_error(error: BaseException, where: str) -> StoreError:
    """The error to raise for an error of a driver."""
    cause = driver_error(error)
    if isinstance(cause, UnicodeEncodeError) or sqlstate(cause) == "22021":
        return StoreError("a text holds a NUL or half a surrogate pair", where=where, hint="use another text")
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
            "no connection became free", where=where, hint="raise pool_size, or make fewer requests at once"
        )
    if is_gone(error):
        return UnavailableError(GONE[0], where=where, hint=GONE[1])
    return StoreError(
        "the database reported an error", where=f"{where}: {cause}", hint="partita doctor looks for damage"
    )


def _by_prefix(table: dict[str, tuple[str, str]], name: str, otherwise: tuple[str, str]) -> tuple[str, str]:
    found = [prefix for prefix in table if name.startswith(prefix)]
    return table[max(found, key=len)] if found else otherwise


def driver_error(error: BaseException) -> BaseException:
    """The error of the driver that SQLAlchemy wrapped."""
    while isinstance(error, DBAPIError) and error.orig is not None:
        error = error.orig
    # SQLAlchemy's asyncpg adapter raises its own classes from the driver's.
    while error.__cause__ is not None and not isinstance(error, sqlite3.Error | OSError):
        error = error.__cause__
    return error


def sqlite_name(error: sqlite3.Error) -> str:
    """The name of the error code, such as `SQLITE_BUSY`."""
    name = getattr(error, "sqlite_errorname", None)
    return name if isinstance(name, str) else ""


def sqlstate(error: BaseException) -> str:
    """The five characters of SQLSTATE, or an empty string."""
    state = getattr(error, "sqlstate", None)
    return state if isinstance(state, str) else ""


def is_gone(error: BaseException) -> bool:
    """Whether the connection was lost, so that the same work may succeed later."""
    if isinstance(error, StoreError):
        return False
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    cause = driver_error(error)
    state = sqlstate(cause)
    if state[:2] in ("08", "57"):
        return state != "57014"  # a query that took too long takes too long the next time, too
    return isinstance(cause, OSError | InterfaceError) or type(cause).__name__ in (
        "InterfaceError",
        "InternalClientError",
        "ConnectionDoesNotExistError",
    )


def is_conflict(error: BaseException) -> bool:
    """Whether two transactions were in conflict, so that one of them has to be repeated.

    Serialization failure, deadlock; or a row was inserted or deleted between our read and our write.
    """
    return sqlstate(driver_error(error)) in ("40001", "40P01", "23503", "23505")


def is_busy(error: BaseException | None) -> bool:
    """Whether another process had locked the SQLite file."""
    driver: object = getattr(error, "orig", error)
    return str(getattr(driver, "sqlite_errorname", "")).startswith("SQLITE_BUSY")
