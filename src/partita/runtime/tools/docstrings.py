"""What a docstring says of a function and of its parameters."""

import inspect
import re
from collections.abc import Collection
from typing import NamedTuple

# `name: text`, `name (type): text` and `:param name: text`; the star of `*args` is never asked for.
_ENTRY = re.compile(r"(?::param\s+)?(?P<name>\w+)(?:\s*\([^)]*\))?\s*:\s*(?P<text>.*)")
_SECTION = re.compile(
    r"(args|arguments|parameters|params|returns?|yields?|raises|examples?|notes?)\s*:", re.IGNORECASE
)


class Described(NamedTuple):
    """The first paragraph, and the words about each parameter."""

    summary: str | None
    parameters: dict[str, str]


def describe(docstring: str | None, names: Collection[str]) -> Described:
    """What `docstring` says; of the parameters only those in `names`, for a colon may stand in any text."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    return Described(_summary(lines, names) or None, _parameters(lines, names))


def _summary(lines: list[str], names: Collection[str]) -> str:
    paragraph: list[str] = []
    for line in map(str.strip, lines):
        if not line or _SECTION.fullmatch(line) or _entry(line, names) is not None:
            break
        paragraph.append(line)
    return " ".join(paragraph)


def _parameters(lines: list[str], names: Collection[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    indent = 0
    for line in lines:
        depth = len(line) - len(line.lstrip())
        entry = _entry(line.strip(), names)
        if current is not None and line.strip() and depth > indent:
            current.append(line.strip())  # what is indented deeper goes on with the entry above it
        elif entry is not None:
            name, text = entry
            current, indent = found.setdefault(name, []), depth
            current.append(text)
        else:
            current = None
    return {name: text for name, pieces in found.items() if (text := " ".join(filter(None, pieces)))}


def _entry(line: str, names: Collection[str]) -> tuple[str, str] | None:
    match = _ENTRY.fullmatch(line)
    return (match["name"], match["text"]) if match is not None and match["name"] in names else None
