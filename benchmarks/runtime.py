"""What does durability cost? Events through a session, compared with the same events folded in memory.

    python -m benchmarks.runtime

Everything is on SQLite in a file, in one process. A chunk is handed to its reader only once it is stored.
"""

import asyncio
import gc
import resource
import sys
import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from partita.runtime.service import InvokeOptions, Prompt
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.store import Store
from partita.stream.accumulator import Accumulator
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    MessageFinish,
    MessageStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    raw_text,
)
from partita.types.codec import encode
from partita.types.messages import AssistantMessage, Message, UserMessage

from .table import print_table

SLOW_RUNS, SLOW_CHUNKS, SLOW_RATE = 1000, 200, 20.0
IDLE_RUNS = 1000
SHORT_RUNS, KNOWN_MESSAGES, AT_ONCE = 1000, 20, 16


class TextAgent:
    """An agent that emits this many words, as fast as they are read or at a rate."""

    name = "talker"

    def __init__(self, words: int, rate: float | None = None) -> None:
        self._chunks = _words(words)
        self._rate = rate
        self.listening = 0
        self.may_speak = asyncio.Event()

    def __len__(self) -> int:
        return len(self._chunks)

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        self.listening += 1
        await self.may_speak.wait()
        began = perf_counter()
        for number, (chunk, raw) in enumerate(self._chunks):
            if self._rate is not None:
                await asyncio.sleep(max(0.0, began + number / self._rate - perf_counter()))
            yield ChunkEvent(chunk=chunk, raw_text=raw)
        yield CompleteEvent()


class WaitingAgent:
    """An agent that starts, and waits until it is stopped."""

    name = "sleeper"

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        yield ChunkEvent(chunk=MessageStart())
        await asyncio.Event().wait()


class ShortAgent:
    """An agent that emits three chunks. With `waits` it ends once they were received."""

    name = "answerer"

    def __init__(self, *, waits: bool) -> None:
        self._waits = waits
        self.received = asyncio.Event()
        self.done = 0.0

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        for chunk in (MessageStart(), TextStart("0"), TextDelta("0", "Beans.")):
            yield ChunkEvent(chunk=chunk)
        if self._waits:
            await self.received.wait()
        self.done = perf_counter()
        yield CompleteEvent()


def _words(count: int) -> list[tuple[Chunk, str]]:
    texts: list[Chunk] = [TextDelta("0", f"word {number} ") for number in range(count)]
    chunks = [MessageStart(), StepStart(), TextStart("0"), *texts, TextEnd("0"), StepFinish()]
    chunks.append(MessageFinish("stop"))
    return [(chunk, raw_text(b"data: " + encode(chunk) + b"\n\n")) for chunk in chunks]


class Measured(NamedTuple):
    """The measurements of many concurrent runs."""

    events: int
    starting: float
    """Seconds until all runs were stored and active."""
    speaking: float
    """Seconds from the first chunk to the end of the last run, including its message."""
    late: list[float]
    """For each run, the latency of its slowest event in seconds."""


async def through_session(session: Session, agent: TextAgent, runs: int) -> Measured:
    """Start runs, let all emit at once, and read them to their end."""
    began = perf_counter()
    started = await asyncio.gather(
        *(session.start(agent, f"thread-{number}", "Go.") for number in range(runs))
    )
    while agent.listening < runs:
        await asyncio.sleep(0.01)
    spoke = perf_counter()
    agent.may_speak.set()
    shown = await asyncio.gather(*(_read(session, run.id) for run in started))
    events = sum(count for count, _ in shown)
    return Measured(events, spoke - began, perf_counter() - spoke, sorted(late for _, late in shown))


async def _read(session: Session, run_id: str) -> tuple[int, float]:
    """The number of events that a reader received, and the longest latency of one."""
    count, latest = 0, 0.0
    async for seen in session.follow(run_id):
        count += len(seen)
        latest = max(latest, datetime.now(UTC).timestamp() - seen[0].time.timestamp())
    return count, latest


async def in_memory(agent: TextAgent, runs: int) -> tuple[int, float]:
    """The same events, folded and dropped."""
    began, count = perf_counter(), 0
    for _ in range(runs):
        accumulator = Accumulator(id="m")
        async for event in agent.invoke("Go."):
            if isinstance(event, ChunkEvent):
                accumulator.feed(event.chunk)
                count += 1
        accumulator.finish()
    return count, perf_counter() - began


async def throughput() -> None:
    """Events per second, of one run and of a hundred concurrent ones."""
    rows: list[tuple[str, ...]] = []
    for runs, words in ((1, 50_000), (100, 1000)):
        agent = TextAgent(words)
        with tempfile.TemporaryDirectory() as folder:
            async with await open_store(f"sqlite:///{folder}/a.db") as store, Session(store) as session:
                stored = await through_session(session, agent, runs)
        folded, alone = await in_memory(agent, runs)
        rate, memory = stored.events / stored.speaking, folded / alone
        rows.append((str(runs), f"{rate:,.0f}", f"{memory:,.0f}", f"{rate / memory:.2f}"))
    head = ("runs at once", "stored, then shown", "folded in memory", "ratio")
    print_table("Events a second through a session, SQLite", head, rows)


async def slow_runs() -> None:
    """A thousand runs of twenty chunks per second each: does any fall behind?"""
    agent = TextAgent(SLOW_CHUNKS, SLOW_RATE)
    with tempfile.TemporaryDirectory() as folder:
        async with await open_store(f"sqlite:///{folder}/b.db") as store, Session(store) as session:
            measured = await through_session(session, agent, SLOW_RUNS)
    events, starting, speaking, late = measured
    rows = [
        ("runs started a second", f"{SLOW_RUNS / starting:,.0f}"),
        ("events", f"{events:,}"),
        ("one run alone takes", f"{len(agent) / SLOW_RATE:.1f} s"),
        ("all of them took, until the last message was stored", f"{speaking:.1f} s"),
        ("slowest event of the median run, from agent to reader", f"{late[len(late) // 2] * 1000:.0f} ms"),
        ("slowest event of all", f"{late[-1] * 1000:.0f} ms"),
    ]
    print_table(f"{SLOW_RUNS:,} runs at once, {SLOW_RATE:.0f} chunks a second each", ("", ""), rows)


async def idle_runs() -> None:
    """The memory of idle runs."""
    with tempfile.TemporaryDirectory() as folder:
        async with await open_store(f"sqlite:///{folder}/c.db") as store, Session(store) as session:
            await session.start(WaitingAgent(), "first", "Go.")
            gc.collect()
            before = _memory()
            for number in range(IDLE_RUNS):
                await session.start(WaitingAgent(), f"idle-{number}", "Go.")
            gc.collect()
            each = (_memory() - before) / IDLE_RUNS
    print_table("Memory", ("", ""), [(f"each of {IDLE_RUNS:,} idle runs", f"{each / 1024:.1f} KiB")])


class Times(NamedTuple):
    """The times of one short run, in seconds."""

    first: float
    """From the call of `start` to the first chunk at its reader."""
    ending: float
    """From the end of the agent to the end of the run, including its message."""


async def short_run(session: Session, thread_id: str, *, waits: bool) -> Times:
    """Start a run and read it to its end."""
    agent, first = ShortAgent(waits=waits), 0.0
    began = perf_counter()
    run = await session.start(agent, thread_id, "What grows there?", resource_id="somebody")
    async for seen in session.follow(run.id):
        first = first or perf_counter() - began
        if seen[-1].seq == 3:
            agent.received.set()
    return Times(first, perf_counter() - agent.done)


async def short_runs() -> None:
    """How long does a run take to start and to end, and how many fit into a second?"""
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        async with await open_store(f"sqlite:///{folder}/d.db") as store, Session(store) as session:
            for number in range(SHORT_RUNS):
                await _talk(store.scoped("somebody"), f"known-{number}")
            for kind, text in (("known", f"a thread of {KNOWN_MESSAGES} messages"), ("new", "a new thread")):
                ids = [f"{kind}-{number}" for number in range(SHORT_RUNS)]
                times = [await short_run(session, thread_id, waits=True) for thread_id in ids]
                rows.append((f"start to first chunk, {text}", *_spread([one.first for one in times])))
                rows.append((f"ending a run, {text}", *_spread([one.ending for one in times])))
            print_table("A short run in an idle process", ("", "p50", "p99"), rows)
            rates = [(f"{at_once} at once", await _rate(session, at_once)) for at_once in (1, AT_ONCE)]
    print_table("Runs a second: start, three chunks, end", ("", ""), rates)


async def _talk(store: Store, thread_id: str) -> None:
    """A thread with messages."""
    await store.threads.create(thread_id)
    said: list[Message] = []
    for number in range(0, KNOWN_MESSAGES, 2):
        said.append(UserMessage(id=f"{thread_id}-{number}", content=f"What grows in bed {number}?"))
        said.append(AssistantMessage(id=f"{thread_id}-{number + 1}", content="Beans, and some peas."))
    await store.messages.save(said, thread_id=thread_id)


async def _rate(session: Session, at_once: int) -> str:
    async def some(first: int) -> None:
        for number in range(first, SHORT_RUNS, at_once):
            await short_run(session, f"rate-{at_once}-{number}", waits=False)

    began = perf_counter()
    await asyncio.gather(*map(some, range(at_once)))
    return f"{SHORT_RUNS / (perf_counter() - began):,.0f}"


def _spread(seconds: list[float]) -> tuple[str, str]:
    ordered = sorted(seconds)
    places = (len(ordered) // 2, len(ordered) * 99 // 100)
    half, most = (f"{ordered[place] * 1000:.1f} ms" for place in places)
    return half, most


def _memory() -> int:
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    asyncio.run(idle_runs())  # first: later, memory that others used is used again
    asyncio.run(short_runs())
    asyncio.run(throughput())
    asyncio.run(slow_runs())


if __name__ == "__main__":
    main()
