"""`partita`, as the blocks of a page find it on their path: asks `tests.fork_server` to start it.

    python -IS asking.py SOCKET ARGUMENT…

It is started for every command, so it loads only modules that are built into the interpreter.
"""

import _json as json
import _signal as signal  # type: ignore[import-not-found]
import _socket as socket
import os
import sys
from collections.abc import Iterable

# pyright: basic, reportMissingModuleSource=false, reportMissingImports=false


def main() -> int:
    """Send a request, wait for the command, and end as it ended."""
    arguments, environment = array(sys.argv[2:]), pairs(os.environ.items())
    folder = quoted(os.getcwd())  # noqa: PTH109
    order = f'{{"arguments": {arguments}, "environment": {environment}, "folder": {folder}}}\n'.encode()
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.connect(sys.argv[1])
    sent = server.sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    server.sendall(order[sent:])
    with open(server.detach()) as lines:  # noqa: PTH123 # it is a descriptor
        child = int(lines.readline())

        def pass_on(number: int, _frame: object) -> None:
            os.kill(child, number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, pass_on)
        lines.readline()
        code = int(lines.readline() or 1)
    return code if code >= 0 else 128 - code


def quoted(text: str) -> str:
    """A text as JSON."""
    return str(json.encode_basestring_ascii(text))


def array(texts: Iterable[str]) -> str:
    """Texts as JSON."""
    return f"[{', '.join(map(quoted, texts))}]"


def pairs(texts: Iterable[tuple[str, str]]) -> str:
    """Names and values as JSON."""
    return f"{{{', '.join(f'{quoted(name)}: {quoted(value)}' for name, value in texts)}}}"


if __name__ == "__main__":
    sys.exit(main())
