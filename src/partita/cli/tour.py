"""`partita tour`: shows how a recorded stream is folded into a message, and converts the message."""

import time
from typing import TYPE_CHECKING

import click

from partita.demo import recorded_stream
from partita.formats.format import Dumped
from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.codec import encode
from partita.types.json import indented
from partita.types.messages import AssistantMessage

if TYPE_CHECKING:  # imported when the command runs
    from rich.console import Console, RenderableType

TARGETS = ("ai-sdk-ui-v7", "ai-sdk-ui-v5", "ai-sdk-model-v7")
LOSSES_SHOWN = 3
PAUSE = 0.03
NEXT_STEPS = """\
  partita import                   import your coding agents' sessions
  partita show last                print the newest of them
  partita fold STREAM              fold a recorded stream into a message
  partita convert FILE --to model  convert messages to another format
  partita import DB --from mastra  import another system's database
  partita formats                  list all formats
"""


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
    """Show how a recorded stream becomes a message, and the message in other formats."""
    console = _console()
    chunks = list(recorded_stream())
    console.rule("[bold]1. A stream becomes a message")
    message = _fold(console, chunks, watch=console.is_terminal and not fast)
    console.rule("[bold]2. The same message in other formats")
    for name in TARGETS:
        _show_conversion(console, name, message)
    _show_sample(console, message)
    console.rule("[bold]3. Next steps")
    console.print(NEXT_STEPS)


def _console() -> "Console":
    from rich.console import Console

    from .view.context import THEME

    class PipeConsole(Console):
        """A console that leaves a closed pipe to `exit_code_of`, instead of exiting with 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return PipeConsole(highlight=False, theme=THEME)


def draw(message: AssistantMessage) -> "RenderableType":
    """Return the parts of a message."""
    from rich.console import Group

    from .view.console import indent_blocks
    from .view.context import ViewContext
    from .view.message import blocks_of

    return Group(*indent_blocks(blocks_of(message, ViewContext(full=True))))


def _fold(console: "Console", chunks: list[Chunk], watch: bool) -> AssistantMessage:
    message = _watch(console, chunks) if watch else _accumulate(chunks)
    console.print(draw(message))
    before, after = sum(len(encode(chunk)) for chunk in chunks), len(encode(message))
    console.print(
        f"{len(chunks)} chunks, {before:,} bytes → {len(message.parts)} parts, {after:,} bytes", style="dim"
    )
    return message


def _accumulate(chunks: list[Chunk]) -> AssistantMessage:
    accumulator = Accumulator()
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.finish()


def _watch(console: "Console", chunks: list[Chunk]) -> AssistantMessage:
    """Redraw the message after every chunk that changes it."""
    from rich.live import Live

    accumulator = Accumulator()
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for chunk in chunks:
            if accumulator.feed(chunk):
                live.update(draw(accumulator.snapshot()), refresh=True)
                time.sleep(PAUSE)
    return accumulator.finish()


def _dump(name: str, message: AssistantMessage) -> Dumped:
    dump = get_format(name).dump
    assert dump is not None, "the tour's formats can be written"
    return dump([message])


def _show_conversion(console: "Console", name: str, message: AssistantMessage) -> None:
    dumped = _dump(name, message)
    count = len(dumped.losses)
    losses = "no losses" if dumped.lossless else f"{count} {'loss' if count == 1 else 'losses'}:"
    console.print(f"[bold cyan]{name}[/]  {len(encode(dumped.payload)):,} bytes, {losses}")
    for loss in dumped.losses[:LOSSES_SHOWN]:
        console.print(f"    {loss.path}: {loss.why}", style="yellow", markup=False)
    if count > LOSSES_SHOWN:
        console.print(f"    … and {count - LOSSES_SHOWN} more", style="yellow")


def _show_sample(console: "Console", message: AssistantMessage) -> None:
    """Print the last model message, as it would be sent to a model."""
    from rich.syntax import Syntax

    sample = indented(_dump("ai-sdk-model-v7", message).payload[-1]).decode()
    console.print(Syntax(sample, "json", theme="ansi_dark", background_color="default", word_wrap=True))


COMMAND = tour
