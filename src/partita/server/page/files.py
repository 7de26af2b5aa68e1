"""The files of the built web UI, which are read once and kept in memory."""

import asyncio
import gzip
import os
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, NamedTuple

from starlette.types import Scope, Send

TYPES: Final[Mapping[str, str]] = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "wasm": "application/wasm",
    "woff2": "font/woff2",
}
COMPRESSIBLE: Final = frozenset({"css", "html", "js", "mjs", "svg"})

INDEX: Final = "index.html"
BUILT: Final = "built"
FOLDER_VARIABLE: Final = "PARTITA_PAGE"
"""The environment variable with the folder of another build, for development."""

ASSETS: Final = "/assets/"
"""The path of files that have their hash in their name, and never change."""

MISSING: Final = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Partita</title>
<p>The server runs, but the web UI is not built. In a checkout, <code>make web</code> builds it (it needs Node
and npm); a wheel contains it. The API is at <a href="api/docs">api/docs</a>.</p></html>
"""


class WebFile(NamedTuple):
    """A file of the web UI."""

    data: bytes
    media_type: str
    etag: str
    is_immutable: bool
    is_compressible: bool


@cache
def web_files() -> Mapping[str, WebFile]:
    """All files of the web UI by path. If it is not built, `/` explains how to build it."""
    folder = os.environ.get(FOLDER_VARIABLE)
    root = Path(folder) if folder else files(__package__ or __name__).joinpath(BUILT)
    found = dict(_files_below(root, "/")) if root.is_dir() else {}
    index = found.pop(f"/{INDEX}", None) or _file(INDEX, MISSING.encode(), "/")
    return {"/": index, **found}


def _files_below(folder: Traversable, path: str) -> list[tuple[str, WebFile]]:
    found: list[tuple[str, WebFile]] = []
    for entry in folder.iterdir():
        entry_path = f"{path}{entry.name}"
        if entry.is_dir():
            found.extend(_files_below(entry, f"{entry_path}/"))
        elif not entry.name.startswith("."):
            found.append((entry_path, _file(entry.name, entry.read_bytes(), entry_path)))
    return found


def _file(name: str, data: bytes, path: str) -> WebFile:
    suffix = name.rpartition(".")[2]
    return WebFile(
        data,
        TYPES.get(suffix, "application/octet-stream"),
        f'"{sha256(data).hexdigest()[:32]}"',
        path.startswith(ASSETS),
        suffix in COMPRESSIBLE,
    )


@cache
def compressed(path: str) -> bytes:
    """A file compressed with gzip. The first call for a file is slow."""
    return gzip.compress(web_files()[path].data, 6, mtime=0)


# The web UI over HTTP. Its files have no data of users, so anyone who reaches the server may load them.

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
"""Only its own scripts, styles and requests, and no string can become a script or markup. The one allowed
policy of trusted types is for the URL of the worker that reads PDFs."""

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
"""The policy of the frame that draws diagrams: an opaque origin, without requests or navigation."""

FRAMES: Final = frozenset({"/mermaid.html"})
FOREVER: Final = "public, max-age=31536000, immutable"


def is_web_file(path: str) -> bool:
    """Whether a path is a file of the web UI."""
    return path in web_files()


async def send_web_file(scope: Scope, send: Send) -> None:
    """Send a file of the web UI, or 304 if the client has it already."""
    file = web_files()[scope["path"]]
    sent = {name: value.decode("latin-1") for name, value in scope["headers"]}
    headers = _headers(scope["path"], file)
    if sent.get(b"if-none-match") == file.etag:
        await _send(send, 304, headers, b"")
        return
    body = file.data
    if file.is_compressible:
        headers["vary"] = "accept-encoding"
        if "gzip" in sent.get(b"accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            body = await asyncio.to_thread(compressed, scope["path"])
    headers["content-length"] = str(len(body))
    await _send(send, 200, headers, b"" if scope["method"] == "HEAD" else body)


def _headers(path: str, file: WebFile) -> dict[str, str]:
    return {
        "content-type": file.media_type,
        "content-security-policy": FRAME_POLICY if path in FRAMES else POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "etag": file.etag,
        "cache-control": FOREVER if file.is_immutable else "no-cache",
    }


async def _send(send: Send, status: int, headers: Mapping[str, str], body: bytes) -> None:
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
