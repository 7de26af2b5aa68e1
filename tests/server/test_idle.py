"""An idle server does almost no work, and still notices changes by other processes."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from partita.runtime.session.session import Session
from partita.server.feed import Feed, ImportProgress, events
from partita.store.connection import open_store
from partita.store.engines import sqlite
from tests.store.empty_store import empty_store

REST = 0.4
SETTLED = sqlite.MTIME_STEP / 1e9


class Counts:
    """Counts checks for changes of the database, and transactions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.versions = self.transactions = 0
        version, connect = sqlite.data_version, sqlite.SqliteEngine._connect

        def data_version(connection: sqlite.sqlite3.Connection) -> int:
            self.versions += 1
            return version(connection)

        def traced(engine: sqlite.SqliteEngine) -> sqlite.sqlite3.Connection:
            connection = connect(engine)
            connection.set_trace_callback(self._note)
            return connection

        monkeypatch.setattr(sqlite, "data_version", data_version)
        monkeypatch.setattr(sqlite.SqliteEngine, "_connect", traced)

    def _note(self, statement: str) -> None:
        self.transactions += statement.startswith("BEGIN")

    def clear(self) -> None:
        self.versions = self.transactions = 0


async def test_a_session_without_runs_does_not_use_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counts(monkeypatch)
    async with open_store(empty_store(tmp_path)) as store, Session(store):
        await asyncio.sleep(REST)  # once, at the start
        counts.clear()
        await asyncio.sleep(REST)
        assert (counts.versions, counts.transactions) == (0, 0)


async def test_a_feed_runs_no_query_while_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counts(monkeypatch)
    url = empty_store(tmp_path)
    async with open_store(url) as store, open_store(url) as other:
        feed = Feed(store, interval=0.01)
        stream = events(feed, ImportProgress(), None, keep_alive=5.0, seconds=None)
        async with aclosing(stream), asyncio.timeout(20):
            assert b"event: import" in await anext(stream)
            await asyncio.sleep(2 * SETTLED + REST)
            counts.clear()
            await asyncio.sleep(REST)
            assert (counts.versions, counts.transactions) == (0, 0)
            await other.threads.create("written-by-another")
            assert b"written-by-another" in await anext(stream)
        feed.close()


async def test_a_follower_checks_the_database_only_if_a_file_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counts(monkeypatch)
    url = empty_store(tmp_path)
    async with open_store(url) as store, open_store(url) as other:
        with store.engine.listen("topic") as news:
            await asyncio.sleep(2 * SETTLED + 0.1)
            counts.clear()
            await asyncio.sleep(REST)
            assert counts.versions <= 1  # the times of the files are trusted for a second
            news.clear()
            await other.threads.create("t")
            assert await news.wait(2)
