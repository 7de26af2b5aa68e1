"""Reads sessions in several processes, because one interpreter uses one core."""

import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Final

from partita.errors import PartitaError
from partita.types.json import dumps

if sys.platform == "linux":
    import fcntl

if TYPE_CHECKING:  # this module is imported first, so that processes start while others are imported
    from partita.store.bulk.rows import ThreadRows

    from .plan import Outcome, Task

MIN_BYTES: Final = 4 * 1024 * 1024
"""With fewer bytes, starting processes would take longer than reading."""

PIPE_BYTES: Final = 1024 * 1024
STOP_SECONDS: Final = 1.0
"""How long to wait for a process to stop by itself."""

CAN_FORK: Final = hasattr(os, "fork") and bool(sys.executable)
PROGRAM: Final = (
    "import gc, json, sys; gc.disable(); sys.path[:] = json.loads(sys.argv[1]);"
    " from partita.importers.logs.reader_process import main; main(sys.argv[2:])"
)


class Workers:
    """Processes that read. Where processes cannot be forked, this one reads."""

    def __init__(self, count: int | None = None) -> None:
        self._count = os.cpu_count() or 1 if count is None else count
        self.processes: list[subprocess.Popen[bytes]] = []
        self._workers: list[_Worker] = []

    def start(self) -> None:
        """Start the processes, if there are to be any, so that they import what they need meanwhile."""
        missing = self._count - len(self._workers)
        if CAN_FORK and self._count > 1 and missing > 0:
            self._workers += self._start(missing)

    def _start(self, count: int) -> "list[_Worker]":
        workers = [_Worker() for _ in range(count)]
        ends = [worker.remote_ends for worker in workers]
        command = [sys.executable, "-P", "-c", PROGRAM, dumps(sys.path).decode()]
        process = subprocess.Popen(
            [*command, *(f"{tasks},{items}" for tasks, items in ends)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[end for pair in ends for end in pair],
            start_new_session=True,  # Ctrl-C is only for this process; the others end with it
        )
        self.processes.append(process)
        for pair in ends:
            for end in pair:
                os.close(end)
        return workers

    def read(self, tasks: "Sequence[Task]") -> "Iterator[ThreadRows | Outcome]":
        """The items of all tasks, as they arrive. The largest tasks are started first."""
        waiting = deque(sorted(tasks, key=lambda task: -task.unit.size))
        if self._count > 1 and sum(task.unit.size for task in tasks) >= MIN_BYTES:
            self.start()
            yield from self._read(waiting)
        yield from read_here(waiting)

    def _read(self, waiting: "deque[Task]") -> "Iterator[ThreadRows | Outcome]":
        from .reader_process import DONE, READY

        busy: dict[Connection[Any, Any], _Worker] = {}
        _give(waiting, self._workers, busy)
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection), "only connections are waited for"
                worker = busy[ready]
                try:
                    item = ready.recv()
                except (EOFError, OSError):
                    del busy[ready]
                    yield from self._replace(worker)
                    _give(waiting, self._workers[-1:], busy)
                    continue
                if item == READY:
                    worker.is_ready = True
                elif item == DONE:
                    del busy[ready]
                    _give(waiting, (worker,), busy)
                else:
                    yield item

    def _replace(self, worker: "_Worker") -> "Iterator[ThreadRows | Outcome]":
        """Replace a process that died, and fail its task. If it never started, the task is read here."""
        from .plan import Outcome

        self._workers.remove(worker)
        worker.close()
        assert worker.task is not None, "only busy workers are waited for"
        if worker.is_ready:
            path = str(worker.task.unit.session.path)
            killed = PartitaError(
                "the process that read it was killed", where=path, hint="is there too little memory?"
            )
            yield Outcome(path, problems=(killed,))
            self._workers += self._start(1)
        else:
            yield from read_here([worker.task])

    def close(self) -> None:
        """Stop the processes."""
        for worker in self._workers:
            worker.close()
        self._workers.clear()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.processes.clear()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Worker:
    """The ends of the pipes to a process, and its task."""

    def __init__(self) -> None:
        remote_tasks, tasks = os.pipe()
        items, remote_items = os.pipe()
        _enlarge(remote_items)
        self.remote_ends = remote_tasks, remote_items
        self._tasks: Connection[Any, Any] = Connection(tasks, readable=False)
        self.items: Connection[Any, Any] = Connection(items, writable=False)
        self.task: Task | None = None
        self.is_ready = False

    def give(self, task: "Task") -> None:
        self.task = task
        with contextlib.suppress(OSError):  # a dead process is noticed when it is waited for
            self._tasks.send(task)

    def close(self) -> None:
        self._tasks.close()
        self.items.close()


def _give(
    waiting: "deque[Task]", workers: "Iterable[_Worker]", busy: "dict[Connection[Any, Any], _Worker]"
) -> None:
    """The next tasks, one for each worker."""
    for worker in workers:
        if waiting and worker.items not in busy:
            worker.give(waiting.popleft())
            busy[worker.items] = worker


def _enlarge(pipe: int) -> None:
    """Let a pipe buffer more, where the system can, so that the writer waits less for the reader."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def read_here(tasks: "Iterable[Task]") -> "Iterator[ThreadRows | Outcome]":
    """The items of tasks, read in this process."""
    from .session_reader import read_unit

    for task in tasks:
        yield from read_unit(task)
