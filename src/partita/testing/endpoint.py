"""A recording as the API of its provider: an address that a vendor's package is pointed at.

A recorded request gets the recorded response.
"""

import os
import socket
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from partita.runtime.recordings.recording import Exchange, request_of
from partita.types.json import dumps

from .matching import Matching, Terms, compare
from .providers import Provider, kept_path

# An HTTP server on this machine, in a thread of its own, that ends with everything it started.

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


NO_KEY: Final = "recorded"
"""The key to give where none is needed."""

PROXIES: Final = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


class Endpoint:
    """A provider's API on this machine, open until it is closed."""

    def __init__(
        self,
        provider: Provider,
        answer: Callable[[Incoming], Outgoing],
        problem: Callable[[str], object],
        *,
        is_live: bool,
    ) -> None:
        """`problem` is told of what goes wrong in here; `is_live` if real keys are needed."""
        self._provider = provider
        self._answer = answer
        self._problem = problem
        self._is_live = is_live
        self._server = LoopbackServer(self._safe)

    @property
    def provider(self) -> str:
        """Whose API it is: `openai`, `anthropic` or `gemini`."""
        return self._provider.name

    @property
    def base_url(self) -> str:
        """What to give to the package as its base address."""
        return f"http://{HOST}:{self._server.port}{self._provider.base}"

    @property
    def api_key(self) -> str:
        """What to give as the key: a word where nobody looks at it, your own while recording."""
        own = (os.environ.get(name) for name in self._provider.keys)
        return (next(filter(None, own), NO_KEY)) if self._is_live else NO_KEY

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that point the package here, for code that makes its own client."""
        told = dict.fromkeys(self._provider.addresses, self.base_url)
        if not self._is_live:
            told[self._provider.keys[0]] = NO_KEY
        if any(name in os.environ for name in PROXIES):
            told |= dict.fromkeys(("NO_PROXY", "no_proxy"), HOST)
        return told

    def close(self) -> None:
        """Take it away."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _safe(self, incoming: Incoming) -> Outgoing:
        try:
            return self._answer(incoming)
        except Exception as error:  # a thread has nobody to raise to: the test is told
            problem = f"{incoming.method} {incoming.path} could not be answered: {error!r}"
            self._problem(problem)
            return refusal(problem, status=500)


REFUSED: Final = 400
"""A status that no package tries again."""

WAITS: Final = ("retry-after", "retry-after-ms")
AT_ONCE: Final = {"retry-after-ms": "1"}


class Replaying:
    """Answers requests from a recording."""

    def __init__(self, provider: Provider, matching: Matching, terms: Terms, pause: float) -> None:
        self._provider = provider
        self._matching = matching
        self._terms = terms
        self._pause = pause

    def __call__(self, incoming: Incoming) -> Outgoing:
        """The recorded answer, or a refusal that says what differs."""
        path = kept_path(self._provider, incoming.path)
        made = request_of(incoming.method, path, incoming.body)
        found = self._matching.take(lambda exchange: compare(exchange, made, self._terms))
        return refusal(found) if isinstance(found, str) else self._answer(found)

    def _answer(self, exchange: Exchange) -> Outgoing:
        response = exchange.response
        if response is None:  # it never got one
            return refusal(f"no answer was recorded: {(exchange.end or {}).get('message')}", status=504)
        headers = dict(response.headers)
        if any(headers.pop(name, None) is not None for name in WAITS):
            headers |= AT_ONCE  # so that a test does not wait for the usual time
        is_stream = response.stream is not None
        return Outgoing(response.status, headers, self._paced(response.pieces), is_stream)

    def _paced(self, pieces: Iterable[bytes]) -> Generator[bytes, None, None]:
        for place, piece in enumerate(pieces):
            if place and self._pause:
                time.sleep(self._pause)
            yield piece


def refusal(problem: str, status: int = REFUSED) -> Outgoing:
    """An error that every vendor's package can read and shows."""
    error = {"type": "partita_recording", "message": problem, "code": status, "status": "FAILED_PRECONDITION"}
    body = dumps({"type": "error", "error": error})
    headers = {"content-type": "application/json", "x-should-retry": "false"}
    return Outgoing(status, headers, (piece for piece in [body]), is_stream=False)
