"""Statistics: what was consumed, said and called."""

from dataclasses import replace
from typing import Annotated, Final, TypeAlias, get_args
from zoneinfo import ZoneInfo

from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, QueryParameter
from litestar.types import ControllerRouterHandler

from partita.server.hub import Caller
from partita.server.problems import Problem
from partita.server.replies import Listing, Reply
from partita.store.growth import GrowthPoint
from partita.store.run_stats import RunOrder, RunStat
from partita.store.stat_sources import StatFilter
from partita.store.stat_threads import MOST_IDS
from partita.store.stats import stats as told_by
from partita.store.thread_stats import ThreadOrder, ThreadStat
from partita.store.tool_stats import ToolStat
from partita.store.values import By, Stat

from .parameters import SEVERAL, Agent, Limit, Project, Since, Until, chosen, moment_of, routes_for_callers

Model: TypeAlias = Annotated[str | None, QueryParameter(description="Of this model.")]

TAGS: Final = ["analytics"]
BYS: Final[tuple[By, ...]] = get_args(By)


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


Wanted: TypeAlias = NamedDependency[StatFilter]
NARROWED: Final = {"wanted": Provide(stat_filter, sync_to_thread=False)}


@get("/api/stats", tags=TAGS, summary="Statistics", dependencies=NARROWED)
async def stats(
    caller: Caller,
    wanted: Wanted,
    *,
    by: Annotated[
        list[str] | None, QueryParameter(description=f"By one or two of these: {', '.join(BYS)}. {SEVERAL}")
    ] = None,
    thread_id: Annotated[str | None, QueryParameter(name="thread", description="Of this thread.")] = None,
    zone: Annotated[
        str, QueryParameter(description="The time zone that days begin in, such as `Europe/Oslo`.")
    ] = "UTC",
    ids: Annotated[
        bool, QueryParameter(description=f"Name the threads of each row that has {MOST_IDS} at most.")
    ] = False,
) -> Reply[Listing[Stat]]:
    """Tokens, costs, messages, calls: periods in their order, within them the most expensive first.

    `key` says what a row is about, in the order of `by`. A response that several threads tell of counts once.
    """
    narrowed = replace(wanted, thread_id=thread_id)
    told = await caller.store.read(told_by, chosen(by, BYS, "by"), narrowed, zone_of(zone), with_ids=ids)
    return Reply(Listing(told))


@get("/api/stats/tools", tags=TAGS, summary="Tools", dependencies=NARROWED)
async def stats_of_tools(caller: Caller, wanted: Wanted) -> Reply[Listing[ToolStat]]:
    """How often each tool was called, how that went, how long it took; the most called first."""
    return Reply(Listing(await caller.store.tool_stats(wanted)))


@get(
    "/api/stats/runs",
    tags=TAGS,
    summary="The slowest and the most expensive runs",
    dependencies=NARROWED,
)
async def stats_of_runs(
    caller: Caller,
    wanted: Wanted,
    *,
    order: Annotated[RunOrder, QueryParameter(description="Which come first.")] = "cost",
    limit: Limit = 20,
) -> Reply[Listing[RunStat]]:
    """With the threads that they belong to. A run that has not ended has no time yet."""
    return Reply(Listing(await caller.store.run_stats(wanted, order=order, limit=limit)))


@get("/api/stats/threads", tags=TAGS, summary="The most expensive threads", dependencies=NARROWED)
async def stats_of_threads(
    caller: Caller,
    wanted: Wanted,
    *,
    order: Annotated[ThreadOrder, QueryParameter(description="Which come first.")] = "cost",
    limit: Limit = 20,
) -> Reply[Listing[ThreadStat]]:
    """What threads took in a time: those of `/api/stats`, one by one."""
    return Reply(Listing(await caller.store.thread_stats(wanted, order=order, limit=limit)))


@get("/api/threads/{thread_id:str}/growth", tags=TAGS, summary="How the context of a thread grew")
async def growth_of_thread(caller: Caller, thread_id: FromPath[str]) -> Reply[Listing[GrowthPoint]]:
    """What each response was given and gave, in the order of time. A compaction shows as a fall."""
    return Reply(Listing(await caller.store.growth_of_thread(thread_id)))


def zone_of(name: str) -> ZoneInfo:
    """The time zone of a name."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown; no name at all; the name of a folder
        raise Problem(
            400, f"no time zone {name[:80]!r}", where="query zone", hint="write one such as Europe/Oslo"
        ) from None


ANALYTICS: Final[list[ControllerRouterHandler]] = [
    routes_for_callers(stats, stats_of_tools, stats_of_runs, stats_of_threads, growth_of_thread)
]
