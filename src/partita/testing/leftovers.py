"""What an answer leaves behind: tasks, threads, processes."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Final, NamedTuple

PROC: Final = Path("/proc")
DEAD: Final = "ZX"
POLL: Final = 0.01

POOLS: Final = ("asyncio_", "AnyIO worker thread", "ThreadPoolExecutor")
"""How the names of threads begin that wait for more work by design."""


class Process(NamedTuple):
    """A process; its start tells it from a later one with the same number."""

    pid: int
    started: str


class Leftovers:
    """Knows what was there before, and tells what is there beyond it. Processes are seen on Linux only."""

    def __init__(self) -> None:
        self._tasks = asyncio.all_tasks()
        self._threads = set(threading.enumerate())
        self._before = set(_processes())
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
        alive = _processes()
        tasks = asyncio.all_tasks() - self._tasks - {asyncio.current_task()}
        threads = set(threading.enumerate()) - self._threads
        return [
            *(f"task {task.get_name()!r}" for task in tasks),
            *(f"thread {thread.name!r}" for thread in threads if not thread.name.startswith(POOLS)),
            *(f"process {process.pid}" for process in self._seen if process in alive),
        ]


def _descendants() -> set[Process]:
    """The processes that this one started, and those that they started."""
    parents = _processes()
    mine = {os.getpid()}
    found: set[Process] = set()
    size = -1
    while size != len(found):
        size = len(found)
        found |= {process for process, parent in parents.items() if parent in mine}
        mine |= {process.pid for process in found}
    return found


def _processes() -> dict[Process, int]:
    """Every process that is alive, and the number of its parent."""
    names = [entry.name for entry in os.scandir(PROC) if entry.name.isdigit()] if PROC.is_dir() else []
    found: dict[Process, int] = {}
    for name in names:
        try:
            text = PROC.joinpath(name, "stat").read_text(errors="replace")
        except OSError:  # it has just ended
            continue
        # The command stands in parentheses and may hold any character, so what follows is found from behind.
        state, parent, *others = text[text.rfind(")") + 2 :].split()
        if state not in DEAD:
            found[Process(int(name), others[17])] = int(parent)
    return found
