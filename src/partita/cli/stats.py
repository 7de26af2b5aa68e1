"""`partita stats`: tokens, costs and calls, by day, project, model, agent and tool."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from partita.store.values import GroupBy, UsageStat
from partita.types.codec import to_json
from partita.types.json import JsonObject

from .blocking import opened_store
from .options import (
    MachineZone,
    ZoneType,
    agent_option,
    json_option,
    project_option,
    resource_option,
    since_option,
    store_option,
    until_option,
)
from .output import print_notice

if TYPE_CHECKING:  # it is loaded when something is drawn
    from rich.console import RenderableType

Told: TypeAlias = dict[tuple[GroupBy, ...], tuple[UsageStat, ...]]

NAMES: tuple[GroupBy, ...] = ("total", "day", "week", "month", "project", "model", "agent", "tool")
PERIODS = ("day", "week", "month")
TOTAL: tuple[GroupBy, ...] = ("total",)
OVERVIEW: tuple[tuple[GroupBy, ...], ...] = (TOTAL, ("day",), ("project",), ("model",), ("agent",), ("tool",))
MOST = 2


class ByType(click.ParamType[tuple[GroupBy, ...]]):
    """`day`, `model`, `day,model`."""

    name = "what"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[GroupBy, ...]:
        """One thing or two to tell statistics by."""
        words = [word.strip() for word in str(value).split(",")]
        by: tuple[GroupBy, ...] = tuple(name for word in words for name in NAMES if name == word)
        alone = len(by) == 1
        if len(set(by)) != len(words) or len(by) > MOST or ("total" in by and not alone):
            self.fail(f"{value!r}: say one of {', '.join(NAMES)}, or two as in day,model", param, ctx)
        return by


@click.command(
    short_help="Tell tokens, costs and calls.",
    epilog="""\b
Examples:
  partita stats                          an overview
  partita stats --since 7d --project .   of this folder, the last week
  partita stats --by week                a line a week
  partita stats --by day,model           a line for each model on each day
  partita stats --by tool --json         for programs
""",
)
@store_option
@click.option(
    "--by", type=ByType(), help="total, day, week, month, project, model, agent, tool; or two: day,model."
)
@since_option
@until_option
@agent_option
@project_option
@click.option("--model", metavar="NAME", help="Only responses of this model.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=14,
    show_default=True,
    help="How many lines a table has.",
)
@click.option(
    "--timezone", "zone", type=ZoneType(), help="Where days begin, such as Europe/Berlin; without it, here."
)
@resource_option
@json_option
def stats(
    *,
    url: str | None,
    by: tuple[GroupBy, ...] | None,
    limit: int,
    zone: tzinfo | None,
    resource: str | None,
    as_json: bool,
    since: datetime | None,
    until: datetime | None,
    **wanted: str | None,
) -> None:
    """Tell what was consumed and what was called. A response that several threads tell of is counted once.

    Costs are estimates, by the list prices of the day: what you pay may be less. A + stands behind a cost
    that leaves out responses without a known price. Of periods the last are shown, of others the largest.
    """
    from partita.store.values import StatFilter

    wanted_filter = StatFilter(since=since, until=until, **wanted)
    here = zone or MachineZone()
    with opened_store(url, resource) as (store, wait):
        groups = [by] if by else OVERVIEW
        told = {one: wait(store.stats.totals(wanted_filter, by=one, zone=here)) for one in groups}
        if as_json:
            _print_json(told)
        elif not any(_says_something(stat) for rows in told.values() for stat in rows):
            print_notice(
                "nothing to tell"
                + ("" if wait(store.threads.count()) else " yet; partita import brings some in")
            )
        else:
            models = told.get(("model",))
            if models is None and any(stat.unpriced for rows in told.values() for stat in rows):
                models = wait(store.stats.totals(wanted_filter, by="model", zone=here))
            _print_tables(told, models or (), limit)


def _says_something(stat: UsageStat) -> bool:
    return bool(stat.threads or stat.responses or stat.tool_calls)


def _print_json(told: Told) -> None:
    from .output import print_json_line

    for by, rows in told.items():
        for stat in rows:
            fields: JsonObject = {"cost": None, **to_json(stat)}
            key = fields.pop("key")
            print_json_line({"by": list(by), **dict(zip(by, key, strict=False)), **fields})


def _print_tables(told: Told, models: Sequence[UsageStat], limit: int) -> None:
    from .view.console import show
    from .view.statistics import ESTIMATED, draw_note, draw_table, draw_totals, draw_unpriced

    drawings: list[RenderableType] = []
    for by, rows in told.items():
        if by == TOTAL:
            drawings.extend(("", *map(draw_totals, rows)))
            continue
        shown, left_out = _some(rows, by, limit)
        if any(name is not None for stat in shown for name in stat.key):
            drawings.extend(("", draw_table(shown, by)))
            if left_out:
                drawings.append(draw_note(f"… and {left_out:,} more: --limit {limit + left_out}"))
    if TOTAL not in told and any(stat.cost is not None for rows in told.values() for stat in rows):
        drawings.extend(("", draw_note(f"cost: {ESTIMATED}")))
    unpriced = draw_unpriced(models)
    if unpriced is not None:
        drawings.extend(("", unpriced))
    show(drawings[1:])


def _some(rows: Sequence[UsageStat], by: Sequence[GroupBy], limit: int) -> tuple[Sequence[UsageStat], int]:
    """The last of periods, the first of others; and how many are left out."""
    told = [stat for stat in rows if stat.responses] if "model" in by and "tool" not in by else rows
    shown = told[-limit:] if any(name in PERIODS for name in by) else told[:limit]
    return shown, len(told) - len(shown)


COMMAND = stats
