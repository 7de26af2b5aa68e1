"""What changes, as it changes."""

from typing import Annotated, Final

from litestar import get
from litestar.openapi import ResponseSpec
from litestar.params import QueryParameter
from litestar.types import ControllerRouterHandler

from partita.server.feed import events
from partita.server.hub import Caller
from partita.server.streaming import EventStream

from .parameters import routes_for_callers

DAY: Final = 86_400.0
EVENTS: Final = {
    200: ResponseSpec(
        str,
        media_type="text/event-stream",
        description="Server-sent events: `threads`, `runs`, `deleted`, `import`.",
        generate_examples=False,
    )
}


@get("/api/feed", tags=["threads"], summary="What changes, as it changes", responses=EVENTS)
async def follow_changes(
    caller: Caller,
    seconds: Annotated[
        float | None, QueryParameter(ge=0, le=DAY, description="Seconds until it ends; it need not.")
    ] = None,
) -> EventStream:
    """Events by name: `threads` (those that are new or have changed, by id), `runs` (those that began,
    went on or ended), `deleted` (ids of threads that were deleted through this server) and `import` (how far
    the import of logs on this server is). What was missed is not told again: load the list first.
    """
    settings = caller.hub.settings
    body = events(
        caller.hub.feed,
        caller.hub.progress,
        caller.store.owner,
        keep_alive=settings.keep_alive,
        seconds=seconds,
    )
    return EventStream(body, stall=settings.limits.stall_seconds)


FEED: Final[list[ControllerRouterHandler]] = [routes_for_callers(follow_changes)]
