"""A process that has `partita` loaded, and forks whenever somebody asks for a command.

    python preloaded.py SOCKET

Pages run dozens of commands, and most of what each takes is loading the same modules. What runs is the real
`main` with the caller's arguments, folder, environment, input and output: `asking.py` sends them over.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import time
from importlib import import_module
from typing import Any

LOADED = (
    "partita.cli.export",
    "partita.cli.search",
    "partita.cli.show",
    "partita.cli.stats",
    "partita.cli.threads",
    "partita.demo.archive",
    "partita.logs.importing.runner",
    "partita.logs.places.places",
    "partita.store.imports.runner",
    "partita.store.opening",
)
"""What most commands load."""

LIMIT = 1 << 20


def main() -> None:
    """Load, and from then on be whatever command is asked for: only a fork comes back from waiting."""
    from partita.cli import main as commands

    for name in LOADED:
        import_module(name)
    become(wait(sys.argv[1]))
    commands.main()


def wait(path: str) -> tuple[dict[str, Any], list[int]]:
    """Take requests for ever; in a fork that has one to do, give it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("ready", flush=True)
        while True:
            caller, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                return tend(caller)
            caller.close()


def tend(caller: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Start a process for one request, and tell the caller its number and at last its code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    data, files, _, _ = socket.recv_fds(caller, LIMIT, 3)
    child = os.fork()
    if child == 0:
        caller.close()
        return json.loads(data), files
    with contextlib.suppress(OSError):  # the caller is gone
        caller.sendall(f"{child}\n".encode())
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(OSError):
        caller.sendall(f"{code if code >= 0 else 128 - code}\n".encode())
    os._exit(0)


def become(asked: tuple[dict[str, Any], list[int]]) -> None:
    """Take on the arguments, folder, environment and files of the caller."""
    request, files = asked
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    sys.argv = ["partita", *request["arguments"]]


if __name__ == "__main__":
    main()
