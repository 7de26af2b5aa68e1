"""Data to stdout, talk to stderr."""

import sys
from collections.abc import Iterable, Sequence

import click

from partita.formats.losses import Loss
from partita.types.json import Json, dumps, indented


def print_json(value: Json) -> None:
    """One JSON document: indented for a person, compact for a pipe."""
    stdout = sys.stdout.buffer
    stdout.write((indented(value) if stdout.isatty() else dumps(value)) + b"\n")


def print_lines(values: Iterable[Json]) -> None:
    """JSON lines."""
    stdout = sys.stdout.buffer
    for value in values:
        stdout.write(dumps(value) + b"\n")


def print_losses(losses: Sequence[Loss]) -> None:
    """Every loss on a line of its own, or that there is none."""
    if not losses:
        say("nothing was lost")
    for loss in losses:
        say(f"lost {loss}")


def say(text: str) -> None:
    """A word to the person, not to the next program."""
    click.echo(f"partita: {text}", err=True)
