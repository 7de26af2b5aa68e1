"""Commands as processes: on a terminal that is drawn and typed at, or with their streams in pipes."""

import atexit
import contextlib
import fcntl
import marshal
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyte

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
CTRL_C = "\x03"
CTRL_D = "\x04"


class Ended(NamedTuple):
    """How a command ended, and what it wrote. On a terminal all of it is in `output`."""

    code: int
    output: bytes
    talk: bytes = b""

    @property
    def text(self) -> str:
        """The output, with the ends of lines that a program wrote."""
        return self.output.decode().replace("\r\n", "\n")


class Forge:
    """Starts commands. One is enough for many tests."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="forge-")
        self.address = Path(self._folder.name) / "orders"
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(self.address))
            listener.listen()
            given = (theirs.fileno(), listener.fileno())
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.terminal.forge", *map(str, given)], pass_fds=given, cwd=ROOT
            )

    def start(
        self,
        arguments: Sequence[str],
        streams: tuple[int, int, int],
        *,
        environment: Mapping[str, str],
        folder: Path,
        cold: bool = False,
    ) -> "Process":
        """Start a command with these as its standard streams."""
        status, theirs = os.pipe()
        order = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": str(folder),
            "cold": cold,
        }
        socket.send_fds(self._orders, [marshal.dumps(order)], [*streams, theirs])
        os.close(theirs)
        return Process(status)

    def close(self) -> None:
        """Start no more."""
        self._orders.close()
        self._process.wait(PATIENCE)
        self._folder.cleanup()


@cache
def shared_forge() -> Forge:
    """The one of this test process: every test may use it."""
    opened = Forge()
    atexit.register(opened.close)
    return opened


class Process:
    """A command at work."""

    def __init__(self, status: int) -> None:
        self._status = os.fdopen(status)
        self.pid = int(self._status.readline())
        self._code: int | None = None

    def wait(self) -> int:
        """Its exit code; that of a signal is negative."""
        if self._code is None:
            self._code = int(self._status.readline())
            self._status.close()
        return self._code

    def send(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self._code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


class Terminal:
    """A terminal, and the command that runs in it."""

    def __init__(
        self,
        forge: Forge,
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
        self.process = forge.start(
            arguments, (terminal, terminal, terminal), environment=environment, folder=folder, cold=cold
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
        """What is on the screen now."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n")

    @property
    def cursor_is_shown(self) -> bool:
        """Whether a person sees where they type."""
        return not self._screen.cursor.hidden

    @property
    def sent(self) -> bytes:
        """All that was sent to the terminal so far."""
        return b"".join(self._pieces)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._controller, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Make the window larger or smaller."""
        fcntl.ioctl(self._controller, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)

    def wait_for(self, words: str, seconds: float = PATIENCE) -> None:
        """Wait until the screen shows words."""
        self.wait_until(lambda: words in self.shown, words, seconds)

    def wait_until(self, holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Wait until something holds."""
        end = time.monotonic() + seconds
        while not holds():
            assert self._open, f"ended without {what!r}:\n{self.shown}"
            assert time.monotonic() < end, f"no {what!r} in {seconds} seconds:\n{self.shown}"
            self._read(end)

    def hang_up(self) -> int:
        """Close the window; gives the exit code."""
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
        except OSError:  # nobody writes any more
            piece = b""
        if not piece:
            self._open = False
            return
        self._pieces.append(piece)
        self._stream.feed(piece)


class Piped:
    """A command whose input, output and talk are pipes."""

    def __init__(
        self,
        forge: Forge,
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
        self.process = forge.start(
            arguments,
            (theirs_in, theirs_out, theirs_err),
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
        """Its output so far."""
        return b"".join(self._pieces.get(self._output, []))

    def give(self, data: bytes) -> None:
        """Write to its input."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._input, data)

    def give_no_more(self) -> None:
        """End its input."""
        os.close(self._input)
        self._input = -1

    def wait_for(self, words: bytes, seconds: float = PATIENCE) -> None:
        """Wait until it has written words, anywhere."""
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
