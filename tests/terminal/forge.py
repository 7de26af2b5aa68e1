"""A process that has loaded Partita and forks for each command: a real process then costs milliseconds.

    python -m tests.terminal.forge ORDERS LISTENER

Both are descriptors of sockets: orders come over the first, and from anybody who connects to the second, each
with the descriptors of its standard streams and of a pipe that gets the id of the process, and how it ended.
A process with a terminal gets it as its own, as from a shell.
"""

import atexit
import contextlib
import fcntl
import gc
import io
import marshal
import os
import pkgutil
import select
import signal
import socket
import sys
import termios
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, TypedDict

from rich.cells import cell_len

import partita.cli
from partita.__main__ import main as run_partita
from partita.cli.serving.agents import agents_of
from partita.server.app import asgi

ALSO = (
    "click._textwrap",
    "genai_prices.data",
    "genai_prices.data_snapshot",
    "litestar.plugins.attrs",
    "litestar.plugins.pydantic",
    "partita.demo.archive",
    "partita.formats.canonical",
    "partita.formats.chunks",
    "partita.formats.claude_code.log.decoder",
    "partita.logs.importing.live",
    "partita.logs.importing.storages",
    "partita.logs.importing.work",
    "partita.logs.opencode.storage",
    "partita.server.mcp.stdio",
    "partita.server.runner",
    "partita.store.backup.making",
    "partita.store.backup.restoring",
    "partita.store.data.runner",
    "partita.store.doctor.examination",
    "partita.store.imports.messages",
    "partita.store.imports.runner",
    "platformdirs.unix",
    "pygments.lexers.data",
    "rich._emoji_codes",
    "rich.live",
    "rich.progress",
    "uvicorn.lifespan.off",
    "uvloop",
)
"""What commands load when they need it."""


class Order(TypedDict):
    """What to start, and where."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    cold: bool


def main() -> None:
    """Fork for every order, and report how each command ended, until there are no more orders."""
    orders = socket.socket(fileno=int(sys.argv[1]))
    listener = socket.socket(fileno=int(sys.argv[2]))
    signals, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    _load()
    assert threading.active_count() == 1, "a fork takes one thread along"
    signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler there is no wakeup
    running: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([signals, orders, listener], [], [])
        if signals in ready:
            signals.recv(1024)
            _report(running)
        if listener in ready:
            with listener.accept()[0] as caller:
                _take(caller, running, (orders, listener, signals, wakeup))
        if orders in ready and not _take(orders, running, (orders, listener, signals, wakeup)):
            break
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _take(caller: socket.socket, running: dict[int, int], own: Sequence[socket.socket]) -> bool:
    """Start the command of an order. False: there is no order, and there will be none."""
    order, streams, _, _ = socket.recv_fds(caller, 1 << 20, 4)
    if not order:
        return False
    *standard, status = streams
    child = _fork()
    if child == 0:
        for inherited in (caller, *own):
            inherited.close()
        for other in (*running.values(), status):
            os.close(other)
        _become(marshal.loads(order), standard)
    for one in standard:
        os.close(one)
    running[child] = status
    os.write(status, f"{child}\n".encode())
    return True


def _fork() -> int:
    """A process with the signals as a shell gives them; the command unblocks SIGINT when it can handle it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    else:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return child


def _report(running: dict[int, int]) -> None:
    """Write the exit codes of the commands that have ended."""
    while running:
        child, ended = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        status = running.pop(child)
        with contextlib.suppress(BrokenPipeError):  # the test has failed before
            os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
        os.close(status)


def _load() -> None:
    for module in pkgutil.walk_packages(partita.cli.__path__, "partita.cli."):
        import_module(module.name)
    for name in ALSO:
        import_module(name)
    asgi(agents_of([]), store="memory:")  # the first application loads more,
    cell_len("ø")  # and so does the first text
    gc.collect()
    gc.freeze()


def _become(order: Order, streams: list[int]) -> NoReturn:
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    for number in range(3):
        if os.isatty(number):
            fcntl.ioctl(number, termios.TIOCSCTTY, 0)
            break
    os.chdir(order["folder"])
    if order["cold"]:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a handler could be called too late, and do nothing
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        command = [sys.executable, "-m", "partita", *order["arguments"]]
        os.execve(sys.executable, command, order["environment"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    sys.argv = ["partita", *order["arguments"]]
    sys.stdin, sys.stdout, sys.stderr = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
    _end(_code_of_partita())


def _code_of_partita() -> int:
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        run_partita()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:  # before it had begun
        return 130
    except BaseException as error:  # as the interpreter would
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _end(code: int) -> NoReturn:
    """What the interpreter does at the end, but for clearing away modules: there are thousands."""
    threading._shutdown()  # type: ignore[attr-defined] # pyright: ignore
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage] # the interpreter calls it so
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(code)


def _stream(number: int, mode: str) -> io.TextIOWrapper:
    """A standard stream as the interpreter makes it: on a terminal, written line by line."""
    buffer = open(number, f"{mode}b", closefd=False)  # noqa: SIM115 # it stays until the end
    return io.TextIOWrapper(
        buffer,
        encoding="utf-8",
        errors="backslashreplace" if number == 2 else "strict",
        line_buffering=number == 2 or os.isatty(number),
    )


if __name__ == "__main__":
    main()
