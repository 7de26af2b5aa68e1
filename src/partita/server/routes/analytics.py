"""Statistics: what was consumed, said and called."""

from typing import Annotated, Final, get_args
from zoneinfo import ZoneInfo

from litestar import get
from litestar.params import QueryParameter
from litestar.types import ControllerRouterHandler

from partita.server.hub import Caller
from partita.server.problems import Problem
from partita.server.replies import Listing, Reply
from partita.store.values import By, Stat

from .parameters import SEVERAL, Agent, Project, Since, Until, chosen, moment_of, routes_for_callers

BYS: Final[tuple[By, ...]] = get_args(By)


@get("/api/stats", tags=["analytics"], summary="Statistics")
async def stats(
    caller: Caller,
    *,
    by: Annotated[
        list[str] | None, QueryParameter(description=f"By one or two of these: {', '.join(BYS)}. {SEVERAL}")
    ] = None,
    since: Since = None,
    until: Until = None,
    agent: Agent = None,
    project: Project = None,
    model: Annotated[str | None, QueryParameter(description="Of this model.")] = None,
    thread_id: Annotated[str | None, QueryParameter(name="thread", description="Of this thread.")] = None,
    zone: Annotated[
        str, QueryParameter(description="The time zone that days begin in, such as `Europe/Oslo`.")
    ] = "UTC",
) -> Reply[Listing[Stat]]:
    """Tokens, costs, messages, calls: periods in their order, within them the most expensive first.

    `key` says what a row is about, in the order of `by`. A response that several threads tell of counts once.
    """
    told = await caller.store.stats(
        by=chosen(by, BYS, "by"),
        since=moment_of(since, "since"),
        until=moment_of(until, "until"),
        agent=agent,
        project=project,
        model=model,
        thread_id=thread_id,
        zone=zone_of(zone),
    )
    return Reply(Listing(tuple(told)))


def zone_of(name: str) -> ZoneInfo:
    """The time zone of a name."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown; no name at all; the name of a folder
        raise Problem(
            400, f"no time zone {name[:80]!r}", where="query zone", hint="write one such as Europe/Oslo"
        ) from None


ANALYTICS: Final[list[ControllerRouterHandler]] = [routes_for_callers(stats)]
