"""A process that reads sessions: it imports its modules, forks the other processes, and reads.

The first process forks after it has imported everything. It has no threads and does not run the main module
of the program, so forking is safe.
"""

import contextlib
import gc
import os
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple

from partita.formats.log.thread_builder import LogBuilder
from partita.logs.pricing.prices import price_of
from partita.logs.sources.registry import log_format
from partita.types.usage import Usage

from .session_reader import read_unit

READY: Final = "ready"
DONE: Final = "done"

GC_THRESHOLDS: Final = (100_000, 20, 50)
"""Garbage is collected rarely, because the values of a log all stay in memory until they are sent."""


class PipeEnds(NamedTuple):
    """The ends of two pipes in this process: to receive tasks from, and to send items to."""

    tasks: int
    items: int


def main(arguments: Sequence[str]) -> None:
    """Start a process for each pair of file descriptors, given as `tasks,items`."""
    pairs = [PipeEnds(*map(int, pair.split(","))) for pair in arguments]
    warm_up()
    gc.freeze()  # modules stay in memory
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()
    own = _fork(pairs)
    _read_tasks(Connection(own.tasks, writable=False), Connection(own.items, readable=False))
    with contextlib.suppress(ChildProcessError):
        while True:  # the first process exits last
            os.wait()
    os._exit(0)  # without freeing every value, which takes long


def warm_up() -> None:
    """Import the modules that every reader needs."""
    log_format("claude-code-log").decoder(LogBuilder())
    price_of("claude-sonnet-4-5", "anthropic", Usage(input_tokens=1, output_tokens=1), None)


def _fork(pairs: Sequence[PipeEnds]) -> PipeEnds:
    """Fork a process for each pair. Each closes the ends of all others, so that a dead process is noticed."""
    own = next((ends for ends in pairs[1:] if os.fork() == 0), pairs[0])
    for ends in pairs:
        if ends is not own:
            os.close(ends.tasks)
            os.close(ends.items)
    return own


def _read_tasks(tasks: "Connection[Any, Any]", items: "Connection[Any, Any]") -> None:
    """Read until the other process closes the pipes."""
    try:
        items.send(READY)
        while True:
            for item in read_unit(tasks.recv()):
                items.send(item)
            items.send(DONE)
    except (EOFError, OSError, KeyboardInterrupt):
        return
