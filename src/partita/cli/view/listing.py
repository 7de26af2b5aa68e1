"""Tables of threads and runs that fit the width, single runs, and search hits."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from partita.store.values import SearchHit
from partita.types.threads import Run, Thread

from .console import Beside
from .context import short_path
from .text import ago, format_duration, iso, one_line, safe, tokens_of

NO_TITLE = "(no title)"
LONGEST_TITLE = 200
LONGEST_AGENT = 14
LONGEST_PROJECT = 24
SHORTEST_PROJECT = 12
SHORTEST_TITLE = 20
GOOD_TITLE = 40
GAP = 2
UNLIMITED = 100_000
"""The width for a pipe, where nothing is cut."""

THREAD_COLUMNS = ("id", "title", "agent", "project", "msgs", "", "last")
THREAD_STYLES = ("yellow", "", "cyan", "dim", "", "red", "")
TITLE, AGENT, PROJECT, COUNT = 1, 2, 3, 4


def draw_threads(
    threads: Sequence[Thread],
    ids: Mapping[str, str],
    *,
    failed: Collection[str] = (),
    now: datetime,
    width: int,
    exact: bool = False,
    zone: tzinfo | None = None,
) -> Group:
    """Return a table of threads with a width. `failed` are the ids of threads with errors."""
    longest = LONGEST_PROJECT if width < UNLIMITED else None
    rows = [
        (
            one_line(ids[thread.id]),
            one_line(thread.title, LONGEST_TITLE) if thread.title else NO_TITLE,
            one_line(thread.agent or "", 40),
            short_path(thread.project or "", longest),
            f"{thread.message_count or 0:,}",
            "✗" if thread.id in failed else "",
            "" if (time := thread.updated_at) is None else iso(time) if exact else ago(time, now, zone),
        )
        for thread in threads
    ]
    widths = fit_columns(_natural_widths(THREAD_COLUMNS, rows), width)
    lines = [_line(THREAD_COLUMNS, widths, ("dim",) * len(THREAD_COLUMNS), right=(COUNT,))]
    for row in rows:
        cells, styles = list(row), list(THREAD_STYLES)
        cells[PROJECT] = short_path(row[PROJECT], widths[PROJECT])
        styles[TITLE] = "dim" if row[TITLE] == NO_TITLE else ""
        lines.append(_line(cells, widths, styles, right=(COUNT,)))
    return Group(*lines)


def fit_columns(natural: Sequence[int], width: int) -> list[int]:
    """Return the widths of the columns of threads so that they fit.

    The title is cut first, then the project and the agent are left out. The id is never cut.
    """
    widths = list(natural)
    if _total(widths) <= width:
        return widths
    widths[AGENT] = min(widths[AGENT], LONGEST_AGENT)
    missing = min(natural[TITLE], GOOD_TITLE) - _title_room(widths, width)
    if missing > 0:
        widths[PROJECT] = max(widths[PROJECT] - missing, min(widths[PROJECT], SHORTEST_PROJECT))
    for column in (PROJECT, AGENT):
        if _title_room(widths, width) < SHORTEST_TITLE:
            widths[column] = 0
    widths[TITLE] = max(min(_title_room(widths, width), widths[TITLE]), 1)
    return widths


def _total(widths: Sequence[int]) -> int:
    shown = [width for width in widths if width]
    return sum(shown) + GAP * (len(shown) - 1)


def _title_room(widths: Sequence[int], width: int) -> int:
    return width - _total(widths) + widths[TITLE]


def _natural_widths(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of columns without cutting; 0 for a column that is empty in all rows."""
    return [
        max(cell_len(name), *map(cell_len, column)) if any(column) else 0
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    ]


def _line(
    cells: Sequence[str], widths: Sequence[int], styles: Sequence[str], *, right: Collection[int]
) -> Text:
    """Return the line of a table. Columns of width 0 are left out; those in `right` are right-aligned."""
    line = Text(no_wrap=True, overflow="ignore")
    for column, (cell, width, style) in enumerate(zip(cells, widths, styles, strict=True)):
        if not width:
            continue
        text = Text(cell, style)
        text.truncate(width, overflow="ellipsis")
        padding = " " * (width - text.cell_len)
        line.append((" " * GAP if line else "") + (padding if column in right else ""))
        line.append_text(text).append("" if column in right else padding)
    return line


RUN_COLUMNS = ("id", "", "agent", "model", "duration", "tokens", "cost", "started")
RUN_STYLES = ("yellow", "", "cyan", "dim", "", "dim", "", "")
RUN_NUMBERS = (4, 5, 6)
STATUS_MARKS = {
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
    """Return a table of runs with a width. The error of a run is at the end of its line."""
    rows = [_run_cells(run, ids[run.id], now, zone) for run in runs]
    widths = _natural_widths(RUN_COLUMNS, rows)
    lines = [_line(RUN_COLUMNS, widths, ("dim",) * len(RUN_COLUMNS), right=RUN_NUMBERS)]
    for run, row in zip(runs, rows, strict=True):
        style = STATUS_MARKS[run.status][1]
        line = _line(row, widths, (RUN_STYLES[0], style, *RUN_STYLES[2:]), right=RUN_NUMBERS)
        if run.error:
            line.append(f"  {one_line(run.error, 200)}", style)
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    return Group(*lines)


def _run_cells(run: Run, id: str, now: datetime, zone: tzinfo | None) -> tuple[str, ...]:
    started = run.started_at or run.created_at
    usage = run.usage
    tokens = "" if usage is None else tokens_of((usage.input_tokens or 0) + (usage.output_tokens or 0))
    return (
        one_line(id),
        STATUS_MARKS[run.status][0],
        one_line(run.agent or "", 20),
        one_line(run.model or "", 30),
        format_duration(run.finished_at - started) if run.finished_at and started else "",
        tokens,
        "" if run.cost is None else f"${run.cost:.4f}",
        "" if started is None else ago(started, now, zone),
    )


def draw_run(run: Run, id: str) -> Text:
    """Return a line: `run 0198a3c2 · claude-code · sonata-2 · completed · 3 min 20 s`."""
    started = run.started_at
    details = [
        one_line(run.agent or ""),
        one_line(run.model or ""),
        run.status,
        format_duration(run.finished_at - started) if run.finished_at and started else "",
    ]
    line = Text().append("run ", "dim").append(one_line(id), "yellow")
    return line.append("".join(f" · {text}" for text in details if text), "dim")


def draw_hits(
    hits: Sequence[SearchHit],
    ids: Mapping[str, str],
    numbers: Mapping[str, Mapping[str, int]],
    *,
    now: datetime,
    coloured: bool,
    zone: tzinfo | None = None,
) -> Iterator[Text | Group]:
    """Yield search hits, those of a thread below its title. `numbers` are those of messages, by thread."""
    before: str | None = None
    for hit in hits:
        if hit.thread_id != before:
            if before is not None:
                yield Text()
            yield _thread_of_hits(hit, ids[hit.thread_id])
        before = hit.thread_id
        number = numbers[hit.thread_id].get(hit.message_id or "")
        details = ["" if number is None else f"#{number}", hit.role or "", hit.field]
        shown = [text for text in (*details, ago(hit.created_at, now, zone)) if text]
        yield Group(
            Text(f"  {' · '.join(shown)}", "dim"), Beside("    ", _snippet(hit, coloured=coloured), "")
        )


def _thread_of_hits(hit: SearchHit, id: str) -> Text:
    count = hit.thread_matches
    # None if only the title matches.
    matches = f"  {count:,} match{'' if count == 1 else 'es'}" if count else ""
    title = one_line(hit.title or NO_TITLE, LONGEST_TITLE)
    return Text().append(one_line(id), "yellow").append(f"{matches}  ", "dim").append(title, "bold")


def _snippet(hit: SearchHit, *, coloured: bool) -> Text:
    """Return the snippet with its highlights in colour, or without colours between asterisks."""
    text = Text()
    position = 0
    for start, end in hit.highlights:
        text.append(safe(hit.snippet[position:start], tabs=1))
        highlight = safe(hit.snippet[start:end], tabs=1)
        text.append(highlight if coloured else f"**{highlight}**", "bold magenta")
        position = end
    return text.append(safe(hit.snippet[position:], tabs=1))
