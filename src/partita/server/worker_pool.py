"""Expensive work of requests, in worker processes with limits: CPU time, memory, and number of processes.

`Limits` bound the cost of one request. The work ends with its request, also when the client disconnects. See
`worker_process` for the code of the processes.
"""

import asyncio
import atexit
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Final, Protocol, TypeVar, cast

from partita.runtime.log_context import get_logger
from partita.types.json import dumps

from .problems import Problem
from .responses import SpooledFile
from .settings import MEBIBYTE, Limits
from .worker_process import LIMITS, OUT_OF_MEMORY, STATUS, End, Failure, Item, WorkerError, values_of

T = TypeVar("T")

LOG: Final = get_logger("partita.server")

IN_PROCESS_BYTES: Final = 8 * 1024
"""Input up to this size is processed here: the slowest conversions of it take a tenth of a second."""

EXPANSION_FLOOR: Final = 1024 * 1024
"""Results up to this size are never refused for being much larger than their input."""

SPOOLED_BYTES: Final = 1024 * 1024
"""Results up to this size are kept in memory until they are sent."""

WALL_TIME_FACTOR: Final = 6.0
"""How many times its limit of CPU time a job may take in real time: other processes need processors too."""

EXIT_SECONDS: Final = 5.0
"""Seconds to wait for the exit status of a job that has closed its socket."""

RETRY_SECONDS: Final = 5
CAN_FORK: Final = hasattr(os, "fork") and hasattr(socket, "send_fds")
PRELOADED: Final = (
    "partita.server.routes.convert",
    "partita.server.routes.inspect",
    "partita.server.routes.share",
    "partita.importers.logs.session_reader",
)
"""Modules that the processes have loaded before the first job."""

PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from partita.server.worker_process import main; main(int(sys.argv[2]), sys.argv[3:])"
)
SINGLE_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from partita.server.worker_process import limit, work;"
    " limit(float(sys.argv[2]), int(sys.argv[3])); work(sys.stdin.buffer, sys.stdout.buffer)"
)
MEMORY_CODES: Final = frozenset({OUT_OF_MEMORY, -9, -signal.SIGSEGV, -signal.SIGABRT})
"""The exit codes of a process that had too little memory.

The system kills a process (9) when it needs the memory itself. Code in C may crash when it gets none.
"""

CPU_SIGNALS: Final = tuple(
    -number for name in ("SIGPROF", "SIGXCPU") if (number := getattr(signal, name, None)) is not None
)


class Process(Protocol):
    """A process with one job: files to write the job to, and to read its results from."""

    source: BinaryIO
    target: BinaryIO

    def kill(self) -> None:
        """End it now, from any thread. Reading and writing then end as after the end of the process."""
        ...

    def exit_code(self) -> int | None:
        """Its exit code, or the negative number of a signal, once its files are closed; `None` if unknown."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class ForkedProcess:
    """A fork of a process that has loaded all modules."""

    def __init__(self, limits: Limits) -> None:
        self._data, job_data = socket.socketpair()
        self._life, job_life = socket.socketpair()
        with job_data, job_life:
            _ForkServer.current().start(limits, job_data, job_life)
        self._life.settimeout(EXIT_SECONDS)
        self.source: BinaryIO = self._data.makefile("rb")
        self.target: BinaryIO = self._data.makefile("wb")

    def kill(self) -> None:
        """End it now."""
        with suppress(OSError):
            self._life.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            self._data.shutdown(socket.SHUT_RDWR)  # wakes up the thread that reads from it

    def exit_code(self) -> int | None:
        """Its exit code."""
        try:
            status = self._life.recv(STATUS.size)
        except OSError:
            return None
        code: int | None = STATUS.unpack(status)[0] if len(status) == STATUS.size else None
        return code

    def close(self) -> None:
        """End it if it still runs, and close the files."""
        self.kill()
        for one in (self.target, self.source, self._data, self._life):
            with suppress(OSError):
                one.close()


class SingleProcess:
    """A new process, where fork is not available: it has to load all modules."""

    def __init__(self, limits: Limits) -> None:
        path, cpu, memory = dumps(sys.path).decode(), str(limits.cpu_seconds), str(limits.memory_bytes)
        self._process = subprocess.Popen(
            [sys.executable, "-c", SINGLE_PROGRAM, path, cpu, memory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.source: BinaryIO = cast("BinaryIO", self._process.stdout)
        self.target: BinaryIO = cast("BinaryIO", self._process.stdin)

    def kill(self) -> None:
        """End it now."""
        self._process.kill()

    def exit_code(self) -> int | None:
        """Its exit code."""
        try:
            return self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """End it if it still runs, and close the files."""
        self.kill()
        for one in (self.target, self.source):
            with suppress(OSError):
                one.close()
        self._process.wait()


class _ForkServer:
    """The process that forks the worker processes. It ends with the server, or after a long idle time."""

    _current: "_ForkServer | None" = None
    _lock = threading.Lock()

    def __init__(self) -> None:
        self._control, server_end = socket.socketpair()
        with server_end:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    PROGRAM,
                    dumps(sys.path).decode(),
                    str(server_end.fileno()),
                    *PRELOADED,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[server_end.fileno()],
                start_new_session=True,  # Ctrl-C is for the server: the process ends with it
            )

    @classmethod
    def current(cls) -> "_ForkServer":
        """The fork server of this process."""
        with cls._lock:
            if cls._current is None or cls._current._process.poll() is not None:
                cls._current = cls()
            return cls._current

    def start(self, limits: Limits, *ends: socket.socket) -> None:
        """Start a process with these sockets. If the fork server is just ending, they are closed unused."""
        head = LIMITS.pack(limits.cpu_seconds, limits.memory_bytes)
        with suppress(OSError):
            socket.send_fds(self._control, [head], [end.fileno() for end in ends])

    @classmethod
    def stop(cls) -> None:
        """End the fork server, and every process that it has started."""
        with cls._lock:
            server, cls._current = cls._current, None
            if server is not None:
                server._control.close()
                server._process.wait()

    @classmethod
    def forget(cls) -> None:
        """Drop the reference in a fork of this process: the fork server belongs to the parent."""
        cls._lock = threading.Lock()
        server, cls._current = cls._current, None
        if server is not None:
            server._control.close()
            server._process.returncode = 0


atexit.register(_ForkServer.stop)
if CAN_FORK:
    os.register_at_fork(after_in_child=_ForkServer.forget)


class LostJobError(Exception):
    """A job was sent to a process that was just ending: it was never started."""


class Job:
    """Work in a process. Its methods block: call them in a thread. `kill` can be called from another one."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: Process | None = None
        self._killed = threading.Event()
        self._timed_out = False

    def items(self, function: Callable[..., Any], *args: Any) -> Generator[Any, None, None]:
        """The values that the function yields, as they arrive, or the one that it returns."""
        try:
            yield from self._items((function, args))
        except LostJobError:
            yield from self._items((function, args))

    def _items(self, work: tuple[Callable[..., Any], tuple[Any, ...]]) -> Generator[Any, None, None]:
        process = self._process = ForkedProcess(self._limits) if CAN_FORK else SingleProcess(self._limits)
        has_started = False
        try:
            if self._killed.is_set():
                return
            with suppress(BrokenPipeError, ConnectionResetError):  # it has ended: reading shows why
                pickle.dump(work, process.target, protocol=pickle.HIGHEST_PROTOCOL)
                process.target.flush()
            while not isinstance(message := self._next(process, has_started=has_started), End):
                if isinstance(message, Failure):
                    raise message.error
                has_started = True
                yield message.value
        finally:
            process.close()

    def _next(self, process: Process, *, has_started: bool) -> Item | Failure | End:
        timer = threading.Timer(WALL_TIME_FACTOR * self._limits.cpu_seconds, self._time_out)
        timer.daemon = True
        timer.start()
        try:
            message: Item | Failure | End = pickle.load(process.source)
        except (EOFError, OSError, pickle.UnpicklingError):  # it has ended before the job
            code = process.exit_code()
            if code is None and not has_started and not self._killed.is_set():
                raise LostJobError("a worker process could not be started") from None
            raise self._error(code) from None
        finally:
            timer.cancel()
        return message

    def _error(self, code: int | None) -> Exception:
        """The error for a process that ended without a result."""
        limits = self._limits
        if self._timed_out or code in CPU_SIGNALS:
            return exceeded(f"{limits.cpu_seconds:g} seconds of CPU time", "cpu_seconds", "cpu-seconds")
        if code in MEMORY_CODES:
            return exceeded(f"{limits.memory_bytes / MEBIBYTE:g} MB of memory", "memory_bytes", "memory-mb")
        return WorkerError(f"a worker process ended with {code}")

    def _time_out(self) -> None:
        self._timed_out = True
        self.kill()

    def kill(self) -> None:
        """End the work. A caller that waits for it gets an error."""
        self._killed.set()
        process = self._process
        if process is not None:
            process.kill()


class WorkerPool:
    """The worker processes of one application."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._slots = asyncio.Semaphore(limits.worker_processes or os.cpu_count() or 1)
        self.waiting = 0
        """How many requests wait for a process."""
        self.working = 0
        """How many processes are running."""
        self.exceeded = 0
        """How many requests were refused because they exceeded a limit."""

    async def run(
        self, size: int, collect: Callable[[Iterator[Any]], T], function: Callable[..., Any], /, *args: Any
    ) -> T:
        """What `collect` returns for the values of a function that processes `size` bytes.

        The function runs in a worker process unless `size` is small, `collect` in a thread of this process.
        """
        if size <= IN_PROCESS_BYTES:
            return await asyncio.to_thread(lambda: collect(values_of(function(*args))))
        async with self.job() as job:
            return await asyncio.to_thread(lambda: collect(job.items(function, *args)))

    @asynccontextmanager
    async def job(self) -> AsyncGenerator[Job, None]:
        """A job, which is killed at the end of the block."""
        async with self._slot():
            job = Job(self._limits)
            try:
                yield job
            finally:
                job.kill()

    @asynccontextmanager
    async def _slot(self) -> AsyncGenerator[None, None]:
        """Wait for a free process; an error if too many requests wait already."""
        if self._slots.locked() and self.waiting >= self._limits.worker_queue:
            raise Problem(
                503,
                f"{self.waiting} requests already wait for a worker process",
                hint="try again later; asgi(limits=Limits(worker_queue=…)) lets more wait",
                headers={"retry-after": str(RETRY_SECONDS)},
            )
        self.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        self.working += 1
        try:
            yield
        except Problem as problem:
            if problem.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                self.exceeded += 1
                LOG.warning("a worker process was ended: %s", problem.what)
            raise
        finally:
            self.working -= 1
            self._slots.release()


def spooled(pieces: Iterable[bytes]) -> SpooledFile:
    """Bytes in a temporary file, which is in memory while it is small."""
    file = SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115 # the sender closes it
    try:
        for piece in pieces:
            file.write(piece)
    except BaseException:
        file.close()
        raise
    size = file.tell()
    file.seek(0)
    return SpooledFile(file, size)


def single_value(items: Iterator[Any]) -> Any:
    """The single value of a job, which is read to its end."""
    values = list(items)
    if not values:
        raise WorkerError("a worker process was ended before it had a result")
    return values[0]


def exceeded(what: str, name: str, setting: str) -> Problem:
    """The refusal of a request that exceeds a limit."""
    return Problem(
        413,
        f"the request takes more than {what}",
        hint=f"request less at once, or {raise_limit(name, setting)}",
    )


def raise_limit(name: str, setting: str) -> str:
    """How to change a limit."""
    return f"raise the limit: asgi(limits=Limits({name}=…)), partita serve --{setting}"


def check_expansion(received: int, expanded: int, limits: Limits, where: str = "") -> None:
    """Refuse content that becomes many times larger than it was sent."""
    if expanded > EXPANSION_FLOOR and expanded > received * limits.expansion:
        raise Problem(
            413,
            f"the content expands to more than {limits.expansion} times its size",
            where=where,
            hint=f"send it uncompressed or in pieces, or {raise_limit('expansion', 'expansion')}",
        )
