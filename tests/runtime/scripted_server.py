"""A real HTTP server that returns scripted responses: fast, slow, cut, invalid, or none at all."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, NamedTuple, Self

EVENT_STREAM = "text/event-stream"
JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class ScriptedResponse:
    """A response of the server."""

    body: bytes = b""
    status: int = 200
    content_type: str = EVENT_STREAM
    headers: dict[str, str] = field(default_factory=dict[str, str])
    framing: Literal["chunked", "length", "close"] = "chunked"
    piece: int | None = None
    """The number of bytes that are sent at once; the client reads each piece before the next one is sent."""
    cut: int | None = None
    """The number of bytes of the body after which the connection is closed."""
    then: Literal["end", "silence"] = "end"
    """Whether the response ends, or stays open until the client disconnects."""
    responds: bool = True
    """Whether a response is sent at all."""


class Request(NamedTuple):
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class ScriptedServer:
    """Sends its responses in order, and then the last one for every request."""

    def __init__(self, *responses: ScriptedResponse) -> None:
        self.requests: list[Request] = []
        self.client_disconnected = asyncio.Event()
        """Set when the client disconnects before the end of the response."""
        self.is_silent = asyncio.Event()
        """Set when all bytes are sent, and the response stays open."""
        self._responses: Sequence[ScriptedResponse] = responses
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                while await self._respond(reader, writer):
                    pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Respond to the next request. Returns whether the connection stays open."""
        request = await _read_request(reader)
        response = self._responses[min(len(self.requests), len(self._responses) - 1)]
        self.requests.append(request)
        if response.responds:
            writer.write(_head(response))
            await self._send(response, writer)
        if response.then == "silence" or not response.responds:
            self.is_silent.set()
            if not await reader.read(1):
                self.client_disconnected.set()
            return False
        if response.cut is not None:
            return False
        if response.framing == "chunked":
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return response.framing != "close"

    async def _send(self, response: ScriptedResponse, writer: asyncio.StreamWriter) -> None:
        body = response.body if response.cut is None else response.body[: response.cut]
        size = response.piece or max(len(body), 1)
        for start in range(0, len(body), size):
            piece = body[start : start + size]
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if response.framing == "chunked" else piece)
            await writer.drain()
            await asyncio.sleep(
                0.001 if response.piece else 0
            )  # so that the client reads this piece by itself


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body)


def _head(response: ScriptedResponse) -> bytes:
    framing = {
        "chunked": {"transfer-encoding": "chunked"},
        "length": {"content-length": str(len(response.body))},
        "close": {"connection": "close"},
    }[response.framing]
    headers = {"content-type": response.content_type, **framing, **response.headers}
    lines = [f"HTTP/1.1 {response.status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
