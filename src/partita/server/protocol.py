"""HTTP as uvicorn speaks it, with bounds on what may come before the headers of a request are complete.

The application sees a request when its headers are complete: all that is sent before that is nobody else's
to bound. The parser keeps a header that does not end in memory for as long as it grows.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .problems import MEDIA_TYPE, problem_body
from .settings import Limits

HEADER_SECONDS: Final = 30.0
"""Until all headers of a request must be there."""

PIPELINED: Final = 16
"""How many requests may wait behind the one that is being answered."""

LINGER: Final = 2.0
"""How long one listens to somebody who was refused: to hang up at once could take the answer away."""

Told = Callable[[int], None]
"""Hears the status that a request was refused with."""


class RefusedError(Exception):
    """Raised in the middle of parsing, to stop the parser."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    limits: Limits = Limits()
    header_seconds: float = HEADER_SECONDS
    tell: Told | None = None

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self._in_head = True  # whether the headers of a request are waited for
        self._heads = 0  # how many were complete,
        self._ends = 0  # and how many requests were
        self._fed = 0  # bytes fed to the parser since the head began, as far as that is known
        self._count = self._size = 0  # of the headers that are complete
        self._timer: asyncio.TimerHandle | None = None
        self._refusal: tuple[int, str] | None = None
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Somebody connected: now it has to say what it wants."""
        super().connection_made(transport)
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless it is too much."""
        if self._refused:
            return
        seen = (self._heads, self._ends)
        super().data_received(data)
        if self._refused or self.transport.is_closing() or not self._in_head:
            return
        if seen != (self._heads, self._ends):  # most of it was a body, perhaps all
            return
        self._fed += len(data)
        if self._fed > self._most:
            self._refuse(431, "the headers are too large")
        elif self._timer is None:
            self._set_timer()

    @property
    def _most(self) -> int:
        return self.limits.header_bytes + self.limits.target_bytes + self.limits.headers * 4

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._fed = self._count = self._size = 0
        if self._timer is None:
            self._set_timer()

    def on_url(self, url: bytes) -> None:
        """More of the target."""
        super().on_url(url)
        if len(self.url) > self.limits.target_bytes:
            self._stop_parsing(414, "the target of the request is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header is complete."""
        self._count += 1
        self._size += len(name) + len(value)
        if self._count > self.limits.headers:
            self._stop_parsing(431, "there are too many headers")
        if self._size > self.limits.header_bytes:
            self._stop_parsing(431, "the headers are too large")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """All that was bounded here is there."""
        if len(self.pipeline) >= PIPELINED:
            self._stop_parsing(429, "too many requests were sent at once")
        self._in_head = False
        self._fed = 0
        self._stop_timer()
        super().on_headers_complete()
        self._heads += 1  # last: a target that is none is refused there

    def on_message_complete(self) -> None:
        """The next request may come."""
        self._in_head = True
        self._ends += 1
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser stopped at."""
        status, what = self._refusal or (400, "this is no HTTP request")
        self._refuse(status, what)

    def _stop_parsing(self, status: int, what: str) -> None:
        self._refusal = (status, what)
        raise RefusedError

    def _set_timer(self) -> None:
        self._timer = self.loop.call_later(self.header_seconds, self._late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self._refuse(408, "the headers took too long")

    def _refuse(self, status: int, what: str) -> None:
        """Answer, and hang up once the other end has had time to read it."""
        self._refused = True
        self._stop_timer()
        if self.tell is not None:
            self.tell(status)
        if self._heads and not self.cycle.response_complete:
            self.transport.close()  # in the middle of another answer there is no place for this one
            return
        self.transport.write(_answer(status, what))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)


def _answer(status: int, what: str) -> bytes:
    body = problem_body(status, what)
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
        f"content-length: {len(body)}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


def bounded(
    limits: Limits, *, header_seconds: float = HEADER_SECONDS, tell: Told | None = None
) -> type[BoundedProtocol]:
    """The protocol with these limits: uvicorn makes one for every connection."""
    settings = {
        "limits": limits,
        "header_seconds": header_seconds,
        "tell": staticmethod(tell) if tell else None,
    }
    return type("BoundedProtocol", (BoundedProtocol,), settings)
