"""`partita tour`: a recorded stream, folded before your eyes, drawn part by part, and converted."""

import time

import click

from partita.demo import recorded_stream
from partita.formats.registry import get_format
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.codec import encode
from partita.types.json import indented

TARGETS = ("ai-sdk-ui-v7", "ai-sdk-ui-v5", "ai-sdk-model-v7")


@click.command()
@click.option("--fast", is_flag=True, help="Do not wait between chunks.")
def tour(fast: bool) -> None:
    """Watch a recorded stream become a message, and the message become other formats."""
    from rich.console import Console

    console = Console()
    chunks = list(recorded_stream())
    console.rule("[bold]1. A stream becomes a message")
    accumulator = _watch(console, chunks, pause=0.0 if fast or not console.is_terminal else 0.02)
    console.rule("[bold]2. The same message in other formats")
    _convert(console, accumulator)
    console.rule("[bold]3. Now with your own")
    console.print(
        "  partita fold STREAM              a recorded stream as a message\n"
        "  partita convert FILE --to model  messages in another format, losses told\n"
        "  partita formats                  everything that can be read and written\n",
        highlight=False,
    )


def _watch(console: object, chunks: list[Chunk], pause: float) -> Accumulator:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    from .draw import draw_message

    assert isinstance(console, Console)
    accumulator = Accumulator()
    size = sum(len(encode(chunk)) for chunk in chunks)
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        for chunk in chunks:
            if accumulator.feed(chunk) and pause:
                live.update(draw_message(accumulator.snapshot()), refresh=True)
                time.sleep(pause)
        message = accumulator.finish()
        parts, whole = len(message.parts), len(encode(message))
        line = f"{len(chunks)} chunks, {size:,} bytes → {parts} parts, {whole:,} bytes"
        live.update(Group(draw_message(message), Text(line, style="dim")), refresh=True)
    return accumulator


def _convert(console: object, accumulator: Accumulator) -> None:
    from rich.console import Console
    from rich.syntax import Syntax

    assert isinstance(console, Console)
    message = accumulator.snapshot()
    for name in TARGETS:
        dump = get_format(name).dump
        assert dump is not None, "the tour's formats can be written"
        dumped = dump([message])
        told = "nothing lost" if dumped.lossless else f"{len(dumped.losses)} losses, each told"
        console.print(f"[bold cyan]{name}[/]  {len(encode(dumped.payload)):,} bytes, {told}", highlight=False)
        for loss in dumped.losses[:3]:
            console.print(f"    {loss.path}: {loss.why}", style="yellow", highlight=False, markup=False)
        if len(dumped.losses) > 3:
            console.print(f"    … and {len(dumped.losses) - 3} more", style="yellow", highlight=False)
    first = get_format("ai-sdk-model-v7").dump
    assert first is not None, "the tour's formats can be written"
    sample = indented(first([message]).payload[-1]).decode()
    console.print(Syntax(sample, "json", theme="ansi_dark", background_color="default", word_wrap=True))
