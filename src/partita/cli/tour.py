"""`partita tour`: a recorded stream, folded before your eyes, drawn part by part, and converted."""

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

if TYPE_CHECKING:  # rich is loaded when something is drawn
    from rich.console import Console

TARGETS = ("ai-sdk-ui-v7", "ai-sdk-ui-v5", "ai-sdk-model-v7")
LOSSES_SHOWN = 3
PAUSE = 0.03
NEXT_STEPS = """\
  partita import                   your coding agents' sessions, into the store
  partita show last                the newest of them, as it went
  partita fold STREAM              a recorded stream as a message
  partita convert FILE --to model  messages in another format, losses told
  partita import DB --from mastra  another system's rows, into the store
  partita formats                  everything that can be read and written
"""


@click.command(
    short_help="Watch a stream become a message.",
    epilog="""\b
Examples:
  partita tour           in a terminal, at the speed of a model
  partita tour --fast    the same without pauses
""",
)
@click.option("--fast", is_flag=True, help="Do not wait between chunks.")
def tour(fast: bool) -> None:
    """Watch a recorded stream become a message, and the message become other formats."""
    console = _console()
    chunks = list(recorded_stream())
    console.rule("[bold]1. A stream becomes a message")
    message = _fold(console, chunks, watch=console.is_terminal and not fast)
    console.rule("[bold]2. The same message in other formats")
    for name in TARGETS:
        _show_conversion(console, name, message)
    _show_sample(console, message)
    console.rule("[bold]3. Now with your own")
    console.print(NEXT_STEPS)


def _console() -> "Console":
    from rich.console import Console

    class Quiet(Console):
        """One whose reader may go away: that is no failure."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Quiet(highlight=False)


def _fold(console: "Console", chunks: list[Chunk], watch: bool) -> AssistantMessage:
    from .draw import draw_message

    message = _watch(console, chunks) if watch else _accumulate(chunks)
    console.print(draw_message(message))
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
    """Draw the message anew after every chunk that changes it."""
    from rich.live import Live

    from .draw import draw_message

    accumulator = Accumulator()
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for chunk in chunks:
            if accumulator.feed(chunk):
                live.update(draw_message(accumulator.snapshot()), refresh=True)
                time.sleep(PAUSE)
    return accumulator.finish()


def _dump(name: str, message: AssistantMessage) -> Dumped:
    dump = get_format(name).dump
    assert dump is not None, "the tour's formats can be written"
    return dump([message])


def _show_conversion(console: "Console", name: str, message: AssistantMessage) -> None:
    dumped = _dump(name, message)
    count = len(dumped.losses)
    told = (
        "nothing lost"
        if dumped.lossless
        else f"{count} {'loss' if count == 1 else 'losses'}, told one by one"
    )
    console.print(f"[bold cyan]{name}[/]  {len(encode(dumped.payload)):,} bytes, {told}")
    for loss in dumped.losses[:LOSSES_SHOWN]:
        console.print(f"    {loss.path}: {loss.why}", style="yellow", markup=False)
    if count > LOSSES_SHOWN:
        console.print(f"    … and {count - LOSSES_SHOWN} more", style="yellow")


def _show_sample(console: "Console", message: AssistantMessage) -> None:
    """The last model message, as it would go to a model."""
    from rich.syntax import Syntax

    sample = indented(_dump("ai-sdk-model-v7", message).payload[-1]).decode()
    console.print(Syntax(sample, "json", theme="ansi_dark", background_color="default", word_wrap=True))


COMMAND = tour
