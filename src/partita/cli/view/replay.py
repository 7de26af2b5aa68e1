"""Playing a run in the terminal, and stepping through its chunks with keys."""

import os
import re
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime, timedelta
from types import TracebackType

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from partita.runtime.replay.playback import play
from partita.runtime.replay.recorded_run import get_run
from partita.runtime.replay.stepper import Stepper
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.chunks import type_of
from partita.types.codec import encode
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run, Thread
from partita.views.text import counted

from .console import Escaped, Row, Rows, console, show
from .context import ViewContext
from .listing import STATUS_MARKS, draw_run
from .message import draw_message
from .text import format_duration, one_line, tokens_of
from .totals import draw_title, draw_totals

FREE_LINES = 3
"""How many lines of the screen stay free."""

LONGEST_CHUNK = 300


class Tail:
    """The end of a renderable, as much as fits on the screen."""

    def __init__(self, renderable: RenderableType, free_lines: int = FREE_LINES) -> None:
        self._renderable = renderable
        self._free_lines = free_lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(Escaped(self._renderable), options, pad=False)
        for line in lines[-max(console.size.height - self._free_lines, 1) :]:
            yield from line
            yield Segment.line()


def draw_messages(messages: Iterable[Message], context: ViewContext) -> Iterator[RenderableType]:
    """Yield messages; internal ones only if the context includes them."""
    for number, message in enumerate(one for one in messages if context.internal or not one.internal):
        if number:
            yield Text("")
        yield from draw_message(message, context, message.created_at)


def draw_position(stepper: Stepper, context: ViewContext) -> Group:
    """Return the position of a stepper, the chunk before it, and the messages so far."""
    last, count = stepper.last, len(stepper)
    elapsed = timedelta() if last is None or stepper.started_at is None else last.time - stepper.started_at
    position = f"{stepper.position:>{len(str(count))}}/{count}"
    line = Text().append(position, "bold").append(f"  +{format_duration(elapsed)}  ", "dim")
    line.append("start" if last is None else one_line(type_of(last.chunk), 60), "cyan")
    chunk = "" if last is None else one_line(encode(last.chunk).decode(), LONGEST_CHUNK)
    messages = draw_messages(stepper.snapshot(), context)
    return Group(line, Rows([Row(chunk, "dim", cut=True)]), Text(""), *messages)


def draw_end(count: int, duration: timedelta, run: Run) -> Text:
    """Return the status of a run, the number of its chunks, its duration and its tokens."""
    details = [counted(count, "chunk"), format_duration(duration)]
    if run.usage is not None:
        tokens = [(run.usage.input_tokens, "in"), (run.usage.output_tokens, "out")]
        details.append(
            ", ".join(f"{tokens_of(number)} {name}" for number, name in tokens if number is not None)
        )
    return draw_status(run).append("".join(f" · {detail}" for detail in details if detail), "dim")


def draw_status(run: Run) -> Text:
    """Return the status of a run and its error."""
    mark, style = STATUS_MARKS[run.status]
    line = Text().append(f"{mark} {run.status}", style)
    if run.error and run.error != run.status:
        line.append(f": {one_line(run.error, 200)}", style)
    return line


REDRAW_INTERVAL = 0.08
"""The minimum number of seconds between two drawings of the screen."""


async def play_thread(
    store: Store,
    thread: Thread,
    runs: Sequence[Run],
    context: ViewContext,
    speed: float | None,
    longest_pause: float,
) -> None:
    """Play the runs of a thread in order, each after the messages before it; without a speed, print them."""
    visibility = MessageFilter(internal=None if context.internal else False)
    page = await store.messages.list(thread.id, visibility, limit=None, blobs="reference")
    times = [one.created_at for one in page if one.type != "event" and one.created_at is not None]
    summary = await store.threads.summary(thread.id)
    show([draw_title(summary, (min(times), max(times)) if times else None, context.zone)])
    waiting = list(runs)
    before: datetime | None = None
    for message in page:
        writers = [run for run in waiting if message.run_id == run.id or message.id == run.message_id]
        if not isinstance(message, AssistantMessage):
            writers = []
        for run in writers:
            waiting.remove(run)
            if speed is not None or run.finished_at is None:
                await _play(store, run, context, speed, longest_pause)
        stored = await store.messages.get(thread.id, message.id, blobs="reference") if writers else message
        show(["", *draw_message(stored or message, context, before)])
        before = message.created_at or before
        for run in writers:
            ended = await get_run(store, run.id)
            if ended.status != "completed":
                show(["", draw_status(ended)])
    show([Text("\n─────", "dim"), draw_totals(page.items)])


async def play_run(
    store: Store, run: Run, context: ViewContext, speed: float | None, longest_pause: float
) -> None:
    """Play a run and then print its final messages; without a speed, only print them."""
    show([draw_run(run, run.id), ""])
    prompt = await _find_prompt(store, run)
    if prompt is not None:
        show([*draw_messages([prompt], context), ""])
    stepper, times = await _play(store, run, context, speed, longest_pause)
    show([*draw_messages(stepper.finish(), context), ""])
    if times:
        show([draw_end(len(times), times[-1] - times[0], stepper.run)])


async def _play(
    store: Store, run: Run, context: ViewContext, speed: float | None, longest_pause: float
) -> tuple[Stepper, list[datetime]]:
    """Show a run while it is played. Returns its messages, and the times of its chunks."""
    stepper = await Stepper.open(store, run.id)
    times: list[datetime] = []
    with Screen(console(), speed) as screen:
        async for played in play(store, run.id, speed=speed, longest_pause=longest_pause, notes=True):
            stepper.add(played)
            stepper.seek(played.seq)
            if not played.is_note:
                times.append(played.time)
                screen.draw(lambda: Group(*draw_messages(stepper.snapshot(), context)))
    stepper.run = await get_run(store, run.id)
    return stepper, times


async def _find_prompt(store: Store, run: Run) -> Message | None:
    """Return the message that a run responds to, if there is one."""
    page = await store.messages.list(
        run.thread_id, MessageFilter(branch="all", internal=None), limit=None, blobs="reference"
    )
    known = {message.id: message for message in page}
    first = next((message for message in page if message.run_id == run.id), None)
    return known.get(first.parent_id or "") if isinstance(first, AssistantMessage) else None


class Screen:
    """Draws the messages of a run that is played and removes them at the end; nothing without a speed."""

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
        """Draw, at most once per `REDRAW_INTERVAL`."""
        now = time.monotonic()
        if self._live is not None and now - self._drawn >= REDRAW_INTERVAL:
            self._drawn = now
            self._live.update(Tail(make()), refresh=True)


KEYS = {
    **dict.fromkeys(("\r", "\n", " ", "n", "l", "\x1b[C", "\x1b[B"), 1),
    **dict.fromkeys(("b", "p", "h", "\x1b[D", "\x1b[A"), -1),
    **dict.fromkeys(("f", "\x1b[6~"), 10),
    **dict.fromkeys(("u", "\x1b[5~"), -10),
}
"""The number of chunks that a key moves forward."""

FIRST = frozenset({"g", "\x1b[H"})
LAST = frozenset({"G", "\x1b[F"})
QUIT = frozenset({"q", "\x1b", "\x03", "\x04", ""})
KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
"""The input for one key press: an escape sequence or a character."""

HELP = "enter next · b back · f u ten forward, back · g G first, last · q quit"


def step_through(stepper: Stepper, context: ViewContext) -> None:
    """Show the position of a stepper and move it by keys until the user quits, also by Ctrl-C."""
    with suppress(KeyboardInterrupt), closing(_keys()) as keys:
        _show(stepper, context)
        for key in keys:
            if key in QUIT:
                return
            if key in FIRST:
                stepper.go_to(0)
            elif key in LAST:
                stepper.go_to(len(stepper))
            else:
                _move(stepper, KEYS.get(key, 0), notes=context.internal)
            _show(stepper, context)


def _show(stepper: Stepper, context: ViewContext) -> None:
    click.clear()
    show([Tail(draw_position(stepper, context), free_lines=5), "", HELP])


def _keys() -> Generator[str, None, None]:
    """Yield pressed keys until the end of the input."""
    with suppress(EOFError):
        if sys.platform == "win32":
            while True:
                yield click.getchar()
        yield from _terminal_keys(sys.stdin.fileno())


def _terminal_keys(terminal: int) -> Generator[str, None, None]:
    """Yield the keys of a terminal, including those pressed while the screen is drawn.

    `click.getchar` changes the mode of the terminal for each key, and loses keys that are pressed in between.
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


def _move(stepper: Stepper, count: int, *, notes: bool) -> None:
    """Move a number of chunks forward or back. Notes do not count as steps unless `notes` is set."""
    forward = count > 0
    remaining = abs(count)
    while remaining:
        moved = stepper.next() if forward else stepper.back()
        if moved is None:
            return
        last = moved if forward else stepper.last
        remaining -= notes or last is None or not last.is_note
