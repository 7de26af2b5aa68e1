"""A process that runs many turns until it is killed. Its readers log every chunk that they receive.

It writes a line to standard output once runs are active. It appends a line to a file for every turn that it
starts, and for every chunk as soon as a reader receives it.
"""

import asyncio
import itertools
import os
from contextlib import suppress
from pathlib import Path
from random import Random

from partita.errors import BusyError
from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import Script, ScriptedService, as_script
from partita.runtime.session.session import Session
from partita.runtime.tools.tool import tool
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.json import Json, JsonObject, dumps

FULL = "PARTITA_CHAOS" in os.environ
RUNS, SHARED = (100, 20) if FULL else (30, 8)
"""The number of active runs, and how many of their threads are used by all rounds. New runs there wait until
those of earlier rounds have ended."""

LEASE = 2.0 if FULL else 1.0
SENTENCE = "The lighthouse keeper counts the ships that pass, one after another, all night long. "


def script(random: Random) -> Script:
    """A short script, with or without a call."""
    pause = random.choice((0.001, 0.003, 0.01))
    text: JsonObject = {"type": "text", "text": SENTENCE * random.randint(1, 3)}
    reasoning: JsonObject = {"type": "reasoning", "text": SENTENCE}
    call: JsonObject = {
        "type": "tool-call",
        "id": "",
        "name": "count_ships",
        "state": "input-available",
        "input": {"night": random.randint(1, 9)},
    }
    steps: list[Json] = [{"parts": [text], "pause": pause}]
    if random.random() < 0.5:
        steps.insert(0, {"parts": [reasoning, call], "pause": pause, "usage": {"inputTokens": 7}})
    return as_script({"scenes": [{"steps": steps}]})


@tool
async def count_ships(night: int) -> int:
    """How many ships passed in a night."""
    await asyncio.sleep(night / 1000)
    return 10 * night


class AppendOnlyFile:
    """A file to append to, without a buffer: its content survives a kill."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, *line: Json, rest: bytes = b"") -> None:
        os.write(self._file, dumps(list(line)) + b" " + rest + b"\n")


async def run_turns(
    session: Session, thread_id: str, seed: str, log: AppendOnlyFile, ready: asyncio.Event
) -> None:
    """Run turns in a thread without end, each with a reader."""
    random = Random(seed)
    for number in itertools.count():
        agent = Agent(ScriptedService(script(random)), tools=[count_ships], session=session)
        text = f"{seed} {number}"
        with suppress(BusyError):
            run = await agent.start(thread_id, text, busy="queue")
            log.write("prompt", run.id, thread_id, text)
            async for chunks in session.follow(run.id, everything=True):
                for one in chunks:
                    log.write("received", run.id, one.seq, rest=one.json)
                ready.set()


async def work(url: str, file: str, seed: str) -> None:
    """Run turns in many threads."""
    log, ready = AppendOnlyFile(Path(file)), asyncio.Event()
    store: Store = await open_store(url)
    async with Session(store, lease=LEASE, heartbeat=LEASE / 5) as session, asyncio.TaskGroup() as group:
        for number in range(RUNS):
            thread_id = f"shared-{number}" if number < SHARED else f"{seed}-{number}"
            group.create_task(run_turns(session, thread_id, f"{seed}-{number}", log, ready))
        await ready.wait()
        os.write(1, b"ready\n")


def main(url: str, file: str, seed: str) -> None:
    """Run turns until this process is killed."""
    asyncio.run(work(url, file, seed))
