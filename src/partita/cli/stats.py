"""`partita stats`: token, cost and tool statistics by day, project, model, agent and tool."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from partita.store.values import GroupBy, UsageStat
from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.times import MachineZone

from .blocking import opened_store
from .options import (
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
from .parameter_types import WholeNumber

if TYPE_CHECKING:  # imported when the command runs
    from rich.console import RenderableType

Groups: TypeAlias = dict[tuple[GroupBy, ...], tuple[UsageStat, ...]]
"""The rows of each grouping."""

GROUPINGS: tuple[GroupBy, ...] = ("total", "day", "week", "month", "project", "model", "agent", "tool")
PERIODS = ("day", "week", "month")
TOTAL: tuple[GroupBy, ...] = ("total",)
OVERVIEW: tuple[tuple[GroupBy, ...], ...] = (TOTAL, ("day",), ("project",), ("model",), ("agent",), ("tool",))
MAX_GROUPINGS = 2


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
  partita stats --by tool --json         as JSON lines
""",
)
@store_option
@click.option(
    "--by",
    type=GroupingType(),
    help="Group by total, day, week, month, project, model, agent or tool, or by two: day,model.",
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
    **filters: str | None,
) -> None:
    """Show token, cost and tool statistics. A response that is in several threads is counted once.

    Costs are estimates by the list prices of the day; you may pay less. A + after a cost means that it does
    not include responses without a known price. Tables of periods show the latest, other tables the largest.
    """
    from partita.store.values import StatFilter

    selected = StatFilter(since=since, until=until, **filters)
    zone = zone or MachineZone()
    with opened_store(url, resource) as (store, wait):
        groups = {
            one: wait(store.stats.totals(selected, by=one, zone=zone)) for one in ([by] if by else OVERVIEW)
        }
        stats = [stat for rows in groups.values() for stat in rows]
        if as_json:
            _print_json(groups)
        elif not any(stat.threads or stat.responses or stat.tool_calls for stat in stats):
            is_empty = not wait(store.threads.count())
            print_notice("no statistics" + (" yet; run `partita import`" if is_empty else ""))
        else:
            models = groups.get(("model",))
            if models is None and any(stat.unpriced for stat in stats):
                models = wait(store.stats.totals(selected, by="model", zone=zone))
            _print_tables(groups, models or (), limit)


def _print_json(groups: Groups) -> None:
    from .output import print_json_line

    for by, rows in groups.items():
        for stat in rows:
            fields: JsonObject = {"cost": None, **to_json(stat)}
            key = fields.pop("key")
            print_json_line({"by": list(by), **dict(zip(by, key, strict=False)), **fields})


def _print_tables(groups: Groups, models: Sequence[UsageStat], limit: int) -> None:
    from rich.text import Text

    from .view.console import show
    from .view.statistics import ESTIMATED, draw_table, draw_totals, draw_unpriced

    drawings: list[RenderableType] = []
    for by, rows in groups.items():
        if by == TOTAL:
            drawings.extend(("", *map(draw_totals, rows)))
            continue
        shown, left_out = _first_rows(rows, by, limit)
        if any(name is not None for stat in shown for name in stat.key):
            drawings.extend(("", draw_table(shown, by)))
            if left_out:
                drawings.append(Text(f"… and {left_out:,} more: --limit {limit + left_out}", "dim"))
    if TOTAL not in groups and any(stat.cost is not None for rows in groups.values() for stat in rows):
        drawings.extend(("", Text(f"cost: {ESTIMATED}", "dim")))
    unpriced = draw_unpriced(models)
    if unpriced is not None:
        drawings.extend(("", unpriced))
    show(drawings[1:])


def _first_rows(
    rows: Sequence[UsageStat], by: Sequence[GroupBy], limit: int
) -> tuple[Sequence[UsageStat], int]:
    """Return the latest periods, or the largest of other groups, and how many rows are left out."""
    used = [stat for stat in rows if stat.responses] if "model" in by and "tool" not in by else rows
    shown = used[-limit:] if any(name in PERIODS for name in by) else used[:limit]
    return shown, len(used) - len(shown)


COMMAND = stats
