"""The page that shows the API and lets one try it: one answer, nothing from anywhere else."""

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final


def _read(name: str) -> str:
    return files(__package__ or __name__).joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


STYLE: Final = _read("page.css")
SCRIPT: Final = _read("page.js")
PAGE: Final = _read("page.html").replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", SCRIPT).encode()

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
