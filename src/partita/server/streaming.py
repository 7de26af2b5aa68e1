"""An answer that goes on: bytes to a client for as long as there are any and it takes them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final, TypeVar, cast

from litestar import Request

from partita.runtime.session.sse import SSE_HEADERS

from .observing.measuring import DIRECT
from .plain import Receive, Scope, Send
from .problems import Problem

T = TypeVar("T")

TICK: Final = 15.0
"""After so many seconds one looks again whether the client takes what it is sent."""

PIECE: Final = 64 * 1024
"""How many bytes are sent at once: the mark at which uvicorn waits until the client has taken some."""

HEAD_START: Final = 10
"""How many turns of the event loop the head of an answer lets pass. An agent that speaks at once has its
first words on their way into the store by then: the head is sent while they are written, not before."""


class EventStream:
    """An ASGI response of server-sent events. A client that goes, or takes nothing, ends it.

    Without a body there is nothing to read, and that is the answer: 204.
    """

    def __init__(
        self,
        body: AsyncGenerator[bytes, None] | None,
        *,
        headers: Mapping[str, str] | None = None,
        stall: float = 120.0,
    ) -> None:
        self._body = body
        self._headers = [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in {**SSE_HEADERS, **(headers or {})}.items()
        ]
        self._stall = stall
        self._pieces = 0  # how many pieces were sent
        self._taken = True  # whether the client has taken the last one

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it all. The body is closed however this ends."""
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
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        async for data in body:
            # Cut, since a connection buffers as a whole what it is given, beside what the body keeps.
            for piece in [data] if len(data) <= PIECE else _cut(data):
                self._taken = False
                self._pieces += 1
                await direct({"type": "http.response.body", "body": piece, "more_body": True})
                self._taken = True
        await direct({"type": "http.response.body", "body": b"", "more_body": False})

    async def _watch(self, receive: Receive) -> None:
        """Return when the client is gone, or has left the stream unread for too long."""
        left = asyncio.create_task(_disconnected(receive))
        unread, pieces = 0.0, 0
        try:
            while unread < self._stall:
                step = min(TICK, self._stall)
                done, _ = await asyncio.wait([left], timeout=step)
                if done:
                    return
                waits = not self._taken and self._pieces == pieces
                unread, pieces = unread + step if waits else 0.0, self._pieces
        finally:
            left.cancel()


def _cut(data: bytes) -> Iterator[bytes]:
    return (data[place : place + PIECE] for place in range(0, len(data), PIECE))


async def while_connected(request: Request[Any, Any, Any], work: Awaitable[T]) -> T:
    """The result of work for a request whose body was read; when its client disconnects, it is cancelled."""
    task = asyncio.ensure_future(work)
    left = asyncio.create_task(_disconnected(cast("Receive", request.receive)))
    try:
        await asyncio.wait([task, left], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Problem(408, "the client has closed the connection")  # it is not sent
        return task.result()
    finally:
        left.cancel()
        if not task.done():
            task.cancel()
        await asyncio.wait([task, left])


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
