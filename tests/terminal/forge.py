"""A process that has loaded Partita and forks for each command: a real process then costs milliseconds.

    python -m tests.terminal.forge DESCRIPTOR

Orders come over a socket, each with the descriptors of its standard streams and of a pipe that hears the id
of the process, and how it ended. A process with a terminal gets it as its own, as from a shell.
"""

import atexit
import fcntl
import gc
import io
import json
import os
import pkgutil
import signal
import socket
import sys
import termios
import threading
import time
from importlib import import_module
from typing import NoReturn, TypedDict

import partita.cli
from partita.__main__ import main as run_partita

ALSO = (
    "partita.demo.archive",
    "partita.logs.importing.live",
    "partita.server.app",
    "partita.server.runner",
    "partita.store.backup.restoring",
    "partita.store.data.runner",
    "partita.store.doctor.examination",
    "partita.store.imports.runner",
    "rich.live",
    "rich.progress",
)


class Order(TypedDict):
    """What to start, and where."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    cold: bool


def main() -> None:
    """Fork until nobody orders any more."""
    orders = socket.socket(fileno=int(sys.argv[1]))
    _load()
    assert threading.active_count() == 1, "a fork takes one thread along"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how those ended who wait for the commands
    while True:
        text, streams, _, _ = socket.recv_fds(orders, 1 << 20, 4)
        if not text:
            return
        if os.fork() == 0:
            orders.close()
            _wait_for(json.loads(text), streams)
            return
        for one in streams:
            os.close(one)


def _load() -> None:
    for module in pkgutil.walk_packages(partita.cli.__path__, "partita.cli."):
        import_module(module.name)
    for name in ALSO:
        import_module(name)
    gc.collect()
    gc.freeze()


def _wait_for(order: Order, streams: list[int]) -> None:
    """Start the command, and tell how it ended. It runs on the way out of here, as a main program does."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    *standard, status = streams
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until Partita can hear it
    child = os.fork()
    if child == 0:
        os.close(status)
        _become(order, standard)
        return
    for one in (*standard, 0, 1, 2):  # else a terminal would never be seen to be left
        os.close(one)
    os.write(status, f"{child}\n".encode())
    _, ended = os.waitpid(child, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    os._exit(0)


def _become(order: Order, streams: list[int]) -> None:
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
