"""Responses: JSON values, files and event streams; and work that stops when the client disconnects."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Iterator, Mapping
from contextlib import aclosing
from tempfile import SpooledTemporaryFile
from typing import Final, Generic, NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from partita.runtime.session.sse import SSE_HEADERS
from partita.store.values import Page
from partita.types.codec import encode
from partita.types.value import Value

from .problems import Problem

T = TypeVar("T")

DIRECT: Final = "partita.direct"
"""The key of the scope with the `send` for pieces of a stream. It skips wrappers that only read the head of
a response."""

JSON: Final = "application/json"
PIECE: Final = 64 * 1024
"""How many bytes of a file or an event stream are sent at once: at more, uvicorn waits for the client."""


class Reply(Response, Generic[T]):
    """A value as JSON, for endpoints that add headers. Bytes are sent unchanged: they are JSON already."""

    media_type = JSON

    def __init__(
        self, value: T | bytes, *, status_code: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        body = value if isinstance(value, bytes) else encode(value)
        super().__init__(body, status_code, headers)


class SpooledFile(NamedTuple):
    """Bytes that may be too many for memory, and their number."""

    file: "SpooledTemporaryFile[bytes]"
    size: int

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The bytes. The file is closed at the end."""
        try:
            while piece := await asyncio.to_thread(self.file.read, PIECE):
                yield piece
        finally:
            self.file.close()


class SpooledReply(StreamingResponse, Generic[T]):
    """A value of the type `T` as JSON, from a file."""

    def __init__(self, value: SpooledFile) -> None:
        headers = {"content-length": str(value.size)}
        super().__init__(value.pieces(), headers=headers, media_type=JSON)


class Listing(Value, Generic[T]):
    """A page of a list. `next` is the cursor of the next page; the last page has none."""

    items: tuple[T, ...]
    next: str | None = None


def listing(page: Page[T]) -> Listing[T]:
    """A page of the store, as a response."""
    return Listing(page.items, page.next)


TICK: Final = 15.0
"""Seconds between two checks whether the client reads the stream."""

HEAD_START: Final = 10
"""Iterations of the event loop before the head of a response is sent. An agent that responds at once has sent
its first chunks to the store by then, so that the head is sent while they are written."""


class EventStream(Response):
    """A response of server-sent events. It ends if the client disconnects, or stops reading.

    Without a body, the response is 204.
    """

    def __init__(
        self,
        body: AsyncGenerator[bytes, None] | None,
        *,
        headers: Mapping[str, str] | None = None,
        stall: float = 120.0,
    ) -> None:
        self._body = body
        self._raw_headers = [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in {**SSE_HEADERS, **(headers or {})}.items()
        ]
        self._stall = stall
        self._pieces = 0  # how many pieces were sent
        self._is_written = True  # whether the last one was written to the connection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events. The body is always closed."""
        if self._body is None:
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        async with aclosing(self._body) as body:
            sending = asyncio.create_task(self._send(body, send, scope.get(DIRECT, send)))
            watching = asyncio.create_task(self._watch(receive))
            try:
                await asyncio.wait([sending, watching], return_when=asyncio.FIRST_COMPLETED)
            finally:
                watching.cancel()
                if not sending.done():
                    sending.cancel()
                await asyncio.wait([sending, watching])
            if not sending.cancelled():
                sending.result()

    async def _send(self, body: AsyncGenerator[bytes, None], send: Send, direct: Send) -> None:
        for _ in range(HEAD_START):
            await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": self._raw_headers})
        async for data in body:
            # In pieces: a connection buffers each message as a whole, in addition to the body itself.
            for piece in [data] if len(data) <= PIECE else cut(data):
                self._is_written = False
                self._pieces += 1
                await direct({"type": "http.response.body", "body": piece, "more_body": True})
                self._is_written = True
        await direct({"type": "http.response.body", "body": b"", "more_body": False})

    async def _watch(self, receive: Receive) -> None:
        """Return when the client has disconnected, or has not read for too long."""
        disconnected = asyncio.create_task(_disconnected(receive))
        unread, pieces = 0.0, 0
        try:
            while unread < self._stall:
                step = min(TICK, self._stall)
                done, _ = await asyncio.wait([disconnected], timeout=step)
                if done:
                    return
                waits = not self._is_written and self._pieces == pieces
                unread, pieces = unread + step if waits else 0.0, self._pieces
        finally:
            disconnected.cancel()


def cut(data: bytes, size: int = PIECE) -> Iterator[bytes]:
    """The data in pieces of that size."""
    return (data[start : start + size] for start in range(0, len(data), size))


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """The result of work for a request whose body was read. It is cancelled if the client disconnects."""
    task = asyncio.ensure_future(work)
    disconnected = asyncio.create_task(_disconnected(request.receive))
    try:
        await asyncio.wait([task, disconnected], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Problem(408, "the client has closed the connection")  # it is not sent
        return task.result()
    finally:
        disconnected.cancel()
        if not task.done():
            task.cancel()
        await asyncio.wait([task, disconnected])


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
