"""`partita stats`: token, cost and tool statistics by day, project, model, agent and tool."""

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from partita.store.values import GroupBy, ThreadFilter, UsageStat
from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.times import MachineZone

from .blocking import Wait, opened_store
from .options import (
    ZoneType,
    agent_option,
    json_option,
    pager_option,
    project_option,
    resource_option,
    since_option,
    store_option,
    until_option,
)
from .output import print_notice
from .parameter_types import WholeNumber

if TYPE_CHECKING:  # imported when the command runs
    from rich.console import RenderableType

    from partita.store.store import Store

Groups: TypeAlias = dict[tuple[GroupBy, ...], tuple[UsageStat, ...]]
"""The rows of each grouping."""

GROUPINGS: tuple[GroupBy, ...] = (
    "total",
    "day",
    "week",
    "month",
    "project",
    "model",
    "agent",
    "tool",
    "thread",
)
PERIODS = ("day", "week", "month")
TOTAL: tuple[GroupBy, ...] = ("total",)
OVERVIEW: tuple[tuple[GroupBy, ...], ...] = (TOTAL, ("day",), ("project",), ("model",), ("agent",), ("tool",))
MAX_GROUPINGS = 2

SORTS: Mapping[str, Callable[[UsageStat], tuple[float | str, ...]]] = {
    "cost": lambda stat: (-(stat.cost or 0),),
    "tokens": lambda stat: (-stat.input_tokens - stat.output_tokens,),
    "messages": lambda stat: (-stat.messages,),
    "calls": lambda stat: (-stat.tool_calls,),
    "errors": lambda stat: (-stat.tool_errors,),
    "name": lambda stat: tuple((name or "").casefold() for name in stat.key),
}
"""The keys that rows can be sorted by: the largest first, or by name."""


class GroupingType(click.ParamType[tuple[GroupBy, ...]]):
    """One or two groupings: `day`, `model`, `day,model`."""

    name = "what"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[GroupBy, ...]:
        """Return the groupings."""
        names = [name.strip() for name in str(value).split(",")]
        by: tuple[GroupBy, ...] = tuple(known for name in names for known in GROUPINGS if known == name)
        is_valid = len(set(by)) == len(names) and len(by) <= MAX_GROUPINGS
        if not is_valid or ("total" in by and len(by) > 1):
            self.fail(f"{value!r}: use one of {', '.join(GROUPINGS)}, or two such as day,model", param, ctx)
        return by


@click.command(
    short_help="Show token, cost and tool statistics.",
    epilog="""\b
Examples:
  partita stats                          an overview
  partita stats --since 7d --project .   this folder, the last 7 days
  partita stats --by week                one line per week
  partita stats --by day,model           one line per day and model
  partita stats --by thread --since 7d   the most expensive threads of the week
  partita stats --by tool --json         as JSON lines
""",
)
@store_option
@click.option(
    "--by",
    type=GroupingType(),
    help="Group by total, day, week, month, project, model, agent, tool or thread, or by two: day,model.",
)
@click.option(
    "--sort",
    type=click.Choice(list(SORTS)),
    help="Sort the rows. Default: periods by time, others by cost.",
)
@since_option
@until_option
@agent_option
@project_option
@click.option("--model", metavar="NAME", help="Only responses of this model.")
@click.option(
    "--limit",
    metavar="N",
    type=WholeNumber(min=1),
    default=14,
    show_default=True,
    help="The maximum number of lines per table.",
)
@click.option(
    "--timezone",
    "zone",
    type=ZoneType(),
    help="The time zone of days, such as Europe/Berlin. Default: local time.",
)
@pager_option
@resource_option
@json_option
def stats(
    *,
    url: str | None,
    by: tuple[GroupBy, ...] | None,
    sort: str | None,
    limit: int,
    zone: tzinfo | None,
    pager: bool,
    resource: str | None,
    as_json: bool,
    since: datetime | None,
    until: datetime | None,
    **filters: str | None,
) -> None:
    """Show token, cost and tool statistics. A response that is in several threads is counted once.

    Costs are estimates by the list prices of the day; you may pay less. A + after a cost means that it does
    not include responses without a known price. Tables of periods show the latest, other tables the largest.
    """
    from partita.store.values import StatFilter

    from .lookup import check_agent, short_thread_ids

    selected = StatFilter(since=since, until=until, **filters)
    zone = zone or MachineZone()
    with opened_store(url, resource) as (store, wait):
        wait(check_agent(store, selected.agent))
        groups: Groups = {}
        for one in [by] if by else OVERVIEW:
            rows = wait(store.stats.totals(selected, by=one, zone=zone))
            groups[one] = tuple(sorted(rows, key=SORTS[sort])) if sort else rows
        stats = [stat for rows in groups.values() for stat in rows]
        if as_json:
            _print_json(groups, _threads(store, wait, groups))
        elif not any(stat.threads or stat.responses or stat.tool_calls for stat in stats):
            is_empty = not wait(store.threads.count())
            print_notice("no statistics" + (" yet; run `partita import`" if is_empty else ""))
        else:
            models = groups.get(("model",))
            if models is None and any(stat.unpriced for stat in stats):
                models = wait(store.stats.totals(selected, by="model", zone=zone))
            shown = {one: _first_rows(rows, one, limit, latest=sort is None) for one, rows in groups.items()}
            threads = _threads(store, wait, {one: rows for one, (rows, _) in shown.items()})
            ids = list(threads)
            if sys.stdout.isatty():
                ids = list(wait(short_thread_ids(store, ids)).values())
            named = {one: (short, title) for (one, title), short in zip(threads.items(), ids, strict=True)}
            _print_tables(shown, models or (), limit, named, pager=pager)


def _threads(store: "Store", wait: Wait, groups: Groups) -> dict[str, str | None]:
    """Return the titles of the threads that rows are about, by id."""
    places = ((by.index("thread"), stat) for by, rows in groups.items() if "thread" in by for stat in rows)
    ids = sorted({key for place, stat in places if (key := stat.key[place]) is not None})
    found = wait(store.threads.list(ThreadFilter(ids=ids), limit=len(ids))) if ids else ()
    titled = wait(store.threads.with_display_titles(tuple(found)))
    return {one.id: one.title for one in titled}


def _print_json(groups: Groups, titles: Mapping[str, str | None]) -> None:
    from .output import print_json_line

    for by, rows in groups.items():
        for stat in rows:
            fields: JsonObject = {"cost": None, **to_json(stat)}
            key = fields.pop("key")
            names = dict(zip(by, key, strict=False))
            title: JsonObject = {"title": titles.get(str(names["thread"]))} if "thread" in by else {}
            print_json_line({"by": list(by), **names, **title, **fields})


def _print_tables(
    groups: Mapping[tuple[GroupBy, ...], tuple[Sequence[UsageStat], int]],
    models: Sequence[UsageStat],
    limit: int,
    threads: Mapping[str, tuple[str, str | None]],
    *,
    pager: bool,
) -> None:
    from rich.text import Text

    from .view.console import console, show
    from .view.statistics import ESTIMATED, draw_groups, draw_totals, draw_unpriced

    width = console().width
    drawings: list[RenderableType] = []
    for by, (shown, left_out) in groups.items():
        if by == TOTAL:
            drawings.extend(("", *map(draw_totals, shown)))
            continue
        if any(name is not None for stat in shown for name in stat.key):
            drawings.extend(("", draw_groups(shown, by, width, threads=threads)))
            if left_out:
                drawings.append(Text(f"… and {left_out:,} more: --limit {limit + left_out}", "dim"))
    if TOTAL not in groups and any(stat.cost is not None for rows, _ in groups.values() for stat in rows):
        drawings.extend(("", Text(f"cost: {ESTIMATED}", "dim")))
    unpriced = draw_unpriced(models)
    if unpriced is not None:
        drawings.extend(("", unpriced))
    show(drawings[1:], pager=pager)


def _first_rows(
    rows: Sequence[UsageStat], by: Sequence[GroupBy], limit: int, *, latest: bool
) -> tuple[tuple[UsageStat, ...], int]:
    """Return the first rows, or the `latest` periods, and how many rows are left out."""
    used = tuple(stat for stat in rows if stat.responses or "model" not in by or "tool" in by)
    shown = used[-limit:] if latest and any(name in PERIODS for name in by) else used[:limit]
    return shown, len(used) - len(shown)


COMMAND = stats
