"""Health and numbers, for those who look after the server."""

import asyncio
from typing import Final

import msgspec
from litestar import MediaType, Response, get
from litestar.types import ControllerRouterHandler

from partita.errors import StoreError
from partita.server.hub import Caller
from partita.server.observing.metrics import CONTENT_TYPE
from partita.server.problems import Problem
from partita.server.replies import Reply

PATIENCE: Final = 1.0
"""Seconds that the store has to answer."""


class Health(msgspec.Struct, rename="camel"):
    """That all is well."""

    status: str = "ok"


@get("/healthz", tags=["health"], summary="Is the process alive?")
async def get_health() -> Reply[Health]:
    """Answers as long as the process does; it asks nothing of the store."""
    return Reply(Health())


@get("/readyz", tags=["health"], summary="Can requests be answered?")
async def get_readiness(caller: Caller) -> Reply[Health]:
    """Asks the store for next to nothing. When it does not answer within a second: 503."""
    try:
        await asyncio.wait_for(caller.hub.store.get_thread_by_id(""), PATIENCE)
    except (StoreError, OSError, TimeoutError):
        raise Problem(
            503,
            "the store does not answer",
            hint="look whether its database runs, and what the server prints",
            headers={"retry-after": "1"},
        ) from None
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
    metrics.log_waiting = lambda: caller.hub.store.appender.waiting
    return Response(metrics.exposition(), headers={"content-type": CONTENT_TYPE, "cache-control": "no-store"})


HEALTH: Final[list[ControllerRouterHandler]] = [get_health, get_readiness, get_metrics]
