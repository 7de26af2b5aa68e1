"""What tests of runs and their logs begin with."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from partita.store import runs, threads
from partita.store.engines.engine import Engine
from partita.store.facade.facade import Facade
from partita.store.log import run_log
from partita.store.log.run_log import Appended, Batch, LogEntry, encode_entries
from partita.store.transaction import Transaction
from partita.types.runs import Run, RunStatus
from partita.types.threads import Thread

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.now += timedelta(seconds=seconds)


def scoped(engine: Engine, owner: str | None = "u1", clock: Clock | None = None) -> Facade:
    """The store of an owner."""
    return Facade(engine, clock=clock or Clock(), owner=owner)


async def with_thread(engine: Engine, owner: str = "u1", clock: Clock | None = None) -> Facade:
    """The store of an owner who has a thread `t1`."""
    store = scoped(engine, owner, clock)
    await store.write(threads.create, Thread(id="t1"))
    return store


async def start(store: Facade, id: str = "r1", status: RunStatus = "running") -> Run:
    """A run in thread `t1`."""
    return await store.write(runs.open_run, Run(id=id, thread_id="t1", status=status))


def batch(run_id: str, entries: Sequence[LogEntry], owner: str | None = "u1") -> Batch:
    """Entries on their way."""
    return Batch(owner, run_id, len(entries), encode_entries(entries))


def raws(*lines: bytes) -> list[LogEntry]:
    """An entry for every line, a millisecond apart."""
    return [LogEntry(NOON + timedelta(milliseconds=number), raw=line) for number, line in enumerate(lines)]


def log_rows(tx: Transaction) -> str:
    """The table that holds what was added last."""
    return "log_tail" if tx.lite else "run_log"


async def tail_rows(store: Facade) -> int:
    """How many rows are in the tail, swept or not; where there is none, none."""
    count = "SELECT count(*) FROM log_tail"
    return await store.read(lambda tx: int(tx.sql(count).scalar_one()) if tx.lite else 0)


async def log(store: Facade, run_id: str, entries: Sequence[LogEntry]) -> int:
    """Write entries as one batch; the number of the last."""
    (result,) = await store.write(run_log.append_many, [batch(run_id, entries, store.owner)])
    assert isinstance(result, Appended), result
    return result.last_seq
