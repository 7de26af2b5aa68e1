"""Sessions read by several processes at once, since one interpreter reads with one core."""

import contextlib
import gc
import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from partita.logs.formats import log_format
from partita.logs.pricing.prices import price_of
from partita.store.sessions.rows import SessionRows
from partita.types.usage import Usage

from .task import Outcome, Task
from .work import read_unit

if sys.platform == "linux":
    import fcntl

WORTH_IT: Final = 4 * 1024 * 1024
"""Below so many bytes, starting processes would take longer than reading."""

DONE: Final = "done"

PIPE_BYTES: Final = 1024 * 1024
STOPS_IN: Final = 1.0
"""How many seconds a process has to stop by itself, when it was in the middle of something."""

RARELY: Final = (100_000, 20, 50)
"""How often garbage is looked for: a log is read into many values that all stay until it is told."""


class Workers:
    """Processes that read. Made before threads are, they start at once."""

    def __init__(self, count: int | None = None) -> None:
        self._count = os.cpu_count() or 1 if count is None else count
        # A process that has threads must not be forked: they might hold locks that nobody gives back.
        alone = sys.platform == "linux" and threading.active_count() == 1
        self._context = multiprocessing.get_context("fork" if alone else "spawn")
        self._workers: list[_Worker] = []
        if alone and self._count > 1:
            self._start()

    def _start(self) -> None:
        while len(self._workers) < self._count:
            self._workers.append(_Worker(self._context))

    def read(self, tasks: Sequence[Task]) -> Iterator[SessionRows | Outcome]:
        """What comes of all tasks, as it comes. The largest are begun first."""
        waiting = deque(sorted(tasks, key=lambda task: -task.unit.size))
        if self._count < 2 or sum(task.unit.size for task in tasks) < WORTH_IT:
            return read_here(tasks)
        self._start()
        return self._read(waiting)

    def _read(self, waiting: deque[Task]) -> Iterator[SessionRows | Outcome]:
        busy: dict[Connection[Any, Any], _Worker] = {}
        for worker in self._workers:
            if waiting:
                worker.give(waiting.popleft())
                busy[worker.connection] = worker
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection), "only connections are waited for"
                worker = busy[ready]
                try:
                    item = ready.recv()
                except (EOFError, OSError):
                    yield worker.lost()
                    item = DONE
                    del busy[ready]
                    worker.restart()
                if item is not DONE and item != DONE:
                    yield item
                    continue
                busy.pop(ready, None)
                if waiting:
                    worker.give(waiting.popleft())
                    busy[worker.connection] = worker

    def close(self) -> None:
        """Let the processes go."""
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Worker:
    """One process, and the task it has."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._task: Task | None = None
        self.restart()

    def restart(self) -> None:
        tasks, self._tasks = self._context.Pipe(duplex=False)
        self.connection, items = self._context.Pipe(duplex=False)
        _widen(items)
        self._process = self._context.Process(target=_work, args=(tasks, items), daemon=True)
        self._process.start()
        tasks.close()
        items.close()

    def give(self, task: Task) -> None:
        self._task = task
        self._tasks.send(task)

    def lost(self) -> Outcome:
        path = "" if self._task is None else str(self._task.unit.session.path)
        self._process.join(1)
        return Outcome(path, problems=(f"the process that read it was killed ({self._process.exitcode})",))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._tasks.send(None)
        self._tasks.close()
        self.connection.close()
        self._process.join(STOPS_IN)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()


def _widen(connection: "Connection[Any, Any]") -> None:
    """Let a pipe hold much, where the system can: who writes then waits less for who reads."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(connection.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _work(tasks: "Connection[Any, Any]", connection: "Connection[Any, Any]") -> None:
    """What a process does until nobody wants anything more."""
    try:
        warm_up()  # while the one who started us opens the store
        gc.freeze()  # what is here stays for good
        gc.set_threshold(*RARELY)
        while (task := tasks.recv()) is not None:
            for item in read_unit(task):
                connection.send(item)
            connection.send(DONE)
    except (EOFError, OSError, KeyboardInterrupt):
        return


def warm_up() -> None:
    """Load what every reader will need."""
    log_format("claude-code-log")
    price_of("claude-sonnet-4-5", "anthropic", Usage(input_tokens=1, output_tokens=1), None)


def read_here(tasks: Iterable[Task]) -> Iterator[SessionRows | Outcome]:
    """What comes of tasks, read in this process."""
    for task in tasks:
        yield from read_unit(task)
