"""Drawings on their way out: to the terminal, through a pager, or into a pipe."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import click
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style

from partita.types.messages import Message

from .look import THEME
from .text import UNSAFE, escaped

# Lines that are broken at the edge and nowhere else, and the rule that runs down beside them.

NARROWEST = 16
"""How many columns are left for text, however deep it stands."""


class Row(NamedTuple):
    """A line: what stands before it, and the text, each in its style."""

    text: str
    style: str = ""
    prefix: str = ""
    prefix_style: str = "dim"
    prose: bool = False  # broken between words
    cut: bool = False  # ended at the edge, with `…`


class Rows:
    """Lines as they are. Unlike rich's own text this takes megabytes without a pause."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in self.rows:
            style, prefix_style = console.get_style(row.style), console.get_style(row.prefix_style)
            indent = cell_len(row.prefix)
            room = max(options.max_width - indent, NARROWEST)
            pieces = _pieces(row.text, room, prose=row.prose)
            for number, piece in enumerate([_cut(pieces)] if row.cut else pieces):
                if indent:
                    yield Segment(" " * indent if number else row.prefix, prefix_style)
                yield Segment(piece, style)
                yield Segment.line()


def _pieces(text: str, room: int, *, prose: bool) -> Sequence[str]:
    if len(text) <= room and (text.isascii() or cell_len(text) <= room):
        return (text,)
    if prose:
        return _between_words(text, room)
    if text.isascii():
        return [text[start : start + room] for start in range(0, len(text), room)]
    return chop_cells(text, room) or ("",)


def _cut(pieces: Sequence[str]) -> str:
    return pieces[0] if len(pieces) == 1 else f"{pieces[0][:-1]}…"


def _between_words(text: str, room: int) -> list[str]:
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.extend(_pieces(word, room, prose=False))
    return lines


class Beside:
    """Something drawn to the right of a mark: on each of its lines, or on the first one alone."""

    def __init__(
        self, mark: str, renderable: RenderableType, style: str = "dim", *, once: bool = False
    ) -> None:
        self.mark = mark
        self.later = " " * cell_len(mark) if once else mark
        self.renderable = renderable
        self.style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(options.max_width - cell_len(self.mark), NARROWEST)
        style = console.get_style(self.style)
        lines = console.render_lines(self.renderable, options.update_width(room), pad=False)
        for number, line in enumerate(lines):
            yield Segment(self.later if number else self.mark, style)
            yield from line
            yield Segment.line()


class Guarded:
    """The last door: whatever way a text came, what must not reach a terminal is escaped here."""

    def __init__(self, renderable: RenderableType) -> None:
        self.renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self.renderable, options):
            if UNSAFE.search(segment.text) or (segment.style is not None and segment.style.link):
                yield Segment(escaped(segment.text), _unlinked(segment.style))
            else:
                yield segment


def _unlinked(style: Style | None) -> Style | None:
    return None if style is None else style.update_link(None)


# A drawing is a list of blocks, each at its depth: sub-agents stand deeper, to any depth.

DEEPEST = 8
"""How many levels are drawn as levels; what is deeper stands at this one."""

INDENT = "  "
LEVEL = "│ "


class Block(NamedTuple):
    """Something drawn, how deep it stands, and whether a line is left free before it."""

    drawn: RenderableType
    depth: int = 0
    gap: bool = True


class Descend(NamedTuple):
    """Messages of a sub-agent, to be drawn here."""

    messages: tuple[Message, ...]
    depth: int
    name: str


def laid_out(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Blocks with the rule of their depth beside them, and free lines between."""
    first = True
    for block in blocks:
        mark = INDENT + LEVEL * min(block.depth, DEEPEST)
        if block.gap and not first:
            yield Beside(mark.rstrip(), "")
        yield Beside(mark, block.drawn, "dim" if block.depth else "")
        first = False


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
