"""Statistics: what was consumed, said and called."""

from dataclasses import replace
from typing import Annotated, Final, TypeAlias, get_args
from zoneinfo import ZoneInfo

from partita.server.callers import ActingCaller
from partita.server.endpoints import Depends, Query, get
from partita.server.problems import Problem
from partita.server.responses import Listing
from partita.store.stats.measures import MAX_IDS
from partita.store.stats.rankings import RunOrder, RunStat, ThreadOrder, ThreadStat, ToolStat
from partita.store.stats.stats import GrowthPoint
from partita.store.values import GroupBy, StatFilter, UsageStat

from .parameters import SEVERAL, Agent, Limit, Project, Since, Until, chosen, moment_of

Model: TypeAlias = Annotated[str | None, Query(description="Of this model.")]

TAGS: Final = ["analytics"]
BYS: Final[tuple[GroupBy, ...]] = get_args(GroupBy)


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


Wanted: TypeAlias = Annotated[StatFilter, Depends(stat_filter)]


@get("/api/stats", tags=TAGS, summary="Statistics")
async def stats(
    caller: ActingCaller,
    wanted: Wanted,
    *,
    by: Annotated[
        list[str] | None, Query(description=f"By one or two of these: {', '.join(BYS)}. {SEVERAL}")
    ] = None,
    thread_id: Annotated[str | None, Query(name="thread", description="Of this thread.")] = None,
    zone: Annotated[
        str, Query(description="The time zone that days begin in, such as `Europe/Oslo`.")
    ] = "UTC",
    ids: Annotated[
        bool, Query(description=f"Name the threads of each row that has {MAX_IDS} at most.")
    ] = False,
) -> Listing[UsageStat]:
    """Tokens, costs, messages, calls: periods in their order, within them the most expensive first.

    `key` says what a row is about, in the order of `by`. A response that several threads tell of counts once.
    """
    return Listing(
        await caller.store.stats.totals(
            replace(wanted, thread_id=thread_id), by=chosen(by, BYS, "by"), zone=zone_of(zone), with_ids=ids
        )
    )


@get("/api/stats/tools", tags=TAGS, summary="Tools")
async def stats_of_tools(caller: ActingCaller, wanted: Wanted) -> Listing[ToolStat]:
    """How often each tool was called, how that went, how long it took; the most called first."""
    return Listing(await caller.store.stats.tools(wanted))


@get(
    "/api/stats/runs",
    tags=TAGS,
    summary="The slowest and the most expensive runs",
)
async def stats_of_runs(
    caller: ActingCaller,
    wanted: Wanted,
    *,
    order: Annotated[RunOrder, Query(description="Which come first.")] = "cost",
    limit: Limit = 20,
) -> Listing[RunStat]:
    """With the threads that they belong to. A run that has not ended has no time yet."""
    return Listing(await caller.store.stats.runs(wanted, order=order, limit=limit))


@get("/api/stats/threads", tags=TAGS, summary="The most expensive threads")
async def stats_of_threads(
    caller: ActingCaller,
    wanted: Wanted,
    *,
    order: Annotated[ThreadOrder, Query(description="Which come first.")] = "cost",
    limit: Limit = 20,
) -> Listing[ThreadStat]:
    """What threads took in a time: those of `/api/stats`, one by one."""
    return Listing(await caller.store.stats.threads(wanted, order=order, limit=limit))


@get("/api/threads/{thread_id}/growth", tags=TAGS, summary="How the context of a thread grew")
async def growth_of_thread(caller: ActingCaller, thread_id: str) -> Listing[GrowthPoint]:
    """What each response was given and gave, in the order of time. A compaction shows as a fall."""
    return Listing(await caller.store.stats.growth(thread_id))


def zone_of(name: str) -> ZoneInfo:
    """The time zone of a name."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown; no name at all; the name of a folder
        raise Problem(
            400, f"no time zone {name[:80]!r}", where="query zone", hint="write one such as Europe/Oslo"
        ) from None
