"""Sessions read by several processes at once, since one interpreter reads with one core."""

import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Final

from partita.types.json import dumps

if sys.platform == "linux":
    import fcntl

if TYPE_CHECKING:  # this module is loaded first, so that processes start while the rest is
    from partita.store.sessions.rows import SessionRows

    from .task import Outcome, Task

WORTH_IT: Final = 4 * 1024 * 1024
"""Below so many bytes, starting processes would take longer than reading."""

PIPE_BYTES: Final = 1024 * 1024
STOPS_IN: Final = 1.0
"""How many seconds a process has to stop by itself, when it was in the middle of something."""

CAN_FORK: Final = hasattr(os, "fork") and bool(sys.executable)
PROGRAM: Final = (
    "import gc, json, sys; gc.disable(); sys.path[:] = json.loads(sys.argv[1]);"
    " from partita.logs.importing.reader_process import main; main(sys.argv[2:])"
)


class Workers:
    """Processes that read. Where there can be none, reading is done here."""

    def __init__(self, count: int | None = None) -> None:
        self._count = os.cpu_count() or 1 if count is None else count
        self.crews: list[subprocess.Popen[bytes]] = []
        self._workers: list[_Worker] = []

    def start(self) -> None:
        """Let processes load what they need, if there are to be any, while others do something else."""
        missing = self._count - len(self._workers)
        if CAN_FORK and self._count > 1 and missing > 0:
            self._workers += self._crew(missing)

    def _crew(self, count: int) -> "list[_Worker]":
        workers = [_Worker() for _ in range(count)]
        ends = [worker.their_ends for worker in workers]
        command = [sys.executable, "-P", "-c", PROGRAM, dumps(sys.path).decode()]
        crew = subprocess.Popen(
            [*command, *(f"{tasks},{items}" for tasks, items in ends)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[end for pair in ends for end in pair],
            start_new_session=True,  # Ctrl-C is for us: they end when we do
        )
        self.crews.append(crew)
        for pair in ends:
            for end in pair:
                os.close(end)
        return workers

    def read(self, tasks: "Sequence[Task]") -> "Iterator[SessionRows | Outcome]":
        """What comes of all tasks, as it comes. The largest are begun first."""
        waiting = deque(sorted(tasks, key=lambda task: -task.unit.size))
        if self._count > 1 and sum(task.unit.size for task in tasks) >= WORTH_IT:
            self.start()
            yield from self._read(waiting)
        yield from read_here(waiting)

    def _read(self, waiting: "deque[Task]") -> "Iterator[SessionRows | Outcome]":
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
                    yield from self._after(worker)
                    _give(waiting, self._workers[-1:], busy)
                    continue
                if item == READY:
                    worker.is_ready = True
                elif item == DONE:
                    del busy[ready]
                    _give(waiting, (worker,), busy)
                else:
                    yield item

    def _after(self, worker: "_Worker") -> "Iterator[SessionRows | Outcome]":
        """A worker is gone: the next one, and what becomes of its task. One that never began cannot begin."""
        from .task import Outcome

        self._workers.remove(worker)
        worker.close()
        assert worker.task is not None, "only the busy are waited for"
        if worker.is_ready:
            path = str(worker.task.unit.session.path)
            yield Outcome(
                path, problems=("the process that read it was killed; is there too little memory?",)
            )
            self._workers += self._crew(1)
        else:
            yield from read_here([worker.task])

    def close(self) -> None:
        """Let the processes go."""
        for worker in self._workers:
            worker.close()
        self._workers.clear()
        for crew in self.crews:
            with contextlib.suppress(subprocess.TimeoutExpired):
                crew.wait(STOPS_IN)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(crew.pid, signal.SIGKILL)
            crew.wait()
        self.crews.clear()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Worker:
    """Our ends of the pipes to a process, and the task it has."""

    def __init__(self) -> None:
        tasks, ours = os.pipe()
        mine, items = os.pipe()
        _widen(items)
        self.their_ends = tasks, items
        self._tasks: Connection[Any, Any] = Connection(ours, readable=False)
        self.items: Connection[Any, Any] = Connection(mine, writable=False)
        self.task: Task | None = None
        self.is_ready = False

    def give(self, task: "Task") -> None:
        self.task = task
        with contextlib.suppress(OSError):  # that it is gone shows when it is listened to
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


def _widen(pipe: int) -> None:
    """Let a pipe hold much, where the system can: who writes then waits less for who reads."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def read_here(tasks: "Iterable[Task]") -> "Iterator[SessionRows | Outcome]":
    """What comes of tasks, read in this process."""
    from .work import read_unit

    for task in tasks:
        yield from read_unit(task)
