"""What a process does that reads for others: load what it needs, divide, and read until nobody asks.

One process loads and then forks the rest of its crew. It has no threads and runs nobody's main module, so
that neither can go wrong.
"""

import contextlib
import gc
import os
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple

from partita.logs.formats import log_format
from partita.logs.pricing.prices import price_of
from partita.types.usage import Usage

from .work import read_unit

READY: Final = "ready"
DONE: Final = "done"

RARELY: Final = (100_000, 20, 50)
"""How often garbage is looked for: a log is read into many values that all stay until it is told."""


class Ends(NamedTuple):
    """Our ends of two pipes: where tasks come from, and where what was read goes to."""

    tasks: int
    items: int


def main(arguments: Sequence[str]) -> None:
    """Be the crew for pairs of file descriptors, `tasks,items` each."""
    crew = [Ends(*map(int, pair.split(","))) for pair in arguments]
    warm_up()
    gc.freeze()  # what is here stays for good
    gc.set_threshold(*RARELY)
    gc.enable()
    mine = _divide(crew)
    _work(Connection(mine.tasks, writable=False), Connection(mine.items, readable=False))
    with contextlib.suppress(ChildProcessError):
        while True:  # the first one leaves last
            os.wait()
    os._exit(0)  # whoever waits for us need not wait until every value is taken apart


def warm_up() -> None:
    """Load what every reader will need."""
    log_format("claude-code-log")
    price_of("claude-sonnet-4-5", "anthropic", Usage(input_tokens=1, output_tokens=1), None)


def _divide(crew: Sequence[Ends]) -> Ends:
    """One process for each pair. All others' ends are closed, so that it shows when one of us is gone."""
    mine = next((ends for ends in crew[1:] if os.fork() == 0), crew[0])
    for ends in crew:
        if ends is not mine:
            os.close(ends.tasks)
            os.close(ends.items)
    return mine


def _work(tasks: "Connection[Any, Any]", items: "Connection[Any, Any]") -> None:
    """Read until nobody wants anything more."""
    try:
        items.send(READY)
        while True:
            for item in read_unit(tasks.recv()):
                items.send(item)
            items.send(DONE)
    except (EOFError, OSError, KeyboardInterrupt):
        return
