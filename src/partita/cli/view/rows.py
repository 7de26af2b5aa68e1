"""Lines that are broken at the edge and nowhere else, and the rule that runs down beside them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style

from .text import UNSAFE, escaped

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
