"""`partita convert`: converts messages and lists what the conversion drops."""

from typing import BinaryIO, Final, get_args

import click

from partita.formats.conversion import Converted
from partita.formats.conversion import convert as convert_payload
from partita.formats.detection.guess import FormatGuess
from partita.formats.model_view import OpenCalls
from partita.types.json import JsonObject, is_array

from .options import from_option, losses_option, to_option
from .output import print_json, print_json_line, print_losses, print_notice, print_text
from .parameter_types import InputFile
from .source import open_source

DATA_STREAM: Final = "ai-sdk-data-stream-v4"


@click.command(
    short_help="Convert messages to another format.",
    epilog="""\b
Examples:
  partita convert chat.json --to model
  partita convert request.json --to anthropic --losses
  partita convert old.jsonl.gz --from ai-sdk-ui-v4 --to ui --carry > new.jsonl
  partita convert chat.json --to openai-chat --json | jq .losses
  partita formats          lists all formats
""",
)
@click.argument("file", type=InputFile(), default="-")
@from_option("read", "The format of FILE. Default: detected.")
@to_option("The format to write.", required=True)
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
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: the payload, its format and all losses."
)
def convert(
    file: BinaryIO,
    *,
    source: str | None,
    target: str,
    carry: bool,
    repair: OpenCalls | None,
    losses: bool,
    as_json: bool,
) -> None:
    """Convert the messages of FILE to another format.

    FILE is JSON, JSON lines, server-sent events or ChatML, also compressed with gzip or zstd (or - for a
    pipe): messages, a request, a response or a recorded stream. JSON lines are converted to JSON lines.

    Paths of losses begin with $ in FILE, and with `messages` in the canonical messages read from it.
    """
    opened = open_source(file)
    if source is None and opened.shape == "data-stream-v4":
        source = DATA_STREAM
    converted = convert_payload(opened.payload(), source, target, carry=carry, repair=repair)
    if as_json:
        print_json(_report(converted, target))
        return
    if converted.guess is not None:
        print_notice(f"read as {converted.guess.explained()}")
    if isinstance(converted.payload, str):
        print_text(converted.payload)
    elif opened.shape == "lines" and is_array(converted.payload):
        for item in converted.payload:
            print_json_line(item)
    else:
        print_json(converted.payload)
    print_losses(converted.losses, every=losses)


def _report(converted: Converted, target: str) -> JsonObject:
    """The members that `POST /api/convert` returns."""
    report: JsonObject = {
        "payload": converted.payload,
        "to": target,
        "from": converted.source,
        "losses": [loss._asdict() for loss in converted.losses],
    }
    guess = converted.guess
    return report if guess is None else report | {"guess": _guess(guess)}


def _guess(guess: FormatGuess) -> JsonObject:
    rivals = [{"format": one.format, "confidence": one.confidence, "why": one.why} for one in guess.rivals]
    found: JsonObject = {"format": guess.format, "confidence": guess.confidence, "why": guess.why}
    return found | {"rivals": rivals} if rivals else found


COMMAND = convert
