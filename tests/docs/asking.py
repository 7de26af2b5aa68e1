"""`partita`, as the blocks of a page find it on their path: asks the process that has it loaded."""

import json
import os
import signal
import socket
import sys


def main() -> int:
    """Send over what we are, wait, and end as the command ended."""
    request = {"arguments": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109 # pathlib takes longer to load than all this
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.connect(sys.argv[1])
        socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2])
        with server.makefile() as answers:
            child = int(answers.readline())
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, lambda number, _: os.kill(child, number))
            return int(answers.readline() or 1)


if __name__ == "__main__":
    sys.exit(main())
