"""The files of the built page, read once and held."""

import gzip
import os
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, NamedTuple

TYPES: Final[Mapping[str, str]] = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "wasm": "application/wasm",
    "woff2": "font/woff2",
}
SQUEEZED: Final = frozenset({"css", "html", "js", "mjs", "svg"})

START: Final = "index.html"
BUILT: Final = "built"
ELSEWHERE: Final = "PARTITA_PAGE"
"""Names a folder with another build: for those who change the page."""

ASSETS: Final = "/assets/"
"""What is below here has its hash in its name, and stays what it is for ever."""

MISSING: Final = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Partita</title>
<p>The server runs, but its page is not built. In a checkout, <code>make web</code> builds it (it takes Node
and npm); a wheel brings it along. The API is at <a href="api/docs">api/docs</a>.</p></html>
"""


class PageFile(NamedTuple):
    """A file of the page."""

    data: bytes
    media_type: str
    etag: str
    lasting: bool
    can_squeeze: bool


@cache
def page_files() -> Mapping[str, PageFile]:
    """Every file of the page by its path, from `/`; where it is not built, one that says so."""
    elsewhere = os.environ.get(ELSEWHERE)
    root = Path(elsewhere) if elsewhere else files(__package__ or __name__).joinpath(BUILT)
    found = dict(_below(root, "/")) if root.is_dir() else {}
    start = found.pop(f"/{START}", None) or _file(START, MISSING.encode(), "/")
    return {"/": start, **found}


def is_built() -> bool:
    """Whether there is more to show than that there is nothing to show."""
    return len(page_files()) > 1


def _below(folder: Traversable, path: str) -> list[tuple[str, PageFile]]:
    found: list[tuple[str, PageFile]] = []
    for entry in folder.iterdir():
        place = f"{path}{entry.name}"
        if entry.is_dir():
            found.extend(_below(entry, f"{place}/"))
        elif not entry.name.startswith("."):
            found.append((place, _file(entry.name, entry.read_bytes(), place)))
    return found


def _file(name: str, data: bytes, place: str) -> PageFile:
    kind = name.rpartition(".")[2]
    return PageFile(
        data,
        TYPES.get(kind, "application/octet-stream"),
        f'"{sha256(data).hexdigest()[:32]}"',
        place.startswith(ASSETS),
        kind in SQUEEZED,
    )


@cache
def squeezed(path: str) -> bytes:
    """A file with fewer bytes, for those who can read it so. The first time it takes a moment."""
    return gzip.compress(page_files()[path].data, 6, mtime=0)
