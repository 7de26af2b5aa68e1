"""A run chunk by chunk, back and forth, as keys say."""

import os
import re
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from types import TracebackType

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from partita.cli.lookup import short_run_ids
from partita.runtime.replay.playback import play
from partita.runtime.replay.recorded_run import get_run
from partita.runtime.replay.stepper import Stepper
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.chunks import Chunk, type_of
from partita.types.codec import encode
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run
from partita.views.text import counted

from .console import Guarded, Row, Rows, console, show
from .listing import MARKS, draw_run
from .look import Look
from .message import draw_message
from .text import one_line, tokens_of, took

# A run while it is played: its messages as far as they have come, the end of them in sight.

BESIDE = 3
"""How many lines of a screen are left free."""

LONGEST_CHUNK = 300


class Tail:
    """As much of the end of something as fits on the screen."""

    def __init__(self, drawing: RenderableType, below: int = BESIDE) -> None:
        self._drawing = drawing
        self._below = below

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(Guarded(self._drawing), options, pad=False)
        for line in lines[-max(console.size.height - self._below, 1) :]:
            yield from line
            yield Segment.line()


def draw_messages(messages: Iterable[Message], look: Look) -> Iterator[RenderableType]:
    """Messages below each other; internal ones if the look says so."""
    for number, message in enumerate(one for one in messages if look.internal or not one.internal):
        if number:
            yield Text("")
        yield from draw_message(message, look, message.created_at)


def draw_step(
    place: int, count: int, chunk: Chunk | None, since: timedelta, messages: Sequence[Message], look: Look
) -> Group:
    """Where a stepper stands: the chunk behind it, and the messages there."""
    name = "the beginning" if chunk is None else one_line(type_of(chunk), 60)
    line = Text().append(f"{place:>{len(str(count))}}/{count}", "bold").append(f"  +{took(since)}  ", "dim")
    line.append(name, "cyan")
    said = "" if chunk is None else one_line(encode(chunk).decode(), LONGEST_CHUNK)
    return Group(line, Rows([Row(said, "dim", cut=True)]), Text(""), *draw_messages(messages, look))


def draw_end(count: int, duration: timedelta, run: Run) -> Text:
    """What was played, and how it ended."""
    mark, style = MARKS[run.status]
    about = [counted(count, "chunk"), took(duration)]
    if run.usage is not None:
        words = [(run.usage.input_tokens, "in"), (run.usage.output_tokens, "out")]
        about.append(", ".join(f"{tokens_of(number)} {word}" for number, word in words if number is not None))
    line = Text().append(f"{mark} {run.status}", style)
    if run.error:
        line.append(f": {one_line(run.error, 200)}", style)
    return line.append("".join(f" · {word}" for word in about if word), "dim")


# A run played in the terminal: drawn while it goes, and in full when it is over.

REDRAWN = 0.08
"""After how many seconds the screen is drawn again."""


async def play_run(store: Store, run: Run, look: Look, speed: float | None, longest_pause: float) -> None:
    """Play a run; without a speed, what it came to."""
    ids = await short_run_ids(store, [run.id])
    show([draw_run(run, ids[run.id]), ""])
    asked = await _question(store, run)
    if asked is not None:
        show([*draw_messages([asked], look), ""])
    stepper = await Stepper.open(store, run.id)
    times: list[datetime] = []
    shown = 0
    with Screen(console(), speed) as screen:
        async for seen in play(store, run.id, speed=speed, longest_pause=longest_pause, notes=True):
            stepper.add(seen)
            stepper.seek(seen.seq)
            times.append(seen.time)
            if not seen.is_note:
                shown += 1
                screen.draw(lambda: Group(*draw_messages(stepper.snapshot(), look)))
    stepper.run = await get_run(store, run.id)
    show([*draw_messages(stepper.finish(), look), ""])
    if times:
        show([draw_end(shown, times[-1] - times[0], stepper.run)])


async def _question(store: Store, run: Run) -> Message | None:
    """What a run answers, if it is said."""
    page = await store.messages.list(
        run.thread_id, MessageFilter(branch="all", internal=None), limit=None, blobs="reference"
    )
    known = {message.id: message for message in page}
    first = next((message for message in page if message.run_id == run.id), None)
    return known.get(first.parent_id or "") if isinstance(first, AssistantMessage) else None


class Screen:
    """What is drawn while a run plays, and gone when it has. Without a speed nothing is."""

    def __init__(self, target: Console, speed: float | None) -> None:
        self._live = Live(console=target, auto_refresh=False, transient=True) if speed else None
        self._drawn = 0.0

    def __enter__(self) -> "Screen":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def draw(self, make: Callable[[], RenderableType]) -> None:
        """Draw, unless that was done a moment ago."""
        now = time.monotonic()
        if self._live is not None and now - self._drawn >= REDRAWN:
            self._drawn = now
            self._live.update(Tail(make()), refresh=True)


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
    since = timedelta() if last is None or stepper.started_at is None else last.time - stepper.started_at
    chunk = None if last is None else last.chunk
    drawn = draw_step(stepper.position, len(stepper), chunk, since, stepper.snapshot(), look)
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
