"""Threads in columns that fit: an id is never cut, a title is."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Protocol

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from partita.types.threads import Thread

from .look import short_path
from .text import one_line
from .times import ago, iso

NO_TITLE = "(no title)"
LONGEST_TITLE = 200
LONGEST_AGENT = 14
LONGEST_PROJECT = 24
SHORTEST_PROJECT = 12
SHORTEST_TITLE = 20
GOOD_TITLE = 40
GAP = 2
WIDEST = 100_000
"""The width of a pipe, where nothing need be cut."""

NAMES = ("id", "title", "agent", "project", "msgs", "", "last")
TITLE, AGENT, PROJECT, COUNT = 1, 2, 3, 4
STYLES = ("yellow", "", "cyan", "dim", "", "red", "")


class Listed(Protocol):
    """A thread, and whether something went wrong in it."""

    @property
    def thread(self) -> Thread:
        """The thread."""
        ...

    @property
    def errors(self) -> bool:
        """Whether something went wrong in it."""
        ...


def draw_threads(
    listed: Sequence[Listed],
    ids: Mapping[str, str],
    *,
    now: datetime,
    width: int,
    exact: bool = False,
    zone: tzinfo | None = None,
) -> Group:
    """Threads, one a line, as wide as `width` says. A column that would be empty is left out."""
    longest = LONGEST_PROJECT if width < WIDEST else None
    rows = [_cells(one, ids[one.thread.id], longest, now=now, exact=exact, zone=zone) for one in listed]
    columns = list(zip(*rows, strict=True))
    natural = [
        max(cell_len(name), *map(cell_len, column)) if any(column) else 0
        for name, column in zip(NAMES, columns, strict=True)
    ]
    widths = fitted(natural, width)
    return Group(_line(NAMES, widths, ("dim",) * len(NAMES)), *(_line(row, widths, STYLES) for row in rows))


def _cells(
    one: Listed, id: str, longest: int | None, *, now: datetime, exact: bool, zone: tzinfo | None
) -> tuple[str, ...]:
    thread = one.thread
    moment = thread.updated_at
    return (
        one_line(id),
        one_line(thread.title, LONGEST_TITLE) if thread.title else NO_TITLE,
        one_line(thread.agent or "", 40),
        short_path(thread.project or "", longest),
        f"{thread.message_count or 0:,}",
        "✗" if one.errors else "",
        "" if moment is None else iso(moment) if exact else ago(moment, now, zone),
    )


def fitted(natural: Sequence[int], width: int) -> list[int]:
    """How wide each column is so that all fit: the title gives way first, then project and agent go."""
    widths = list(natural)
    if _whole(widths) <= width:
        return widths
    widths[AGENT] = min(widths[AGENT], LONGEST_AGENT)
    missing = min(natural[TITLE], GOOD_TITLE) - _title(widths, width)
    if missing > 0:
        widths[PROJECT] = max(widths[PROJECT] - missing, min(widths[PROJECT], SHORTEST_PROJECT))
    for column in (PROJECT, AGENT):
        if _title(widths, width) < SHORTEST_TITLE:
            widths[column] = 0
    widths[TITLE] = max(min(_title(widths, width), widths[TITLE]), 1)
    return widths


def _whole(widths: Sequence[int]) -> int:
    shown = [width for width in widths if width]
    return sum(shown) + GAP * (len(shown) - 1)


def _title(widths: Sequence[int], width: int) -> int:
    """What is left for the title."""
    return width - _whole(widths) + widths[TITLE]


def _line(cells: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> Text:
    line = Text(no_wrap=True, overflow="ignore")
    for column, (cell, width, style) in enumerate(zip(cells, widths, styles, strict=True)):
        if not width:
            continue
        words = short_path(cell, width) if column == PROJECT else cell
        text = Text(words, "dim" if cell == NO_TITLE else style)
        text.truncate(width, overflow="ellipsis")
        pad = " " * (width - text.cell_len)
        line.append((" " * GAP if line else "") + (pad if column == COUNT else ""))
        line.append_text(text).append("" if column == COUNT else pad)
    return line
