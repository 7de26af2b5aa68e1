"""Two servers on one PostgreSQL, behind a round-robin proxy."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import cycle

import httpx

from partita.store.connection import open_store
from partita.store.values import RunFilter
from partita.types.chunks import MessageAbort

from .server_process import server_process
from .stream_readers import Reader


@asynccontextmanager
async def round_robin(*ports: int) -> AsyncGenerator[int, None]:
    """A port whose connections are forwarded to these ports in turn."""
    targets = cycle(ports)
    tasks: set[asyncio.Task[None]] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", next(targets))
        for one, other in ((reader, upstream_writer), (upstream_reader, writer)):
            task = asyncio.create_task(pump(one, other))
            tasks.add(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_run_of_one_server_is_followed_and_stopped_on_the_other(
    postgres_url: str, free_port: Callable[[], int]
) -> None:
    one, other = free_port(), free_port()
    async with (
        server_process(postgres_url, one),
        server_process(postgres_url, other),
        round_robin(one, other) as proxy_port,
    ):
        first, second = Reader(proxy_port, "c1"), Reader(proxy_port, "c1")
        sending = asyncio.create_task(first.send("10000 0.02"))
        async with asyncio.timeout(60):
            await first.wait_for_chunks(10)
            following = asyncio.create_task(second.resume())
            await second.wait_for_chunks(12)
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{other}") as client:
                stopped = await client.post("/api/chat/c1/stop", json={"reason": "enough"}, timeout=30)
            assert stopped.json()["stopped"] is True
            await asyncio.gather(sending, following)
            others = [Reader(proxy_port, f"other-{number}") for number in range(10)]
            await asyncio.gather(*(reader.send("20 0.001") for reader in others))
        assert {reader.text for reader in others} == {"".join(f"{number} " for number in range(20))}
        assert first.text == second.text
        assert isinstance(first.chunks[-1], MessageAbort)
        assert isinstance(second.chunks[-1], MessageAbort)
    async with open_store(postgres_url) as store:
        (run,) = (await store.runs.list(RunFilter(thread_id="c1"))).items
    assert (run.status, run.error) == ("cancelled", "enough")
