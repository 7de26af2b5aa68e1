"""Serves an archive over HTTP, with the streamable HTTP transport of the `mcp` package."""

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .archive import Archive
from .server import create_server


class McpResponse(Response):
    """The response of the `mcp` package to one request: JSON, without a session.

    The manager of the package runs as long as the request. So nothing runs between requests, and the
    application has nothing to stop when it closes.
    """

    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self._archive = archive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the package."""
        server = create_server(self._archive)
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)
