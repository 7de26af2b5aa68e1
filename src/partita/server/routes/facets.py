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

from .parameters import Cursor, Direction, Limit, routes_for_callers
from .thread_choice import NARROWED, Wanted

TAGS: Final = ["threads"]


@get("/api/summaries", tags=TAGS, summary="Threads as a list shows them", dependencies=NARROWED)
async def list_summaries(
    caller: Caller,
    wanted: Wanted,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    order: Annotated[
        Direction, QueryParameter(description="`desc`: where something was said last comes first.")
    ] = "desc",
) -> Reply[Listing[ThreadSummary]]:
    """As `/api/threads`, each thread with its models, what is at work in it, whether it waits for somebody
    to allow a call, and what it took. The role `chat` does not see models, errors, tokens and costs.
    """
    page = await caller.store.list_summaries(wanted, limit=limit, cursor=cursor, order=order)
    asking = caller.session.asking()
    items = tuple(replace(one, waiting=True) if one.run_id in asking else one for one in page.items)
    if not caller.principal.may("logs"):
        hidden = {"models": (), "errors": 0, "input_tokens": 0, "output_tokens": 0, "cost": None}
        items = tuple(replace(one, **hidden) for one in items)
    return Reply(Listing(items, page.next))


@get("/api/facets", tags=TAGS, summary="What there is to choose threads by", dependencies=NARROWED)
async def get_facets(caller: Caller, wanted: Wanted) -> Reply[Facets]:
    """How many threads there are by agent, project, model, tool and time. Each is narrowed by all conditions
    but its own: it says what else there is. Models and tools are those of the newest threads (`searched`).
    """
    return Reply(await caller.store.thread_facets(wanted))


FACETS: Final[list[ControllerRouterHandler]] = [routes_for_callers(list_summaries, get_facets)]
