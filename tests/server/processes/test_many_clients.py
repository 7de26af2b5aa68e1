"""Clients that do not read, and many clients.

With `PARTITA_CHAOS` set, there are more of them.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from .server_process import server_process
from .stream_readers import Reader

RUN_ALL = "PARTITA_CHAOS" in os.environ
VIEWERS, SILENCE = (2000, 20) if RUN_ALL else (60, 2)
CLIENTS, PIECES, LETTERS = 30, 60, 100_000


async def test_clients_that_never_read_use_little_memory_and_block_no_others(
    tmp_path: Path, free_port: Callable[[], int]
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    async with server_process(url, free_port()) as running, asyncio.timeout(120):
        first = Reader(running.port, "first")
        await first.send(f"{PIECES} 0 {LETTERS}")
        before = running.peak  # with one client that reads
        sender = Reader(running.port, "c1")
        sending = asyncio.create_task(sender.send(f"{PIECES} 0.01 {LETTERS}"))
        await sender.wait_for_chunks(2)
        with non_reading_clients(running.port, "c1"):
            await sending
            assert running.peak - before < CLIENTS * PIECES * LETTERS / 6
            again = Reader(running.port, "again")
            await again.send("10 0")
    assert sender.text == first.text
    assert again.text == "".join(f"{number} " for number in range(10))


@contextmanager
def non_reading_clients(port: int, chat: str) -> Generator[None, None, None]:
    """Clients that request a stream and do not read it."""
    with ExitStack() as stack:
        for _ in range(CLIENTS):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(f"GET /api/chat/{chat}/stream HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        yield


async def test_many_idle_clients_receive_the_next_chunk(tmp_path: Path, free_port: Callable[[], int]) -> None:
    async with server_process(f"sqlite:///{tmp_path}/store.db", free_port()) as running:
        sender = Reader(running.port, "c1")
        sending = asyncio.create_task(sender.send(f"2 {SILENCE}"))
        async with asyncio.timeout(120):
            while not (await _active(running.url)):
                await asyncio.sleep(0.05)
            viewers = [Reader(running.port, "c1") for _ in range(VIEWERS)]
            watching = [asyncio.create_task(viewer.resume()) for viewer in viewers]
            await asyncio.gather(sending, *watching)
        assert {viewer.status for viewer in viewers} == {200}
        assert {viewer.text for viewer in viewers} == {"0 1 "}


async def _active(url: str) -> bool:
    async with httpx.AsyncClient(base_url=url) as client:
        return bool((await client.get("/api/runs?status=running")).json()["items"])
