"""The OpenAPI document, and the page that shows it and can call the API."""

import asyncio
import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from partita.server.callers import ActingCaller, Caller
from partita.server.endpoints import get

from .document import document

MEDIA_TYPE: Final = "application/vnd.oai.openapi+json"


def _read(name: str) -> str:
    return files(__package__ or __name__).joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


STYLE: Final = _read("page.css")
SCRIPT: Final = _read("page.js")
PAGE: Final = _read("page.html").replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", SCRIPT).encode()
"""The page, which loads the document."""

POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        f"script-src {_hash(SCRIPT)}",
        f"style-src {_hash(STYLE)}",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


@get("/api/openapi.json", in_schema=False)
async def get_openapi(request: Request, caller: ActingCaller) -> Response:
    """The OpenAPI document."""
    content = await asyncio.to_thread(document, request.app, "..", caller.state.published)
    return Response(content, headers={"cache-control": "no-cache"}, media_type=MEDIA_TYPE)


@get("/api/docs", in_schema=False)
async def get_page() -> Response:
    """The page. It fetches the document from `/api/docs/openapi.json`."""
    return HTMLResponse(PAGE, headers=HEADERS)


@get("/api/docs/openapi.json", in_schema=False)
async def get_document_of_page(request: Request, caller: Caller) -> Response:
    """The OpenAPI document, with paths relative to the page."""
    content = await asyncio.to_thread(document, request.app, "../..", caller.state.published)
    return Response(content, headers=HEADERS, media_type=MEDIA_TYPE)
