"""A server to be killed: a process of its own, with an agent that counts for as long as it is asked to."""

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


async def count(ask: AgentRequest) -> AsyncIterator[str]:
    """As many numbers as the last message says, with a pause in seconds before each: `100 0.01`.

    A third word is how many letters stand behind each number.
    """
    many, pause, letters = (*ask.text.split(), "0")[:3]
    for number in range(int(many)):
        await asyncio.sleep(float(pause))
        yield f"{number}{'x' * int(letters)} "


class Site:
    """A server process at a port."""

    def __init__(self, port: int, process: Forked) -> None:
        self.port = port
        self.process = process

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def peak(self) -> int:
        """How many bytes of memory it has had at most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))

    async def kill(self) -> None:
        """`kill -9`."""
        await self.process.kill()


async def started(url: str, port: int, lease: float = LEASE) -> Site:
    """A site on a store, once it answers."""
    process = Forked(serve, port, url, lease)
    async with asyncio.timeout(READY), httpx.AsyncClient() as client:
        while True:
            assert process.code is None, f"the server did not start: {await process.errors()}"
            try:
                await client.get(f"http://127.0.0.1:{port}/api/threads")
            except httpx.TransportError:
                await asyncio.sleep(0.02)
            else:
                return Site(port, process)


@asynccontextmanager
async def site(url: str, port: int, lease: float = LEASE) -> AsyncGenerator[Site, None]:
    """A site that is gone at the end, whatever happens."""
    running = await started(url, port, lease)
    try:
        yield running
    finally:
        if running.process.code is None:
            await running.kill()


def serve(port: int, url: str, lease: float) -> None:
    """Serve until the process is killed."""
    app = asgi(count, store=url, settings=Settings(lease=lease, keep_alive=1.0))
    uvicorn.run(app, port=port, log_level="error", timeout_graceful_shutdown=1)
