"""Where the documentation shows a name at work: the first Python block that uses it, by its heading."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent.parent
GUIDES = ("apps", "sessions", ".")
"""Where to look first: guides show how a thing is used, the pages beside them all there is to it."""

_FENCE = re.compile(r"^```(\w*)")
_HEADING = re.compile(r"^#+ (.+)")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")


class Shown(NamedTuple):
    """A place in the documentation: its page, below `docs`, and the heading."""

    page: str
    heading: str

    @property
    def link(self) -> str:
        """A link from a page of the reference."""
        return f"[{self.heading}](../{self.page}#{slug(self.heading)})"


def slug(heading: str) -> str:
    """The name of a heading in links."""
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"\s+", "-", words)


@cache
def examples() -> dict[str, Shown]:
    """The first place for every name that is used in a block of Python."""
    found: dict[str, Shown] = {}
    for folder in GUIDES:
        for path in sorted((DOCS / folder).glob("*.md")):
            _read(path, found)
    return found


def _read(path: Path, found: dict[str, Shown]) -> None:
    heading, language = "", None
    for line in path.read_text("utf-8").splitlines():
        if fence := _FENCE.match(line):
            language = fence[1] if language is None else None
        elif language is None and (title := _HEADING.match(line)):
            heading = title[1].replace("`", "")
        elif language == "python":
            for name in _NAME.findall(line):
                found.setdefault(name, Shown(path.relative_to(DOCS).as_posix(), heading))
