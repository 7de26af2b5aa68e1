"""What stands under a title: lines of output, words, JSON values; folded unless all is asked for."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from partita.errors import DecodeError
from partita.types.json import Json, dumps, is_array, is_object

from .look import LONGEST_LINE, Look
from .rows import Row
from .text import clipped, counted, fold, lines_of, one_line

DEEPEST = 3
"""How many levels of a value are drawn as a tree when not all is asked for."""

WIDEST_INDENT = 40
BROKEN = 20_000
"""How many characters are broken into rows although only some of these are shown: to count the others."""

INLINE = 100
"""How long a value may be to stand on one line."""


def folded(lines: Sequence[str], look: Look, head: int, tail: int = 0, style: str = "") -> list[Row]:
    """Lines, or the first and last of them with a word on what is left out."""
    if look.full:
        return [Row(line, style) for line in lines]
    first, hidden, last = fold(lines, head, tail)
    return [
        *(Row(clipped(line, LONGEST_LINE), style) for line in first),
        *([Row(f"… {counted(hidden, 'more line')}", "dim")] if hidden else []),
        *(Row(clipped(line, LONGEST_LINE), style) for line in last),
    ]


class Prose:
    """Words broken between words, the first rows of them unless all is asked for."""

    def __init__(self, text: str, look: Look, rows: int, style: str = "") -> None:
        self.text = "\n".join(lines_of(text))
        self.most = None if look.full else rows
        self.style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        rest = ""
        if self.most is not None:  # no need to break megabytes to show six rows
            room = max((self.most + 2) * options.max_width, BROKEN)
            text, rest = text[:room], text[room:]
        lines = [line.plain.rstrip() for line in Text(text).wrap(console, options.max_width)]
        folds = self.most is not None and (len(lines) > self.most + 1 or bool(rest))
        style = console.get_style(self.style)
        for line in lines[: self.most] if folds else lines:
            yield Segment(line, style)
            yield Segment.line()
        if folds and self.most is not None:
            hidden = len(lines) - self.most + (len(rest) // options.max_width if rest else 0)
            about = "about " if rest else ""
            yield Segment(f"… {about}{counted(hidden, 'more line')}", console.get_style("dim"))
            yield Segment.line()


def tree(value: Json, look: Look, most: int = 14) -> list[Row]:
    """A JSON value, a member a line, members of members indented."""
    rows: list[Row] = []
    waiting: list[tuple[int, str, Json]] = [(0, "", value)]
    while waiting:  # no recursion: values may nest as deep as they like
        depth, name, item = waiting.pop()
        if (is_object(item) or is_array(item)) and item and (look.full or depth < DEEPEST or not name):
            inline = _inline(item) if name else ""
            if inline:
                rows.append(_row(depth, name, inline))
                continue
            if name:
                rows.append(_row(depth, name, ""))
            waiting.extend(reversed([(depth + bool(name), key, inner) for key, inner in _members(item)]))
        else:
            rows.extend(_leaf(depth, name, item, look))
    if look.full or len(rows) <= most + 1:
        return rows
    return [*rows[:most], Row(f"… {counted(len(rows) - most, 'more line')}", "dim")]


def _members(value: Json) -> list[tuple[str, Json]]:
    if is_object(value):
        return [(f"{one_line(key, INLINE)}:", inner) for key, inner in value.items()]
    return [("-", inner) for inner in value]


def _inline(value: Json) -> str:
    """An array or object of short scalars as one line; nothing when it is more than that."""
    items: list[Json] = list(value.values()) if is_object(value) else value
    if len(items) > INLINE or any(is_object(item) or is_array(item) for item in items):
        return ""
    names = [f"{one_line(key, INLINE)}: " for key in value] if is_object(value) else [""] * len(items)
    line = ", ".join(f"{name}{_scalar(item)}" for name, item in zip(names, items, strict=True))
    return line if len(line) <= INLINE and "\n" not in line else ""


def _leaf(depth: int, name: str, value: Json, look: Look) -> list[Row]:
    if is_object(value) or is_array(value):
        return [_row(depth, name, compact(value, INLINE))]
    text = _scalar(value)
    if "\n" in text:
        indent = _indent(depth + bool(name))
        lines = [row._replace(prefix=indent) for row in folded(text.split("\n"), look, head=6, tail=2)]
        return [_row(depth, name, ""), *lines] if name else lines
    return [_row(depth, name, text if look.full else clipped(text, LONGEST_LINE))]


def _row(depth: int, name: str, text: str) -> Row:
    return Row(text, prefix=f"{_indent(depth)}{name} " if name else _indent(depth), prefix_style="cyan dim")


def _indent(depth: int) -> str:
    return " " * min(2 * depth, WIDEST_INDENT)


def _scalar(value: Json) -> str:
    return "\n".join(lines_of(value)) if isinstance(value, str) else compact(value)


def compact(value: Json, limit: int | None = None) -> str:
    """A value as JSON on one line."""
    try:
        text = dumps(value).decode()
    except DecodeError:
        return "…"
    return one_line(text, limit)
