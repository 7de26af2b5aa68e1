"""How a thread is to be shown: what every drawing needs to know besides what it draws."""

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
"""How many characters of a line are shown when not all is asked for."""

LONGEST_PATH = 60


class Blobs(Protocol):
    """Where large values are, by their `blob:` urls. What is gone has no size and no bytes."""

    def size(self, url: str) -> int | None:
        """How many bytes a blob has."""

    def read(self, url: str) -> bytes | None:
        """The bytes of a blob."""


class NoBlobs:
    """A place without blobs."""

    def size(self, url: str) -> int | None:
        """None has a size."""

    def read(self, url: str) -> bytes | None:
        """None has bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Whether all is shown, who speaks, and where to find what the messages do not hold themselves."""

    full: bool = False
    internal: bool = False  # also what is hidden otherwise, of sub-agents
    agent: str | None = None
    project: str | None = None
    zone: tzinfo | None = None  # of the times shown; without one, that of the machine
    blobs: Blobs = field(default_factory=NoBlobs)
    models: Mapping[str, str] = field(default_factory=dict[str, str])  # by run
    durations: Mapping[str, timedelta] = field(default_factory=dict[str, timedelta])  # by call

    def path(self, path: str, limit: int | None = LONGEST_PATH) -> str:
        """A path as short as it can be said: inside the project, or from the home folder."""
        line = one_line(path)
        inside = self.project.rstrip("/") + "/" if self.project else ""
        return short_path(line.removeprefix(inside) if inside and line != inside else line, limit)


def short_path(path: str, limit: int | None = LONGEST_PATH) -> str:
    """A path with `~` for the home folder; of a long one the last folders."""
    home = str(Path.home())
    line = one_line(path)
    line = f"~{line[len(home) :]}" if line == home or line.startswith(home + "/") else line
    if limit is None or len(line) <= limit:
        return line
    folders = line.split("/")
    shown = folders.pop()
    while folders and len(folders[-1]) + len(shown) + 3 <= limit:
        shown = f"{folders.pop()}/{shown}"
    return one_line(f"…/{shown}", limit)
