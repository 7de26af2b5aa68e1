"""A process that owns many runs at once until it is killed, and those in it who watch and write down all.

It writes a line once runs are at work. It adds a line to a file for every turn that was begun, and for every
chunk that somebody was shown, the moment he was.
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

WHOLE = "PARTITA_CHAOS" in os.environ
RUNS, SHARED = (100, 20) if WHOLE else (30, 8)
"""How many runs are at work at once, and how many of the threads are those of earlier rounds: the runs there
wait until what was left is ended."""

LEASE = 2.0 if WHOLE else 1.0
WORDS = "The lighthouse keeper counts the ships that pass, one after another, all night long. "


def script(random: Random) -> Script:
    """A short talk, with a call or without one."""
    pause = random.choice((0.001, 0.003, 0.01))
    text: JsonObject = {"type": "text", "text": WORDS * random.randint(1, 3)}
    reasoning: JsonObject = {"type": "reasoning", "text": WORDS}
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


class Book:
    """A file that is only added to, without a buffer: what was written is there after a kill."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, *line: Json, rest: bytes = b"") -> None:
        os.write(self._file, dumps(list(line)) + b" " + rest + b"\n")


async def talk(session: Session, thread_id: str, seed: str, book: Book, ready: asyncio.Event) -> None:
    """Turn after turn in a thread, each of them watched."""
    random = Random(seed)
    for number in itertools.count():
        agent = Agent(ScriptedService(script(random)), tools=[count_ships], session=session)
        words = f"{seed} {number}"
        with suppress(BusyError):
            run = await agent.start(thread_id, words, busy="queue")
            book.write("begun", run.id, thread_id, words)
            async for seen in session.follow(run.id, everything=True):
                for one in seen:
                    book.write("seen", run.id, one.seq, rest=one.json)
                ready.set()


async def work(url: str, file: str, seed: str) -> None:
    """Own many runs, for ever."""
    book, ready = Book(Path(file)), asyncio.Event()
    store: Store = await open_store(url)
    async with Session(store, lease=LEASE, heartbeat=LEASE / 5) as session, asyncio.TaskGroup() as group:
        for number in range(RUNS):
            thread_id = f"shared-{number}" if number < SHARED else f"{seed}-{number}"
            group.create_task(talk(session, thread_id, f"{seed}-{number}", book, ready))
        await ready.wait()
        os.write(1, b"ready\n")


def main(url: str, file: str, seed: str) -> None:
    """Own many runs until this process is killed."""
    asyncio.run(work(url, file, seed))
