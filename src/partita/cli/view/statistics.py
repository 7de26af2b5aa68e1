"""Tables of statistics that fit in 80 columns, their totals, and notes about costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from partita.store.values import UsageStat
from partita.views.text import counted

from .console import Row, Rows
from .context import short_path
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
class Column:
    """A column of numbers: its title, and the text and style of a row in it."""

    title: str
    text: Callable[[UsageStat], str]
    style: Callable[[UsageStat], str] = lambda _: ""


THREADS = Column("threads", lambda stat: short(stat.threads))
RESPONSES = Column("responses", lambda stat: short(stat.responses))
TOKENS = (
    Column("in", lambda stat: short(stat.input_tokens)),
    Column("cached", lambda stat: percent(stat.cached_input_tokens, stat.input_tokens)),
    Column("out", lambda stat: short(stat.output_tokens)),
    Column("cost", lambda stat: money(stat.cost) + ("+" if stat.unpriced and stat.cost is not None else "")),
)
CALLS = (
    Column("calls", lambda stat: short(stat.tool_calls)),
    Column(
        "failed",
        lambda stat: percent(stat.tool_errors, stat.tool_calls),
        lambda stat: "red" if stat.tool_errors else "dim",
    ),
)
OUTCOMES = (
    Column("errors", lambda stat: short(stat.tool_errors)),
    Column("denied", lambda stat: short(stat.denied)),
    Column("interrupted", lambda stat: short(stat.interrupted)),
)


def columns(by: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of a table: tools have no tokens, and threads are not counted by model."""
    if "tool" in by:
        return (THREADS, *CALLS, *OUTCOMES)
    if "model" in by:
        return (RESPONSES, *TOKENS)
    return (THREADS, *TOKENS, *CALLS)


def draw_table(stats: Sequence[UsageStat], by: Sequence[str]) -> Table:
    """Return a table with a row per group. Groups by period only have a bar each."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in by:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    shown = columns(by)
    for column in shown:
        table.add_column(column.title, no_wrap=True, justify="right")
    bars = bars_of(stats) if len(by) == 1 and by[0] in PERIODS else None
    if bars is not None:
        table.add_column("", no_wrap=True, overflow="crop")
    for number, stat in enumerate(stats):
        names = (Text(_name(name, key), "cyan") for name, key in zip(by, stat.key, strict=True))
        cells = (Text(column.text(stat), column.style(stat)) for column in shown)
        table.add_row(*names, *cells, *([] if bars is None else [Text(bars[number], "dim")]))
    return table


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
