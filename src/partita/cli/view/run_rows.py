"""Runs in columns, and one run on a line."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from partita.types.runs import Run

from .text import one_line, tokens_of
from .times import ago, took

NAMES = ("id", "", "agent", "model", "took", "tokens", "cost", "began")
STYLES = ("yellow", "", "cyan", "dim", "", "dim", "", "")
RIGHT = (4, 5, 6)
GAP = 2
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
    rows = [_cells(run, ids[run.id], now, zone) for run in runs]
    widths = [
        max(cell_len(name), *map(cell_len, column)) if any(column) else 0
        for name, column in zip(NAMES, zip(*rows, strict=True), strict=True)
    ]
    head = _line(NAMES, widths, ("dim",) * len(NAMES))
    lines = [
        _ended(_line(row, widths, _styles(run)), run, width) for run, row in zip(runs, rows, strict=True)
    ]
    return Group(head, *lines)


def _cells(run: Run, id: str, now: datetime, zone: tzinfo | None) -> tuple[str, ...]:
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
    return (STYLES[0], MARKS[run.status][1], *STYLES[2:])


def _line(cells: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> Text:
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
