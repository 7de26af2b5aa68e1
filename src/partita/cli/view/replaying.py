"""A run while it is played: its messages as far as they have come, the end of them in sight."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from partita.types.chunks import Chunk, type_of
from partita.types.codec import encode
from partita.types.messages import Message
from partita.types.runs import Run

from .look import Look
from .message import draw_message
from .rows import Guarded, Row, Rows
from .run_rows import MARKS
from .text import counted, one_line, tokens_of
from .times import took

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
