"""`partita`, as the blocks of a page find it on their path: asks the process that has it loaded.

    python -IS asking.py SOCKET ARGUMENT…

It is started for every command, so it loads only modules that are built into the interpreter.
"""

import _signal as signal  # type: ignore[import-not-found] # pyright: ignore
import _socket as socket
import marshal
import os
import sys


def main() -> int:
    """Send an order to the forge, wait for the command, and end as it ended."""
    order = {
        "arguments": sys.argv[2:],
        "folder": os.getcwd(),  # noqa: PTH109
        "environment": dict(os.environ),
        "cold": False,
    }
    answers, theirs = os.pipe()
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2, theirs))
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(sys.argv[1])
    server.sendmsg([marshal.dumps(order)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    server.close()
    os.close(theirs)
    with open(answers) as lines:  # noqa: PTH123 # it is a descriptor
        child = int(lines.readline())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(child, number))
        code = int(lines.readline() or 1)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
