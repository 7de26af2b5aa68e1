"""Real processes: commands on a terminal or with pipes, and functions."""

import asyncio
import atexit
import contextlib
import fcntl
import io
import json
import os
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyte

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0
CTRL_C = "\x03"
CTRL_D = "\x04"


class Ended(NamedTuple):
    """The exit code and the output of a command. On a terminal, `output` has everything."""

    code: int
    output: bytes
    talk: bytes = b""

    @property
    def text(self) -> str:
        """Return the output with normalized line ends."""
        return self.output.decode().replace("\r\n", "\n")


class ForkServer:
    """Starts processes that have loaded Partita: see `tests.fork_server`."""

    def __init__(self) -> None:
        self._address = str(Path(tempfile.mkdtemp(prefix="fork-server-")) / "socket")
        command = [sys.executable, "-m", "tests.fork_server", self._address]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT)

    def start(
        self,
        *arguments: str,
        streams: tuple[int, int, int],
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        **more: Any,
    ) -> "Process":
        """Start `partita`, or what an `Order` names instead, with these as its standard streams."""
        order = {
            "arguments": arguments,
            "environment": dict(os.environ if environment is None else environment),
            "folder": str(folder or Path.cwd()),
            **more,
        }
        connection = self._connect()
        data = json.dumps(order).encode() + b"\n"
        sent = socket.send_fds(connection, [data], list(streams))
        connection.sendall(data[sent:])
        return Process(connection)

    @property
    def address(self) -> str:
        """Return the address of the requests, once everything is loaded."""
        self._connect().close()
        return self._address

    def _connect(self) -> socket.socket:
        """Return a connection, once everything is loaded."""
        connection = socket.socket(socket.AF_UNIX)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                connection.connect(self._address)
            except (FileNotFoundError, ConnectionRefusedError):
                assert time.monotonic() < end, "the fork server did not start"
                time.sleep(0.02)
            else:
                return connection

    def close(self) -> None:
        """Stop the server and the processes it started."""
        self._process.communicate(timeout=PATIENCE)


@cache
def fork_server() -> ForkServer:
    """Return the fork server of this test run."""
    opened = ForkServer()
    atexit.register(opened.close)
    return opened


class Process:
    """A running process."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reply = b""  # its id; after its end an empty line, and its exit code
        self._receive_lines(1)
        self.pid = int(self._reply.split()[0])  # a short process may have ended already

    def wait(self) -> int:
        """Wait for the exit code; that of a signal is negative."""
        if self._connection.fileno() >= 0:
            self._receive_lines(3)
            self._connection.close()
        return int(self._reply.split()[1])

    def poll(self) -> int | None:
        """Return the exit code; `None` while it runs."""
        if self._connection.fileno() >= 0 and not select.select([self._connection], [], [], 0)[0]:
            return None
        return self.wait()

    def send(self, number: int) -> None:
        """Send a signal, unless the process is known to have ended. Another thread may wait for it."""
        if self._connection.fileno() >= 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _receive_lines(self, count: int) -> None:
        while self._reply.count(b"\n") < count:
            piece = self._connection.recv(64)
            assert piece, "the fork server has ended"
            self._reply += piece


class Terminal:
    """A terminal and the command that runs in it."""

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        folder: Path,
        columns: int = 100,
        rows: int = 30,
        cold: bool = False,
    ) -> None:
        self._controller, terminal = os.openpty()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._pieces: list[bytes] = []
        self._open = True
        self.resize(columns, rows)
        self.process = fork_server().start(
            *arguments,
            streams=(terminal, terminal, terminal),
            environment=environment,
            folder=folder,
            cold=cold,
        )
        os.close(terminal)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._controller, selectors.EVENT_READ)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            self.process.send(signal.SIGKILL)
            self.end()
        os.close(self._controller)
        self._selector.close()

    @property
    def shown(self) -> str:
        """Return the text on the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n")

    @property
    def cursor_is_shown(self) -> bool:
        """Return whether the cursor is visible."""
        return not self._screen.cursor.hidden

    @property
    def sent(self) -> bytes:
        """Return everything that was sent to the terminal."""
        return b"".join(self._pieces)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._controller, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Resize the window."""
        fcntl.ioctl(self._controller, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)

    def wait_for(self, words: str, seconds: float = PATIENCE) -> None:
        """Wait until the screen shows a text."""
        self.wait_until(lambda: words in self.shown, words, seconds)

    def wait_until(self, holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Wait for a condition."""
        end = time.monotonic() + seconds
        while not holds():
            assert self._open, f"ended without {what!r}:\n{self.shown}"
            assert time.monotonic() < end, f"no {what!r} in {seconds} seconds:\n{self.shown}"
            self._read(end)

    def hang_up(self) -> int:
        """Close the window and return the exit code."""
        self._selector.unregister(self._controller)
        os.close(self._controller)
        self._controller = os.open(os.devnull, os.O_RDONLY)
        self._open = False
        return self.process.wait()

    def end(self, seconds: float = PATIENCE) -> Ended:
        """Wait until the command has ended."""
        end = time.monotonic() + seconds
        while self._open:
            assert time.monotonic() < end, f"no end in {seconds} seconds:\n{self.shown}"
            self._read(end)
        return Ended(self.process.wait(), self.sent)

    def _read(self, end: float) -> None:
        if not self._selector.select(max(end - time.monotonic(), 0)):
            return
        try:
            piece = os.read(self._controller, 1 << 16)
        except OSError:  # there is no writer any more
            piece = b""
        if not piece:
            self._open = False
            return
        self._pieces.append(piece)
        self._stream.feed(piece)


class Piped:
    """A command with pipes as standard streams."""

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        folder: Path,
        given: bytes | None = b"",
        reads: bool = True,
        cold: bool = False,
    ) -> None:
        theirs_in, self._input = os.pipe()
        self._output, theirs_out = os.pipe()
        self._talk, theirs_err = os.pipe()
        if not reads:
            os.close(self._output)
        self._pieces: dict[int, list[bytes]] = {}
        self.process = fork_server().start(
            *arguments,
            streams=(theirs_in, theirs_out, theirs_err),
            environment=environment,
            folder=folder,
            cold=cold,
        )
        for one in (theirs_in, theirs_out, theirs_err):
            os.close(one)
        self._selector = selectors.DefaultSelector()
        for one in (self._output, self._talk) if reads else (self._talk,):
            self._pieces[one] = []
            self._selector.register(one, selectors.EVENT_READ)
        if given is not None:
            self.give(given)
            self.give_no_more()

    @property
    def written(self) -> bytes:
        """Return the output so far."""
        return b"".join(self._pieces.get(self._output, []))

    def give(self, data: bytes) -> None:
        """Write to the standard input."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._input, data)

    def give_no_more(self) -> None:
        """Close the standard input."""
        os.close(self._input)
        self._input = -1

    def wait_for(self, words: bytes, seconds: float = PATIENCE) -> None:
        """Wait until a text was written to any stream."""
        end = time.monotonic() + seconds
        while not any(words in b"".join(pieces) for pieces in self._pieces.values()):
            assert self._selector.get_map(), f"ended without {words!r}: {self._pieces}"
            assert time.monotonic() < end, f"no {words!r} in {seconds} seconds: {self._pieces}"
            self._read(end)

    def end(self, seconds: float = PATIENCE) -> Ended:
        """Wait until the command has ended."""
        end = time.monotonic() + seconds
        try:
            while self._selector.get_map():
                assert time.monotonic() < end, f"no end in {seconds} seconds: {self._pieces}"
                self._read(end)
        except AssertionError:
            self.process.send(signal.SIGKILL)
            raise
        finally:
            if self._input >= 0:
                self.give_no_more()
        code = self.process.wait()
        return Ended(code, self.written, b"".join(self._pieces[self._talk]))

    def _read(self, end: float) -> None:
        for key, _ in self._selector.select(max(end - time.monotonic(), 0)):
            piece = os.read(key.fd, 1 << 16)
            if piece:
                self._pieces[key.fd].append(piece)
            else:
                self._selector.unregister(key.fd)
                os.close(key.fd)


class Forked:
    """A process that calls a function, with readable standard output and standard error."""

    def __init__(self, function: Callable[..., None], *arguments: str | float) -> None:
        ours, output = os.pipe()
        self._output = io.FileIO(ours)
        ours, errors = os.pipe()
        self._errors = io.FileIO(ours)
        empty = os.open(os.devnull, os.O_RDONLY)
        name = f"{function.__module__}:{function.__qualname__}"
        self._process = fork_server().start(streams=(empty, output, errors), function=name, given=arguments)
        for one in (empty, output, errors):
            os.close(one)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; `None` while it runs."""
        return self._process.poll()

    async def line(self, seconds: float = 60) -> bytes:
        """Return the next line of the standard output."""
        return await asyncio.wait_for(asyncio.to_thread(self._output.readline), seconds)

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send(number)

    async def kill(self) -> None:
        """Kill the process with SIGKILL. Its output can no longer be read."""
        self._process.send(signal.SIGKILL)
        await self.wait()
        self._output.close()
        self._errors.close()

    async def wait(self, seconds: float = 60) -> int:
        """Return the exit code, once the process has ended."""
        return await asyncio.wait_for(asyncio.to_thread(self._process.wait), seconds)

    async def errors(self) -> str:
        """Return the complete standard error, once the process has ended."""
        return (await asyncio.to_thread(self._errors.readall)).decode()
