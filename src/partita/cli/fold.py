"""`partita fold`: a recorded stream becomes the message it amounts to."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO, get_args

import click

from partita.errors import FormatError, PartitaError
from partita.formats.format import Decoder, Dumped
from partita.formats.registry import get_format
from partita.formats.sniff import LOOKED_AT, guess_format
from partita.stream.accumulator import Accumulator
from partita.stream.rules import Version
from partita.types.json import Json

from .completing import formats
from .output import print_json, print_losses, say
from .source import Source, open_source

VIEWS = {"ui": "ai-sdk-ui-v{}", "model": "ai-sdk-model-v{}", "canonical": "canonical"}


@click.command(
    short_help="Fold a recorded stream into its message.",
    epilog="""\b
Examples:
  partita fold answer.jsonl
  curl -sN localhost:3000/api/chat -d @ask.json | partita fold --as ui
  partita fold old.txt --from ai-sdk-data-stream-v4 --target-version 5
""",
)
@click.argument("stream", type=click.File("rb"), default="-")
@click.option(
    "--as", "view", type=click.Choice(sorted(VIEWS)), default="ui", show_default=True, help="What to print."
)
@click.option(
    "--target-version",
    type=click.Choice([str(version) for version in get_args(Version)]),
    default="7",
    show_default=True,
    help="The AI SDK version to print for.",
)
@click.option(
    "--from",
    "source_format",
    metavar="FORMAT",
    shell_complete=formats,
    help="The stream's format, if the guess is wrong.",
)
@click.option("--lenient", is_flag=True, help="Pass over chunks that do not fit, and say so on stderr.")
@click.option("--losses", is_flag=True, help="Tell on stderr what the chosen form cannot carry.")
def fold(
    stream: BinaryIO,
    view: str,
    target_version: str,
    source_format: str | None,
    lenient: bool,
    losses: bool,
) -> None:
    """Fold a STREAM (JSON lines or server-sent events; a file, or - for a pipe) into its message."""
    accumulator = _read(open_source(stream), source_format, lenient)
    dumped = _view(accumulator, view, target_version)
    print_json(dumped.payload)
    for text in accumulator.errors:
        say(f"the stream reports an error: {text}")
    for diagnostic in accumulator.diagnostics:
        say(f"chunk {diagnostic.chunk}: {diagnostic.what}")
    if losses:
        print_losses(dumped.losses)


def _view(accumulator: Accumulator, view: str, target_version: str) -> Dumped:
    dump = get_format(VIEWS[view].format(target_version)).dump
    assert dump is not None, "every view can be written"
    dumped = dump([accumulator.snapshot()])
    return dumped if view == "model" else Dumped(dumped.payload[0], dumped.losses)


def _read(source: Source, name: str | None, lenient: bool) -> Accumulator:
    accumulator = Accumulator(lenient=lenient)
    decoder, items = _decoder_for(source, name)
    for number, item in enumerate(items):
        try:
            chunks = decoder.feed(item)
        except PartitaError as error:
            error.where = f"event {number}{f', {error.where}' if error.where else ''}"
            raise
        for chunk in chunks:
            accumulator.feed(chunk)
    for chunk in decoder.finish():
        accumulator.feed(chunk)
    return accumulator


def _decoder_for(source: Source, name: str | None) -> tuple[Decoder, Iterator[Json]]:
    items = source.items
    if name is None and source.shape == "data-stream-v4":
        name = "ai-sdk-data-stream-v4"
    if name is None:
        head = list(islice(items, LOOKED_AT))
        items = chain(head, items)
        name = guess_format(head).format
    format_ = get_format(name)
    if format_.decoder is None:
        raise FormatError(f"{format_.name} holds messages, not a stream", hint="use: partita convert")
    return format_.decoder(), items


COMMAND = fold
