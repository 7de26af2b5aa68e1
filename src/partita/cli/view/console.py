"""Output of renderables to the terminal, a pager or a pipe; rows, blocks, and the escaping of all output."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import click
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style

from partita.types.messages import Message

from .context import THEME
from .text import UNSAFE, escaped

NARROWEST = 16
"""The minimum width of text, at any depth."""


class Row(NamedTuple):
    """A line of text with a prefix, each with its style. It is wrapped between words."""

    text: str
    style: str = ""
    prefix: str = ""
    prefix_style: str = "dim"
    cut: bool = False  # cut with `…` instead of wrapping


class Rows:
    """Lines. Unlike `rich.text.Text`, this is fast for megabytes of text."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in self.rows:
            style, prefix_style = console.get_style(row.style), console.get_style(row.prefix_style)
            indent = cell_len(row.prefix)
            room = max(options.max_width - indent, NARROWEST)
            pieces = _pieces(row.text, room)
            for number, piece in enumerate([_cut(pieces)] if row.cut else pieces):
                if indent:
                    yield Segment(" " * indent if number else row.prefix, prefix_style)
                yield Segment(piece, style)
                yield Segment.line()


def _pieces(text: str, room: int) -> Sequence[str]:
    """Wrap a line at blanks; words that are longer than a line are split."""
    if len(text) <= room and (text.isascii() or cell_len(text) <= room):
        return (text,)
    pieces: list[str] = []
    start = 0
    while True:
        end = _fitting(text, start, room)
        if end == len(text):
            return [*pieces, text[start:]]
        blank = text.rfind(" ", start, end + 1)
        if (
            blank > start
            and text[start:blank].strip()
            and _fitting(text, blank + 1, room) >= _word_end(text, blank + 1)
        ):
            end = blank
        pieces.append(text[start:end].rstrip(" "))
        start = end
        while text[start : start + 1] == " ":
            start += 1
        if start == len(text):
            return pieces


def _fitting(text: str, start: int, room: int) -> int:
    """Return the end of the part of a text that fits, at least one character."""
    if text.isascii():
        return min(start + room, len(text))
    width = 0
    for place in range(start, len(text)):
        width += cell_len(text[place])
        if width > room:
            return max(place, start + 1)
    return len(text)


def _word_end(text: str, start: int) -> int:
    end = text.find(" ", start)
    return len(text) if end < 0 else end


def _cut(pieces: Sequence[str]) -> str:
    return pieces[0] if len(pieces) == 1 else f"{pieces[0][:-1]}…"


class Beside:
    """A renderable to the right of a mark, which is on each line or with `once` on the first line only."""

    def __init__(
        self, mark: str, renderable: RenderableType, style: str = "dim", *, once: bool = False
    ) -> None:
        self.mark = mark
        self.next_mark = " " * cell_len(mark) if once else mark
        self.renderable = renderable
        self.style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(options.max_width - cell_len(self.mark), NARROWEST)
        style = console.get_style(self.style)
        lines = console.render_lines(self.renderable, options.update_width(room), pad=False)
        for number, line in enumerate(lines):
            yield Segment(self.next_mark if number else self.mark, style)
            yield from line
            yield Segment.line()


class Escaped:
    """A renderable whose output is escaped. Everything that is printed passes through here."""

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


DEEPEST = 8
"""The maximum level of indentation. Deeper blocks are drawn at this level."""

INDENT = "  "
LEVEL = "│ "


class Block(NamedTuple):
    """A renderable, its level of indentation, and whether it has a blank line above."""

    drawn: RenderableType
    depth: int = 0
    gap: bool = True


class SubAgentMessages(NamedTuple):
    """The messages of a sub-agent, at their place among blocks."""

    messages: tuple[Message, ...]
    depth: int
    name: str


def indent_blocks(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Yield blocks with vertical rules for their depth, and blank lines between them."""
    first = True
    for block in blocks:
        mark = INDENT + LEVEL * min(block.depth, DEEPEST)
        if block.gap and not first:
            yield Beside(mark.rstrip(), "")
        yield Beside(mark, block.drawn, "dim" if block.depth else "")
        first = False


PIPE_WIDTH = 100
"""The width of text in a pipe without `COLUMNS`."""

TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
PAGER_OPTIONS = "-FRX"
"""Default options of `less`: exit if the output fits on a screen, keep colours, do not clear the screen."""


def console(width: int | None = None) -> Console:
    """Return a console on stdout that does not interpret markup in content."""
    plain = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(
        width=width or (PIPE_WIDTH if plain else None),
        theme=THEME,
        markup=False,
        emoji=False,
        highlight=False,
    )


def rendered(target: Console, drawings: Iterable[RenderableType]) -> Iterator[str]:
    """Yield the escaped text of each renderable."""
    for drawing in drawings:
        with target.capture() as capture:
            target.print(Escaped(drawing), end="")
        yield TRAILING.sub("", capture.get())


def show(drawings: Iterable[RenderableType], *, pager: bool = False, width: int | None = None) -> None:
    """Print renderables. On a terminal, longer output than a screen goes through a pager if requested."""
    target = console(width)
    texts = map(_encodable, rendered(target, drawings))
    first: list[str] = []
    if pager and sys.stdout.isatty():
        lines = 0
        for text in texts:
            first.append(text)
            lines += text.count("\n")
            if lines >= target.height:
                os.environ.setdefault("LESS", PAGER_OPTIONS)
                click.echo_via_pager(chain(first, texts))
                return
    for text in chain(first, texts):
        click.echo(text, nl=False, color=target.is_terminal)


def _encodable(text: str) -> str:
    """Return the text with escapes for characters that the encoding of stdout does not have."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text if encoding.lower() == "utf-8" else text.encode(encoding, "backslashreplace").decode(encoding)
