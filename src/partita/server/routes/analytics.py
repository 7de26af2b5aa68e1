"""Statistics of usage, messages, tool calls and runs."""

from dataclasses import replace
from typing import Annotated, Final, TypeAlias, get_args
from zoneinfo import ZoneInfo

from partita.server.callers import ActingCaller
from partita.server.endpoints import Depends, Query, get
from partita.server.problems import Problem
from partita.server.responses import Listing
from partita.store.stats.measures import MAX_IDS
from partita.store.stats.rankings import RunOrder, RunStat, ThreadOrder, ThreadStat, ToolStat
from partita.store.stats.stats import MEASURES, GrowthPoint
from partita.store.values import GroupBy, StatFilter, UsageStat

from .parameters import REPEATABLE, Agent, Limit, Project, Since, Until, chosen, moment_of

Model: TypeAlias = Annotated[str | None, Query(description="Only of this model.")]

TAGS: Final = ["analytics"]
GROUPS: Final[tuple[GroupBy, ...]] = get_args(GroupBy)


def stat_filter(
    *,
    since: Since = None,
    until: Until = None,
    agent: Agent = None,
    project: Project = None,
    model: Model = None,
) -> StatFilter:
    """The conditions of a request, all of which must hold."""
    return StatFilter(
        since=moment_of(since, "since"),
        until=moment_of(until, "until"),
        agent=agent,
        project=project,
        model=model,
    )


Filter: TypeAlias = Annotated[StatFilter, Depends(stat_filter)]


@get("/api/stats", tags=TAGS, summary="Get usage statistics")
async def stats(
    caller: ActingCaller,
    filter: Filter,
    *,
    by: Annotated[
        list[str] | None, Query(description=f"Group by one or two of: {', '.join(GROUPS)}. {REPEATABLE}")
    ] = None,
    thread_id: Annotated[str | None, Query(name="thread", description="Only of this thread.")] = None,
    measures: Annotated[
        list[str] | None,
        Query(
            description=f"Only these: {', '.join(MEASURES)}; the numbers of others are 0, and without calls "
            f"the reply comes sooner. {REPEATABLE}"
        ),
    ] = None,
    zone: Annotated[str, Query(description="The time zone for days, such as `Europe/Oslo`.")] = "UTC",
    ids: Annotated[
        bool, Query(description=f"Include the ids of the threads of rows with at most {MAX_IDS} threads.")
    ] = False,
) -> Listing[UsageStat]:
    """Tokens, costs, messages and calls: ordered by period, then the most expensive first.

    `key` has the values of a row, in the order of `by`. A response that several threads contain counts once.
    """
    return Listing(
        await caller.store.stats.totals(
            replace(filter, thread_id=thread_id),
            by=chosen(by, GROUPS, "by"),
            zone=zone_of(zone),
            with_ids=ids,
            measures=chosen(measures, MEASURES, "measures") or MEASURES,
        )
    )


@get("/api/stats/tools", tags=TAGS, summary="Get statistics of tools")
async def stats_of_tools(caller: ActingCaller, filter: Filter) -> Listing[ToolStat]:
    """The number, results and durations of the calls of each tool; the most used first."""
    return Listing(await caller.store.stats.tools(filter))


@get(
    "/api/stats/runs",
    tags=TAGS,
    summary="List the slowest or most expensive runs",
)
async def stats_of_runs(
    caller: ActingCaller,
    filter: Filter,
    *,
    order: Annotated[RunOrder, Query(description="The measure to sort by, the largest first.")] = "cost",
    limit: Limit = 20,
) -> Listing[RunStat]:
    """Runs with their first prompts. A run that has not ended has no duration yet."""
    return Listing(await caller.store.stats.runs(filter, order=order, limit=limit))


@get("/api/stats/threads", tags=TAGS, summary="List the most expensive threads")
async def stats_of_threads(
    caller: ActingCaller,
    filter: Filter,
    *,
    order: Annotated[ThreadOrder, Query(description="The measure to sort by, the largest first.")] = "cost",
    limit: Limit = 20,
) -> Listing[ThreadStat]:
    """The totals of `/api/stats` by thread."""
    return Listing(await caller.store.stats.threads(filter, order=order, limit=limit))


@get("/api/threads/{thread_id}/growth", tags=TAGS, summary="Get the context size over time")
async def growth_of_thread(caller: ActingCaller, thread_id: str) -> Listing[GrowthPoint]:
    """The input and output tokens of each response of a thread, in order. A compaction reduces the input."""
    return Listing(await caller.store.stats.growth(thread_id))


def zone_of(name: str) -> ZoneInfo:
    """The time zone with that name."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown, not a valid name, or the name of a folder
        raise Problem(
            400, f"no time zone {name[:80]!r}", where="query zone", hint="use a name such as Europe/Oslo"
        ) from None
