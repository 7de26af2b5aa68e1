"""Checkpoints of SQLite run in the background."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from partita.store.engines.sqlite import COMMITS_PER_CHECKPOINT, Checkpoints


def test_after_enough_commits_the_file_contains_them(tmp_path: Path) -> None:
    file, copy = tmp_path / "a.db", tmp_path / "copy.db"
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("CREATE TABLE words (word TEXT)")
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def rows_in_file() -> int:
        """The number of rows without the write-ahead log."""
        shutil.copy(file, copy)
        with sqlite3.connect(f"file:{copy}?immutable=1", uri=True) as connection:
            count: int = connection.execute("SELECT count(*) FROM words").fetchone()[0]
        connection.close()
        return count

    threads = ThreadPoolExecutor(1)
    checkpoints = Checkpoints(lambda: sqlite3.connect(file, check_same_thread=False), threads)
    for number in range(COMMITS_PER_CHECKPOINT):
        assert rows_in_file() == 0
        writer.execute("INSERT INTO words VALUES (?)", (str(number),))
        checkpoints.count_commit()
    threads.shutdown()
    assert rows_in_file() == COMMITS_PER_CHECKPOINT
    checkpoints.close()
    writer.close()


def test_a_file_that_cannot_be_opened_does_not_stop_writers(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        checkpoints = Checkpoints(lambda: sqlite3.connect(tmp_path / "none" / "a.db"), threads)
        for _ in range(2 * COMMITS_PER_CHECKPOINT):
            checkpoints.count_commit()
    checkpoints.close()
