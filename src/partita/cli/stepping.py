"""A run chunk by chunk, back and forth, as keys say."""

import sys
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
HELP = "enter next · b back · f u ten on, ten back · g G first, last · q leave"


def step_through(stepper: Stepper, look: Look) -> None:
    """Show where the stepper stands, and go where a key says, until one says to leave."""
    while True:
        _show(stepper, look)
        key = _key()
        if key in LEAVE:
            return
        if key in FIRST:
            stepper.go_to(0)
        elif key in LAST:
            stepper.go_to(len(stepper))
        else:
            _go(stepper, KEYS.get(key, 0), notes=look.internal)


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


def _key() -> str:
    try:
        return click.getchar()
    except (KeyboardInterrupt, EOFError):
        return ""


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
