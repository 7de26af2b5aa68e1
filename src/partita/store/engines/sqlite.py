"""SQLite: one writer thread, a few reader threads, write-ahead log.

The writer takes all work that waits and commits it together, each piece in a savepoint of its own: many
small writes become few commits, and one that fails takes nothing else with it. What is urgent, which is the
writing of logs and the signs of life of those who do, does not wait for all that came before it: streams stay
live while threads are made.
"""

import asyncio
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
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

from .availability import EngineHealth
from .checkpoints import Checkpoints
from .failures import SQLITE, TELLABLE, explained, is_busy, told
from .store_files import create_or_restrict
from .wake import Listeners, News

T = TypeVar("T")

READERS = 4
TOGETHER = 1000
"""How many pieces of work one commit takes at most."""

SHARE = 0.01
"""How many seconds a commit may take up before what is urgent has its turn."""

GLANCE = 0.02
"""How many seconds lie between two looks whether another process has written."""

SETTLED = 50_000_000
"""After how many nanoseconds a time of modification is final: a file system counts in steps of some
milliseconds, so that two writes may have the same."""

TRUSTED = 1.0
"""For how many seconds the times of the files are trusted to tell that nothing was written."""

MAGIC = b"SQLite format 3\x00"

PRAGMAS = (
    "PRAGMA page_size = 8192",  # of new files: rows of two kilobytes fill it better than half of 4096
    "PRAGMA synchronous = FULL",  # durable means durable: a power cut loses nothing that was acknowledged
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16000",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA wal_autocheckpoint = 8000",  # no commit waits for that, unless it lags far behind
)


class Job:
    """Work, and whom to tell what became of it."""

    __slots__ = ("alone", "future", "loop", "work")

    def __init__(self, work: Callable[[Connection], Any], *, alone: bool = False) -> None:
        self.work = work
        self.alone = alone
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()


class Outcome(NamedTuple):
    """What became of work."""

    job: Job
    result: Any = None
    error: BaseException | None = None


WAKE: Final = "wake"
"""Put among the work that waits when there is something urgent."""

STOP: Final = "stop"
"""Put behind all work."""


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
        with told(self.where):
            self._prepare()
            self._writing = self._engine("IMMEDIATE", StaticPool, {})
            self._reading = (
                self._writing if path is None else self._engine("DEFERRED", QueuePool, {"pool_size": READERS})
            )
            self._writing.connect().close()  # now, so that what is wrong is told now
            self._file = None if path is None else _identity(path)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="partita-read")
        self._checkpoints = Checkpoints(self._connect, self._readers)
        self._writer = Thread(target=self._write_all, name="partita-write", daemon=True)
        self._writer.start()

    @property
    def where(self) -> str:
        """The path of the file."""
        return "memory" if self.path is None else str(self.path)

    def _prepare(self) -> None:
        if self.path is None:
            return
        if self.path.is_dir():
            raise StoreError("this is a folder", where=self.where, hint="name a file in it")
        create_or_restrict(self.path)
        # SQLite takes any file of less than a page for an empty one, and writes over it.
        if _start(self.path) not in (b"", MAGIC):
            raise UnavailableError(
                SQLITE["SQLITE_NOTADB"][0], where=self.where, hint=SQLITE["SQLITE_NOTADB"][1]
            )

    def _engine(self, begin: str, pool: type[Any], options: dict[str, Any]) -> sqlalchemy.Engine:
        engine = sqlalchemy.create_engine("sqlite://", creator=self._connect, poolclass=pool, **options)

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction] # called by SQLAlchemy
            if not connection.get_execution_options().get("alone"):
                driver = connection.connection.driver_connection
                assert isinstance(driver, sqlite3.Connection)
                driver.execute(f"BEGIN {begin}")

        return engine

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            ":memory:" if self.path is None else self.path,
            timeout=self._patience,
            isolation_level=None,  # transactions begin where we say so
            check_same_thread=False,
        )
        try:
            for pragma in PRAGMAS:
                connection.execute(pragma)
        except BaseException:
            connection.close()
            raise
        return connection

    async def own(self) -> None:
        """The file is ours: from now on, changes go to a write-ahead log first.

        SQLite does not wait for its turn here when another process opens the file at the same moment.
        """
        deadline = monotonic() + self._patience
        while True:
            try:
                return await self._between(_write_ahead)
            except UnavailableError as error:
                if not is_busy(error.__cause__) or monotonic() > deadline:
                    raise
                self.health.retries += 1
            await asyncio.sleep(GLANCE)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What the work gives, from one consistent view."""
        if self.path is None:  # one connection is all there is
            return await self.write(work)
        self._refuse_if_closed()
        with self.health.reading:
            return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        with told(self.where), self._reading.connect() as connection, connection.begin():
            self._check_file()
            return work(connection)

    def _check_file(self) -> None:
        """Refuse a file that was deleted or replaced: SQLite would write into one that no other can open."""
        if self._file is None or self.path is None:
            return
        with suppress(FileNotFoundError):
            if _identity(self.path) == self._file:
                return
        raise UnavailableError(
            "the file of the store was deleted or replaced while it was open",
            where=self.where,
            hint="stop every process that has it open, put the file or a backup in its place, start again",
        )

    async def write(self, work: Callable[[Connection], T], *, urgent: bool = False) -> T:
        """What the work gives, once it is durable; if it raises, nothing of it remains."""
        self._refuse_if_closed()
        job = Job(work)
        if urgent:
            self._urgent.append(job)
        self._jobs.put(WAKE if urgent else job)
        with self.health.writing:
            result: T = await job.future
        return result

    async def make(self, work: Callable[[Connection], None]) -> None:
        """Do work that makes or changes the tables, in one transaction."""
        await self.write(work)

    async def alone(self, work: Callable[[Connection], T]) -> T:
        """What the work gives, between two transactions of the writer."""
        with self.health.writing:
            return await self._between(work)

    async def _between(self, work: Callable[[Connection], T]) -> T:
        self._refuse_if_closed()
        job = Job(work, alone=True)
        self._urgent.append(job)
        self._jobs.put(WAKE)
        result: T = await job.future
        return result

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreError("the store is closed", where=self.where, hint="open it again")

    def _write_all(self) -> None:
        """The life of the writer thread: take what waits, commit it, tell those who asked."""
        left: list[Job] = []
        open_ = True
        with (
            self._writing.connect() as connection,
            self._writing.connect().execution_options(alone=True) as bare,
        ):
            while open_ or left or self._urgent:
                open_ = self._gather(left) and open_
                while self._urgent:
                    self._hurry(connection, bare, self._urgent.popleft())
                left = self._commit(connection, left)
        self._writing.dispose()

    def _hurry(self, connection: Connection, bare: Connection, job: Job) -> None:
        """Do what is urgent, unless nobody wants it any more."""
        if job.future.cancelled():
            return
        if job.alone:
            self._run_alone(bare, job)
        else:
            self._commit(connection, [job])

    def _gather(self, jobs: list[Job]) -> bool:
        """Add the work that waits; wait for some if there is none. Whether more may come."""
        while len(jobs) < TOGETHER:
            if (jobs or self._urgent) and self._jobs.empty():
                break
            following = self._jobs.get()
            if following == STOP:
                return False
            if following != WAKE and not following.future.cancelled():
                jobs.append(following)
        return True

    def _commit(self, connection: Connection, jobs: list[Job]) -> list[Job]:
        """Do work and commit it together; what is left when something else has to have its turn."""
        if not jobs:
            return []
        outcomes: list[Outcome] = []
        began = monotonic()
        try:
            with connection.begin():
                self._check_file()
                for job in jobs:
                    outcomes.append(self._attempt(connection, job, alone=len(jobs) == 1))
                    if self._urgent and monotonic() - began > SHARE:
                        break
                self._check_file()
        except BaseException as error:  # the commit itself failed: nobody's work is there
            refused = {outcome.job: outcome for outcome in outcomes if outcome.error is not None}
            _tell([refused.get(job) or Outcome(job, error=self._shown(error)) for job in jobs])
            return []
        _tell(outcomes)
        self._count_commit()
        return jobs[len(outcomes) :]

    def _attempt(self, connection: Connection, job: Job, *, alone: bool) -> Outcome:
        if alone:
            return Outcome(job, job.work(connection))
        savepoint = connection.begin_nested()
        try:
            result = job.work(connection)
        except BaseException as error:
            if not _in_transaction(connection):
                raise  # a full disk ends the whole transaction: nobody's work is there
            savepoint.rollback()
            return Outcome(job, error=self._shown(error))
        savepoint.commit()
        return Outcome(job, result)

    def _count_commit(self) -> None:
        self._commits += 1
        if self.path is not None and not self._closed:
            self._checkpoints.count()

    def _run_alone(self, bare: Connection, job: Job) -> None:
        """Do work outside of our transactions; each of its statements is its own."""
        try:
            self._check_file()
            outcome = Outcome(job, job.work(bare))
        except BaseException as error:
            outcome = Outcome(job, error=self._shown(error))
        finally:
            bare.rollback()  # of what SQLAlchemy believes to have begun
        _tell([outcome])
        self._count_commit()

    def _shown(self, error: BaseException) -> BaseException:
        if isinstance(error, TELLABLE):
            shown = explained(error, self.where)
            shown.__cause__ = error
            return shown
        return error

    @contextmanager
    def listen(self, topic: str) -> Generator[News, None, None]:
        """News of a topic; another process's writing counts as news of everything."""
        with self._listeners.listen(topic) as news:
            idle = self._watcher is None or self._watcher.done()
            if self.path is not None and idle and not self._closed:
                self._watcher = asyncio.create_task(self._watch())
            yield news

    def change_mark(self) -> object | None:
        """When the files were last written to: cheap enough to be asked for many times a second."""
        if self.path is None:
            return self._commits
        if os.name != "posix":  # elsewhere the time of a file that is open may be an old one
            return None
        found: list[tuple[int, int, int] | None] = []
        for name in (f"{self.path}-wal", str(self.path)):
            try:
                stat = os.stat(name)  # noqa: PTH116 # a path object would cost more than the call
            except OSError:
                found.append(None)
                continue
            if time_ns() - stat.st_mtime_ns < SETTLED:
                return object()  # equal to no other: the next write may not change the time
            found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(found)

    async def _watch(self) -> None:
        """Look for writings of other processes for as long as there are listeners."""
        loop = asyncio.get_running_loop()
        connection = self._connect()
        mark, looked = self.change_mark(), loop.time()
        look = loop.run_in_executor(self._readers, data_version, connection)
        try:
            known = await asyncio.shield(look)
            self._listeners.tell_all()
            while self._listeners and not self._closed:
                await asyncio.sleep(GLANCE)
                before, mark = mark, self.change_mark()
                if mark is not None and mark == before and loop.time() - looked < TRUSTED:
                    continue
                looked = loop.time()
                look = loop.run_in_executor(self._readers, data_version, connection)
                version = await asyncio.shield(look)
                if version != known:
                    self._listeners.tell_all()
                known = version
        finally:
            await asyncio.wait([look])  # a connection must not be closed while a thread looks at it
            connection.close()

    def tell(self, topic: str) -> None:
        """Wake those in this process who wait for a topic."""
        self._listeners.tell(topic)

    async def close(self) -> None:
        """Commit what waits, stop the threads, close the file."""
        if self._closed:
            return
        self._closed = True
        self._listeners.tell_all()
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


def _tell(outcomes: Sequence[Outcome]) -> None:
    """Tell those who wait what became of their work: all of one loop with one call."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
    for outcome in outcomes:
        by_loop.setdefault(outcome.job.loop, []).append(outcome)
    for loop, theirs in by_loop.items():
        with suppress(RuntimeError):  # the loop was closed: nobody waits
            loop.call_soon_threadsafe(_settle, theirs)


def _settle(outcomes: Sequence[Outcome]) -> None:
    for job, result, error in outcomes:
        if job.future.done():  # who waited was cancelled
            continue
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)


def _identity(path: Path) -> tuple[int, int]:
    """What distinguishes a file from another one of the same name."""
    found = path.stat()
    return found.st_dev, found.st_ino


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(MAGIC))


def _write_ahead(connection: Connection) -> None:
    connection.exec_driver_sql("PRAGMA journal_mode = WAL")


def _in_transaction(connection: Connection) -> bool:
    driver = connection.connection.driver_connection
    return isinstance(driver, sqlite3.Connection) and driver.in_transaction


def data_version(connection: sqlite3.Connection) -> int:
    """A number that changes when another connection has written."""
    row: tuple[int] = connection.execute("PRAGMA data_version").fetchone()
    return row[0]
