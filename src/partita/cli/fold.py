"""`partita fold`: fold a recorded stream into its messages."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO, get_args

import click

from partita.errors import FormatError
from partita.formats.detection.guess import SAMPLE_SIZE, guess_format
from partita.formats.event_streams import fold_events
from partita.formats.format import Decoder
from partita.formats.registry import get_format
from partita.stream.state import Version
from partita.types.json import Json

from .completion import complete_formats
from .options import losses_json_option, losses_option
from .output import print_json, print_losses, print_notice, write_losses
from .parameter_types import InputFile
from .source import Source, open_source

VIEWS = {"ui": "ai-sdk-ui-v{}", "model": "ai-sdk-model-v{}", "canonical": "canonical"}


@click.command(
    short_help="Fold a recorded stream into its messages.",
    epilog="""\b
Examples:
  partita fold answer.jsonl
  curl -sN localhost:3000/api/chat -d @ask.json | partita fold --as ui
  partita fold old.txt --from ai-sdk-data-stream-v4 --target-version 5
""",
)
@click.argument("stream", type=InputFile(), default="-")
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
    shell_complete=complete_formats,
    help="The format of the stream. Default: detected.",
)
@click.option("--lenient", is_flag=True, help="Skip invalid chunks and report them on stderr.")
@losses_option
@losses_json_option
def fold(
    stream: BinaryIO,
    *,
    view: str,
    target_version: str,
    source_format: str | None,
    lenient: bool,
    losses: bool,
    losses_json: BinaryIO | None,
) -> None:
    """Fold a STREAM (JSON lines or server-sent events; a file, or - for a pipe) into its messages.

    Each message is printed as one JSON document. A stream with several start chunks holds several messages.
    """
    decoder, items = _decoder_for(open_source(stream), source_format)
    folded = fold_events(decoder, items, lenient=lenient, losses=True)
    dump = get_format(VIEWS[view].format(target_version)).dump
    assert dump is not None, "every view can be written"
    dumped = dump(folded.messages)
    for document in [dumped.payload] if view == "model" else dumped.payload:
        print_json(document)
    for text in folded.errors:
        print_notice(f"the stream reports an error: {text}")
    for diagnostic in folded.diagnostics:
        print_notice(f"chunk {diagnostic.chunk}: {diagnostic.what}")
    lost = [*folded.losses, *dumped.losses]
    if losses_json is not None:
        write_losses(losses_json, lost)
    print_losses(lost, every=losses)


def _decoder_for(source: Source, name: str | None) -> tuple[Decoder, Iterator[Json]]:
    items = source.items
    if name is None and source.shape == "data-stream-v4":
        name = "ai-sdk-data-stream-v4"
    if name is None:
        head = list(islice(items, SAMPLE_SIZE))
        items = chain(head, items)
        name = guess_format(head).format
    format_ = get_format(name)
    if format_.decoder is None:
        raise FormatError(
            f"{format_.name} is a format of messages, not of streams", hint="use: partita convert"
        )
    return format_.decoder(), items


COMMAND = fold
