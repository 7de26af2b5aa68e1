"""Serves an archive over stdin and stdout, with the transport of the `mcp` package.

The package itself reads stdin in a thread that cannot be interrupted, and cancels unfinished requests when
stdin ends. Here daemon threads read and write, so that a signal ends the server at once. When stdin ends, the
server finishes its requests first, so that `echo REQUEST | partita mcp` prints a response.
"""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO, Final, Protocol, TypeAlias, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from .archive import Archive
from .server import create_server

LOG: Final = logging.getLogger("partita.mcp")

MAX_LINE: Final = 4 * 1024 * 1024
"""How many bytes a line may have."""

READ_SIZE: Final = 64 * 1024


class RawStream(Protocol):
    """An unbuffered binary stream."""

    def read(self, size: int, /) -> bytes | None:
        """Read available bytes; none at the end."""
        ...

    def write(self, data: bytes, /) -> int | None:
        """Write bytes, and return how many were written."""
        ...


async def serve(archive: Archive, reader: RawStream, writer: RawStream) -> None:
    """Serve until the input ends, a signal stops the process, or the output is closed."""
    server = create_server(archive)
    # A scope cancels all tasks at once. If only this one were cancelled, others would use closed streams.
    with anyio.CancelScope() as scope, _cancelled_by_signals(scope):
        lines, output = InputLines(reader), Output(writer, scope)
        # `stdio_server` iterates over its input, and calls `write` and `flush` of its output.
        files = cast("anyio.AsyncFile[str]", lines), cast("anyio.AsyncFile[str]", output)
        async with stdio_server(*files) as streams, _waiting_for_responses(*streams) as (received, sent):
            await server.run(received, sent, server.create_initialization_options())
        await output.close()
    await archive.close()


class InputLines:
    """The lines of the input. Lines that are too long are skipped."""

    def __init__(self, reader: RawStream) -> None:
        self._reader = reader
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        Thread(target=self._read, daemon=True, name="partita-mcp-read").start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            if len(line) > MAX_LINE:
                LOG.warning("a line with more than %s bytes was skipped", MAX_LINE)
            elif line.strip():
                yield line.decode(errors="replace")

    def _read(self) -> None:
        """Queue every line; of one that is too long, only as much as shows that it is."""
        begun = b""
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # the stream or the loop is closed
            while piece := self._reader.read(READ_SIZE):
                *lines, begun = (begun[: MAX_LINE + 1] + piece).split(b"\n")
                for line in lines:
                    self._queue(line)
            self._queue(begun)
        with contextlib.suppress(RuntimeError):
            self._queue(None)

    def _queue(self, line: bytes | None) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class Output:
    """The output. If the client closes it, the scope is cancelled."""

    def __init__(self, writer: RawStream, scope: anyio.CancelScope) -> None:
        self._writer = writer
        self._scope = scope
        self._texts: SimpleQueue[bytes | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()
        Thread(target=self._write, daemon=True, name="partita-mcp-write").start()

    async def write(self, text: str) -> None:
        """Queue a text."""
        self._texts.put(text.encode())

    async def flush(self) -> None:
        """Do nothing: the stream is unbuffered."""

    async def close(self) -> None:
        """Wait until everything is written."""
        self._texts.put(None)
        await self._done.wait()

    def _write(self) -> None:
        try:
            while (data := self._texts.get()) is not None:
                while data:
                    data = data[self._writer.write(data) or 0 :]
        except (OSError, ValueError):  # the client has closed it
            then = self._scope.cancel
        else:
            then = self._done.set
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(then)


Received: TypeAlias = SessionMessage | Exception
"""A message, or the error of a line that is not one."""


@contextlib.asynccontextmanager
async def _waiting_for_responses(
    received: ReadStream[Received], sent: WriteStream[SessionMessage]
) -> AsyncGenerator[tuple[ReadStream[Received], WriteStream[SessionMessage]], None]:
    """The same streams, except that the received one ends only when all requests have their responses."""
    unanswered: set[str] = set()
    changed = asyncio.Event()

    async def forward_requests(target: MemoryObjectSendStream[Received]) -> None:
        async with received, target:
            async for message in received:
                _track(message, unanswered)
                await target.send(message)
            while unanswered:
                changed.clear()
                await changed.wait()

    async def forward_responses(source: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with sent, source:
            async for message in source:
                await sent.send(message)
                _track(message, unanswered)
                changed.set()

    requests_in, requests = anyio.create_memory_object_stream[Received](0)
    responses, responses_out = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(forward_requests, requests_in)
        tasks.start_soon(forward_responses, responses_out)
        yield requests, responses


def _track(message: Received, unanswered: set[str]) -> None:
    """Note that a request needs a response, or no longer needs one."""
    match message:
        case SessionMessage(message=JSONRPCRequest(id=id_)):
            unanswered.add(str(id_))
        case SessionMessage(message=JSONRPCResponse(id=id_) | JSONRPCError(id=id_)):
            unanswered.discard(str(id_))
        case SessionMessage(message=JSONRPCNotification(method="notifications/cancelled", params=params)):
            unanswered.discard(str((params or {}).get("requestId")))
        case _:
            pass


@contextlib.contextmanager
def _cancelled_by_signals(scope: anyio.CancelScope) -> Generator[None, None, None]:
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    unsupported = (NotImplementedError, RuntimeError, ValueError)  # Windows, or not the main thread
    with contextlib.suppress(*unsupported):
        for each in signals:
            loop.add_signal_handler(each, scope.cancel)
    try:
        yield
    finally:
        with contextlib.suppress(*unsupported):
            for each in signals:
                loop.remove_signal_handler(each)


def unbuffered(stream: BinaryIO) -> RawStream:
    """The raw stream of a standard stream. A process cannot exit while a thread waits in a buffered one."""
    with contextlib.suppress(OSError, AttributeError):
        os.set_blocking(stream.fileno(), True)
    raw: RawStream = getattr(stream, "raw", stream)
    return raw
