"""A server in a separate process that tests can kill, with an agent that counts."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import uvicorn

from partita import asgi
from partita.agents import AgentRequest
from partita.server.settings import Settings
from tests.processes import Forked

LEASE = 15.0
READY = 30.0


async def count(request: AgentRequest) -> AsyncIterator[str]:
    """Send the numbers that the last message requests, with a pause in seconds before each: `100 0.01`.

    A third word is the number of letters after each number.
    """
    many, pause, letters = (*request.text.split(), "0")[:3]
    for number in range(int(many)):
        await asyncio.sleep(float(pause))
        yield f"{number}{'x' * int(letters)} "


class ServerProcess:
    """A server process at a port."""

    def __init__(self, port: int, process: Forked) -> None:
        self.port = port
        self.process = process

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def peak(self) -> int:
        """The peak memory of the process in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))

    async def kill(self) -> None:
        """`kill -9`."""
        await self.process.kill()


async def start_server(url: str, port: int, lease: float = LEASE) -> ServerProcess:
    """A server on a store that responds to requests."""
    process = Forked(serve, port, url, lease)
    async with asyncio.timeout(READY), httpx.AsyncClient() as client:
        while True:
            assert process.code is None, f"the server did not start: {await process.errors()}"
            try:
                await client.get(f"http://127.0.0.1:{port}/api/threads")
            except httpx.TransportError:
                await asyncio.sleep(0.02)
            else:
                return ServerProcess(port, process)


@asynccontextmanager
async def server_process(url: str, port: int, lease: float = LEASE) -> AsyncGenerator[ServerProcess, None]:
    """A server that is killed at the end of the block."""
    running = await start_server(url, port, lease)
    try:
        yield running
    finally:
        if running.process.code is None:
            await running.kill()


def serve(port: int, url: str, lease: float) -> None:
    """Serve until the process is killed."""
    app = asgi(count, store=url, settings=Settings(lease=lease, keep_alive=1.0))
    uvicorn.run(app, port=port, log_level="error", timeout_graceful_shutdown=1)
