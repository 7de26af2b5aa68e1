"""Examples in the guides: the heading of the first Python block that uses a name."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .markdown import slug

DOCS = Path(__file__).parent.parent
FOLDERS = (DOCS / "apps", DOCS / "sessions", DOCS)
"""The folders with guides. The first ones have the simpler examples."""

_FENCE = re.compile(r"^```(\w*)")
_HEADING = re.compile(r"^#+ (.+)")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")


class Example(NamedTuple):
    """The place of an example: a page below `docs` and a heading."""

    page: str
    heading: str

    @property
    def link(self) -> str:
        """A link from a page in `docs/reference`."""
        return f"[{self.heading}](../{self.page}#{slug(self.heading)})"


@cache
def examples() -> dict[str, Example]:
    """Return the first example for each name that a Python block uses."""
    found: dict[str, Example] = {}
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.md")):
            _add_examples(path, found)
    return found


def _add_examples(path: Path, found: dict[str, Example]) -> None:
    page, heading, language = path.relative_to(DOCS).as_posix(), "", None
    for line in path.read_text("utf-8").splitlines():
        if fence := _FENCE.match(line):
            language = fence[1] if language is None else None
        elif language is None and (title := _HEADING.match(line)):
            heading = title[1].replace("`", "")
        elif language == "python":
            for name in _NAME.findall(line):
                found.setdefault(name, Example(page, heading))
