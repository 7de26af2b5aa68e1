"""`partita convert`: converts messages and lists what the conversion drops."""

from typing import BinaryIO, Final, get_args

import click

from partita.formats.conversion import convert as convert_payload
from partita.formats.model_view import OpenCalls
from partita.types.json import is_array

from .completion import complete_formats
from .options import losses_json_option, losses_option
from .output import print_json, print_json_line, print_losses, print_notice, print_text, write_losses
from .parameter_types import InputFile
from .source import open_source

DATA_STREAM: Final = "ai-sdk-data-stream-v4"


@click.command(
    short_help="Convert messages to another format.",
    epilog="""\b
Examples:
  partita convert chat.json --to model
  partita convert request.json --to anthropic --losses
  partita convert old.jsonl --from ai-sdk-ui-v4 --to ui --carry > new.jsonl
  partita formats          lists all formats
""",
)
@click.argument("file", type=InputFile(), default="-")
@click.option(
    "--from",
    "source",
    metavar="FORMAT",
    shell_complete=complete_formats,
    help="The format of FILE. Default: detected.",
)
@click.option(
    "--to",
    "target",
    metavar="FORMAT",
    required=True,
    shell_complete=complete_formats,
    help="The format to write.",
)
@click.option(
    "--carry",
    is_flag=True,
    help="Keep what the target format cannot hold in its metadata, if it has any.",
)
@click.option(
    "--repair",
    type=click.Choice(get_args(OpenCalls)),
    help="Give every tool call exactly one result, as models require: add a result to calls without one, or"
    " remove them.",
)
@losses_option
@losses_json_option
def convert(
    file: BinaryIO,
    *,
    source: str | None,
    target: str,
    carry: bool,
    repair: OpenCalls | None,
    losses: bool,
    losses_json: BinaryIO | None,
) -> None:
    """Convert the messages of FILE to another format.

    FILE is JSON, JSON lines, server-sent events or ChatML (or - for a pipe): messages, a request, a
    response or a recorded stream. JSON lines are converted to JSON lines.
    """
    opened = open_source(file)
    if source is None and opened.shape == "data-stream-v4":
        source = DATA_STREAM
    payload = opened.payload()
    converted = convert_payload(payload, source, target, carry=carry, repair=repair)
    if converted.guess is not None:
        print_notice(f"read as {converted.guess.explained()}")
    if isinstance(converted.payload, str):
        print_text(converted.payload)
    elif opened.shape == "lines" and is_array(converted.payload):
        for item in converted.payload:
            print_json_line(item)
    else:
        print_json(converted.payload)
    if losses_json is not None:
        write_losses(losses_json, converted.losses)
    print_losses(converted.losses, every=losses)


COMMAND = convert
