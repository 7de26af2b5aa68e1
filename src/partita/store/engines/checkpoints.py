"""Bringing the file of SQLite up to date with its write-ahead log, beside the work.

SQLite does it as part of the commit that makes the log long, and whoever waits for that commit waits for
thousands of pages. Another connection can do it while the writer goes on.
"""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Final

EVERY: Final = 200
"""How many commits lie between two."""


class Checkpoints:
    """Counts commits, and now and then has the file brought up to date."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], threads: Executor) -> None:
        self._connect = connect
        self._threads = threads
        self._connection: sqlite3.Connection | None = None
        self._commits = 0
        self._running: Future[None] | None = None

    def count(self) -> None:
        """Something was committed."""
        self._commits += 1
        if self._commits >= EVERY and (self._running is None or self._running.done()):
            self._commits = 0
            self._running = self._threads.submit(self._checkpoint)

    def _checkpoint(self) -> None:
        with suppress(sqlite3.Error):  # whatever is wrong meets the writer too, and is told there
            if self._connection is None:
                self._connection = self._connect()
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Let go of the file, once nothing is counted any more and the threads have ended."""
        if self._connection is not None:
            self._connection.close()
