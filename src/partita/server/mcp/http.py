"""Serves an archive over HTTP, with the streamable HTTP transport of the `mcp` package."""

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from partita.server.guard.bodies import replayed

from .archive import Archive
from .server import create_server


class McpResponse(Response):
    """The response of the `mcp` package to one request: JSON, without a session.

    The manager of the package runs as long as the request. So nothing runs between requests, and the
    application has nothing to stop when it closes. If the client disconnects, the request is cancelled.
    """

    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self._archive = archive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the package."""
        body = await Request(scope, receive).body()
        server = create_server(self._archive)
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            async with manager.run():
                await manager.handle_request(scope, replayed(body, receive), send)
            tasks.cancel_scope.cancel()
