"""The `partita` command of the pages: asks `tests.fork_server` to start it.

    python -IS fork_client.py SOCKET ARGUMENT…

This module runs for every command, so it only imports modules that are built into the interpreter.
"""

import _json as json
import _signal as signal  # type: ignore[import-not-found]
import _socket as socket
import os
import sys
from collections.abc import Iterable

# pyright: basic, reportMissingModuleSource=false, reportMissingImports=false


def main() -> int:
    """Send a request, wait until the command ends, and return its exit code."""
    arguments, environment = json_array(sys.argv[2:]), json_object(os.environ.items())
    folder = json_string(os.getcwd())  # noqa: PTH109
    order = f'{{"arguments": {arguments}, "environment": {environment}, "folder": {folder}}}\n'.encode()
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.connect(sys.argv[1])
    sent = server.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    server.sendall(order[sent:])
    with open(server.detach()) as lines:  # noqa: PTH123 # a file descriptor
        child = int(lines.readline())

        def forward(number: int, _frame: object) -> None:
            os.kill(child, number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, forward)
        lines.readline()
        code = int(lines.readline() or 1)
    return code if code >= 0 else 128 - code


def json_string(text: str) -> str:
    return str(json.encode_basestring_ascii(text))


def json_array(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(json_string, texts))}]"


def json_object(members: Iterable[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{json_string(name)}: {json_string(value)}' for name, value in members)}}}"


if __name__ == "__main__":
    sys.exit(main())
