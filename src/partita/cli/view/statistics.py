"""Tables of statistics that fit the width, their totals, and notes about costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group
from rich.text import Text

from partita.store.values import UsageStat
from partita.views.text import counted

from .console import Row, Rows
from .context import short_path
from .table import Cell, Column, draw_table
from .text import one_line

LONGEST_NAME = 40
LONGEST_PROJECT = 24
NO_NAME = "(unknown)"
NO_COST = "–"
ESTIMATED = "estimated by list prices of the day"
BAR = 10
EIGHTHS = " ▏▎▍▌▋▊▉█"
UNITS = ("", "K", "M", "G", "T")
PERIODS = ("day", "week", "month")


def draw_totals(stat: UsageStat) -> Rows:
    """Return the totals in a few lines."""
    failures = [
        *([f"{percent(stat.tool_errors, stat.tool_calls)} failed"] if stat.tool_errors else []),
        *([f"{stat.denied:,} denied"] if stat.denied else []),
        *([f"{stat.interrupted:,} interrupted"] if stat.interrupted else []),
    ]
    work = [
        counted(stat.threads, "thread"),
        *([counted(stat.messages, "message")] if stat.messages else []),
        counted(stat.responses, "response"),
    ]
    lines = [Row(" · ".join(work), "bold")]
    if stat.tool_calls:
        details = f" ({', '.join(failures)})" if failures else ""
        lines.append(Row(f"{stat.tool_calls:,}{details}", prefix="calls   "))
    if stat.responses:
        cache = [f"{percent(stat.cached_input_tokens, stat.input_tokens)} from cache"]
        if stat.cache_write_tokens:
            cache.append(f"{percent(stat.cache_write_tokens, stat.input_tokens)} written to it")
        reasoning = f" ({short(stat.reasoning_tokens)} reasoning)" if stat.reasoning_tokens else ""
        tokens = (
            f"{short(stat.input_tokens)} in ({', '.join(cache)}) · {short(stat.output_tokens)} out{reasoning}"
        )
        lines.append(Row(tokens, prefix="tokens  "))
        lines.append(Row(f"{money(stat.cost)}, {ESTIMATED}", prefix="cost    "))
    return Rows(lines)


def draw_unpriced(models: Sequence[UsageStat]) -> Rows | None:
    """Return a note about the models without a price, or `None` if all have one."""
    unpriced = [stat for stat in models if stat.unpriced]
    if not unpriced:
        return None
    names = ", ".join(f"{_name('model', stat.key[0])} ({short(stat.unpriced)})" for stat in unpriced)
    responses = counted(sum(stat.unpriced for stat in unpriced), "response")
    text = f"{responses} without a price, not included in the cost: {names}"
    return Rows([Row(text, "yellow")])


@dataclass(frozen=True, slots=True)
class Number:
    """A column of numbers: its title, the text and style of a row in it, and when it is left out."""

    title: str
    text: Callable[[UsageStat], str]
    drop: int = 0
    style: Callable[[UsageStat], str] = lambda _: ""


THREADS = Number("threads", lambda stat: short(stat.threads), 4)
MESSAGES = Number("msgs", lambda stat: short(stat.messages), 4)
RESPONSES = Number("responses", lambda stat: short(stat.responses), 4)
TOKENS = (
    Number("in", lambda stat: short(stat.input_tokens), 1),
    Number("cached", lambda stat: percent(stat.cached_input_tokens, stat.input_tokens), 7),
    Number("out", lambda stat: short(stat.output_tokens), 2),
    Number("cost", lambda stat: money(stat.cost) + ("+" if stat.unpriced and stat.cost is not None else "")),
)
CALLS = (
    Number("calls", lambda stat: short(stat.tool_calls), 5),
    Number(
        "failed",
        lambda stat: percent(stat.tool_errors, stat.tool_calls),
        6,
        lambda stat: "red" if stat.tool_errors else "dim",
    ),
)
OUTCOMES = (
    Number("errors", lambda stat: short(stat.tool_errors), 1),
    Number("denied", lambda stat: short(stat.denied), 3),
    Number("interrupted", lambda stat: short(stat.interrupted), 8),
)


def columns(by: Sequence[str]) -> tuple[Number, ...]:
    """Return the columns of a table: tools have no tokens, and threads are not counted by model."""
    if "tool" in by:
        return (*(() if "thread" in by else (THREADS,)), *CALLS, *OUTCOMES)
    if "model" in by:
        return (RESPONSES, *TOKENS)
    return (MESSAGES if "thread" in by else THREADS, *TOKENS, *CALLS)


def draw_groups(
    stats: Sequence[UsageStat],
    by: Sequence[str],
    width: int,
    *,
    threads: Mapping[str, tuple[str, str | None]] | None = None,
) -> Group:
    """Return a table with a row per group. Groups by period only have a bar each.

    `threads` are the shown ids and the titles of threads, by id.
    """
    known = threads or {}
    names: list[Column] = []
    for name in by:
        if name == "thread":
            names += [Column(title="id", style="yellow"), Column(title="title", least=12, drop=3)]
        else:
            least = None if name in PERIODS else 12
            shorten = short_path if name == "project" else one_line
            names.append(Column(title=name, style="cyan", least=least, shorten=shorten))
    shown = columns(by)
    bars = bars_of(stats) if len(by) == 1 and by[0] in PERIODS else [""] * len(stats)
    table = (
        *names,
        *(Column(title=one.title, right=True, drop=one.drop) for one in shown),
        Column(title="", style="dim", drop=9),
    )
    rows: list[list[Cell]] = []
    for stat, bar in zip(stats, bars, strict=True):
        cells: list[Cell] = []
        for name, key in zip(by, stat.key, strict=True):
            if name == "thread":
                thread_id, title = known.get(key or "", (key or NO_NAME, None))
                cells += [
                    one_line(thread_id),
                    one_line(title, LONGEST_NAME) if title else Text("(no title)", "dim"),
                ]
            else:
                cells.append(_name(name, key))
        rows.append([*cells, *(Text(one.text(stat), one.style(stat)) for one in shown), bar])
    return draw_table(table, rows, width)


def _name(by: str, key: str | None) -> str:
    if key is None:
        return NO_NAME
    return short_path(key, LONGEST_PROJECT) if by == "project" else one_line(key, LONGEST_NAME)


def bars_of(stats: Sequence[UsageStat]) -> list[str]:
    """Return a bar for each row relative to the highest, by cost, or by tokens if no row has a cost."""
    priced = any(stat.cost for stat in stats)
    sizes = [stat.cost or 0 if priced else stat.input_tokens + stat.output_tokens for stat in stats]
    highest = max(sizes, default=0) or 1
    return [_bar(round(size / highest * BAR * 8)) for size in sizes]


def _bar(eighths: int) -> str:
    whole, rest = divmod(eighths, 8)
    return (EIGHTHS[8] * whole + EIGHTHS[rest]).rstrip()


def short(number: int) -> str:
    """Return a number in about four characters: `999`, `1.2K`, `34M`."""
    size = float(number)
    for unit in UNITS[:-1]:
        if size < 999.5:
            return f"{size:.1f}{unit}" if unit and size < 9.95 else f"{size:.0f}{unit}"
        size /= 1000
    return f"{size:,.0f}{UNITS[-1]}"


def percent(part: int, whole: int) -> str:
    """Return a percentage, or an empty text if the whole is 0. A small part is `<0.1%`, never 0."""
    if not whole:
        return ""
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "<0.1%"
    return f"{share:.1f}%" if 0 < share < 9.95 else f"{share:.0f}%"


def money(dollars: float | None) -> str:
    """Return an amount of US dollars, or a dash if it is not known."""
    if dollars is None:
        return NO_COST
    if 0 < dollars < 0.01:
        return "<$0.01"
    return f"${dollars:,.2f}" if dollars < 10_000 else f"${dollars:,.0f}"
