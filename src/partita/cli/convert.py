"""`partita convert`: messages of one format in another, with every loss told."""

from typing import BinaryIO

import click

from partita.formats.converting import convert as convert_payload
from partita.formats.format import Dumped
from partita.formats.sniff import guess_format
from partita.types.json import is_array

from .completing import formats
from .output import print_json, print_lines, print_losses, say
from .source import open_source


@click.command(
    short_help="Rewrite messages in another format.",
    epilog="""\b
Examples:
  partita convert chat.json --to model
  partita convert old.jsonl --from ai-sdk-ui-v4 --to ui --losses > new.jsonl
  partita formats          shows every format by name
""",
)
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--from",
    "source",
    metavar="FORMAT",
    shell_complete=formats,
    help="The format of FILE; guessed when not given.",
)
@click.option(
    "--to", "target", metavar="FORMAT", required=True, shell_complete=formats, help="The format to write."
)
@click.option("--losses", is_flag=True, help="Tell on stderr what could not be carried, one line each.")
def convert(file: BinaryIO, source: str | None, target: str, losses: bool) -> None:
    """Rewrite the messages of FILE in another format.

    FILE is JSON or JSON lines (or - for a pipe); JSON lines in, JSON lines out.
    """
    opened = open_source(file)
    payload = list(opened.items)
    if source is None:
        guess = guess_format(payload)
        source = guess.format
        say(f"read as {guess.format}: {guess.why} ({guess.confidence:.0%} sure)")
    dumped: Dumped = convert_payload(payload, source, target)
    if opened.shape == "lines" and is_array(dumped.payload):
        print_lines(dumped.payload)
    else:
        print_json(dumped.payload)
    if losses:
        print_losses(dumped.losses)
    elif dumped.losses:
        say(f"{len(dumped.losses)} things could not be carried; --losses lists them")


COMMAND = convert
