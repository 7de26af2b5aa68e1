"""Tables of threads and runs that fit the width, single runs, and search hits."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

from rich.console import Group
from rich.text import Text

from partita.store.threads.copies import origin_of
from partita.store.threads.lists import ThreadSummary
from partita.store.values import SearchHit, ThreadSort
from partita.types.threads import Run

from .console import Beside
from .context import short_path
from .statistics import money
from .table import Cell, Column, draw_table
from .text import ago, format_duration, iso, one_line, safe, time_title, tokens_of

NO_TITLE = "(no title)"
LONGEST_TITLE = 200
UNLIMITED = 100_000
"""The width for a pipe, where nothing is cut."""

PINNED, FORK, FAILED = "★", "⑂", "✗"
"""The marks of threads that are pinned, that are copies of others, and that have errors."""


def draw_threads(
    summaries: Sequence[ThreadSummary],
    ids: Mapping[str, str],
    *,
    now: datetime,
    width: int,
    exact: bool = False,
    sort: ThreadSort = "time",
    zone: tzinfo | None = None,
) -> Group:
    """Return a table of threads with a width. Its last column is the time that they are sorted by."""
    name, attribute = ("created", "created_at") if sort == "created" else ("last", "updated_at")
    times: list[datetime | None] = [getattr(one.thread, attribute) for one in summaries]
    columns = (
        Column(title="id", style="yellow"),
        Column(title="title", least=16),
        Column(title="agent", style="cyan", least=11, drop=6),
        Column(title="model", style="dim", least=12, drop=5),
        Column(title="project", style="dim", least=12, drop=4, shorten=short_path),
        Column(title="msgs", right=True, drop=0 if sort == "messages" else 2),
        Column(title="tokens", right=True, drop=0 if sort == "tokens" else 7),
        Column(title="cost", right=True, drop=0 if sort == "cost" else 3),
        Column(title="", style="red"),
        Column(title=time_title(name, times, now, zone, exact=exact), drop=1),
    )
    rows = [
        (
            one_line(ids[one.thread.id]),
            one_line(one.title, LONGEST_TITLE) if one.title else Text(NO_TITLE, "dim"),
            one_line(one.thread.agent or "", 40),
            models_of(one.models),
            short_path(one.thread.project or "", None),
            f"{one.thread.message_count or 0:,}",
            tokens_of(one.input_tokens + one.output_tokens) if one.input_tokens + one.output_tokens else "",
            "" if one.cost is None else money(one.cost),
            _marks(one),
            iso(time) if exact and time is not None else ago(time, now, zone),
        )
        for one, time in zip(summaries, times, strict=True)
    ]
    return draw_table(columns, rows, width)


def models_of(models: Sequence[str]) -> str:
    """Return the first model, and how many more there are: `opus-4 +2`."""
    return one_line(models[0], 40) + (f" +{len(models) - 1}" if len(models) > 1 else "") if models else ""


def _marks(one: ThreadSummary) -> str:
    marks = ((PINNED, one.pinned), (FORK, origin_of(one.thread) is not None), (FAILED, one.errors > 0))
    return "".join(mark for mark, is_set in marks if is_set)


STATUS_MARKS = {
    "pending": ("○", "dim"),
    "running": ("●", "cyan"),
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("■", "yellow"),
    "interrupted": ("■", "yellow"),
}


def draw_runs(
    runs: Sequence[Run],
    ids: Mapping[str, str],
    *,
    forks: Collection[str] = (),
    now: datetime,
    width: int,
    exact: bool = False,
    zone: tzinfo | None = None,
) -> Group:
    """Return a table of runs with a width. `forks` are the ids of threads that are copies of others."""
    times = [run.started_at or run.created_at for run in runs]
    columns = (
        Column(title="id", style="yellow"),
        Column(title=""),
        Column(title="agent", style="cyan", least=11, drop=1),
        Column(title="model", style="dim", least=12, drop=4),
        Column(title="duration", right=True, drop=3),
        Column(title="tokens", style="dim", right=True, drop=2),
        Column(title="cost", right=True),
        Column(title="", style="cyan"),
        Column(title=time_title("started", times, now, zone, exact=exact)),
        Column(title="error", style="red", least=8, drop=5),
    )
    rows = [_run_cells(run, ids[run.id], now, zone, exact=exact, forks=forks) for run in runs]
    return draw_table(columns, rows, width)


def _run_cells(
    run: Run, id: str, now: datetime, zone: tzinfo | None, *, exact: bool, forks: Collection[str]
) -> tuple[Cell, ...]:
    started = run.started_at or run.created_at
    usage = run.usage
    tokens = "" if usage is None else tokens_of((usage.input_tokens or 0) + (usage.output_tokens or 0))
    return (
        one_line(id),
        Text(*STATUS_MARKS[run.status]),
        one_line(run.agent or "", 40),
        one_line(run.model or "", 40),
        format_duration(run.finished_at - started) if run.finished_at and started else "",
        tokens,
        "" if run.cost is None else f"${run.cost:.4f}",
        FORK if run.thread_id in forks else "",
        iso(started) if exact and started is not None else ago(started, now, zone),
        Text(one_line(run.error or "", 200), STATUS_MARKS[run.status][1]),
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
