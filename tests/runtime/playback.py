"""A real HTTP server that plays answers back: fast, slowly, cut, wrong, or not at all."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, NamedTuple, Self

EVENT_STREAM = "text/event-stream"
JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class Play:
    """One answer."""

    body: bytes = b""
    status: int = 200
    content_type: str = EVENT_STREAM
    headers: dict[str, str] = field(default_factory=dict[str, str])
    framing: Literal["chunked", "length", "close"] = "chunked"
    piece: int | None = None
    """How many bytes are sent at once; the other side reads each before the next one comes."""
    cut: int | None = None
    """After how many bytes of the body the connection breaks."""
    then: Literal["end", "silence"] = "end"
    """Whether the answer ends, or nothing more comes until the other side goes."""
    answers: bool = True
    """Whether there is any answer."""


class Request(NamedTuple):
    """What was asked."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Playback:
    """Plays answers in turn; the last one again and again."""

    def __init__(self, *plays: Play) -> None:
        self.requests: list[Request] = []
        self.was_left = asyncio.Event()
        """Set when the other side went away before its answer was over."""
        self.is_silent = asyncio.Event()
        """Set when all bytes are sent and nothing more will come."""
        self._plays: Sequence[Play] = plays
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
                while await self._answer(reader, writer):
                    pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read a request and answer it; whether the connection stays open."""
        request = await _read_request(reader)
        play = self._plays[min(len(self.requests), len(self._plays) - 1)]
        self.requests.append(request)
        if play.answers:
            writer.write(_head(play))
            await self._send(play, writer)
        if play.then == "silence" or not play.answers:
            self.is_silent.set()
            if not await reader.read(1):
                self.was_left.set()
            return False
        if play.cut is not None:
            return False
        if play.framing == "chunked":
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return play.framing != "close"

    async def _send(self, play: Play, writer: asyncio.StreamWriter) -> None:
        body = play.body if play.cut is None else play.body[: play.cut]
        size = play.piece or max(len(body), 1)
        for at in range(0, len(body), size):
            piece = body[at : at + size]
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if play.framing == "chunked" else piece)
            await writer.drain()
            await asyncio.sleep(0.001 if play.piece else 0)  # lets the other side read this piece alone


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body)


def _head(play: Play) -> bytes:
    how = {
        "chunked": {"transfer-encoding": "chunked"},
        "length": {"content-length": str(len(play.body))},
        "close": {"connection": "close"},
    }[play.framing]
    headers = {"content-type": play.content_type, **how, **play.headers}
    lines = [f"HTTP/1.1 {play.status} Said", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
