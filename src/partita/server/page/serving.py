"""The page over HTTP. It tells nothing of anybody: whoever reaches the server may have it."""

import asyncio
from collections.abc import Mapping
from typing import Final

from partita.server.plain import Scope, Send

from .files import PageFile, page_files, squeezed

POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "connect-src 'self' blob:",
        "worker-src 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types partita-worker",
    ]
)
"""Scripts, styles and requests of its own alone, and no string may become a script or markup. The one policy
that is allowed is the page's own, for the address of the worker that reads PDFs."""

FRAME_POLICY: Final = "; ".join(
    [
        "sandbox allow-scripts",
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    ]
)
"""For the frame that draws diagrams: an origin of its own, nothing to fetch, nowhere to go."""

FRAMES: Final = frozenset({"/mermaid.html"})
FOREVER: Final = "public, max-age=31536000, immutable"


def is_page(path: str) -> bool:
    """Whether something of the page is at this path."""
    return path in page_files()


async def send_page(scope: Scope, send: Send) -> None:
    """A file of the page, or word that it is known already."""
    file = page_files()[scope["path"]]
    asked = {name: value.decode("latin-1") for name, value in scope["headers"]}
    headers = _headers(scope["path"], file)
    if asked.get(b"if-none-match") == file.etag:
        await _send(send, 304, headers, b"")
        return
    body = file.data
    if file.can_squeeze:
        headers["vary"] = "accept-encoding"
        if "gzip" in asked.get(b"accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            body = await asyncio.to_thread(squeezed, scope["path"])
    headers["content-length"] = str(len(body))
    await _send(send, 200, headers, b"" if scope["method"] == "HEAD" else body)


def _headers(path: str, file: PageFile) -> dict[str, str]:
    return {
        "content-type": file.media_type,
        "content-security-policy": FRAME_POLICY if path in FRAMES else POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "etag": file.etag,
        "cache-control": FOREVER if file.lasting else "no-cache",
    }


async def _send(send: Send, status: int, headers: Mapping[str, str], body: bytes) -> None:
    told = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})
