"""What an answer leaves behind: tasks, threads, processes."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Final, NamedTuple

PROC: Final = Path("/proc")
DEAD: Final = b"ZX"
POLL: Final = 0.01

POOLS: Final = ("asyncio_", "AnyIO worker thread", "ThreadPoolExecutor")
"""How the names of threads begin that wait for more work by design."""


class Process(NamedTuple):
    """A process; its start tells it from a later one with the same number."""

    pid: int
    started: bytes


class Leftovers:
    """Knows what was there before, and tells what is there beyond it. Processes are seen on Linux only."""

    def __init__(self) -> None:
        self._tasks = asyncio.all_tasks()
        self._threads = set(threading.enumerate())
        self._before = _descendants()
        self._seen: set[Process] = set()

    def look(self) -> None:
        """Take note of the processes there are now: one that loses its parent is still known then."""
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
    # The command stands in parentheses and may hold any character, so what follows is found from behind.
    state, *others = text[text.rfind(b")") + 2 :].split()
    return None if state in DEAD else Process(pid, others[18])
