"""PostgreSQL restarts during streams: they continue, and nothing is missing."""

import asyncio
from collections.abc import Callable

import pytest

from partita.store.connection import open_store
from tests.store.server import running_server

from .conftest import WHOLE
from .readers import Reader
from .site import site


@pytest.mark.parametrize("mode", ["fast", "immediate"] if WHOLE else ["immediate"])
async def test_streams_continue_after_a_restart_of_the_database(
    mode: str, free_port: Callable[[], int]
) -> None:
    with running_server() as server:
        async with site(server.url, free_port()) as running:
            readers = [Reader(running.port, f"c{number}") for number in range(10)]
            reading = asyncio.gather(*(reader.send("200 0.01") for reader in readers))
            async with asyncio.timeout(90):
                await asyncio.gather(*(reader.some(20) for reader in readers))
                await asyncio.to_thread(server.restart, mode)
                await reading
        counted = "".join(f"{number} " for number in range(200))
        assert {reader.text for reader in readers} == {counted}
        async with open_store(server.url) as store:
            runs = (await store.runs.list()).items
        assert {run.status for run in runs} == {"completed"}
