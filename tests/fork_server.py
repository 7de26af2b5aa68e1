"""A process that has loaded Partita and forks for each request: a real process then starts in milliseconds.

    python -m tests.fork_server FOLDER/SOCKET

A request is a line of JSON (`Order`) over a connection of its own. Three descriptors that are sent with it
become the standard streams of the new process; without them the connection is its output. The reply is a line
with the id of the process and, when it has ended, a line with its exit code. When the standard input is
closed, the server and all its processes end, and the folder of the socket is removed.
"""

import atexit
import contextlib
import fcntl
import gc
import io
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import sys
import termios
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypedDict

from rich.cells import cell_len

import partita.cli
from partita.__main__ import main as run_partita
from partita.cli.serve_setup import find_agents
from partita.server.app import asgi

ALSO = (
    "click._textwrap",
    "partita.demo.archive",
    "partita.formats.canonical",
    "partita.formats.claude_code.log",
    "partita.formats.registry",
    "partita.importers.logs.watch",
    "partita.importers.logs.plan",
    "partita.importers.logs.session_reader",
    "partita.logs.sources.opencode_store",
    "partita.server.mcp.stdio",
    "partita.server.runner",
    "partita.store.backup.backup",
    "partita.store.backup.restore",
    "partita.store.data_migrations.runner",
    "partita.store.doctor.doctor",
    "partita.store.engines.postgres",
    "partita.importers.messages",
    "partita.importers.databases.importer",
    "platformdirs.unix",
    "pygments.lexers.data",
    "rich._emoji_codes",
    "rich.live",
    "rich.progress",
    "uvicorn.lifespan.off",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
    "uvloop",
)
"""Modules that commands load on demand."""


class Place(TypedDict):
    """The folder and environment of a process."""

    environment: dict[str, str]
    folder: str


class Order(Place, total=False):
    """What to run: `partita` with its arguments by default."""

    arguments: list[str]
    cold: bool
    """Start a new interpreter, which loads everything."""
    code: str
    """A script to run instead, with these arguments."""
    function: str
    """A function to call instead, as `module:name`."""
    given: list[Any]
    """The arguments of the function."""


def main() -> None:
    """Fork for every request until the standard input is closed."""
    _load()
    assert threading.active_count() == 1, "a fork takes one thread along"
    address = Path(sys.argv[1])
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(address))
    listener.listen()
    signals, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _do_nothing)  # without a handler there is no wakeup
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests, which close the standard input
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([sys.stdin, listener, signals], [], [])
        if signals in ready:
            signals.recv(1024)
            _report(running)
        if listener in ready:
            _take(listener.accept()[0], running, (listener, signals, wakeup))
        if sys.stdin in ready:
            break
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    shutil.rmtree(address.parent, ignore_errors=True)


def _do_nothing(_number: int, _frame: object) -> None:
    pass


def _load() -> None:
    for module in pkgutil.walk_packages(partita.cli.__path__, "partita.cli."):
        import_module(module.name)
    for name in ALSO:
        import_module(name)
    asgi(find_agents([]), store="memory:")  # the first application loads more,
    cell_len("ø")  # and so does the first text
    gc.collect()
    gc.freeze()


def _take(connection: socket.socket, running: dict[int, socket.socket], own: Sequence[socket.socket]) -> None:
    """Start the process of a request."""
    data, streams, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while data and not data.endswith(b"\n"):
        data += connection.recv(1 << 16)
    if not data:
        connection.close()
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    child = os.fork()
    if child == 0:
        for other in (*own, *running.values()):
            other.close()
        _become(json.loads(data), streams, connection)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for one in streams:
        os.close(one)
    running[child] = connection


def _report(running: dict[int, socket.socket]) -> None:
    """Write the exit codes of finished processes."""
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        with running.pop(child) as connection, contextlib.suppress(OSError):  # the test has already ended
            connection.sendall(f"\n{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(order: Order, streams: list[int], connection: socket.socket) -> NoReturn:
    """Become the requested process, with signals and a terminal as from a shell."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    connection.sendall(f"{os.getpid()}\n".encode())
    if not streams:
        streams = [os.open(os.devnull, os.O_RDONLY), os.dup(connection.fileno()), os.dup(connection.fileno())]
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in {*streams} - {0, 1, 2}:
        os.close(stream)
    for number in range(3):
        if os.isatty(number):
            fcntl.ioctl(number, termios.TIOCSCTTY, 0)
            break
    os.chdir(order["folder"])
    arguments = order.get("arguments", [])
    if order.get("cold"):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a handler could be called too late to have an effect
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.execve(sys.executable, [sys.executable, "-m", "partita", *arguments], order["environment"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    sys.argv = ["partita", *arguments]
    sys.stdin, sys.stdout, sys.stderr = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
    _end(_exit_code(order))


def _exit_code(order: Order) -> int:
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if "code" in order:
            exec(compile(order["code"], "<string>", "exec"), {"__name__": "__main__"})
        elif "function" in order:
            module, _, name = order["function"].partition(":")
            function: Callable[..., None] = getattr(import_module(module), name)
            function(*order.get("given", ()))
        else:
            run_partita()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:  # before it had begun
        return 130
    except BaseException as error:  # as in the interpreter
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _end(code: int) -> NoReturn:
    """Exit like the interpreter, but without unloading the modules: there are thousands."""
    threading._shutdown()  # type: ignore[attr-defined] # pyright: ignore
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage] # the interpreter calls it so
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(code)


def _stream(number: int, mode: str) -> io.TextIOWrapper:
    """Return a standard stream as the interpreter creates it: line-buffered on a terminal."""
    buffer = open(number, f"{mode}b", closefd=False)  # noqa: SIM115 # it stays until the end
    return io.TextIOWrapper(
        buffer,
        encoding="utf-8",
        errors="backslashreplace" if number == 2 else "strict",
        line_buffering=number == 2 or os.isatty(number),
    )


if __name__ == "__main__":
    main()
