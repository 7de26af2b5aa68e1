"""Names of users in paths: `/home/ada`, `C:\\Users\\Ada Lovelace`, `-home-ada-garden`."""

import re
from collections.abc import Iterator
from typing import Final

_MOST: Final = 200
"""The most names that are searched for in all paths."""

_SLASH: Final = r"(?:\\{0,4}/|\\{1,4}|%2[fF]|%5[cC])"
_FOLDER: Final = re.compile(
    rf"{_SLASH}(?:home|[Uu]sers){_SLASH}(?P<name>(?!(?:Shared|Public|runner|Default)\b)"
    r"(?:[^\\/:*?\"'<>|\r\n\t%]{1,64}(?=\\)|[^\\/:*?\"'<>|\s%`,;()\[\]{}]{1,64}))"
)
_PROJECT: Final = re.compile(r"(?<![A-Za-z0-9])-(?:home|Users)-(?P<name>[A-Za-z0-9._]{1,64})")
"""The folder that an agent keeps for a project is named after its path."""

_NOT_IN_PROJECTS: Final = re.compile(r"[^A-Za-z0-9]")
_REACH: Final = 6


class UserNames:
    """Finds user names in paths."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._segment: re.Pattern[str] | None = None
        self._by_project_name: dict[str, str] = {}

    def collect(self, text: str) -> None:
        """Collect the names in the paths of a text."""
        for _, name in _matches(_FOLDER, text):
            self._names[name] = None

    def finish(self) -> None:
        """End the collection. From now on the names are found in any path."""
        names = sorted(self._names, key=len, reverse=True)[:_MOST]
        self._by_project_name = {_NOT_IN_PROJECTS.sub("-", name): name for name in names}
        if names:
            segments = "|".join(map(re.escape, names))
            projects = "|".join(map(re.escape, sorted(self._by_project_name, key=len, reverse=True)))
            self._segment = re.compile(
                rf"(?:(?<=[/\\~])|(?<=%2[fF])|(?<=%5[cC]))(?P<name>{segments})(?![\w.-]*[\w])"
                rf"|(?:(?<=-home-)|(?<=-Users-))(?P<project>{projects})(?![A-Za-z0-9])"
            )

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the start, the end and the name for each occurrence."""
        if self._segment is not None:
            for match in self._segment.finditer(text):
                name = match["name"] or self._by_project_name[match["project"]]
                yield *match.span(match.lastgroup or 0), name
        for pattern in (_FOLDER, _PROJECT):
            for start, name in _matches(pattern, text):
                yield start, start + len(name), name


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    for literal in ("home", "sers"):
        place = text.find(literal)
        while place >= 0:
            match = pattern.search(text, max(0, place - _REACH), place + 160)
            if match is not None and match.start() <= place < match.start("name"):
                name = match["name"].rstrip(".")
                if name:
                    yield match.start("name"), name
            place = text.find(literal, place + 1)
