"""An answer that is made while its client waits: if the client leaves, nobody goes on making it."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import NamedTuple, Protocol

from partita.server.plain import Receive, Scope, Send


class Made(NamedTuple):
    """An answer: its status and its JSON."""

    status: int
    body: bytes


class Sending(Protocol):
    """An ASGI response of whatever kind."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        ...


class WholeAnswer:
    """An ASGI response that is still being made."""

    def __init__(self, making: Awaitable[Made], headers: Mapping[str, str] | None = None) -> None:
        self._making = making
        self._headers = headers or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it once it is there."""
        making = asyncio.ensure_future(self._making)
        watching = asyncio.create_task(_disconnected(receive))
        try:
            await asyncio.wait([making, watching], return_when=asyncio.FIRST_COMPLETED)
        finally:
            watching.cancel()
            if not making.done():
                making.cancel()
            await asyncio.wait([making, watching])
        if making.cancelled():
            return
        status, body = making.result()
        said = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "cache-control": "no-store",
            **self._headers,
        }
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in said.items()]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
