"""A run chunk by chunk, back and forth, as keys say."""

import os
import re
import sys
from collections.abc import Generator
from contextlib import closing
from datetime import timedelta

import click

from partita.runtime.replay.stepping import Stepper

from .printing import show
from .view.look import Look
from .view.replaying import Tail, draw_step

KEYS = {
    **dict.fromkeys(("\r", "\n", " ", "n", "l", "\x1b[C", "\x1b[B"), 1),
    **dict.fromkeys(("b", "p", "h", "\x1b[D", "\x1b[A"), -1),
    **dict.fromkeys(("f", "\x1b[6~"), 10),
    **dict.fromkeys(("u", "\x1b[5~"), -10),
}
"""How many chunks a key goes on."""

FIRST = frozenset({"g", "\x1b[H"})
LAST = frozenset({"G", "\x1b[F"})
LEAVE = frozenset({"q", "\x1b", "\x03", "\x04", ""})
KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
"""A key as a terminal sends it: an escape sequence, or a character."""

HELP = "enter next · b back · f u ten on, ten back · g G first, last · q leave"


def step_through(stepper: Stepper, look: Look) -> None:
    """Show where the stepper stands, and go where a key says, until one says to leave."""
    _show(stepper, look)
    with closing(_keys()) as keys:
        for key in keys:
            if key in LEAVE:
                return
            if key in FIRST:
                stepper.go_to(0)
            elif key in LAST:
                stepper.go_to(len(stepper))
            else:
                _go(stepper, KEYS.get(key, 0), notes=look.internal)
            _show(stepper, look)


def _show(stepper: Stepper, look: Look) -> None:
    last = stepper.last
    since = timedelta() if last is None or stepper.began is None else last.time - stepper.began
    chunk = None if last is None else last.chunk
    drawn = draw_step(stepper.place, len(stepper), chunk, since, stepper.snapshot(), look)
    if sys.stdout.isatty():
        click.clear()
        show([Tail(drawn, below=5), "", HELP])
    else:
        show([drawn, ""])


def _keys() -> Generator[str, None, None]:
    """The keys that are pressed; Ctrl-C and the end of the input end them."""
    try:
        if sys.platform == "win32" or not sys.stdin.isatty():
            while True:
                yield click.getchar()
        yield from _typed(sys.stdin.fileno())
    except (KeyboardInterrupt, EOFError):
        return


def _typed(terminal: int) -> Generator[str, None, None]:
    """The keys of a terminal, also those that are pressed while the screen is drawn.

    `click.getchar` changes the mode of the terminal for each key, and what is typed in between is lost.
    """
    import termios
    import tty

    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        while typed := os.read(terminal, 64).decode(errors="replace"):
            yield from KEY.findall(typed)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _go(stepper: Stepper, count: int, *, notes: bool) -> None:
    """So many chunks on, or back. Our own notes are no steps, unless they are asked for."""
    forward = count > 0
    left = abs(count)
    while left:
        seen = stepper.next() if forward else stepper.back()
        if seen is None:
            return
        behind = seen if forward else stepper.last
        left -= notes or behind is None or not behind.is_note
