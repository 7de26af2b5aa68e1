"""The document, where clients look for it."""

import asyncio
from typing import Any, Final

from litestar import Request, Response, get
from litestar.types import ControllerRouterHandler

from partita.server.hub import Caller

from .document import document


@get("/api/openapi.json", include_in_schema=False)
async def get_openapi(request: Request[Any, Any, Any], caller: Caller) -> Response[bytes]:
    """The OpenAPI document."""
    made = await asyncio.to_thread(
        document, request.app, groups=caller.hub.published
    )  # the first time it takes half a second
    return Response(
        made,
        media_type="application/vnd.oai.openapi+json",
        headers={"cache-control": "no-cache"},
    )


OPENAPI: Final[list[ControllerRouterHandler]] = [get_openapi]
