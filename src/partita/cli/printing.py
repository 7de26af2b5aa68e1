"""Drawings on their way out: to the terminal, through a pager, or into a pipe."""

import os
import re
import sys
from collections.abc import Iterable, Iterator

import click
from rich.console import Console, RenderableType

from partita.types.json import Json, dumps

from .view.look import THEME
from .view.rows import Guarded
from .view.text import json_escaped

PIPE_WIDTH = 100
"""How wide prose is in a pipe, where nobody says how wide it should be."""

TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
PAGER_OPTIONS = "-FRX"
"""For `less`, when the user has none: end at once if it fits on a screen, keep colours, leave it there."""


def console(width: int | None = None) -> Console:
    """A console on stdout. Content is never taken for markup."""
    plain = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(
        width=width or (PIPE_WIDTH if plain else None),
        theme=THEME,
        markup=False,
        emoji=False,
        highlight=False,
    )


def rendered(target: Console, drawings: Iterable[RenderableType]) -> Iterator[str]:
    """What each drawing looks like, made safe."""
    for drawing in drawings:
        with target.capture() as capture:
            target.print(Guarded(drawing), end="")
        yield TRAILING.sub("", capture.get())


def show(drawings: Iterable[RenderableType], *, pager: bool = False, width: int | None = None) -> None:
    """Print drawings, through a pager if that is wanted and there is someone to turn the pages."""
    target = console(width)
    texts = map(_encodable, rendered(target, drawings))
    if pager and sys.stdout.isatty():
        os.environ.setdefault("LESS", PAGER_OPTIONS)
        click.echo_via_pager(texts)
        return
    for text in texts:
        click.echo(text, nl=False, color=target.is_terminal)


def _encodable(text: str) -> str:
    """The text as far as stdout can say it; the rest as escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text if encoding.lower() == "utf-8" else text.encode(encoding, "backslashreplace").decode(encoding)


def write_line(line: bytes) -> None:
    """A line of JSON to stdout as it is; on a terminal, what it would obey is escaped."""
    stdout = sys.stdout.buffer
    stdout.write((json_escaped(line) if stdout.isatty() else line) + b"\n")


def write_json(value: Json) -> None:
    """A JSON document on one line."""
    write_line(dumps(value))
