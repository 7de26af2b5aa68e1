"""Uvicorn's HTTP protocol, with limits for the time before the headers of a request are complete.

The application receives a request once its headers are complete, so it cannot limit them. The parser keeps a
header that does not end in memory.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .problems import MEDIA_TYPE, problem_body
from .settings import Limits

HEADER_SECONDS: Final = 30.0
"""Until all headers of a request must have arrived."""

PIPELINED: Final = 16
"""How many requests of a connection may wait while one is being responded to."""

LINGER: Final = 2.0
"""Seconds until a refused connection is closed: closing it at once could discard the response."""

ReportStatus = Callable[[int], None]
"""Receives the status with which a request was refused."""


class RefusedError(Exception):
    """Raised during parsing, to stop the parser."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    limits: Limits = Limits()
    header_seconds: float = HEADER_SECONDS
    report: ReportStatus | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._in_head = True  # whether the headers of a request are incomplete
        self._heads = 0  # how many heads are complete
        self._ends = 0  # how many requests are complete
        self._fed = 0  # bytes fed to the parser since the head started, as far as that is known
        self._count = self._size = 0  # number and size of the headers that are complete
        self._timer: asyncio.TimerHandle | None = None
        self._refusal: tuple[int, str] | None = None
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, unless the headers become too large."""
        if self._refused:
            return
        before = (self._heads, self._ends)
        super().data_received(data)
        if self._refused or self.transport.is_closing() or not self._in_head:
            return
        if before != (self._heads, self._ends):  # most of it was a body, perhaps all
            return
        self._fed += len(data)
        if self._fed > self._limit:
            self._refuse(431, "the headers are too large")
        elif self._timer is None:
            self._set_timer()

    @property
    def _limit(self) -> int:
        return self.limits.header_bytes + self.limits.target_bytes + self.limits.headers * 4

    def on_message_begin(self) -> None:
        """Start counting for a request."""
        super().on_message_begin()
        self._fed = self._count = self._size = 0
        if self._timer is None:
            self._set_timer()

    def on_url(self, url: bytes) -> None:
        """Check the length of the target."""
        super().on_url(url)
        if len(self.url) > self.limits.target_bytes:
            self._stop_parsing(414, "the target of the request is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        self._count += 1
        self._size += len(name) + len(value)
        if self._count > self.limits.headers:
            self._stop_parsing(431, "there are too many headers")
        if self._size > self.limits.header_bytes:
            self._stop_parsing(431, "the headers are too large")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Stop counting: the application has its own limits for the body."""
        if len(self.pipeline) >= PIPELINED:
            self._stop_parsing(429, "too many requests were sent at once")
        self._in_head = False
        self._fed = 0
        self._stop_timer()
        super().on_headers_complete()
        self._heads += 1  # last: an invalid target is refused there

    def on_message_complete(self) -> None:
        """Wait for the next request."""
        self._in_head = True
        self._ends += 1
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse the request at which the parser stopped."""
        status, what = self._refusal or (400, "this is not an HTTP request")
        self._refuse(status, what)

    def _stop_parsing(self, status: int, what: str) -> None:
        self._refusal = (status, what)
        raise RefusedError

    def _set_timer(self) -> None:
        self._timer = self.loop.call_later(self.header_seconds, self._time_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self._refuse(408, "the headers took too long")

    def _refuse(self, status: int, what: str) -> None:
        """Respond, and close the connection once the client has had time to read the response."""
        self._refused = True
        self._stop_timer()
        if self.report is not None:
            self.report(status)
        if self._heads and not self.cycle.response_complete:
            self.transport.close()  # this response cannot be sent in the middle of another one
            return
        self.transport.write(_response(status, what))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)


def _response(status: int, what: str) -> bytes:
    body = problem_body(status, what)
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
        f"content-length: {len(body)}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


def bounded_protocol(
    limits: Limits, *, header_seconds: float = HEADER_SECONDS, report: ReportStatus | None = None
) -> type[BoundedProtocol]:
    """The protocol with these limits. Uvicorn creates one for each connection."""
    settings = {
        "limits": limits,
        "header_seconds": header_seconds,
        "report": staticmethod(report) if report else None,
    }
    return type("BoundedProtocol", (BoundedProtocol,), settings)
