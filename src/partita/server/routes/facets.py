"""What the list of threads shows: each thread in short, and what there is to choose from."""

from typing import Annotated, Final

from litestar import get
from litestar.params import QueryParameter
from litestar.types import ControllerRouterHandler
from msgspec.structs import replace

from partita.server.hub import Caller
from partita.server.replies import Listing, Reply
from partita.store.facets import Facets
from partita.store.summaries import ThreadSummary
from partita.store.values import ThreadFilter

from .parameters import (
    Agent,
    Cursor,
    Direction,
    HasErrors,
    Ids,
    Limit,
    Model,
    Pinned,
    Project,
    Since,
    Text,
    Tool,
    Until,
    each_of,
    moment_of,
    routes_for_callers,
)

TAGS: Final = ["threads"]


@get("/api/summaries", tags=TAGS, summary="Threads as a list shows them")
async def list_summaries(
    caller: Caller,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    order: Annotated[
        Direction, QueryParameter(description="`desc`: what changed last comes first.")
    ] = "desc",
    agent: Agent = None,
    project: Project = None,
    model: Model = None,
    tool: Tool = None,
    text: Text = None,
    since: Since = None,
    until: Until = None,
    has_errors: HasErrors = None,
    pinned: Pinned = None,
    ids: Ids = None,
) -> Reply[Listing[ThreadSummary]]:
    """As `/api/threads`, each thread with its models, what is at work in it, whether it waits for somebody
    to allow a call, and what it took.
    """
    wanted = ThreadFilter(
        agent=agent,
        project=project,
        model=model,
        tool=tool,
        text=text,
        since=moment_of(since, "since"),
        until=moment_of(until, "until"),
        has_errors=has_errors,
        pinned=pinned,
        ids=None if ids is None else each_of(ids),
    )
    page = await caller.store.list_summaries(wanted, limit=limit, cursor=cursor, order=order)
    asking = caller.session.asking()
    items = tuple(replace(one, waiting=True) if one.run_id in asking else one for one in page.items)
    return Reply(Listing(items, page.next))


@get("/api/facets", tags=TAGS, summary="What there is to choose threads by")
async def get_facets(
    caller: Caller,
    *,
    agent: Agent = None,
    project: Project = None,
    model: Model = None,
    tool: Tool = None,
    text: Text = None,
    since: Since = None,
    until: Until = None,
    has_errors: HasErrors = None,
    pinned: Pinned = None,
    ids: Ids = None,
) -> Reply[Facets]:
    """How many threads there are by agent, project, model, tool and time. Each is narrowed by all conditions
    but its own: it says what else there is. Models and tools are those of the newest threads (`searched`).
    """
    wanted = ThreadFilter(
        agent=agent,
        project=project,
        model=model,
        tool=tool,
        text=text,
        since=moment_of(since, "since"),
        until=moment_of(until, "until"),
        has_errors=has_errors,
        pinned=pinned,
        ids=None if ids is None else each_of(ids),
    )
    return Reply(await caller.store.thread_facets(wanted))


FACETS: Final[list[ControllerRouterHandler]] = [routes_for_callers(list_summaries, get_facets)]
