"""`partita fold`: fold a recorded stream into its messages."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

import click

from partita.formats.detection.guess import SAMPLE_SIZE, guess_format
from partita.formats.event_streams import fold_events
from partita.formats.format import Format
from partita.formats.losses import in_messages
from partita.formats.registry import get_dump, get_format
from partita.types.json import Json, is_array

from .options import from_option, losses_option, to_option
from .output import print_json, print_losses, print_notice, print_text
from .parameter_types import InputFile
from .source import Source, open_source


@click.command(
    short_help="Fold a recorded stream into its messages.",
    epilog="""\b
Examples:
  partita fold response.jsonl
  curl -sN localhost:3000/api/chat -d @ask.json | partita fold --to model
  partita fold old.txt --from ai-sdk-data-stream-v4 --to ai-sdk-ui-v5
""",
)
@click.argument("stream", type=InputFile(), default="-")
@from_option("streamed", "The format of STREAM. Default: detected.")
@to_option("The format to write.", default="ui")
@click.option("--lenient", is_flag=True, help="Skip invalid chunks and report them on stderr.")
@losses_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object: the messages, their format, errors and all losses.",
)
def fold(
    stream: BinaryIO,
    *,
    source: str | None,
    target: str,
    lenient: bool,
    losses: bool,
    as_json: bool,
) -> None:
    """Fold a STREAM (JSON lines or server-sent events; a file, or - for a pipe) into its messages.

    STREAM may be compressed with gzip or zstd. Each message is printed as one JSON document. A stream with
    several start chunks holds several messages.

    Paths of losses begin with $ in STREAM ($[0] is its first event), and with `messages` in the canonical
    messages read from it.
    """
    dump = get_dump(target)
    reading, items = _format_and_items(open_source(stream), source)
    assert reading.decoder is not None, "it can be streamed"
    folded = fold_events(reading.decoder(), items, lenient=lenient, losses=True)
    dumped = dump(folded.messages)
    lost = [*folded.losses, *in_messages(dumped.losses)]
    if as_json:
        print_json(
            {
                "messages": dumped.payload,
                "to": target,
                "from": reading.name,
                "errors": list(folded.errors),
                "diagnostics": [{"chunk": one.chunk, "what": one.what} for one in folded.diagnostics],
                "losses": [loss._asdict() for loss in lost],
            }
        )
        return
    _print_payload(dumped.payload)
    for text in folded.errors:
        print_notice(f"the stream reports an error: {text}")
    for diagnostic in folded.diagnostics:
        print_notice(f"chunk {diagnostic.chunk}: {diagnostic.what}")
    print_losses(lost, every=losses)


def _print_payload(payload: Json) -> None:
    if isinstance(payload, str):
        print_text(payload)
        return
    for document in payload if is_array(payload) else [payload]:
        print_json(document)


def _format_and_items(source: Source, name: str | None) -> tuple[Format, Iterator[Json]]:
    items = source.items
    if name is None and source.shape == "data-stream-v4":
        name = "ai-sdk-data-stream-v4"
    if name is None:
        head = list(islice(items, SAMPLE_SIZE))
        items = chain(head, items)
        name = guess_format(head).format
    return get_format(name, "streamed", hint="`partita convert` reads messages"), items


COMMAND = fold
