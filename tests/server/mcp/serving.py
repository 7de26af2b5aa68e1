"""`partita mcp` over a socket."""

import os
import socket
import sys

from partita.__main__ import main


def run_mcp(stream: socket.socket, arguments: list[str]) -> None:
    """Serve with a socket as standard input and output."""
    for number in (0, 1):
        os.dup2(stream.fileno(), number)
    stream.close()
    sys.argv = ["partita", "mcp", *arguments]
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    main()
