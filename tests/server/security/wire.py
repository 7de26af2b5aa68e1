"""A connection of raw bytes to a real server, for requests that no client library would send."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from partita.server.app import PartitaApp
from partita.server.runner import config_of
from tests.server.conftest import QuickServer

TIMEOUT = 10.0
"""Seconds to wait for a response of the server."""


class Answer(NamedTuple):
    """The response of a server to one request."""

    status: int
    headers: dict[str, str]
    body: bytes


class Wire:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def request(self, sent: bytes) -> Answer:
        """Send bytes, and read one response."""
        self._writer.write(sent)
        await self._writer.drain()
        async with asyncio.timeout(TIMEOUT):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            status, *lines = head.split("\r\n")[:-2]
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(status.split()[1]), headers, body)

    async def is_over(self) -> bool:
        """Whether the server disconnects without another response."""
        async with asyncio.timeout(TIMEOUT):
            try:
                return await self._reader.read(1) == b""
            except ConnectionError:
                return True


@asynccontextmanager
async def wire(port: int) -> AsyncGenerator[Wire, None]:
    """A new connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


@asynccontextmanager
async def served(app: PartitaApp, **how: Any) -> AsyncGenerator[int, None]:
    """Serve the application with its production server; returns the port."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = QuickServer(config_of(app, **how))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        assert not task.done(), "the server did not start"
        await asyncio.sleep(0.01)
    yield listening.getsockname()[1]
    server.should_exit = True
    await asyncio.wait([task], timeout=TIMEOUT)
