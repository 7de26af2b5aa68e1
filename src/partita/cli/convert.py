"""`partita convert`: messages of one format in another, with every loss told."""

from collections import Counter
from collections.abc import Sequence
from typing import BinaryIO, Final, get_args

import click

from partita.formats.converting import convert as convert_payload
from partita.formats.losses import Loss, Severity
from partita.types.json import dumps, is_array

from .completing import formats
from .output import print_json, print_lines, print_losses, print_text, say
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
@click.option("--losses", is_flag=True, help="Tell on stderr what could not be carried, one line each.")
@click.option(
    "--losses-json",
    metavar="FILE",
    type=click.File("wb"),
    help="Write what could not be carried to FILE, as JSON lines.",
)
def convert(
    file: BinaryIO,
    source: str | None,
    target: str,
    carry: bool,
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
    converted = convert_payload(payload, source, target, carry=carry)
    if converted.guess is not None:
        say(f"read as {converted.guess.explained()}")
    if isinstance(converted.payload, str):
        print_text(converted.payload)
    elif opened.shape == "lines" and is_array(converted.payload):
        print_lines(converted.payload)
    else:
        print_json(converted.payload)
    if losses_json is not None:
        losses_json.writelines(dumps(loss._asdict()) + b"\n" for loss in converted.losses)
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
