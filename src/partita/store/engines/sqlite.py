"""SQLite: one writer thread, a few reader threads, a write-ahead log.

The writer takes all work that waits and commits it together, each piece in a savepoint: many small writes
become few commits, and one that fails does not affect the others. Urgent work, such as appending to logs and
renewing leases, does not wait for the rest: streams continue while threads are written.
"""

import asyncio
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import monotonic, time_ns
from typing import Any, Final, Literal, NamedTuple, TypeVar

import sqlalchemy
from sqlalchemy import Connection, event
from sqlalchemy.pool import QueuePool, StaticPool

from partita.errors import StoreError, UnavailableError

from .driver_errors import DRIVER_ERRORS, SQLITE, is_busy, store_error, translated_errors
from .engine import EngineHealth, Listener, Listeners
from .location import create_or_restrict

T = TypeVar("T")

READERS: Final = 4

MAX_JOBS: Final = 1000
"""The number of jobs in one commit."""

MAX_SECONDS: Final = 0.01
"""How long a transaction may take before urgent work has its turn."""

POLL_SECONDS: Final = 0.02
"""The time between two checks whether another process has written."""

MTIME_STEP: Final = 50_000_000
"""After how many nanoseconds a modification time is final: file systems count in steps of milliseconds, so
that two writes may have the same time."""

MTIME_SECONDS: Final = 1.0
"""How long unchanged modification times are taken as proof that nothing was written."""

COMMITS_PER_CHECKPOINT: Final = 200

MAGIC: Final = b"SQLite format 3\x00"

PRAGMAS: Final = (
    "PRAGMA page_size = 8192",  # for new files: two rows of two kilobytes leave half of 4096 bytes unused
    "PRAGMA synchronous = FULL",  # a power failure loses nothing that was acknowledged
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16000",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA wal_autocheckpoint = 8000",  # only if `Checkpoints` lag far behind: the commit waits for it
)


class Job:
    """Work for the writer thread, and the future for its result."""

    __slots__ = ("autocommit", "future", "loop", "work")

    def __init__(self, work: Callable[[Connection], Any], *, autocommit: bool = False) -> None:
        self.work = work
        self.autocommit = autocommit
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()


class Outcome(NamedTuple):
    """The result or the error of a job."""

    job: Job
    result: Any = None
    error: BaseException | None = None


WAKE: Final = "wake"
"""Put into the queue when there is urgent work."""

STOP: Final = "stop"
"""Put into the queue after all work."""


class SqliteEngine:
    """A file, or a database in memory."""

    def __init__(self, path: Path | None, *, patience: float = 30.0) -> None:
        self.path = path
        self._patience = patience
        self._jobs: SimpleQueue[Job | Literal["wake", "stop"]] = SimpleQueue()
        self._urgent: deque[Job] = deque()
        self._listeners = Listeners()
        self._watcher: asyncio.Task[None] | None = None
        self._closed = False
        self.health = EngineHealth(lambda: self.where)
        self._commits = 0
        with translated_errors(self.where):
            self._prepare_file()
            self._read_only = None if path is None else ReadOnlyMode.of(path)
            self._writing = self._create_engine("IMMEDIATE", StaticPool, {})
            self._reading = (
                self._writing
                if path is None
                else self._create_engine("DEFERRED", QueuePool, {"pool_size": READERS})
            )
            self._writing.connect().close()  # errors are raised now, not at the first write
            self._file = self._identity()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="partita-read")
        self._checkpoints = Checkpoints(self._connect, self._readers)
        self._writer = Thread(target=self._write_until_closed, name="partita-write", daemon=True)
        self._writer.start()

    @property
    def where(self) -> str:
        """The path of the file."""
        return "memory" if self.path is None else str(self.path)

    @property
    def is_read_only(self) -> bool:
        """Whether this process may not write to the file or its folder. SQLite needs both for writing."""
        return self._read_only is not None

    # Connections

    def _prepare_file(self) -> None:
        if self.path is None:
            return
        if self.path.is_dir():
            raise StoreError("this is a folder", where=self.where, hint="name a file in it")
        create_or_restrict(self.path)
        # SQLite takes any file of less than a page for an empty one, and overwrites it.
        if _first_bytes(self.path) not in (b"", MAGIC):
            raise UnavailableError(
                SQLITE["SQLITE_NOTADB"][0], where=self.where, hint=SQLITE["SQLITE_NOTADB"][1]
            )

    def _create_engine(self, begin: str, pool: type[Any], options: dict[str, Any]) -> sqlalchemy.Engine:
        engine = sqlalchemy.create_engine("sqlite://", creator=self._connect, poolclass=pool, **options)

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction] # called by SQLAlchemy
            if not connection.get_execution_options().get("autocommit"):
                driver = connection.connection.driver_connection
                assert isinstance(driver, sqlite3.Connection)
                driver.execute(f"BEGIN {begin}")

        return engine

    def _connect(self) -> sqlite3.Connection:
        mode = self._read_only
        connection = sqlite3.connect(
            ":memory:" if self.path is None else self.path if mode is None else mode.address(self.path),
            timeout=self._patience,
            isolation_level=None,  # `sqlite3` begins no transactions
            check_same_thread=False,
            uri=mode is not None,
        )
        try:
            for pragma in PRAGMAS if mode is None else (*mode.pragmas, *PRAGMAS):
                connection.execute(pragma)
        except BaseException:
            connection.close()
            raise
        return connection

    async def use_write_ahead_log(self) -> None:
        """Switch the file to a write-ahead log.

        SQLite does not wait here when another process opens the file at the same time.
        """
        deadline = monotonic() + self._patience
        while True:
            try:
                return await self._run_autocommit(_use_wal)
            except UnavailableError as error:
                if not is_busy(error.__cause__) or monotonic() > deadline:
                    raise
                self.health.retries += 1
            await asyncio.sleep(POLL_SECONDS)

    def _check_file(self) -> None:
        """Refuse a file that was deleted or replaced: SQLite would write to the old file."""
        if self._file is None or self.path is None:
            return
        with suppress(FileNotFoundError):
            if self._identity() == self._file:
                return
            if self._read_only is not None and self.path.exists():
                raise UnavailableError(
                    "the store was changed while it was read", where=self.where, hint="try again"
                )
        raise UnavailableError(
            "the file of the store was deleted or replaced while it was open",
            where=self.where,
            hint="stop every process that has it open, put the file or a backup in its place, start again",
        )

    def _identity(self) -> tuple[int, ...] | None:
        """Differs for another file at the same path, and for a changed one if SQLite assumes no changes."""
        if self.path is None:
            return None
        stat = self.path.stat()
        if self._read_only is None or self._read_only.is_locked:
            return stat.st_dev, stat.st_ino
        return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreError("the store is closed", where=self.where, hint="open it again")

    # Work

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run work in a read-only transaction with one consistent view, and return its result."""
        if self.path is None:  # there is only one connection
            return await self.write(work)
        self._refuse_if_closed()
        with self.health.reading:
            return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        with translated_errors(self.where), self._reading.connect() as connection, connection.begin():
            self._check_file()
            return work(connection)

    async def write(self, work: Callable[[Connection], T], *, urgent: bool = False) -> T:
        """Run work in a transaction and return its result once it is durable. All or nothing is written."""
        self._refuse_if_closed()
        job = Job(work)
        if urgent:
            self._urgent.append(job)
        self._jobs.put(WAKE if urgent else job)
        with self.health.writing:
            result: T = await job.future
        return result

    async def write_statement(self, work: Callable[[Connection], T]) -> T:
        """Run urgent work that writes with a single statement, without `BEGIN` and `COMMIT`."""
        with self.health.writing:
            return await self._run_autocommit(work)

    async def change_schema(self, work: Callable[[Connection], None]) -> None:
        """Run work that creates or changes tables, in one transaction."""
        await self.write(work)

    async def autocommit(self, work: Callable[[Connection], T]) -> T:
        """Run statements that are not allowed in a transaction, and return the result."""
        return await self.write_statement(work)

    async def _run_autocommit(self, work: Callable[[Connection], T]) -> T:
        self._refuse_if_closed()
        job = Job(work, autocommit=True)
        self._urgent.append(job)
        self._jobs.put(WAKE)
        result: T = await job.future
        return result

    # The writer thread

    def _write_until_closed(self) -> None:
        """Run the jobs that wait and commit them, until the engine is closed."""
        remaining: list[Job] = []
        is_open = True
        with (
            self._writing.connect() as connection,
            self._writing.connect().execution_options(autocommit=True) as autocommit,
        ):
            while is_open or remaining or self._urgent:
                is_open = self._take_jobs(remaining) and is_open
                while self._urgent:
                    job = self._urgent.popleft()
                    if job.autocommit:
                        self._run_without_transaction(autocommit, job)
                    else:
                        self._commit(connection, [job])
                remaining = self._commit(connection, remaining)
        self._writing.dispose()

    def _take_jobs(self, jobs: list[Job]) -> bool:
        """Add the jobs that wait; wait if there are none. Returns whether more may come."""
        while len(jobs) < MAX_JOBS:
            if (jobs or self._urgent) and self._jobs.empty():
                break
            job = self._jobs.get()
            if job == STOP:
                return False
            if job != WAKE:
                jobs.append(job)
        return True

    def _commit(self, connection: Connection, jobs: Sequence[Job]) -> list[Job]:
        """Run jobs in one transaction; returns those that are left when urgent work waits."""
        jobs = [job for job in jobs if not job.future.cancelled()]
        if not jobs:
            return []
        outcomes: list[Outcome] = []
        started = monotonic()
        try:
            with connection.begin():
                self._check_file()
                for job in jobs:
                    outcomes.append(self._run(connection, job, is_only=len(jobs) == 1))
                    if self._urgent and monotonic() - started > MAX_SECONDS:
                        break
                self._check_file()
        except BaseException as error:  # the commit failed: nothing was written
            failed = {outcome.job: outcome for outcome in outcomes if outcome.error is not None}
            _report([failed.get(job) or Outcome(job, error=self._translated(error)) for job in jobs])
            return []
        _report(outcomes)
        self._count_commit()
        return jobs[len(outcomes) :]

    def _run(self, connection: Connection, job: Job, *, is_only: bool) -> Outcome:
        if is_only:
            return Outcome(job, job.work(connection))
        savepoint = connection.begin_nested()
        try:
            result = job.work(connection)
        except BaseException as error:
            if not _in_transaction(connection):
                raise  # a full disk ends the whole transaction: nothing was written
            savepoint.rollback()
            return Outcome(job, error=self._translated(error))
        savepoint.commit()
        return Outcome(job, result)

    def _run_without_transaction(self, connection: Connection, job: Job) -> None:
        """Run a job whose statements are transactions of their own."""
        if job.future.cancelled():
            return
        try:
            self._check_file()
            outcome = Outcome(job, job.work(connection))
        except BaseException as error:
            outcome = Outcome(job, error=self._translated(error))
        finally:
            connection.rollback()  # of the transaction that SQLAlchemy assumes
        _report([outcome])
        self._count_commit()

    def _count_commit(self) -> None:
        self._commits += 1
        if self.path is not None and not self._closed:
            self._checkpoints.count_commit()

    def _translated(self, error: BaseException) -> BaseException:
        if not isinstance(error, DRIVER_ERRORS):
            return error
        translated = store_error(error, self.where)
        translated.__cause__ = error
        return translated

    # Notifications

    @contextmanager
    def listen(self, topic: str) -> Generator[Listener, None, None]:
        """Receive the notifications of a topic. A write of another process notifies all topics."""
        with self._listeners.listen(topic) as listener:
            is_idle = self._watcher is None or self._watcher.done()
            if self.path is not None and is_idle and not self._closed:
                self._watcher = asyncio.create_task(self._watch())
            yield listener

    def notify(self, topic: str) -> None:
        """Notify the listeners of a topic in this process."""
        self._listeners.notify(topic)

    def change_mark(self) -> object | None:
        """The modification times of the files. They are cheap to read, many times a second."""
        if self.path is None:
            return self._commits
        if os.name != "posix":  # elsewhere the modification time of an open file may be an old one
            return None
        mark: list[tuple[int, int, int] | None] = []
        for name in (f"{self.path}-wal", str(self.path)):
            try:
                stat = os.stat(name)  # noqa: PTH116 # a path object would cost more than the call
            except OSError:
                mark.append(None)
                continue
            if time_ns() - stat.st_mtime_ns < MTIME_STEP:
                return object()  # differs from all others: the next write may not change the time
            mark.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(mark)

    async def _watch(self) -> None:
        """Check for writes of other processes while there are listeners."""
        loop = asyncio.get_running_loop()
        connection = self._connect()
        mark, checked = self.change_mark(), loop.time()
        check = loop.run_in_executor(self._readers, data_version, connection)
        try:
            version = await asyncio.shield(check)
            self._listeners.notify_all()
            while self._listeners and not self._closed:
                await asyncio.sleep(POLL_SECONDS)
                before, mark = mark, self.change_mark()
                if mark is not None and mark == before and loop.time() - checked < MTIME_SECONDS:
                    continue
                checked = loop.time()
                check = loop.run_in_executor(self._readers, data_version, connection)
                before, version = version, await asyncio.shield(check)
                if version != before:
                    self._listeners.notify_all()
        finally:
            await asyncio.wait([check])  # a connection must not be closed while a thread uses it
            connection.close()

    async def close(self) -> None:
        """Commit the work that waits, stop the threads, close the file."""
        if self._closed:
            return
        self._closed = True
        self._listeners.notify_all()
        if self._watcher is not None:
            self._watcher.cancel()
            with suppress(asyncio.CancelledError):
                await self._watcher
        self._jobs.put(STOP)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._writer.join)
        await loop.run_in_executor(None, self._readers.shutdown)
        self._checkpoints.close()
        self._reading.dispose()


class ReadOnlyMode(NamedTuple):
    """How to open a file that this process may not write to, without creating files next to it.

    SQLite reads a write-ahead log through an index in shared memory (`-shm`), which it would have to create.
    """

    options: str
    """The parameters of the URI: https://sqlite.org/uri.html"""
    pragmas: tuple[str, ...] = ()
    is_locked: bool = False
    """Whether SQLite locks the file, so that another process may write to it meanwhile."""

    @classmethod
    def of(cls, path: Path) -> "ReadOnlyMode | None":
        """The mode for a file; `None` if it can be written to."""
        real = path.resolve()
        log, index = (real.with_name(real.name + suffix) for suffix in ("-wal", "-shm"))
        is_in_use = log.exists() and index.exists()
        may_create = _is_writable(real.parent) or (is_in_use and _is_writable(log) and _is_writable(index))
        if _is_writable(real) and may_create:
            return None
        if is_in_use:
            return cls("mode=ro&readonly_shm=1", is_locked=True)
        if log.exists() and log.stat().st_size:  # without locks, the index can be private memory
            vfs = "win32-none" if os.name == "nt" else "unix-none"
            return cls(f"mode=ro&vfs={vfs}", ("PRAGMA locking_mode = EXCLUSIVE",))
        return cls("immutable=1")

    def address(self, path: Path) -> str:
        """The URI of a file."""
        return f"{path.resolve().as_uri()}?{self.options}"


class Checkpoints:
    """Copies the write-ahead log into the database file, every so many commits, in another thread.

    SQLite does it as part of the commit that makes the log long, and the caller waits for thousands of pages.
    Another connection can do it while the writer continues.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], threads: Executor) -> None:
        self._connect = connect
        self._threads = threads
        self._connection: sqlite3.Connection | None = None
        self._commits = 0
        self._running: Future[None] | None = None

    def count_commit(self) -> None:
        """Count a commit, and start a checkpoint if it is time."""
        self._commits += 1
        if self._commits >= COMMITS_PER_CHECKPOINT and (self._running is None or self._running.done()):
            self._commits = 0
            self._running = self._threads.submit(self._checkpoint)

    def _checkpoint(self) -> None:
        with suppress(sqlite3.Error):  # the writer meets the same error, and reports it
            if self._connection is None:
                self._connection = self._connect()
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Close the connection, after the threads have ended."""
        if self._connection is not None:
            self._connection.close()


def _report(outcomes: Sequence[Outcome]) -> None:
    """Resolve the futures of jobs, with one call for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
    for outcome in outcomes:
        by_loop.setdefault(outcome.job.loop, []).append(outcome)
    for loop, in_loop in by_loop.items():
        with suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(_resolve, in_loop)


def _resolve(outcomes: Sequence[Outcome]) -> None:
    for job, result, error in outcomes:
        if job.future.done():  # cancelled
            continue
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(MAGIC))


def _use_wal(connection: Connection) -> None:
    connection.exec_driver_sql("PRAGMA journal_mode = WAL")


def _in_transaction(connection: Connection) -> bool:
    driver = connection.connection.driver_connection
    return isinstance(driver, sqlite3.Connection) and driver.in_transaction


def data_version(connection: sqlite3.Connection) -> int:
    """A number that changes when another connection has written."""
    row: tuple[int] = connection.execute("PRAGMA data_version").fetchone()
    return row[0]
