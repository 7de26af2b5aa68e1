"""How many chunks per second can a hundred runs write to the log of one SQLite file, and with what latency?

Each chunk is durable: `synchronous = FULL`, an append returns after the commit. Producers, the event loop and
the writer share the cores of one machine. A stream submits its chunks without waiting (`submit`), and is
notified when each is durable; a run that waits for every chunk shows the cost of a commit.
"""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from sqlalchemy import Connection

from partita.store.connection import open_engine
from partita.store.engines.engine import Engine
from partita.store.engines.location import Location
from partita.store.ids import new_id
from partita.store.logs.appender import Appender
from partita.store.logs.run_log import LogEntry
from partita.store.runs.rows import open_run
from partita.store.sql.transaction import Transaction
from partita.store.threads.rows import create
from partita.types.chunks import TextDelta
from partita.types.threads import Run, Thread

from .table import print_table

RUNS, FEW = 100, 10
SECONDS = 3.0
OFFERED = 50_000
Work: TypeAlias = Callable[[Appender, list[str]], Coroutine[Any, Any, list[float]]]
CHUNK = TextDelta(id="t1", delta="kept whole ")


def entry() -> LogEntry:
    """A chunk, now."""
    return LogEntry(datetime.now(UTC), CHUNK)


def make_runs(connection: Connection, *, count: int) -> list[str]:
    """New active runs."""
    tx = Transaction(connection, "", datetime.now(UTC))
    thread = create(tx, Thread(id=new_id())).id
    return [open_run(tx, Run(id=new_id(), thread_id=thread, status="running")).id for _ in range(count)]


async def as_fast_as_they_can(appender: Appender, runs: list[str], size: int) -> list[float]:
    """Every run appends, waits until that is durable, and appends again: the latency of each chunk."""
    late: list[float] = []
    end = perf_counter() + SECONDS

    async def work(run: str) -> None:
        while (begun := perf_counter()) < end:
            await appender.append("", run, [entry() for _ in range(size)])
            late.extend([perf_counter() - begun] * size)

    await asyncio.gather(*(work(run) for run in runs))
    return late


async def offered(appender: Appender, runs: list[str], rate: int) -> list[float]:
    """Chunks arrive at a fixed rate: the time until each is durable."""
    late: list[float] = []
    come: dict[asyncio.Future[int], list[float]] = {}

    def durable(future: asyncio.Future[int]) -> None:
        future.result()
        now = perf_counter()
        late.extend([now - moment for moment in come.pop(future)])

    begun = perf_counter()
    for number in range(int(rate * SECONDS)):
        while (now := perf_counter()) < begun + number / rate:
            await asyncio.sleep(0.0005)
        future = appender.submit("", runs[number % len(runs)], [entry()])
        if future not in come:
            come[future] = []
            future.add_done_callback(durable)
        come[future].append(now)
    await asyncio.gather(*come)
    return late


async def measure(path: Path, count: int, work: Work) -> tuple[float, list[float]]:
    """Chunks per second, and the sorted latencies."""
    engine: Engine = await open_engine(Location("sqlite", path))
    try:
        runs = await engine.write(partial(make_runs, count=count))
        appender = Appender(engine)
        begun = perf_counter()
        late = await work(appender, runs)
        taken = perf_counter() - begun
        await appender.close()
    finally:
        await engine.close()
    return len(late) / taken, sorted(late)


CASES: dict[str, tuple[int, Work]] = {
    "waiting for every chunk": (RUNS, lambda appender, runs: as_fast_as_they_can(appender, runs, 1)),
    "waiting for every 2 chunks": (RUNS, lambda appender, runs: as_fast_as_they_can(appender, runs, 2)),
    "waiting for every 3 chunks": (RUNS, lambda appender, runs: as_fast_as_they_can(appender, runs, 3)),
    "waiting for every 8 chunks": (RUNS, lambda appender, runs: as_fast_as_they_can(appender, runs, 8)),
    f"{OFFERED:,} chunks/s offered": (RUNS, lambda appender, runs: offered(appender, runs, OFFERED)),
    f"{2 * OFFERED:,} chunks/s offered": (RUNS, lambda appender, runs: offered(appender, runs, 2 * OFFERED)),
    f"{OFFERED:,} chunks/s offered by few": (FEW, lambda appender, runs: offered(appender, runs, OFFERED)),
}


def main() -> None:
    """Measure and print."""
    rows: list[list[str]] = []
    for name, (count, work) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            rate, late = asyncio.run(measure(Path(folder) / "store.db", count, work))
        middle, worst = late[len(late) // 2], late[len(late) * 99 // 100]
        rows.append([name, str(count), f"{rate:,.0f}", f"{middle * 1e3:.1f}", f"{worst * 1e3:.1f}"])
    print_table(
        "Runs appending to their logs (SQLite)",
        ["how", "runs", "chunks/s", "p50 ms", "p99 ms"],
        rows,
    )


if __name__ == "__main__":
    main()
