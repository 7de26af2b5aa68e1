"""Leaving at a Ctrl-C: it is told, and nobody waits long for what is no longer wanted.

Nothing heavy is loaded here: half of a module that was being loaded may be all there is of it.
"""

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:  # loaded when there is something to leave
    import threading

INTERRUPTED: Final = 130
"""The exit code, as shells have it."""

GRACE: Final = 2.0
"""Seconds in which everything should have been let go."""

_leaving: "list[threading.Timer]" = []
_unfinished: list[BaseException] = []


def tell_interrupted() -> None:
    """Say that somebody pressed Ctrl-C, below the ^C that the terminal shows."""
    with suppress(OSError):
        click.echo(("\n" if sys.stderr.isatty() else "") + "partita: interrupted", err=True)


def keep(error: BaseException) -> None:
    """Keep what was begun until the process ends: a coroutine that goes before it was awaited complains."""
    _unfinished.append(error)


def leave() -> None:
    """End the process at once."""
    tell_interrupted()
    os._exit(INTERRUPTED)


def leave_soon() -> None:
    """End the process in a moment, whatever still waits for something."""
    import threading

    timer = threading.Timer(GRACE, leave)
    timer.daemon = True
    timer.start()
    _leaving.append(timer)


def stay() -> None:
    """All has been let go: there is no need to hurry."""
    for timer in _leaving:
        timer.cancel()
    _leaving.clear()
