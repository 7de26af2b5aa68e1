"""Clients over plain sockets that record which bytes they received."""

import asyncio
from contextlib import suppress

from partita.stream.sse import ChunkReader
from partita.types.chunks import Chunk, TextDelta
from partita.types.json import dumps


class Reader:
    """A client of one chat."""

    def __init__(self, port: int, chat: str) -> None:
        self.port = port
        self.chat = chat
        self.chunks: list[Chunk] = []
        self.status = 0
        self._arrived = asyncio.Event()
        self._events = ChunkReader()

    @property
    def text(self) -> str:
        """The text received so far."""
        return "".join(chunk.delta for chunk in self.chunks if isinstance(chunk, TextDelta))

    async def send(self, text: str) -> None:
        """Send a message, and read until the end of the response or of the server."""
        message = {"id": f"{self.chat}-u", "role": "user", "parts": [{"type": "text", "text": text}]}
        body = dumps({"id": self.chat, "messages": [message], "trigger": "submit-message"})
        await self._request("POST", "/api/chat", body)

    async def resume(self) -> None:
        """Reconnect to the active response."""
        self.chunks, self._events = [], ChunkReader()
        await self._request("GET", f"/api/chat/{self.chat}/stream", b"")

    async def wait_for_chunks(self, count: int) -> None:
        """Wait until so many chunks have arrived."""
        while len(self.chunks) < count:
            self._arrived.clear()
            await self._arrived.wait()

    async def _request(self, method: str, path: str, body: bytes) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            kind = "content-type: application/json\r\n" if body else ""
            head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{kind}content-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            try:
                await self._receive(reader)
            finally:
                writer.close()

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.status = int(head.split()[1])
        if b"transfer-encoding: chunked" not in head:
            return
        while size := int(await reader.readline() or b"0", 16):
            self.chunks += self._events.feed(await reader.readexactly(size))
            await reader.readexactly(2)
            self._arrived.set()
