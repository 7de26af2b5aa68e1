"""A process that has loaded Partita and forks for each order: a server then starts within milliseconds.

    python forge.py FOLDER/SOCKET

An order comes over a connection of its own, as one line of JSON: `{"arguments", "environment", "folder"}`
runs `partita`, with `"code"` it runs a script. The connection becomes the standard output of the new process,
behind a line with its id; the last line is its exit code. The forge ends when its standard input is closed,
and all its processes with it; the folder of the socket is removed.
"""

import gc
import json
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import partita.cli.serving
from partita.__main__ import main as run_partita

LOADED = (
    "partita.cli.serve",
    "partita.formats.registry",
    "partita.logs.importing.live",
    "partita.server.app",
    "partita.server.runner",
    "partita.store.imports.runner",
)


def main() -> None:
    """Fork for every order until the standard input is closed."""
    for module in pkgutil.iter_modules(partita.cli.serving.__path__, "partita.cli.serving."):
        import_module(module.name)
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "a fork takes one thread along"
    orders = socket.socket(socket.AF_UNIX)
    orders.bind(sys.argv[1])
    orders.listen()
    signals, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler there is no wakeup
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests, and they close the standard input
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    running: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for one in (sys.stdin, orders, signals):
            selector.register(one, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if signals in ready:
                signals.recv(1024)
                _report(running)
            if orders in ready:
                connection, _ = orders.accept()
                order = _order(connection)
                child = os.fork()
                if child == 0:
                    selector.close()
                    for other in (orders, signals, wakeup, *running.values()):
                        other.close()
                    _become(order, connection)
                running[child] = connection
            if sys.stdin in ready:
                break
    for child in running:
        os.kill(child, signal.SIGKILL)
    shutil.rmtree(Path(sys.argv[1]).parent, ignore_errors=True)


def _order(connection: socket.socket) -> dict[str, Any]:
    with connection.makefile("rb") as lines:
        order: dict[str, Any] = json.loads(lines.readline())
    return order


def _report(running: dict[int, socket.socket]) -> None:
    """Write the exit codes of the processes that have ended."""
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        with running.pop(child) as connection:
            try:
                connection.sendall(f"\n{os.waitstatus_to_exitcode(status)}\n".encode())
            except OSError:  # the test has ended before
                continue


def _become(order: dict[str, Any], connection: socket.socket) -> NoReturn:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    connection.sendall(f"{os.getpid()}\n".encode())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(connection.fileno(), number)
    connection.close()
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    sys.argv = ["partita", *order["arguments"]]
    code = 0
    try:
        if "code" in order:
            exec(compile(order["code"], "<string>", "exec"), {"__name__": "__main__"})
        else:
            run_partita()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
