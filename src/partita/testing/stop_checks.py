"""Checks that a response can be stopped at any event and leaves no tasks, threads or processes behind."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from partita.runtime.service import closed
from partita.types.chunks import AgentStreamEvent

from .contract import Candidate, ContractError, begin, made

# What a response leaves behind

PROC: Final = Path("/proc")
DEAD: Final = b"ZX"
POLL: Final = 0.01

POOLS: Final = ("asyncio_", "AnyIO worker thread", "ThreadPoolExecutor")
"""How the names of threads begin that wait for more work by design."""


class Process(NamedTuple):
    """A process; its start distinguishes it from a later one with the same number."""

    pid: int
    started: bytes


class Leftovers:
    """Finds what is there now and was not there before. Processes are found on Linux only."""

    def __init__(self) -> None:
        self._tasks = asyncio.all_tasks()
        self._threads = set(threading.enumerate())
        self._before = _descendants()
        self._seen: set[Process] = set()

    def look(self) -> None:
        """Remember the processes that run now, because one that loses its parent is not found later."""
        self._seen |= _descendants() - self._before

    async def found(self, patience: float) -> list[str]:
        """What is left, if it is still there after some time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        while (left := self._left()) and loop.time() < deadline:
            await asyncio.sleep(POLL)
        return left

    def _left(self) -> list[str]:
        self.look()
        tasks = asyncio.all_tasks() - self._tasks - {asyncio.current_task()}
        threads = set(threading.enumerate()) - self._threads
        return [
            *(f"task {task.get_name()!r}" for task in tasks),
            *(f"thread {thread.name!r}" for thread in threads if not thread.name.startswith(POOLS)),
            *(f"process {process.pid}" for process in self._seen if _process(process.pid) == process),
        ]


def _descendants() -> set[Process]:
    """The processes that this one started, and those that they started."""
    found: set[Process] = set()
    waiting = [os.getpid()]
    while waiting:
        started = {process for pid in _children(waiting.pop()) if (process := _process(pid)) is not None}
        waiting += (process.pid for process in started - found)
        found |= started
    return found


def _children(pid: int) -> list[int]:
    """The numbers of the processes that one started; each of its threads has a list of its own."""
    found: list[int] = []
    try:
        for thread in (PROC / str(pid) / "task").iterdir():
            with (thread / "children").open("rb") as listed:
                found += map(int, listed.read().split())
    except OSError:  # it has just ended
        pass
    return found


def _process(pid: int) -> Process | None:
    """A process that is alive."""
    try:
        with (PROC / str(pid) / "stat").open("rb") as file:
            text = file.read()
    except OSError:  # it has just ended
        return None
    # The command is in parentheses and may contain any character, so the search is from the end.
    state, *others = text[text.rfind(b")") + 2 :].split()
    return None if state in DEAD else Process(pid, others[18])


# The checks

AFTER: Final = (1, 3, 10)
"""After how many events it is stopped."""

CLEAN_UP: Final = "clean up in a `finally` around everything that yields"


async def stops_when_closed(candidate: Candidate) -> None:
    """Closing the stream stops the agent, soon, and nothing of it is left."""
    for count in AFTER:
        async with made(candidate.make) as service:
            left, reached = Leftovers(), asyncio.Event()
            closing = asyncio.create_task(_close_after(begin(service, candidate), count, reached, left))
            if not await _happens(reached, candidate.patience):
                closing.cancel()
            await _within(candidate.patience, closing, count)
            if not closing.cancelled():
                closing.result()
            await _nothing(left, candidate.patience, count)


async def _close_after(
    stream: AsyncIterator[AgentStreamEvent], count: int, reached: asyncio.Event, left: Leftovers
) -> None:
    with suppress(Exception):  # what it raises by itself is for another check
        for _ in range(count):
            await anext(stream)
            left.look()
    reached.set()
    if not isinstance(stream, AsyncGenerator):
        raise ContractError("the stream cannot be closed", hint="write invoke as an async generator")
    try:
        await stream.aclose()
    except Exception as error:
        raise ContractError(
            f"to close it raised {type(error).__name__}: {error}", where=f"event {count}", hint=CLEAN_UP
        ) from error


async def stops_when_cancelled(candidate: Candidate) -> None:
    """Cancelling the reader stops the agent, soon, also cancels the reader, and nothing is left."""
    for count in AFTER:
        async with made(candidate.make) as service:
            left, reached = Leftovers(), asyncio.Event()
            reader = asyncio.create_task(_read(begin(service, candidate), count, reached, left))
            await _happens(reached, candidate.patience)
            was_at_work = reader.cancel()
            await _within(candidate.patience, reader, count)
            if was_at_work and not reader.cancelled():
                raise ContractError(
                    "it goes on though its reader was cancelled",
                    where=f"event {count}",
                    hint="let CancelledError through",
                )
            if not reader.cancelled():
                reader.exception()  # looked at: it is for another check
            await _nothing(left, candidate.patience, count)


async def _read(
    stream: AsyncIterator[AgentStreamEvent], count: int, reached: asyncio.Event, left: Leftovers
) -> None:
    number = 0
    try:
        async with closed(stream):
            async for _ in stream:
                number += 1
                left.look()
                if number == count:
                    reached.set()
    finally:
        reached.set()


async def _happens(event: asyncio.Event, patience: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):
            await event.wait()
    return event.is_set()


async def _within(patience: float, task: "asyncio.Task[None]", count: int) -> None:
    """Wait for a task to end. One that takes too long breaks the contract."""
    await asyncio.wait([task], timeout=patience)
    if not task.done():
        task.cancel()
        raise ContractError(
            f"it has not stopped within {patience:g} seconds",
            where=f"event {count}",
            hint="do not wait for ever for the agent's goodbye",
        )


async def _nothing(left: Leftovers, patience: float, count: int) -> None:
    found = await left.found(patience)
    if found:
        raise ContractError(f"it left behind: {', '.join(found)}", where=f"event {count}", hint=CLEAN_UP)
