"""PostgreSQL restarts during streams: they continue, and nothing is missing."""

import asyncio
from collections.abc import Callable

import pytest

from partita.store.connection import open_store
from tests.store.server import running_server

from .conftest import RUN_ALL
from .server_process import server_process
from .stream_readers import Reader


@pytest.mark.parametrize("mode", ["fast", "immediate"] if RUN_ALL else ["immediate"])
async def test_streams_continue_after_a_restart_of_the_database(
    mode: str, free_port: Callable[[], int]
) -> None:
    with running_server() as server:
        async with server_process(server.url, free_port()) as running:
            readers = [Reader(running.port, f"c{number}") for number in range(10)]
            reading = asyncio.gather(*(reader.send("200 0.01") for reader in readers))
            async with asyncio.timeout(90):
                await asyncio.gather(*(reader.wait_for_chunks(20) for reader in readers))
                await asyncio.to_thread(server.restart, mode)
                await reading
        counted = "".join(f"{number} " for number in range(200))
        assert {reader.text for reader in readers} == {counted}
        async with open_store(server.url) as store:
            runs = (await store.runs.list()).items
        assert {run.status for run in runs} == {"completed"}
