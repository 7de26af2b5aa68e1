"""Work for other processes, and a function to start it: a process with the store loaded forks for each."""

import asyncio
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from partita.errors import StoreError
from partita.store.backup.backup import create_backup
from partita.store.connection import open_engine, open_store
from partita.store.context import StoreContext
from partita.store.engines.location import locate
from partita.store.logs.appender import Appender
from partita.store.logs.run_log import LogEntry
from partita.store.runs import rows as runs
from partita.store.runs.rows import RunEnd
from partita.types.messages import UserMessage

for name in ("asyncpg", "partita.store.engines.postgres", "sqlalchemy.dialects.sqlite"):
    import_module(name)  # imported once, not in every process

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])
OTHER_USER = 65534


def started(work: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """A process that runs a function of this module."""
    process = PROCESSES.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process


async def exit_code(process: ForkServerProcess, seconds: float = 60) -> int | None:
    """The exit code of a process; `None` if it is still running."""
    await asyncio.to_thread(process.join, seconds)
    return process.exitcode


def write_messages(url: str, name: str, threads: int, each: int) -> None:
    """Save some messages one by one, in each of the threads in turn."""

    async def main() -> None:
        async with open_store(url) as store:
            for number in range(each):
                message = UserMessage(id=f"{name}-{number}", content="x")
                await store.messages.save([message], thread_id=f"t{number % threads}")

    asyncio.run(main())


def open_together(url: str, name: str, barrier: Barrier) -> None:
    """Open a store when all processes are ready, and write a thread of this name."""

    async def main() -> None:
        barrier.wait(60)
        async with open_store(url) as store:
            await store.threads.create(name)
            await store.messages.save([UserMessage(id="m1", content="x")], thread_id=name)

    asyncio.run(main())


def append_lines(url: str, lines: Connection) -> None:
    """Append the received lines to a run, and end it after the last one."""

    async def main() -> None:
        engine = await open_engine(locate(url))
        appender = Appender(engine)
        while line := lines.recv_bytes():
            await appender.append("u1", "r1", [LogEntry(datetime.now(UTC), raw=line)])
        await StoreContext(engine, clock=lambda: datetime.now(UTC), owner="u1").write(
            runs.end, "r1", RunEnd("completed")
        )
        await engine.close()

    asyncio.run(main())


def die_in_a_backup(folder: Path) -> None:
    """Start a backup, and kill this process in the middle of it."""

    async def main() -> None:
        async with open_store(folder / "a.db") as store:
            await create_backup(
                store,
                folder / "a.backup",
                progress=lambda _done, _total: os.kill(os.getpid(), signal.SIGKILL),
            )

    asyncio.run(main())


def fill_with_a_limit(place: str, report: Connection) -> None:
    """Write to a store until its file may not grow any more, and report the error."""
    asyncio.run(_fill(place, report, limit=400_000))


def fill_without_permission(place: str, report: Connection) -> None:
    """Write to a store as a user without permissions, and report the error."""
    asyncio.run(_fill(":memory:"))  # load everything while it is readable
    os.setuid(OTHER_USER)
    asyncio.run(_fill(place, report))


async def _fill(place: str, report: Connection | None = None, limit: int = 0) -> None:
    try:
        async with open_store(place, patience=0.2) as store:
            if limit:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            for number in range(200):
                await store.messages.save([UserMessage(id=f"m{number}", content="x" * 5000)], thread_id="t1")
    except StoreError as error:
        if report is not None:
            report.send(f"{type(error).__name__} {error}")
