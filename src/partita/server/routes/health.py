"""Health and numbers, for those who look after the server."""

from typing import Final

import msgspec
from litestar import MediaType, Response, get
from litestar.types import ControllerRouterHandler

from partita.server.hub import Caller
from partita.server.observing.metrics import CONTENT_TYPE
from partita.server.problems import Problem
from partita.server.replies import Reply


class Health(msgspec.Struct, rename="camel"):
    """That all is well."""

    status: str = "ok"


@get("/healthz", tags=["health"], summary="Is the process alive?")
async def get_health() -> Reply[Health]:
    """Answers as long as the process does; it asks nothing of the store."""
    return Reply(Health())


@get("/readyz", tags=["health"], summary="Can requests be answered?")
async def get_readiness(caller: Caller) -> Reply[Health]:
    """Reads and writes a row of the store. If that fails, or takes longer than a second: 503. A result counts
    for a second.
    """
    if not await caller.hub.readiness.check():
        raise Problem(
            503,
            "the store cannot be written",
            hint="look whether its database runs and has space, and at the log of the server",
            headers={"retry-after": "1"},
        )
    return Reply(Health())


@get(
    "/metrics",
    tags=["health"],
    summary="Numbers for Prometheus",
    media_type=MediaType.TEXT,
)
async def get_metrics(caller: Caller) -> Response[bytes]:
    """Requests, streams, runs and the process itself, in the text format of Prometheus."""
    metrics = caller.hub.metrics
    return Response(metrics.exposition(), headers={"content-type": CONTENT_TYPE, "cache-control": "no-store"})


HEALTH: Final[list[ControllerRouterHandler]] = [get_health, get_readiness, get_metrics]
