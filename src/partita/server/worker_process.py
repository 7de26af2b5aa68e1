"""The processes that run expensive work for a server: one with all modules loaded, and a fork per job.

The server starts the first one with `python -c`, so that no thread, event loop or main module of the server
is copied. A job is a picklable function and its arguments. It is sent through a socket, and the values of the
function are returned through the same socket. A second socket represents the life of the job: its exit status
is written to it, and when the server closes it, or ends itself, the job is killed.
"""

import gc
import importlib
import os
import pickle
import selectors
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, NoReturn, cast

from partita.errors import PartitaError

LIMITS: Final = struct.Struct("!dq")
"""The format of the limits of a job: seconds of CPU time, bytes of memory. File descriptors follow."""

STATUS: Final = struct.Struct("!i")
"""The format of a job's exit code, or the negative number of the signal that ended it."""

OUT_OF_MEMORY: Final = 77
"""The exit code of a job that needs more memory than its limit."""

GC_THRESHOLDS: Final = (100_000, 20, 50)
"""The garbage collector runs rarely: a job creates many values that stay until its end."""

IDLE_SECONDS: Final = 600.0
"""Seconds that the first process waits for jobs before it ends. The next job starts another one."""

WATCH_SECONDS: Final = 0.02
"""Seconds between two checks of a job's memory, where the system does not limit it."""


class Item(NamedTuple):
    """A value that a job returns or yields."""

    value: Any


class Failure(NamedTuple):
    """The error that a job raises."""

    error: Exception


class End(NamedTuple):
    """The end of a job."""


class WorkerError(Exception):
    """An error in a worker process that cannot be pickled; the text is its traceback."""


def main(control_fd: int, modules: Sequence[str]) -> NoReturn:
    """Load the modules, then start a process for each job, until the server ends or sends no more jobs.

    A module may have a function `warm_up`, for example to fill caches for all jobs.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    for name in modules:
        warm_up = getattr(importlib.import_module(name), "warm_up", None)
        if warm_up is not None:
            warm_up()
    gc.collect()
    gc.freeze()  # forks share these pages until one of them writes to them
    gc.set_threshold(*GC_THRESHOLDS)
    _Jobs(socket.socket(fileno=control_fd)).serve()
    os._exit(0)


class _Jobs:
    """The running jobs."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lives: dict[int, socket.socket] = {}  # by the process of the job
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        woken, self._waker = socket.socketpair()
        woken.setblocking(False)
        self._waker.setblocking(False)
        self._woken = woken
        self._selector.register(woken, selectors.EVENT_READ)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Start jobs when they arrive, kill those whose request has ended, report those that end."""
        try:
            while True:
                ready = self._selector.select(None if self._lives else IDLE_SECONDS)
                if not ready and not self._lives:
                    return
                for key, _ in ready:
                    if key.fileobj is self._control:
                        if not self._start():
                            return
                    elif key.fileobj is self._woken:
                        self._drain()
                    else:
                        self._kill(cast("int", key.data))
                self._reap()
        finally:
            for process in self._lives:
                self._kill(process)

    def _start(self) -> bool:
        """Start the next job, and return whether the server still runs."""
        try:
            head, fds, _, _ = socket.recv_fds(self._control, LIMITS.size, 2)
        except OSError:
            return False
        if len(head) < LIMITS.size or len(fds) != 2:
            return False
        data, life = (socket.socket(fileno=fd) for fd in fds)
        process = os.fork()
        if process == 0:
            self._become_job(data, *LIMITS.unpack(head))
        data.close()
        self._lives[process] = life
        self._selector.register(life, selectors.EVENT_READ, process)
        return True

    def _become_job(self, data: socket.socket, cpu_seconds: float, memory_bytes: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            for one in (self._control, self._waker, self._woken, *self._lives.values()):
                one.close()
            limit(cpu_seconds, memory_bytes)
            work(data.makefile("rb"), data.makefile("wb"))
        finally:
            os._exit(1)

    def _kill(self, process: int) -> None:
        """Kill a job whose socket the server has closed."""
        with suppress(KeyError):
            self._selector.unregister(self._lives[process])
        os.kill(process, signal.SIGKILL)  # it is not reaped before `_reap`, so the id is still its own

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            while self._woken.recv(512):
                pass

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if process == 0:
                    return
                life = self._lives.pop(process)
                with suppress(KeyError):
                    self._selector.unregister(life)
                with suppress(OSError):
                    life.send(STATUS.pack(os.waitstatus_to_exitcode(status)))
                life.close()


def work(source: BinaryIO, target: BinaryIO) -> NoReturn:
    """Do the job in the source, and write its values. The process ends here."""
    try:
        function, args = pickle.load(source)
        for value in values_of(function(*args)):
            _send(target, Item(value))
        _send(target, End())
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except OSError:  # the server has ended
        os._exit(1)
    except Exception as error:
        _send(target, Failure(sendable(error)))
    os._exit(0)  # without freeing every value


def values_of(result: Any) -> Iterator[Any]:
    """The values that a function yields, or the one that it returns."""
    return result if isinstance(result, Iterator) else iter((result,))


def _send(target: BinaryIO, message: NamedTuple) -> None:
    pickle.dump(message, target, protocol=pickle.HIGHEST_PROTOCOL)
    target.flush()


def sendable(error: Exception) -> Exception:
    """The error itself if it is a `PartitaError` or can be pickled, otherwise a `WorkerError`."""
    if not isinstance(error, PartitaError):
        text = "".join(traceback.format_exception(error))
        try:
            if type(pickle.loads(pickle.dumps(error))) is type(error):
                error.__cause__ = WorkerError(text)
                return error
        except Exception:
            return WorkerError(text)
        return WorkerError(text)
    return error


def limit(cpu_seconds: float, memory_bytes: int) -> None:
    """Limit the CPU time of this process, and the memory that it uses in addition to its current size."""
    try:
        import resource
    except ImportError:  # Windows: the server kills jobs that take too long
        _watch_memory(memory_bytes)
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # its signal ends the process, also in C code
    whole = int(cpu_seconds) + 2
    _lower(resource.RLIMIT_CPU, whole)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _lower(resource.RLIMIT_AS, pages * os.sysconf("SC_PAGE_SIZE") + memory_bytes)
    else:
        _watch_memory(memory_bytes)


def _lower(kind: int, limit: int) -> None:
    import resource

    _, hard = resource.getrlimit(kind)
    lower = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    with suppress(ValueError, OSError):  # some systems have the limit but do not accept it
        resource.setrlimit(kind, (lower, lower))


def _watch_memory(limit: int) -> None:
    """End this process when it has grown by more than the limit: macOS cannot limit memory."""
    base = peak_bytes()
    if base is None:
        return

    def watch() -> None:
        while True:
            time.sleep(WATCH_SECONDS)
            if (peak_bytes() or 0) - base > limit:
                os._exit(OUT_OF_MEMORY)

    threading.Thread(target=watch, daemon=True).start()


def peak_bytes() -> int | None:
    """The largest size of this process so far; `None` where the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
