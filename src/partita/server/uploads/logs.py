"""Uploaded logs, brought in as those on disk are, under names that do not tell where they lay meanwhile.

A session is known by its own id, so that it is the same thread however often and from wherever it comes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from msgspec.structs import replace

from partita.importers.logs.importer import import_logs
from partita.importers.logs.plan import RECENT, LogImportReport, Outcome, Plan, Task
from partita.importers.logs.session_reader import read_unit
from partita.importers.logs.workers import Workers
from partita.logs.detection import thread_id_of
from partita.logs.sources.source import LogFile
from partita.server.uploads.files import UNNAMED, Recognised
from partita.server.worker_pool import IN_PROCESS_BYTES, Job, WorkerPool
from partita.store.bulk.rows import RunRows, ThreadRows
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import Source
from partita.types.json import is_object
from partita.types.threads import Thread

T = TypeVar("T")
P = ParamSpec("P")


class BroughtIn(NamedTuple):
    """What came of logs."""

    report: LogImportReport
    threads: Mapping[str, Thread]
    runs: int


async def bring_in_logs(
    store: Store, logs: Sequence[Recognised], folder: Path, pool: WorkerPool, *, dry_run: bool
) -> BroughtIn:
    """Read logs into the store; with `dry_run`, as far as can be without leaving anything there."""
    before = time_ns() - RECENT
    async with pool.job() as job:
        workers = UploadWorkers(folder, logs, job)
        files: list[LogFile] = []
        for log in logs:
            source = await store.sources.get(workers.name_of(log))
            files.append(_log_file(log, _written(source) or before))
        target = Rehearsal.of(store) if dry_run else store
        report = await import_logs(target, files, workers=workers)
    report.gone = 0
    if dry_run:
        found = [await store.threads.get(known) for known in workers.threads]
        report.counts = report.counts._replace(new_threads=sum(thread is None for thread in found))
    return BroughtIn(report, workers.threads, len(workers.runs))


def _log_file(log: Recognised, mtime_ns: int) -> LogFile:
    """The log as one on disk. Its time is not that of the upload: nobody is writing to it now."""
    name, path = log.upload.name, log.upload.path
    kind, session = log.log_format.info_of(Path(name))
    if kind == "session":
        session = thread_id(log)
    identity = f"upload:{path}"  # of none that was ever read
    return LogFile(path, log.agent or "", kind, session, log.upload.size, mtime_ns, identity)


def _written(source: Source | None) -> int | None:
    """When the same log was written, as it was taken for the last time."""
    said = source.state.get("mtime") if source is not None and is_object(source.state) else None
    return said if isinstance(said, int) else None


def thread_id(log: Recognised) -> str:
    """The thread of a log: the session's own id. A log that has none is known by its content."""
    upload = log.upload
    name = f"{UNNAMED}.jsonl" if upload.name == UNNAMED else upload.name
    return thread_id_of(Path(upload.digest) / name, log.log_format, log.head)


def read_tasks(tasks: Sequence[Task]) -> Iterator[ThreadRows | Outcome]:
    """What comes of all tasks, as it comes. For a worker process."""
    for task in tasks:
        yield from read_unit(task)


class UploadWorkers(Workers):
    """Reads logs into the threads that they are about, in a worker process, and remembers what it read."""

    def __init__(self, folder: Path, logs: Sequence[Recognised], job: Job) -> None:
        super().__init__(1)
        self._job = job
        self._folder = folder
        self._logs = {str(log.upload.path): log for log in logs}
        self._names: dict[str, str] = {}
        self.threads: dict[str, Thread] = {}
        self.runs: set[str] = set()

    def name_of(self, log: Recognised, session: Recognised | None = None) -> str:
        """What a log is called in the store: `upload:`, its thread, and its name."""
        return f"upload:{thread_id(session or log)}/{log.upload.name}"

    def read(self, tasks: Sequence[Task]) -> Iterator[ThreadRows | Outcome]:
        """What comes of all tasks, as it comes."""
        known = [self._with_thread(task) for task in tasks]
        is_small = sum(task.unit.size for task in known) <= IN_PROCESS_BYTES
        for item in read_tasks(known) if is_small else self._job.items(read_tasks, known):
            yield self._outcome(item) if isinstance(item, Outcome) else self._rows(item)

    def _with_thread(self, task: Task) -> Task:
        """The task to read on, from nothing, in the thread that we know of."""
        session = self._logs[str(task.unit.session.path)]
        for file in task.unit.files:
            self._names[str(file.path)] = self.name_of(self._logs[str(file.path)], session)
        state = {"format": session.format, "checkpoint": None}
        known = Source(
            path=self._names[str(task.unit.session.path)], thread_id=thread_id(session), state=state
        )
        return task._replace(plan=Plan("more", known))

    def _rows(self, rows: ThreadRows) -> ThreadRows:
        self.threads.setdefault(rows.thread.id, rows.thread)
        self.runs |= {one.run.id for one in rows.runs}
        return rows._replace(
            sources=[replace(one, path=self._name(one.path), identity=None) for one in rows.sources],
            runs=list(map(self._run, rows.runs)),
        )

    def _run(self, rows: RunRows) -> RunRows:
        """The run, which says from which log it is."""
        said = rows.run.metadata or {}
        log = said.get("log")
        if not is_object(log):
            return rows
        named = {**said, "log": {**log, "path": self._name(str(log.get("path")))}}
        return rows._replace(run=replace(rows.run, metadata=named))

    def _outcome(self, outcome: Outcome) -> Outcome:
        problems = tuple(problem.replace(f"{self._folder}/", "") for problem in outcome.problems)
        return outcome._replace(path=self._file_name(outcome.path), problems=problems)

    def _name(self, path: str) -> str:
        return self._names.get(path, path)

    def _file_name(self, path: str) -> str:
        log = self._logs.get(path)
        return path if log is None else log.upload.name


class Rehearsal(Store):
    """A store in which nothing stays: each piece of work is done, seen, and undone."""

    @classmethod
    def of(cls, store: Store) -> "Rehearsal":
        """The same store, in which nothing stays."""
        return cls(store.engine, clock=store.clock, owner=store.owner, appender=store.appender)

    async def write(
        self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """What a function gives, which is undone by then."""
        given: list[T] = []

        def rehearse(tx: Transaction) -> None:
            given[:] = [work(tx, *args, **options)]
            raise _Undo

        with suppress(_Undo):
            await super().write(rehearse)
        return given[0]


class _Undo(Exception):  # noqa: N818 # no error: what ends a rehearsal
    """Nothing of it stays."""
