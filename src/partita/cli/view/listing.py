"""Threads in columns that fit: an id is never cut, a title is."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Protocol

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from partita.store.values import SearchHit
from partita.types.threads import Run, Thread

from .console import Beside
from .look import short_path
from .text import ago, iso, one_line, safe, tokens_of, took

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


# Runs in columns, and one run on a line.

RUN_COLUMNS = ("id", "", "agent", "model", "took", "tokens", "cost", "began")
RUN_STYLES = ("yellow", "", "cyan", "dim", "", "dim", "", "")
RIGHT = (4, 5, 6)
MARKS = {
    "pending": ("○", "dim"),
    "running": ("●", "cyan"),
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("■", "yellow"),
    "interrupted": ("■", "yellow"),
}


def draw_runs(
    runs: Sequence[Run], ids: Mapping[str, str], *, now: datetime, width: int, zone: tzinfo | None = None
) -> Group:
    """Runs, one a line. A column that would be empty is left out; what went wrong stands at the end."""
    rows = [_run_cells(run, ids[run.id], now, zone) for run in runs]
    widths = [
        max(cell_len(name), *map(cell_len, column)) if any(column) else 0
        for name, column in zip(RUN_COLUMNS, zip(*rows, strict=True), strict=True)
    ]
    head = _run_line(RUN_COLUMNS, widths, ("dim",) * len(RUN_COLUMNS))
    lines = [
        _ended(_run_line(row, widths, _styles(run)), run, width) for run, row in zip(runs, rows, strict=True)
    ]
    return Group(head, *lines)


def _run_cells(run: Run, id: str, now: datetime, zone: tzinfo | None) -> tuple[str, ...]:
    began = run.started_at or run.created_at
    usage = run.usage
    tokens = "" if usage is None else tokens_of((usage.input_tokens or 0) + (usage.output_tokens or 0))
    return (
        one_line(id),
        MARKS[run.status][0],
        one_line(run.agent or "", 20),
        one_line(run.model or "", 30),
        took(run.finished_at - began) if run.finished_at and began else "",
        tokens,
        "" if run.cost is None else f"${run.cost:.4f}",
        "" if began is None else ago(began, now, zone),
    )


def _styles(run: Run) -> tuple[str, ...]:
    return (RUN_STYLES[0], MARKS[run.status][1], *RUN_STYLES[2:])


def _run_line(cells: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> Text:
    line = Text(no_wrap=True, overflow="ignore")
    for column, (cell, width, style) in enumerate(zip(cells, widths, styles, strict=True)):
        if width:
            pad = " " * (width - cell_len(cell))
            right = column in RIGHT
            line.append((" " * GAP if line else "") + (pad if right else ""))
            line.append(cell, style).append("" if right else pad)
    return line


def _ended(line: Text, run: Run, width: int) -> Text:
    """A line, and why the run did not end well as far as there is room."""
    if run.error:
        line.append(f"  {one_line(run.error, 200)}", MARKS[run.status][1])
    line.truncate(width, overflow="ellipsis")
    return line


def draw_run(run: Run, id: str) -> Text:
    """`run 0198a3c2 · claude-code · sonata-2 · completed · 3 min 20 s`."""
    began = run.started_at
    about = [
        one_line(run.agent or ""),
        one_line(run.model or ""),
        run.status,
        took(run.finished_at - began) if run.finished_at and began else "",
    ]
    line = Text().append("run ", "dim").append(one_line(id), "yellow")
    return line.append("".join(f" · {word}" for word in about if word), "dim")


# Hits of a search: where they are, and the passage that shows why.


def draw_hit(
    hit: SearchHit, id: str, *, now: datetime, coloured: bool, same_thread: bool, zone: tzinfo | None = None
) -> Group:
    """A hit: its thread, unless that stands above already; who said it and when; the passage."""
    title = Text().append(one_line(id), "yellow").append("  ")
    title.append(one_line(hit.title or NO_TITLE, LONGEST_TITLE), "bold")
    about = [f"#{hit.seq}" if hit.seq is not None else "", hit.role or "", hit.field]
    said = Text("  " + " · ".join([*filter(None, about), ago(hit.created_at, now, zone)]), "dim")
    drawn = Beside("    ", passage(hit, coloured=coloured), "")
    return Group(said, drawn) if same_thread else Group(title, said, drawn)


def passage(hit: SearchHit, *, coloured: bool) -> Text:
    """The snippet with what was found in it marked: by colour, or by asterisks where there is none."""
    text = Text()
    place = 0
    for start, end in hit.highlights:
        text.append(safe(hit.snippet[place:start], tabs=1))
        found = safe(hit.snippet[start:end], tabs=1)
        text.append(found if coloured else f"**{found}**", "bold magenta")
        place = end
    return text.append(safe(hit.snippet[place:], tabs=1))
