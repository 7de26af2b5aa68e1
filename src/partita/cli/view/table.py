"""Tables that fit a width: columns are left out, and names are cut. Numbers, times and ids never are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from .text import one_line

GAP = 2

Cell: TypeAlias = str | Text
"""A text in the style of its column, or one with a style of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its title and style, and what may be done to make the table fit."""

    title: str
    style: str = ""
    right: bool = False
    least: int | None = None  # its text may be cut to this width; `None`: it is never cut
    drop: int = 0  # the column with the highest number is left out first; 0: never
    shorten: Callable[[str, int], str] = one_line


def draw_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> Group:
    """Return a table. A column that is empty in all rows is left out."""
    natural = [
        max(cell_len(column.title), *(cell_len(str(cell)) for cell in cells)) if any(map(str, cells)) else 0
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True)
    ]
    widths = fit_columns(columns, natural, width)
    lines = [_line(columns, widths, [Text(column.title, "dim") for column in columns])]
    lines += [_line(columns, widths, row) for row in rows]
    return Group(*lines)


def fit_columns(columns: Sequence[Column], natural: Sequence[int], width: int) -> list[int]:
    """Return the widths of columns so that they fit, if possible; 0 for one that is left out."""
    widths = list(natural)
    least = [
        whole if one.least is None else min(whole, one.least)
        for one, whole in zip(columns, natural, strict=True)
    ]
    while _total(least) > width:
        last = max(range(len(columns)), key=lambda place: columns[place].drop if least[place] else 0)
        if not columns[last].drop or not least[last]:
            break
        least[last] = widths[last] = 0
    for place in sorted(range(len(columns)), key=lambda place: -columns[place].drop):
        widths[place] -= min(max(_total(widths) - width, 0), widths[place] - least[place])
    for place, column in enumerate(columns):
        if column.least is not None and widths[place]:
            widths[place] = max(widths[place] - max(_total(widths) - width, 0), 1)
    return widths


def _total(widths: Sequence[int]) -> int:
    shown = [width for width in widths if width]
    return sum(shown) + GAP * (len(shown) - 1)


def _line(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[Cell]) -> Text:
    """Return the line of a table, without those columns whose width is 0."""
    line = Text(no_wrap=True, overflow="ignore")
    for column, width, cell in zip(columns, widths, cells, strict=True):
        if not width:
            continue
        text = Text(cell, column.style) if isinstance(cell, str) else cell.copy()
        if text.cell_len > width:
            text = Text(column.shorten(text.plain, width), text.style)
            text.truncate(width, overflow="ellipsis")
        padding = " " * (width - text.cell_len)
        line.append((" " * GAP if line else "") + (padding if column.right else ""))
        line.append_text(text).append("" if column.right else padding)
    return line
