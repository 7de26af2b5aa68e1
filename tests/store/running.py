"""Runs and their logs, for tests."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from partita.store.context import StoreContext
from partita.store.engines.engine import Engine
from partita.store.logs.appender import Appender, Batch, RunName, append
from partita.store.logs.run_log import LogEntry, encode_entries
from partita.store.runs import rows as runs
from partita.store.runs.rows import RunEnd
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.threads import rows as threads
from partita.types.threads import Run, RunStatus, Thread

COMPLETED = RunEnd("completed")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self.now += timedelta(seconds=seconds)


def scoped(engine: Engine, owner: str | None = "u1", clock: Clock | None = None) -> Store:
    """The store of an owner."""
    return Store(engine, clock=clock or Clock(), owner=owner, appender=Appender(engine))


async def with_thread(engine: Engine, owner: str = "u1", clock: Clock | None = None) -> StoreContext:
    """The store of an owner who has a thread `t1`."""
    store = scoped(engine, owner, clock)
    await store.write(threads.create, Thread(id="t1"))
    return store


async def start(store: StoreContext, id: str = "r1", status: RunStatus = "running") -> Run:
    """A run in thread `t1`."""
    return await store.write(runs.open_run, Run(id=id, thread_id="t1", status=status))


async def append_to_all(engine: Engine, entries: dict[RunName, Sequence[LogEntry]]) -> dict[RunName, int]:
    """Append to the logs of several runs with one statement; the number of the last entry of each."""
    return await engine.write_statement(partial(append, batches=batches_of(entries)))


def batches_of(entries: dict[RunName, Sequence[LogEntry]]) -> dict[RunName, Batch]:
    """Entries for several runs, encoded."""
    batches = {run: Batch() for run in entries}
    for run, batch in batches.items():
        batch.add(len(entries[run]), encode_entries(entries[run]))
    return batches


def raws(*lines: bytes) -> list[LogEntry]:
    """An entry for every line, a millisecond apart."""
    return [LogEntry(NOON + timedelta(milliseconds=number), raw=line) for number, line in enumerate(lines)]


def log_rows(tx: Transaction) -> str:
    """The table with the newest rows of logs."""
    return "log_tail" if tx.is_sqlite else "run_log"


async def tail_rows(store: StoreContext) -> int:
    """The number of rows in `log_tail` of SQLite, folded or not."""
    count = "SELECT count(*) FROM log_tail"
    return await store.read(lambda tx: int(tx.sql(count).scalar_one()) if tx.is_sqlite else 0)


async def log(store: StoreContext, run_id: str, entries: Sequence[LogEntry]) -> int:
    """Append entries in one row; the number of the last one."""
    run = (store.owner, run_id)
    return (await append_to_all(store.engine, {run: entries}))[run]
