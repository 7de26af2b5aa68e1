"""Serves a recording as the API of its provider, at an address that a vendor's package can use.

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

from .providers import Provider, recorded_path
from .request_matcher import MatchRules, RequestMatcher, compare_request

HOST: Final = "127.0.0.1"
POLL: Final = 0.02
"""How many seconds between two checks for shutdown."""

SHUTDOWN_TIMEOUT: Final = 5.0
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Incoming(NamedTuple):
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Outgoing(NamedTuple):
    """A response. The pieces of a stream are sent one by one."""

    status: int
    headers: dict[str, str]
    pieces: Generator[bytes, None, None]
    is_stream: bool


class LoopbackServer:
    """An HTTP server on localhost, in a separate thread, that responds by calling a function."""

    def __init__(self, respond: Callable[[Incoming], Outgoing]) -> None:
        self._http = _Server((HOST, 0), _handler(respond))
        self._thread = Thread(
            target=self._http.serve_forever, args=(POLL,), name="partita-recording", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The TCP port it listens on."""
        return int(self._http.server_address[1])

    def close(self) -> None:
        """Stop the server and close all connections."""
        self._http.shutdown()
        self._http.close_connections()
        self._http.server_close()
        self._thread.join(SHUTDOWN_TIMEOUT)


class _Server(ThreadingHTTPServer):
    """Keeps track of connections to close them: clients keep theirs open for the next request."""

    daemon_threads = False  # closing waits for them
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

    def close_connections(self) -> None:
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that disconnects during a response."""


def _read_chunked(stream: BufferedIOBase) -> bytes:
    """A body in chunked transfer encoding."""
    body = bytearray()
    while size := int(stream.readline().partition(b";")[0] or b"0", 16):
        body += stream.read(size)
        stream.readline()
    while stream.readline().strip():  # trailers
        pass
    return bytes(body)


def _handler(respond: Callable[[Incoming], Outgoing]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _handle(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            is_chunked = "chunked" in headers.get("transfer-encoding", "").lower()
            length = int(headers.get("content-length") or 0)
            body = _read_chunked(self.rfile) if is_chunked else self.rfile.read(length)
            self._send(respond(Incoming(self.command, self.path, headers, body)))

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
            """Print nothing: the output belongs to the test."""

    for method in METHODS:
        setattr(Handler, f"do_{method}", Handler._handle)  # pyright: ignore[reportPrivateUsage] # ours
    return Handler


NO_KEY: Final = "recorded"
"""The API key for clients while replaying, when no real one is needed."""

PROXIES: Final = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


class Endpoint:
    """A provider's API on localhost, until it is closed."""

    def __init__(
        self,
        provider: Provider,
        respond: Callable[[Incoming], Outgoing],
        report_problem: Callable[[str], object],
        *,
        is_live: bool,
    ) -> None:
        """`report_problem` receives internal errors; `is_live` if real API keys are needed."""
        self._provider = provider
        self._respond = respond
        self._report_problem = report_problem
        self._is_live = is_live
        self._server = LoopbackServer(self._respond_safely)

    @property
    def provider(self) -> str:
        """The provider of the API: `openai`, `anthropic` or `gemini`."""
        return self._provider.name

    @property
    def base_url(self) -> str:
        """The base URL to pass to the vendor's client."""
        return f"http://{HOST}:{self._server.port}{self._provider.base}"

    @property
    def api_key(self) -> str:
        """The API key to pass to the client: a placeholder, or your own key while recording."""
        own = (os.environ.get(name) for name in self._provider.key_variables)
        return next(filter(None, own), NO_KEY) if self._is_live else NO_KEY

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables for code that creates its own client."""
        variables = dict.fromkeys(self._provider.address_variables, self.base_url)
        if not self._is_live:
            variables[self._provider.key_variables[0]] = NO_KEY
        if any(name in os.environ for name in PROXIES):
            variables |= dict.fromkeys(("NO_PROXY", "no_proxy"), HOST)
        return variables

    def close(self) -> None:
        """Stop serving."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _respond_safely(self, incoming: Incoming) -> Outgoing:
        try:
            return self._respond(incoming)
        except Exception as error:  # raised in a server thread, so it is reported to the test instead
            problem = f"{incoming.method} {incoming.path} failed: {error!r}"
            self._report_problem(problem)
            return error_response(problem, status=500)


ERROR_STATUS: Final = 400
"""A status that no client library retries."""

RETRY_HEADERS: Final = ("retry-after", "retry-after-ms")
RETRY_AT_ONCE: Final = {"retry-after-ms": "1"}


class RecordedApi:
    """Responds to requests from a recording."""

    def __init__(self, provider: Provider, matcher: RequestMatcher, rules: MatchRules, pause: float) -> None:
        self._provider = provider
        self._matcher = matcher
        self._rules = rules
        self._pause = pause

    def __call__(self, incoming: Incoming) -> Outgoing:
        """The recorded response, or an error that describes the differences."""
        path = recorded_path(self._provider, incoming.path)
        request = request_of(incoming.method, path, incoming.body)
        found = self._matcher.match(lambda exchange: compare_request(exchange, request, self._rules))
        return error_response(found) if isinstance(found, str) else self._replay(found)

    def _replay(self, exchange: Exchange) -> Outgoing:
        response = exchange.response
        if response is None:
            return error_response(
                f"no response was recorded: {(exchange.end or {}).get('message')}", status=504
            )
        headers = dict(response.headers)
        if any(headers.pop(name, None) is not None for name in RETRY_HEADERS):
            headers |= RETRY_AT_ONCE  # tests do not wait
        is_stream = response.stream is not None
        return Outgoing(response.status, headers, self._paced(response.pieces), is_stream)

    def _paced(self, pieces: Iterable[bytes]) -> Generator[bytes, None, None]:
        for place, piece in enumerate(pieces):
            if place and self._pause:
                time.sleep(self._pause)
            yield piece


def error_response(problem: str, status: int = ERROR_STATUS) -> Outgoing:
    """An error that every vendor's package can parse and shows."""
    error = {"type": "partita_recording", "message": problem, "code": status, "status": "FAILED_PRECONDITION"}
    body = dumps({"type": "error", "error": error})
    headers = {"content-type": "application/json", "x-should-retry": "false"}
    return Outgoing(status, headers, (piece for piece in [body]), is_stream=False)
