"""A child process with pipes, and all processes that it starts: stopping it leaves none of them."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from partita.errors import AgentError

# The descendants of a process: on Linux from /proc, even those that left its group; elsewhere its group.

PROC: Final = Path("/proc")
ENDED_STATES: Final = "ZX"
"""States of processes that have ended and were not waited for yet."""


class ProcessId(NamedTuple):
    """A process. The start time distinguishes it from a later one with the same number."""

    pid: int
    start_time: str


class ProcessInfo(NamedTuple):
    """A process as /proc lists it."""

    id: ProcessId
    state: str
    parent: int
    group: int
    session: int


class ProcessTree:
    """A process that leads a session of its own, and all its descendants."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._known: set[ProcessId] = set()

    def is_alive(self) -> bool:
        """Whether a process of the tree is alive. Descendants are remembered when they are first seen."""
        if not PROC.joinpath("self", "stat").exists():
            return _group_exists(self._leader)
        return bool(self._alive())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes that are alive."""
        with suppress(ProcessLookupError, PermissionError):
            if _group_exists(self._leader):
                os.killpg(self._leader, number)
        for process in self._alive():
            with suppress(ProcessLookupError, PermissionError):
                if os.getpgid(process.pid) != self._leader:
                    os.kill(process.pid, number)

    def _alive(self) -> set[ProcessId]:
        """The processes of the session and the group, those known from before, and their children."""
        processes = _list_processes()
        by_id = {process.id: process for process in processes}
        found = {process.id for process in processes if self._leader in (process.group, process.session)}
        found |= self._known & by_id.keys()
        size = -1
        while size != len(found):
            size = len(found)
            pids = {process.pid for process in found}
            found |= {process.id for process in processes if process.parent in pids}
        self._known |= found
        return {process for process in found if by_id[process].state not in ENDED_STATES}


def _list_processes() -> list[ProcessInfo]:
    """Every process of the system."""
    names = [entry.name for entry in os.scandir(PROC) if entry.name.isdigit()] if PROC.is_dir() else []
    return [process for name in names if (process := _read_process(name)) is not None]


def _read_process(name: str) -> ProcessInfo | None:
    try:
        text = PROC.joinpath(name, "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command is in parentheses and may contain any character: the fields follow the last parenthesis.
    fields = text[text.rfind(")") + 2 :].split()
    id_ = ProcessId(int(name), fields[19])
    return ProcessInfo(id_, fields[0], int(fields[1]), int(fields[2]), int(fields[3]))


def _group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


HIGH_WATER: Final = 4 * 1024 * 1024
"""How many bytes of output may be unread before the process has to wait."""

STDERR_TAIL: Final = 8 * 1024
"""How many bytes of its standard error are kept for the error message."""

POLL_INTERVAL: Final = 0.01
"""Seconds between two checks which processes are alive."""

EventKind: TypeAlias = Literal["stdout", "stderr", "stdout-end", "closed"]
PIPES: Final[Mapping[int, EventKind]] = {1: "stdout", 2: "stderr"}


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How many seconds a process has for each step of stopping it."""

    interrupt: float = 5.0
    """To end its turn after an interrupt."""
    exit: float = 5.0
    """To exit by itself once its input has ended."""
    terminate: float = 5.0
    kill: float = 5.0
    idle: float | None = None
    """To send something while it works and no approval is pending. `None`: no limit."""


class Launch(NamedTuple):
    """What is started, and where."""

    command: Sequence[str]
    cwd: Path | None = None
    environment: Mapping[str, str] | None = None
    input: bytes | None = None
    """The whole input. `None`: the input stays open."""


class ProcessEvent(NamedTuple):
    """Something that happened to a process: bytes in a pipe, the end of its output, its end."""

    kind: EventKind
    data: bytes = b""


class ChildProcess(asyncio.SubprocessProtocol):
    """A process in a session of its own."""

    def __init__(self, on_event: Callable[[ProcessEvent], None], timeouts: Timeouts) -> None:
        """`on_event` is called with every event; its receiver calls `acknowledge` once it is handled."""
        self._on_event = on_event
        self._timeouts = timeouts
        self._unread = 0
        self._is_paused = self._is_discarding = self._is_stopped = False
        self._exited, self._gone = asyncio.Event(), asyncio.Event()
        self._tail = bytearray()
        self.exit_code: int | None = None
        """`None` while it runs, and if it had to be stopped."""

    @classmethod
    async def start(
        cls, launch: Launch, on_event: Callable[[ProcessEvent], None], timeouts: Timeouts
    ) -> "ChildProcess":
        """Start a process; an `AgentError` if it cannot be started."""
        if os.name != "posix":
            raise AgentError("programs as agents need a POSIX system", hint="run it in a container")
        loop = asyncio.get_running_loop()
        try:
            _, process = await loop.subprocess_exec(
                lambda: cls(on_event, timeouts),
                *launch.command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=launch.cwd,
                env=None if launch.environment is None else dict(launch.environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _start_error(launch, error) from error
        if launch.input is not None:
            process.write(launch.input)
            process.close_stdin()
        return process

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process has started."""
        self._transport = cast("asyncio.SubprocessTransport", transport)  # the only kind it can be
        self._tree = ProcessTree(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """The process wrote to a pipe."""
        if fd == 2:
            self._tail += data
            del self._tail[:-STDERR_TAIL]
        if self._is_discarding:
            return
        self._unread += len(data)
        if self._unread > HIGH_WATER:
            self._pause(True)
        self._on_event(ProcessEvent(PIPES[fd], data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """The process closed a pipe."""
        if fd == 1:
            self._on_event(ProcessEvent("stdout-end"))

    def process_exited(self) -> None:
        """The process has ended. Its children may still hold its pipes."""
        if not self._is_stopped:
            self.exit_code = self._transport.get_returncode()
        self._exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended, and all pipes are closed."""
        self._gone.set()
        self._on_event(ProcessEvent("closed"))

    # Called by the owner

    @property
    def stderr_tail(self) -> str:
        """The end of what the process wrote to its standard error."""
        return bytes(self._tail).decode(errors="replace").strip()

    @property
    def has_exited(self) -> bool:
        """Whether the process has ended."""
        return self._exited.is_set()

    def acknowledge(self, event: ProcessEvent) -> None:
        """An event was handled: the process may write more."""
        self._unread -= len(event.data)
        if self._unread <= HIGH_WATER // 2:
            self._pause(False)

    def write(self, data: bytes) -> None:
        """Write to the input of the process, unless it is closed."""
        pipe = self._stdin()
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)

    def close_stdin(self) -> None:
        """Close the input once everything is written."""
        pipe = self._stdin()
        if pipe is not None and not pipe.is_closing():
            pipe.write_eof()

    def discard_output(self) -> None:
        """Read and drop further output, so that the process never waits for a reader."""
        self._is_discarding = True
        self._pause(False)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and to all that it started."""
        self._tree.signal(number)

    async def wait(self, seconds: float | None) -> bool:
        """Whether the process ends within that time. `None`: wait until it ends."""
        return await _is_set(self._exited, seconds)

    async def wait_for_pipes(self, seconds: float) -> bool:
        """Whether the process ends and all its output arrives within that time."""
        return await _is_set(self._gone, seconds)

    async def stop(self) -> None:
        """End the process and all that it started, and close the pipes."""
        self._is_stopped = True
        try:
            for number, seconds in (
                (signal.SIGTERM, self._timeouts.terminate),
                (signal.SIGKILL, self._timeouts.kill),
            ):
                if await self._has_ended(0):
                    break
                self.signal(number)
                if await self._has_ended(seconds):
                    break
        finally:
            if self._tree.is_alive():
                self.signal(signal.SIGKILL)
            self._transport.close()
        await self.wait_for_pipes(self._timeouts.kill)

    async def _has_ended(self, seconds: float) -> bool:
        """Whether the whole process tree ends within that time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while self._tree.is_alive() or not self._exited.is_set():
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(POLL_INTERVAL)
        return True

    def _stdin(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(0)
        return cast("asyncio.WriteTransport | None", pipe)  # stdin is a write pipe

    def _pause(self, paused: bool) -> None:
        if paused == self._is_paused:
            return
        self._is_paused = paused
        for fd in PIPES:
            pipe = cast("asyncio.ReadTransport | None", self._transport.get_pipe_transport(fd))
            if pipe is not None and not pipe.is_closing():
                (pipe.pause_reading if paused else pipe.resume_reading)()


def environment_with(given: Mapping[str, str] | None, without: Sequence[str] = ()) -> dict[str, str]:
    """The environment of this process without some variables, and with those that are given."""
    own = {name: value for name, value in os.environ.items() if name not in without}
    return own | dict(given or {})


async def _is_set(event: asyncio.Event, seconds: float | None) -> bool:
    """Whether an event is set within that time."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _start_error(launch: Launch, error: OSError | ValueError) -> AgentError:
    name = launch.command[0] if launch.command else ""
    if launch.cwd is not None and not launch.cwd.is_dir():
        return AgentError(f"cannot start {name!r} in {launch.cwd}", hint="name a folder that exists as cwd")
    if isinstance(error, FileNotFoundError):
        return AgentError(
            f"program {name!r} was not found", hint="install it, or give its path as the command"
        )
    return AgentError(f"cannot start {name!r}: {error}", hint="check the command and its permissions")
