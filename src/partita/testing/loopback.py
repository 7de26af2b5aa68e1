"""An HTTP server on this machine, in a thread of its own, that ends with everything it started."""

import socket
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from threading import Lock, Thread
from typing import Any, Final, NamedTuple

HOST: Final = "127.0.0.1"
POLL: Final = 0.02
"""How many seconds it may take to notice that it shall end."""

PATIENCE: Final = 5.0
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Incoming(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Outgoing(NamedTuple):
    """An answer: its pieces are sent one by one if it is a stream."""

    status: int
    headers: dict[str, str]
    pieces: Generator[bytes, None, None]
    is_stream: bool


class LoopbackServer:
    """Answers with what a function gives, from when it is made until it is closed."""

    def __init__(self, answer: Callable[[Incoming], Outgoing]) -> None:
        self._http = _Server((HOST, 0), _handler(answer))
        self._thread = Thread(
            target=self._http.serve_forever, args=(POLL,), name="partita-recording", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._http.server_address[1])

    def close(self) -> None:
        """End it, and every connection to it."""
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join(PATIENCE)


class _Server(ThreadingHTTPServer):
    """Knows its connections, so that it can end them; clients keep theirs open for the next request."""

    daemon_threads = False  # so that closing waits for them
    block_on_close = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End all connections."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle of an answer is no error of the server."""


def _chunks(stream: BufferedIOBase) -> bytes:
    """A body that comes in chunks."""
    body = bytearray()
    while size := int(stream.readline().partition(b";")[0] or b"0", 16):
        body += stream.read(size)
        stream.readline()
    while stream.readline().strip():  # what may stand behind the last one
        pass
    return bytes(body)


def _handler(answer: Callable[[Incoming], Outgoing]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            in_chunks = "chunked" in headers.get("transfer-encoding", "").lower()
            length = int(headers.get("content-length") or 0)
            body = _chunks(self.rfile) if in_chunks else self.rfile.read(length)
            self._send(answer(Incoming(self.command, self.path, headers, body)))

        def _send(self, outgoing: Outgoing) -> None:
            body = b"" if outgoing.is_stream else b"".join(outgoing.pieces)
            self.send_response(outgoing.status)
            for name, value in outgoing.headers.items():
                self.send_header(name, value)
            if outgoing.is_stream:
                self.send_header("transfer-encoding", "chunked")
            else:
                self.send_header("content-length", str(len(body)))
            self.end_headers()
            if not outgoing.is_stream:
                self.wfile.write(body)
                return
            with closing(outgoing.pieces) as pieces:
                for piece in filter(None, pieces):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed: a test has its own words."""

    for method in METHODS:
        setattr(Handler, f"do_{method}", Handler._answer)  # pyright: ignore[reportPrivateUsage] # ours
    return Handler
