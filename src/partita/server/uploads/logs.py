"""Import uploaded logs like logs on disk, but with names that do not contain temporary paths.

A session is identified by its own id, so that it is the same thread whenever it is uploaded.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import time_ns
from typing import NamedTuple

from msgspec.structs import replace

from partita.importers.logs.importer import import_logs
from partita.importers.logs.plan import IDLE_AFTER_CALL, LogImportReport, Outcome, Plan, Task
from partita.importers.logs.session_reader import read_unit
from partita.importers.logs.workers import Workers
from partita.logs.detection import thread_id_of
from partita.logs.sources.source import LogFile
from partita.server.uploads.files import UNNAMED, DetectedUpload
from partita.server.worker_pool import IN_PROCESS_BYTES, Job, WorkerPool
from partita.store.bulk.rows import RunRows, ThreadRows
from partita.store.store import Store
from partita.store.values import Source
from partita.types.json import is_object
from partita.types.threads import Thread


class ImportedLogs(NamedTuple):
    """The result of importing logs: the report, the threads by id, and the number of runs."""

    report: LogImportReport
    threads: Mapping[str, Thread]
    runs: int


async def import_uploaded_logs(
    store: Store, logs: Sequence[DetectedUpload], folder: Path, pool: WorkerPool, *, dry_run: bool
) -> ImportedLogs:
    """Import logs into the store. With `dry_run`, they are only compared with it."""
    before = time_ns() - IDLE_AFTER_CALL
    async with pool.job() as job:
        workers = UploadWorkers(folder, logs, job)
        files: list[LogFile] = []
        for log in logs:
            source = await store.sources.get(workers.name_of(log))
            files.append(_log_file(log, _mtime_of(source) or before))
        report = await import_logs(store, files, workers=workers, dry_run=dry_run, restore=True)
    report.gone = 0
    return ImportedLogs(report, workers.threads, len(workers.runs))


def _log_file(log: DetectedUpload, mtime_ns: int) -> LogFile:
    """The log as a file on disk. Its time is not that of the upload: no program is writing to it now."""
    name, path = log.upload.name, log.upload.path
    kind, session = log.log_format.info_of(Path(name))
    if kind == "session":
        session = thread_id(log)
    identity = f"upload:{path}"  # no file that was read before has it
    return LogFile(path, log.agent or "", kind, session, log.upload.size, mtime_ns, identity)


def _mtime_of(source: Source | None) -> int | None:
    """The time that was stored as that of the same log when it was last imported."""
    mtime = source.state.get("mtime") if source is not None and is_object(source.state) else None
    return mtime if isinstance(mtime, int) else None


def thread_id(log: DetectedUpload) -> str:
    """The thread of a log: the id of its session, or one that is made from its content."""
    upload = log.upload
    name = f"{UNNAMED}.jsonl" if upload.name == UNNAMED else upload.name
    return thread_id_of(Path(upload.digest) / name, log.log_format, log.head)


def read_tasks(tasks: Sequence[Task]) -> Iterator[ThreadRows | Outcome]:
    """The rows and outcomes of all tasks, one after the other. For a worker process."""
    for task in tasks:
        yield from read_unit(task)


class UploadWorkers(Workers):
    """Reads logs in a worker process, names them for the store, and collects their threads and runs."""

    def __init__(self, folder: Path, logs: Sequence[DetectedUpload], job: Job) -> None:
        super().__init__(1)
        self._job = job
        self._folder = folder
        self._logs = {str(log.upload.path): log for log in logs}
        self._names: dict[str, str] = {}
        self.threads: dict[str, Thread] = {}
        self.runs: set[str] = set()

    def name_of(self, log: DetectedUpload, session: DetectedUpload | None = None) -> str:
        """The name of a log in the store: `upload:`, the thread of its session, and its own name."""
        return f"upload:{thread_id(session or log)}/{log.upload.name}"

    def read(self, tasks: Sequence[Task]) -> Iterator[ThreadRows | Outcome]:
        """The rows and outcomes of all tasks, one after the other."""
        known = [self._with_thread(task) for task in tasks]
        is_small = sum(task.unit.size for task in known) <= IN_PROCESS_BYTES
        for item in read_tasks(known) if is_small else self._job.items(read_tasks, known):
            yield self._outcome(item) if isinstance(item, Outcome) else self._rows(item)

    def _with_thread(self, task: Task) -> Task:
        """The task with the thread of its session, which is read from the start."""
        session = self._logs[str(task.unit.session.path)]
        for file in task.unit.files:
            self._names[str(file.path)] = self.name_of(self._logs[str(file.path)], session)
        state = {"format": session.format, "checkpoint": None}
        known = Source(
            path=self._names[str(task.unit.session.path)], thread_id=thread_id(session), state=state
        )
        return task._replace(plan=Plan("more", known), local=False)

    def _rows(self, rows: ThreadRows) -> ThreadRows:
        self.threads.setdefault(rows.thread.id, rows.thread)
        self.runs |= {one.run.id for one in rows.runs}
        return rows._replace(
            sources=[replace(one, path=self._name(one.path), identity=None) for one in rows.sources],
            runs=list(map(self._run, rows.runs)),
        )

    def _run(self, rows: RunRows) -> RunRows:
        """The run, with the name of its log in its metadata."""
        metadata = rows.run.metadata or {}
        log = metadata.get("log")
        if not is_object(log):
            return rows
        changed = {**metadata, "log": {**log, "path": self._name(str(log.get("path")))}}
        return rows._replace(run=replace(rows.run, metadata=changed))

    def _outcome(self, outcome: Outcome) -> Outcome:
        for problem in outcome.problems:
            problem.where = problem.where.replace(f"{self._folder}/", "")
        return outcome._replace(path=self._file_name(outcome.path))

    def _name(self, path: str) -> str:
        return self._names.get(path, path)

    def _file_name(self, path: str) -> str:
        log = self._logs.get(path)
        return path if log is None else log.upload.name
