"""`partita tour`: shows how a recorded stream becomes a message, and what other formats keep of it."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from partita.demo import recorded_stream
from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, type_of
from partita.types.codec import encode, to_json
from partita.types.messages import AssistantMessage

from .output import summarize_losses

if TYPE_CHECKING:  # imported when the command runs
    from rich.console import RenderableType

TARGETS = ("ai-sdk-ui-v7", "ai-sdk-ui-v5", "openai-chat", "anthropic")
FIRST_CHUNKS = 6
PAUSE = 0.03
NEXT_STEPS = {
    "partita import": "import the sessions of your coding agents",
    "partita show last": "print the newest of them",
    "partita": "open the web UI",
    "partita convert FILE --to anthropic": "convert messages to another format",
    "partita fold STREAM": "fold a recorded stream into a message",
    "partita formats": "list all formats",
}


@click.command(
    short_help="Show a stream becoming a message.",
    epilog="""\b
Examples:
  partita tour           at the speed of a model
  partita tour --fast    without pauses
""",
)
@click.option("--fast", is_flag=True, help="Do not wait between chunks.")
def tour(fast: bool) -> None:
    """Show how a recorded stream becomes a message, and what other formats keep of it."""
    from .view.console import console, show

    chunks = list(recorded_stream())
    show([*_heading("1. A model streams chunks"), *_first_chunks(chunks)])
    show(_heading("2. The chunks become a message"))
    watched = console().is_terminal and not fast
    message = _watch(chunks) if watched else _accumulate(chunks)
    show([draw(message), *_heading("3. The message is converted"), *_conversions(message)])
    show([*_heading("4. Try it"), _next_steps()])


def _heading(text: str) -> "Iterator[RenderableType]":
    from rich.rule import Rule
    from rich.text import Text

    yield ""
    yield Rule(Text(text, "bold"), align="left", style="dim")
    yield ""


def draw(message: AssistantMessage) -> "RenderableType":
    """Return the parts of a message."""
    from rich.console import Group

    from .view.console import indent_blocks
    from .view.context import ViewContext
    from .view.message import blocks_of

    return Group(*indent_blocks(blocks_of(message, ViewContext())))


def _first_chunks(chunks: list[Chunk]) -> "Iterator[RenderableType]":
    """Yield the first chunks with what they add, and how many follow."""
    from .view.console import Row, Rows
    from .view.text import one_line

    rows: list[Row] = []
    for chunk in islice(chunks, FIRST_CHUNKS):
        added = to_json(chunk).get("delta", "")
        prefix = f"  {type_of(chunk):<18}"
        rows.append(Row(one_line(str(added), 60), prefix=prefix, prefix_style="cyan", cut=True))
    yield Rows([*rows, Row(f"  … {len(chunks) - FIRST_CHUNKS} more chunks", "dim")])


def _accumulate(chunks: list[Chunk]) -> AssistantMessage:
    accumulator = Accumulator()
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.finish()


def _watch(chunks: list[Chunk]) -> AssistantMessage:
    """Redraw the message after every chunk that changes it."""
    from rich.live import Live

    from .view.console import console
    from .view.replay import Tail

    accumulator = Accumulator()
    with Live(console=console(), auto_refresh=False, transient=True) as live:
        for chunk in chunks:
            if accumulator.feed(chunk):
                live.update(Tail(draw(accumulator.snapshot())), refresh=True)
                time.sleep(PAUSE)
    return accumulator.finish()


def _conversions(message: AssistantMessage) -> "Iterator[RenderableType]":
    """Yield for each format what a conversion to it drops."""
    from .view.console import Row, Rows

    for name in TARGETS:
        target = get_format(name)
        assert target.dump is not None, "the tour's formats can be written"
        dumped = target.dump([message])
        size = len(encode(dumped.payload))
        lost = "nothing is lost" if dumped.lossless else summarize_losses(dumped.losses)
        style = "green" if dumped.lossless else "yellow"
        yield Rows(
            [
                Row(f"{target.title} ({size:,} bytes)", "dim", f"  {name:<14}", "bold"),
                Row(lost, style, " " * 16),
            ]
        )
    yield Rows([Row("A conversion reports every value that it cannot carry over.", "dim", "\n  ")])


def _next_steps() -> "RenderableType":
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for command, purpose in NEXT_STEPS.items():
        table.add_row(f"  {command}", purpose)
    return table


COMMAND = tour
