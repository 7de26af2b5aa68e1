"""`partita mcp` in a forked process, as a transport of the official client."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from tests.server.mcp.serving import run_mcp
from tests.server.processes import Forked

LONGEST_LINE = 1 << 24


@asynccontextmanager
async def forked_mcp(*arguments: str) -> AsyncGenerator[TransportStreams, None]:
    """The streams of a server that ends when they are closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = Forked(run_mcp, theirs, list(arguments))
    reader, writer = await asyncio.open_connection(sock=ours, limit=LONGEST_LINE)
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
        writer.write_eof()
        assert await process.wait() == 0, await process.errors()
    finally:
        writer.close()
        await process.kill()
