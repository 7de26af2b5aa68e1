"""Runs with several processes over one database, and with a restart of the database server."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import pytest

from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.types.chunks import MessageAbort, TextDelta
from partita.types.codec import encode
from partita.types.json import JsonObject, loads
from tests.processes import Forked
from tests.runtime.engines import on_both_engines
from tests.runtime.session.controlled_agent import (
    ControlledAgent,
    Follower,
    checked_run,
    full_reply,
    partial_reply,
)
from tests.runtime.session.counting_process import main
from tests.store.server import Server, running_server
from tests.store.test_restarts import fresh_database


@asynccontextmanager
async def counting_process(url: str) -> AsyncGenerator[Forked, None]:
    """A process with an active run."""
    process = Forked(main, url)
    try:
        yield process
    finally:
        await process.kill()


async def next_line(process: Forked) -> JsonObject:
    """The next line that a process writes, as JSON."""
    line: JsonObject = loads(await process.line())
    return line


@on_both_engines
async def test_a_process_follows_and_stops_a_run_of_another_process(url: str) -> None:
    async with counting_process(url) as process:
        run_id = str((await next_line(process))["run"])
        async with open_store(url) as store, Session(store) as session:
            follower = Follower(session, run_id)
            await follower.until(TextDelta("t", "10 "))
            stopped = await session.stop(run_id, "enough")
            assert (stopped.status, stopped.error) == ("cancelled", "enough")
            assert await next_line(process) == {"status": "cancelled", "reason": "enough"}
            await follower.task
            assert follower.chunks[-1] == MessageAbort("enough")
            result = await checked_run(store, run_id)
            text = "".join(chunk.delta for chunk in follower.chunks if isinstance(chunk, TextDelta))
            assert result.text == text
        assert await process.wait() == 0


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


@pytest.mark.parametrize("mode", ["immediate", "fast"])
async def test_runs_survive_a_restart_of_the_database_server(server: Server, mode: str) -> None:
    url = await fresh_database(server, f"runs_{mode}")
    agents = [ControlledAgent(*partial_reply("before ")) for _ in range(8)]
    async with open_store(url, patience=60) as store, Session(store, heartbeat=0.2) as session:
        runs = [await session.start(agent, f"t{place}", "Well?") for place, agent in enumerate(agents)]
        followers = [Follower(session, run.id, everything=True) for run in runs]
        for follower in followers:
            await follower.until(TextDelta("t", "before "))
        restart = asyncio.create_task(asyncio.to_thread(server.restart, mode))
        while not restart.done():
            for agent in agents:
                agent.emit(TextDelta("t", "meanwhile "))
            await asyncio.sleep(0.02)
        await restart
        for agent in agents:
            agent.complete(TextDelta("t", "after"), *full_reply()[2:])
        for run, follower in zip(runs, followers, strict=True):
            assert (await session.wait(run.id)).status == "completed"
            await follower.task
            log = await store.logs.read(run.id)
            stored = [(record.seq, encode(record.chunk)) for record in log if record.chunk is not None]
            assert [(one.seq, one.json) for one in follower.received] == stored
            result = await checked_run(store, run.id)
            assert result.text.startswith("before ")
            assert result.text.endswith("after")
