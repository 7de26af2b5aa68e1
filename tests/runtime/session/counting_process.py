"""A process with one run, whose agent counts until it is stopped.

It prints the id of the run, and its status at the end, each as a line of JSON.
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


class CountingAgent:
    """Counts without end."""

    name = "counting"

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


async def run_until_stopped(url: str) -> None:
    """Start a run and wait for its end."""
    async with open_store(url) as store, Session(store, heartbeat=0.2) as session:
        run = await session.start(CountingAgent(), "t1", "Count.")
        print_line({"run": run.id})
        ended = await session.wait(run.id)
        print_line({"status": ended.status, "reason": ended.error})


def print_line(value: JsonObject) -> None:
    """Write a line of JSON to standard output."""
    os.write(1, dumps(value) + b"\n")


def main(url: str) -> None:
    """Run in this process."""
    asyncio.run(run_until_stopped(url))
