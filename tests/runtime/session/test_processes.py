"""Real processes over one database, and a server that goes away in the middle of runs."""

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
from tests.runtime.session.puppets import Puppet, Watcher, answer, left_by, talk
from tests.runtime.session.talker import main
from tests.store.server import Server, running_server
from tests.store.test_restarts import fresh_database


@asynccontextmanager
async def talker(url: str) -> AsyncGenerator[Forked, None]:
    """A process that owns a run."""
    process = Forked(main, url)
    try:
        yield process
    finally:
        await process.kill()


async def heard(process: Forked) -> JsonObject:
    """The next line that a process writes."""
    line: JsonObject = loads(await process.line())
    return line


@on_both_engines
async def test_one_process_follows_and_stops_what_another_works_on(url: str) -> None:
    async with talker(url) as process:
        run_id = str((await heard(process))["run"])
        async with open_store(url) as store, Session(store) as session:
            watcher = Watcher(session, run_id)
            await watcher.until(TextDelta("t", "10 "))
            stopped = await session.stop(run_id, "enough")
            assert (stopped.status, stopped.error) == ("cancelled", "enough")
            assert await heard(process) == {"status": "cancelled", "reason": "enough"}
            await watcher.task
            assert watcher.chunks[-1] == MessageAbort("enough")
            left = await left_by(store, run_id)
            spoken = "".join(chunk.delta for chunk in watcher.chunks if isinstance(chunk, TextDelta))
            assert left.words == spoken
        assert await process.wait() == 0


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


@pytest.mark.parametrize("mode", ["immediate", "fast"])
async def test_runs_outlast_a_restart_of_the_server(server: Server, mode: str) -> None:
    url = await fresh_database(server, f"runs_{mode}")
    puppets = [Puppet(*talk("before ")) for _ in range(8)]
    async with open_store(url, patience=60) as store, Session(store, heartbeat=0.2) as session:
        runs = [await session.start(puppet, f"t{place}", "Well?") for place, puppet in enumerate(puppets)]
        watchers = [Watcher(session, run.id, everything=True) for run in runs]
        for watcher in watchers:
            await watcher.until(TextDelta("t", "before "))
        restart = asyncio.create_task(asyncio.to_thread(server.restart, mode))
        while not restart.done():
            for puppet in puppets:
                puppet.say(TextDelta("t", "meanwhile "))
            await asyncio.sleep(0.02)
        await restart
        for puppet in puppets:
            puppet.end(TextDelta("t", "after"), *answer()[2:])
        for run, watcher in zip(runs, watchers, strict=True):
            assert (await session.wait(run.id)).status == "completed"
            await watcher.task
            log = await store.logs.read(run.id)
            stored = [(record.seq, encode(record.chunk)) for record in log if record.chunk is not None]
            assert [(one.seq, one.json) for one in watcher.seen] == stored
            left = await left_by(store, run.id)
            assert left.words.startswith("before ")
            assert left.words.endswith("after")
