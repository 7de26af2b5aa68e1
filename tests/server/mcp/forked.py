"""`partita mcp` in a forked process, as a transport of the official client."""

import asyncio
import signal
import socket
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from tests.processes import fork_server

LONGEST_LINE = 1 << 24


@asynccontextmanager
async def forked_mcp(*arguments: str) -> AsyncGenerator[TransportStreams, None]:
    """The streams of a server that ends when they are closed."""
    ours, theirs = socket.socketpair()
    with tempfile.TemporaryFile() as errors:
        with theirs:
            stream = theirs.fileno()
            process = fork_server().start("mcp", *arguments, streams=(stream, stream, errors.fileno()))
        try:
            async with _exchanging(ours) as streams:
                yield streams
            code = await asyncio.to_thread(process.wait)
            errors.seek(0)
            assert code == 0, errors.read().decode()
        finally:
            process.send(signal.SIGKILL)


@asynccontextmanager
async def _exchanging(connection: socket.socket) -> AsyncGenerator[TransportStreams, None]:
    reader, writer = await asyncio.open_connection(sock=connection, limit=LONGEST_LINE)
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)

    async def receive() -> None:
        async with received:
            while line := await reader.readline():
                await received.send(SessionMessage(jsonrpc_message_adapter.validate_json(line)))

    async def send() -> None:
        async with sent:
            async for message in sent:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(text.encode() + b"\n")
                await writer.drain()

    try:
        async with incoming, outgoing, anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            tasks.start_soon(send)
            yield incoming, outgoing
            tasks.cancel_scope.cancel()
    finally:
        writer.close()
