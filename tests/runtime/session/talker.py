"""A process that owns one run, which talks until it is stopped.

It writes the id of the run, and in the end its status, each as a line of JSON.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

from partita.runtime.service import InvokeOptions, Prompt
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.types.chunks import AgentStreamEvent, ChunkEvent, MessageStart, TextDelta, TextStart
from partita.types.json import JsonObject, dumps


class Talker:
    """Counts, for ever."""

    name = "talker"

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        yield ChunkEvent(chunk=MessageStart())
        yield ChunkEvent(chunk=TextStart("t"))
        for number in count(1):
            yield ChunkEvent(chunk=TextDelta("t", f"{number} "))
            await asyncio.sleep(0.005)


async def own(url: str) -> None:
    """Own a run until it ends."""
    async with open_store(url) as store, Session(store, heartbeat=0.2) as session:
        run = await session.start(Talker(), "t1", "Count.")
        say({"run": run.id})
        ended = await session.wait(run.id)
        say({"status": ended.status, "reason": ended.error})


def say(said: JsonObject) -> None:
    """Say something to whoever started us."""
    os.write(1, dumps(said) + b"\n")


def main(url: str) -> None:
    """Own a run in this process."""
    asyncio.run(own(url))
