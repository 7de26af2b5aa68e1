"""Data to stdout, talk to stderr. A terminal is sent nothing that it would obey."""

import sys
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from partita.formats.losses import Loss
from partita.types.json import Json, dumps, indented

from .telling import tell
from .view.text import json_escaped, safe


def print_json(value: Json) -> None:
    """One JSON document: indented for a person, compact for a pipe."""
    stdout = sys.stdout.buffer
    stdout.write((json_escaped(indented(value)) if stdout.isatty() else dumps(value)) + b"\n")


def print_lines(values: Iterable[Json]) -> None:
    """JSON lines."""
    stdout = sys.stdout.buffer
    for value in values:
        stdout.write((json_escaped(dumps(value)) if stdout.isatty() else dumps(value)) + b"\n")


def print_text(text: str) -> None:
    """A text as it is; a terminal is shown it without what it would obey."""
    stdout = sys.stdout.buffer
    shown = safe(text) if stdout.isatty() else text
    stdout.write(shown.encode("utf-8", "surrogatepass") + (b"" if shown.endswith("\n") else b"\n"))


def print_losses(losses: Sequence[Loss]) -> None:
    """Every loss on a line of its own, or that there is none."""
    if not losses:
        say("nothing was lost")
    for loss in losses:
        say(f"{loss.severity} {loss}")


def write_losses(file: BinaryIO, losses: Sequence[Loss]) -> None:
    """Every loss as a line of JSON, with the whole value."""
    file.writelines(dumps(loss._asdict()) + b"\n" for loss in losses)


def say(text: str) -> None:
    """A word to the person, not to the next program."""
    tell(f"partita: {text}", err=True)
