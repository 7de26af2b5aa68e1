"""How the description of the API is made, and where it is shown."""

from collections.abc import Mapping
from typing import Any, Final

from litestar import Request, Router
from litestar.enums import OpenAPIMediaType
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import OpenAPIRenderPlugin

from partita.server.roles import caller_of
from partita.version import __version__

from .document import document
from .page import HEADERS, PAGE

DOCS: Final = "/api/docs"
"""The page, and beside it the document, as `openapi.json`."""


def openapi_config() -> OpenAPIConfig:
    """How Litestar collects the routes, and shows them: in our words, on our page."""
    return OpenAPIConfig(
        title="Partita",
        version=__version__,
        use_handler_docstrings=True,
        render_plugins=[
            _Page(path="/"),
            _Document(path="/openapi.json", media_type=OpenAPIMediaType.OPENAPI_JSON),
        ],
        openapi_router=Router(
            DOCS, route_handlers=[], include_in_schema=False, response_headers=dict(HEADERS)
        ),
    )


class _Page(OpenAPIRenderPlugin):
    def render(self, request: Request[Any, Any, Any], openapi_schema: Mapping[str, Any]) -> bytes:
        """The page. It fetches the document from beside itself."""
        return PAGE


class _Document(OpenAPIRenderPlugin):
    def render(self, request: Request[Any, Any, Any], openapi_schema: Mapping[str, Any]) -> bytes:
        """The document."""
        return document(request.app, "../..", caller_of(request).hub.published)
