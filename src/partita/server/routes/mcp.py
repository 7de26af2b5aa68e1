"""The route of clients of the Model Context Protocol."""

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import Response

from partita.extras import needs
from partita.server.callers import Caller
from partita.server.endpoints import post

if TYPE_CHECKING:
    from partita.server.mcp.http import McpResponse
    from partita.store.store import Store


@post("/mcp", in_schema=False)
async def post_mcp(caller: Caller) -> Response:
    """Search and read past sessions with MCP over streamable HTTP. Secrets are redacted.

    It requires the extra `mcp`; without it, the response is 501.
    """
    # The first request imports the package, which takes about a second: in a thread, so that others proceed.
    return await asyncio.to_thread(_response, caller.store)


def _response(store: "Store") -> "McpResponse":
    with needs("partita[mcp]", "/mcp"):
        from partita.server.mcp.archive import Archive
        from partita.server.mcp.http import McpResponse
    return McpResponse(Archive(store))
