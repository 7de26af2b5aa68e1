"""Options and data that all functions of this package share, and the colours."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import Protocol

from rich.theme import Theme

from .text import one_line

THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.link": "underline",
        "markdown.link_url": "blue",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.block_quote": "dim",
        "markdown.hr": "dim",
        "repr.number": "none",
    },
    inherit=True,
)
LONGEST_LINE = 400
"""How many characters of a line are shown without `full`."""

LONGEST_PATH = 60
SEPARATOR = re.compile(r"[/\\](?=.)")


class Blobs(Protocol):
    """Reads large values by their `blob:` URLs."""

    def size(self, url: str) -> int | None:
        """Return the number of bytes of a blob; `None` if it does not exist."""

    def read(self, url: str) -> bytes | None:
        """Return the bytes of a blob; `None` if it does not exist."""


class NoBlobs:
    """A source without blobs."""

    def size(self, url: str) -> int | None:
        """Return `None`."""

    def read(self, url: str) -> bytes | None:
        """Return `None`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewContext:
    """What to show of a thread, and data that its messages do not contain."""

    full: bool = False  # without folding
    internal: bool = False  # with internal messages of sub-agents
    agent: str | None = None
    project: str | None = None
    zone: tzinfo | None = None  # for times; `None` for local time
    blobs: Blobs = field(default_factory=NoBlobs)
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])  # by message id
    models: Mapping[str, str] = field(default_factory=dict[str, str])  # by run id
    durations: Mapping[str, timedelta] = field(default_factory=dict[str, timedelta])  # by call id

    def path(self, path: str, limit: int | None = LONGEST_PATH) -> str:
        """Return a path relative to the project if it is inside, else with `~` for the home folder."""
        line = one_line(path)
        inside = self.project.rstrip("/\\") if self.project else ""
        is_inside = bool(inside) and line.startswith((f"{inside}/", f"{inside}\\"))
        return short_path(line[len(inside) + 1 :] or line if is_inside else line, limit)


def short_path(path: str, limit: int | None = LONGEST_PATH) -> str:
    """Return a path with `~` for the home folder. Of a longer path than `limit`, the end."""
    home = str(Path.home())
    line = one_line(path)
    line = f"~{line[len(home) :]}" if line == home or line.startswith(home + "/") else line
    if limit is None or len(line) <= limit:
        return line
    room = max(limit - 1, 1)
    separator = next((match.start() for match in SEPARATOR.finditer(line, len(line) - room)), None)
    return f"…{line[len(line) - room if separator is None else separator :]}"
