"""`partita convert`: messages of one format in another, with every loss told."""

from collections import Counter
from collections.abc import Sequence
from typing import BinaryIO, Final, get_args

import click

from partita.formats.answers.model_view import OpenCalls
from partita.formats.conversion import convert as convert_payload
from partita.formats.losses import Loss, Severity
from partita.types.json import is_array

from .completing import formats
from .options import losses_json_option
from .output import print_json, print_lines, print_losses, print_text, say, write_losses
from .source import open_source

DATA_STREAM: Final = "ai-sdk-data-stream-v4"


@click.command(
    short_help="Rewrite messages in another format.",
    epilog="""\b
Examples:
  partita convert chat.json --to model
  partita convert request.json --to anthropic --losses
  partita convert old.jsonl --from ai-sdk-ui-v4 --to ui --carry > new.jsonl
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
@click.option(
    "--carry",
    is_flag=True,
    help="Put what the target has no place for into its metadata, where it has some.",
)
@click.option(
    "--repair",
    type=click.Choice(get_args(OpenCalls)),
    help="Give every tool call exactly one result, as models require. Calls without a result are answered or"
    " removed.",
)
@click.option("--losses", is_flag=True, help="Tell on stderr what could not be carried, one line each.")
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
    """Rewrite the messages of FILE in another format.

    FILE is JSON, JSON lines, server-sent events or ChatML (or - for a pipe): messages, a request, an answer
    or a recorded stream. JSON lines in, JSON lines out.
    """
    opened = open_source(file)
    if source is None and opened.shape == "data-stream-v4":
        source = DATA_STREAM
    payload = opened.payload()
    converted = convert_payload(payload, source, target, carry=carry, repair=repair)
    if converted.guess is not None:
        say(f"read as {converted.guess.explained()}")
    if isinstance(converted.payload, str):
        print_text(converted.payload)
    elif opened.shape == "lines" and is_array(converted.payload):
        print_lines(converted.payload)
    else:
        print_json(converted.payload)
    if losses_json is not None:
        write_losses(losses_json, converted.losses)
    if losses:
        print_losses(converted.losses)
    elif converted.losses:
        say(f"{summed(converted.losses)} on the way; --losses lists them")


def summed(losses: Sequence[Loss]) -> str:
    """How many losses there are of each severity, the worst first."""
    counted = Counter(loss.severity for loss in losses)
    severities: tuple[Severity, ...] = get_args(Severity)
    return ", ".join(f"{counted[one]} {one}" for one in severities if counted[one])


COMMAND = convert
