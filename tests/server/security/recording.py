"""Records the SQL statements of a request, without their values."""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final
from unittest.mock import patch

from sqlalchemy import Connection

from partita.store.store import Store

_done: ContextVar[list[str] | None] = ContextVar("done", default=None)
"""The list of recorded statements, in the context of a request only."""

VALUE: Final = re.compile(r"x?'(?:[^']|'')*'|\b\d+\b")
OWN: Final = re.compile(r"--|.* 'main'\.", re.DOTALL)
"""Statements that SQLite runs at times of its choice, for triggers and the search index."""


@contextmanager
def recorded(store: Store) -> Generator[None, None, None]:
    """Allow recording of statements during the block."""
    engine: Any = store.engine
    with (
        patch.object(engine, "read", _noting(engine.read)),
        patch.object(engine, "write", _noting(engine.write)),
    ):
        yield


@contextmanager
def recording() -> Generator[list[str], None, None]:
    """The statements that are run by the code in the block."""
    done: list[str] = []
    token = _done.set(done)
    try:
        yield done
    finally:
        _done.reset(token)


def _noting(run: Callable[..., Any]) -> Callable[..., Any]:
    async def noting(work: Callable[[Connection], Any], **how: Any) -> Any:
        done = _done.get()
        return await run(work if done is None else _traced(work, done), **how)

    return noting


def _traced(work: Callable[[Connection], Any], done: list[str]) -> Callable[[Connection], Any]:
    def note(text: str) -> None:
        if not OWN.match(text):
            done.append(VALUE.sub("?", text))

    def traced(connection: Connection) -> Any:
        driver: Any = connection.connection.driver_connection
        driver.set_trace_callback(note)
        try:
            return work(connection)
        finally:
            driver.set_trace_callback(None)

    return traced
