"""The descriptions of a function and of its parameters in a docstring.

Google, NumPy, Sphinx and Epydoc styles are read, mixed freely, and plain lines `name: text`.
"""

import inspect
import re
from collections.abc import Collection
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

_Style: TypeAlias = Literal["google", "numpy"]

_PARAMETER_HEADINGS: Final = frozenset(
    {"args", "arguments", "keyword args", "keyword arguments", "other parameters", "parameters", "params"}
)

# `city: text` and `city (str, optional): text`
_ENTRY: Final = re.compile(r"\*{0,2}(?P<names>\w+)(?:\s*\(.*?\))?\s*:\s*(?P<text>.*)")
# `city`, `city : str, optional` and `latitude, longitude : float`; the text is on the following lines
_NUMPY_ENTRY: Final = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?(?P<text>)")
# `:param city: text` and `:param str city: text`
_FIELD: Final = re.compile(
    r"[:@](?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(?P<names>\w+)\s*:\s*(?P<text>.*)"
)
_GOOGLE_HEADING: Final = re.compile(r"([A-Za-z][A-Za-z ]+?)\s*:")
_UNDERLINE: Final = re.compile(r"-{3,}")


class Descriptions(NamedTuple):
    """The first paragraph of a docstring, and the descriptions of parameters."""

    summary: str | None
    parameters: dict[str, str]


class _Heading(NamedTuple):
    """The heading of a section."""

    style: _Style
    is_parameters: bool


class _Line(NamedTuple):
    """A line of a docstring, without its indent."""

    text: str
    indent: int
    heading: _Heading | None = None


def read_docstring(docstring: str | None, names: Collection[str]) -> Descriptions:
    """The descriptions in `docstring`. Only those of the parameters in `names`: any text may have a colon."""
    lines = _read_lines(inspect.cleandoc(docstring or "").splitlines(), names)
    return Descriptions(_summary(lines, names) or None, _parameters(lines, names))


def _read_lines(raw: list[str], names: Collection[str]) -> list[_Line]:
    lines: list[_Line] = []
    for line, following in pairwise([*raw, ""]):
        text = line.strip()
        if lines and lines[-1].heading is not None and _UNDERLINE.fullmatch(text):
            continue
        is_underlined = bool(lines and text and _UNDERLINE.fullmatch(following.strip()))
        lines.append(_Line(text, len(line) - len(line.lstrip()), _heading(text, is_underlined, names)))
    return lines


def _heading(text: str, is_underlined: bool, names: Collection[str]) -> _Heading | None:
    if is_underlined:
        return _Heading("numpy", text.lower() in _PARAMETER_HEADINGS)
    match = _GOOGLE_HEADING.fullmatch(text)
    if match is None or match[1] in names:
        return None
    is_parameters = match[1].lower() in _PARAMETER_HEADINGS
    return _Heading("google", is_parameters) if is_parameters or text[0].isupper() else None


def _summary(lines: list[_Line], names: Collection[str]) -> str:
    paragraph: list[str] = []
    for line in lines:
        if not line.text or line.heading is not None or _entry(line.text, names, "google") is not None:
            break
        paragraph.append(line.text)
    return " ".join(paragraph)


def _parameters(lines: list[_Line], names: Collection[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    heading: _Heading | None = None
    heading_indent = entry_indent = 0
    entry: list[str] | None = None  # the pieces of the description that is being read
    for line in lines:
        if line.heading is not None:
            heading, heading_indent, entry = line.heading, line.indent, None
            continue
        if not line.text:
            entry = None if heading is None else entry  # descriptions in sections may have paragraphs
            continue
        if heading is not None and heading.style == "google" and line.indent <= heading_indent:
            heading = entry = None
        if heading is not None and not heading.is_parameters:
            continue
        if entry is not None and line.indent > entry_indent:
            entry.append(line.text)
            continue
        read = _entry(line.text, names, "google" if heading is None else heading.style)
        entry, entry_indent = (None if read is None else [read.text]), line.indent
        if read is not None and entry is not None:
            found |= dict.fromkeys(read.names, entry)
    texts = {name: " ".join(filter(None, pieces)) for name, pieces in found.items()}
    return {name: text for name, text in texts.items() if text}


class _Entry(NamedTuple):
    names: list[str]
    text: str


def _entry(line: str, names: Collection[str], style: _Style) -> _Entry | None:
    """The parameters that a line begins to describe; `None` if it describes none of `names`."""
    match = _FIELD.fullmatch(line) or (_NUMPY_ENTRY if style == "numpy" else _ENTRY).fullmatch(line)
    if match is None:
        return None
    described = [name.strip(" *") for name in match["names"].split(",")]
    known = [name for name in described if name in names]
    return _Entry(known, match["text"]) if known else None
