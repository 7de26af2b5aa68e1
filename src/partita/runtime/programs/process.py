"""A child process with all that it starts: spoken to through pipes, and gone, whole, when it is stopped."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from partita.errors import AgentError

from .family import Family

HIGH_WATER: Final = 4 * 1024 * 1024
"""How many bytes may wait for a reader before the process has to wait too."""

TAIL: Final = 8 * 1024
"""How much of what a process complained about is remembered for the error."""

POLL: Final = 0.01
"""Seconds between two looks at who is still alive."""

Channel: TypeAlias = Literal["output", "errors", "output-end", "gone"]
CHANNELS: Final[Mapping[int, Channel]] = {1: "output", 2: "errors"}


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a process is given, at each step of stopping it."""

    interrupt: float = 5.0
    """To end its turn when it is asked politely."""
    leave: float = 5.0
    """To go by itself when nothing more is wanted of it."""
    terminate: float = 5.0
    kill: float = 5.0
    silence: float | None = None
    """To say something while it works and nobody is asked anything; without it, for ever."""


class Launch(NamedTuple):
    """What is started, and where."""

    command: Sequence[str]
    cwd: Path | None = None
    environment: Mapping[str, str] | None = None
    input: bytes | None = None
    """All that it will ever read; without it, its input stays open."""


class Piece(NamedTuple):
    """Something that happened to a process: bytes, the end of its output, its end."""

    channel: Channel
    data: bytes = b""


class Program(asyncio.SubprocessProtocol):
    """A process in a session of its own."""

    def __init__(self, tell: Callable[[Piece], None], patience: Patience) -> None:
        """`tell` is called with every piece; whoever is done with one says so with `took`."""
        self._tell = tell
        self._patience = patience
        self._waiting = 0
        self._is_paused = self._is_ignored = self._is_stopped = False
        self._exited, self._gone = asyncio.Event(), asyncio.Event()
        self._tail = bytearray()
        self.exit_code: int | None = None
        """How it ended; `None` while it runs, or if it had to be stopped."""

    @classmethod
    async def start(cls, launch: Launch, tell: Callable[[Piece], None], patience: Patience) -> "Program":
        """Start a process; `AgentError` if that cannot be."""
        if os.name != "posix":
            raise AgentError("programs as agents need a POSIX system", hint="run it in a container")
        loop = asyncio.get_running_loop()
        try:
            _, program = await loop.subprocess_exec(
                lambda: cls(tell, patience),
                *launch.command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=launch.cwd,
                env=None if launch.environment is None else dict(launch.environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _cannot_start(launch, error) from error
        if launch.input is not None:
            program.send(launch.input)
            program.close_input()
        return program

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It runs."""
        self._transport = cast("asyncio.SubprocessTransport", transport)  # the only kind it can be
        self._family = Family(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """It said something."""
        if fd == 2:
            self._tail += data
            del self._tail[:-TAIL]
        if self._is_ignored:
            return
        self._waiting += len(data)
        if self._waiting > HIGH_WATER:
            self._pause(True)
        self._tell(Piece(CHANNELS[fd], data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """It closed a pipe."""
        if fd == 1:
            self._tell(Piece("output-end"))

    def process_exited(self) -> None:
        """It has ended; others may still hold its pipes."""
        if not self._is_stopped:
            self.exit_code = self._transport.get_returncode()
        self._exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended, and all pipes are closed."""
        self._gone.set()
        self._tell(Piece("gone"))

    # What its owner calls

    @property
    def complaints(self) -> str:
        """The last of what it wrote to its standard error."""
        return bytes(self._tail).decode(errors="replace").strip()

    @property
    def has_exited(self) -> bool:
        """Whether it has ended."""
        return self._exited.is_set()

    def took(self, piece: Piece) -> None:
        """A piece was dealt with: there is room for more."""
        self._waiting -= len(piece.data)
        if self._waiting <= HIGH_WATER // 2:
            self._pause(False)

    def send(self, data: bytes) -> None:
        """Write to its input. One that no longer reads misses it."""
        pipe = self._input()
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)

    def close_input(self) -> None:
        """Nothing more will be written, once all is."""
        pipe = self._input()
        if pipe is not None and not pipe.is_closing():
            pipe.write_eof()

    def ignore(self) -> None:
        """Nobody listens any more: take what it says and forget it, so that it need not wait."""
        self._is_ignored = True
        self._pause(False)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it and to all that it started."""
        self._family.signal(number)

    async def wait(self, seconds: float | None) -> bool:
        """Whether it ends within that time; without one, once it has."""
        return await _happens(self._exited, seconds)

    async def wait_for_pipes(self, seconds: float) -> bool:
        """Whether it ends within that time, and all that it said has come."""
        return await _happens(self._gone, seconds)

    async def stop(self) -> None:
        """End it and all that it started, one way or the other. Nothing is left behind, nor any pipe."""
        self._is_stopped = True
        try:
            for number, seconds in (
                (signal.SIGTERM, self._patience.terminate),
                (signal.SIGKILL, self._patience.kill),
            ):
                if await self._is_clear(0):
                    break
                self.signal(number)
                if await self._is_clear(seconds):
                    break
        finally:
            if self._family.look():
                self.signal(signal.SIGKILL)
            self._transport.close()
        await self.wait_for_pipes(self._patience.kill)

    async def _is_clear(self, seconds: float) -> bool:
        """Whether all are gone within that time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while self._family.look() or not self._exited.is_set():
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(POLL)
        return True

    def _input(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(0)
        return cast("asyncio.WriteTransport | None", pipe)  # an input is written to

    def _pause(self, paused: bool) -> None:
        if paused == self._is_paused:
            return
        self._is_paused = paused
        for fd in CHANNELS:
            pipe = cast("asyncio.ReadTransport | None", self._transport.get_pipe_transport(fd))
            if pipe is not None and not pipe.is_closing():
                (pipe.pause_reading if paused else pipe.resume_reading)()


def environment_with(given: Mapping[str, str] | None, without: Sequence[str] = ()) -> dict[str, str]:
    """The variables of this process but for some, and those that are given."""
    own = {name: value for name, value in os.environ.items() if name not in without}
    return own | dict(given or {})


async def _happens(event: asyncio.Event, seconds: float | None) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _cannot_start(launch: Launch, error: OSError | ValueError) -> AgentError:
    name = launch.command[0] if launch.command else ""
    if launch.cwd is not None and not launch.cwd.is_dir():
        return AgentError(f"cannot start {name!r} in {launch.cwd}", hint="name a folder that exists as cwd")
    if isinstance(error, FileNotFoundError):
        return AgentError(f"there is no program {name!r}", hint="install it, or give its path as the command")
    return AgentError(f"cannot start {name!r}: {error}", hint="check the command and its permissions")
