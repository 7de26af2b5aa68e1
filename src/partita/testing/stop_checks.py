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

from .contract import Candidate, ContractError, begin, created

# Tasks, threads and processes left behind

PROC: Final = Path("/proc")
DEAD: Final = b"ZX"
POLL: Final = 0.01

POOLS: Final = ("asyncio_", "AnyIO worker thread", "ThreadPoolExecutor")
"""Prefixes of the names of pool threads, which stay alive by design."""


class Process(NamedTuple):
    """A process. Its start time distinguishes it from a later one with the same id."""

    pid: int
    started: bytes


class Leftovers:
    """Finds tasks, threads and processes started since its creation. Processes are found on Linux only."""

    def __init__(self) -> None:
        self._tasks = asyncio.all_tasks()
        self._threads = set(threading.enumerate())
        self._before = _descendants()
        self._seen: set[Process] = set()

    def look(self) -> None:
        """Note the running processes: one whose parent ends is not found later."""
        self._seen |= _descendants() - self._before

    async def wait(self, timeout: float) -> list[str]:
        """What is still left after the timeout."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
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
    """The child processes of this one, and theirs."""
    found: set[Process] = set()
    waiting = [os.getpid()]
    while waiting:
        started = {process for pid in _children(waiting.pop()) if (process := _process(pid)) is not None}
        waiting += (process.pid for process in started - found)
        found |= started
    return found


def _children(pid: int) -> list[int]:
    """The ids of the child processes of a process. Each of its threads has a separate list."""
    found: list[int] = []
    try:
        for thread in (PROC / str(pid) / "task").iterdir():
            with (thread / "children").open("rb") as listed:
                found += map(int, listed.read().split())
    except OSError:  # it has just ended
        pass
    return found


def _process(pid: int) -> Process | None:
    """The process with this id, unless it has ended."""
    try:
        with (PROC / str(pid) / "stat").open("rb") as file:
            text = file.read()
    except OSError:  # it has just ended
        return None
    # The command is in parentheses and may contain any character, so the search is from the end.
    state, *others = text[text.rfind(b")") + 2 :].split()
    return None if state in DEAD else Process(pid, others[18])


# Checks

EVENT_COUNTS: Final = (1, 3, 10)
"""The response is stopped after these numbers of events."""

CLEAN_UP: Final = "clean up in a `finally` block around every `yield`"


async def stops_when_closed(candidate: Candidate) -> None:
    """Closing the stream stops the agent soon, and leaves no task, thread or process."""
    for count in EVENT_COUNTS:
        async with created(candidate.make) as service:
            left, reached = Leftovers(), asyncio.Event()
            closing = asyncio.create_task(_close_after(begin(service, candidate), count, reached, left))
            if not await _happens(reached, candidate.timeout):
                closing.cancel()
            await _check_ends(candidate.timeout, closing, count)
            if not closing.cancelled():
                closing.result()
            await _check_leftovers(left, candidate.timeout, count)


async def _close_after(
    stream: AsyncIterator[AgentStreamEvent], count: int, reached: asyncio.Event, left: Leftovers
) -> None:
    with suppress(Exception):  # another check reports what it raises
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
            f"closing it raised {type(error).__name__}: {error}", where=f"event {count}", hint=CLEAN_UP
        ) from error


async def stops_when_cancelled(candidate: Candidate) -> None:
    """Cancelling the reader stops the agent and the reader soon, and leaves no task, thread or process."""
    for count in EVENT_COUNTS:
        async with created(candidate.make) as service:
            left, reached = Leftovers(), asyncio.Event()
            reader = asyncio.create_task(_read(begin(service, candidate), count, reached, left))
            await _happens(reached, candidate.timeout)
            was_running = reader.cancel()
            await _check_ends(candidate.timeout, reader, count)
            if was_running and not reader.cancelled():
                raise ContractError(
                    "it continues although its reader was cancelled",
                    where=f"event {count}",
                    hint="do not suppress CancelledError",
                )
            if not reader.cancelled():
                reader.exception()  # retrieved; another check reports it
            await _check_leftovers(left, candidate.timeout, count)


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


async def _happens(event: asyncio.Event, timeout: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            await event.wait()
    return event.is_set()


async def _check_ends(timeout: float, task: "asyncio.Task[None]", count: int) -> None:
    """Wait for a task to end, or raise a `ContractError`."""
    await asyncio.wait([task], timeout=timeout)
    if not task.done():
        task.cancel()
        raise ContractError(
            f"it has not stopped within {timeout:g} seconds",
            where=f"event {count}",
            hint="do not wait indefinitely for the agent to end",
        )


async def _check_leftovers(left: Leftovers, timeout: float, count: int) -> None:
    found = await left.wait(timeout)
    if found:
        raise ContractError(f"it left behind: {', '.join(found)}", where=f"event {count}", hint=CLEAN_UP)
