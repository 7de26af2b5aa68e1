"""Changes of files: as values, and drawn with the numbers of their lines."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, TypeAlias

from rich.text import Text

from .look import LONGEST_LINE, Look
from .rows import Row
from .text import clipped, counted, safe

Mark: TypeAlias = Literal[" ", "+", "-"]
Kind: TypeAlias = Literal["add", "update", "delete"]

STYLES: dict[Mark, str] = {" ": "dim", "+": "green", "-": "red"}
SHOWN = 24
"""How many lines of a change are shown when not all is asked for."""

CONTEXT = 2
LONGEST_COMPARED = 2000
"""How many lines are compared with one another; of longer texts one replaces the other."""


class Line(NamedTuple):
    """A line that was there, has come, or has gone."""

    mark: Mark
    text: str


class Hunk(NamedTuple):
    """Lines one after another, and where they stand in the old and the new file, if that is known."""

    lines: tuple[Line, ...]
    old: int | None = None
    new: int | None = None


class Change(NamedTuple):
    """What happened to a file."""

    path: str
    hunks: tuple[Hunk, ...]
    kind: Kind = "update"
    moved_to: str = ""

    @property
    def counts(self) -> tuple[int, int]:
        """How many lines came, how many went."""
        marks = [line.mark for hunk in self.hunks for line in hunk.lines]
        return marks.count("+"), marks.count("-")


def compared(old: str, new: str) -> tuple[Hunk, ...]:
    """The hunks between two texts. Where they stand in the file is not known."""
    before, after = _split(old), _split(new)
    if max(len(before), len(after)) > LONGEST_COMPARED:
        return (Hunk((*(Line("-", text) for text in before), *(Line("+", text) for text in after))),)
    groups = SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT)
    return tuple(Hunk(tuple(_lines(group, before, after))) for group in groups)


def _split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _lines(
    group: Iterable[tuple[str, int, int, int, int]], before: Sequence[str], after: Sequence[str]
) -> Iterator[Line]:
    for tag, old_start, old_end, new_start, new_end in group:
        if tag == "equal":
            yield from (Line(" ", text) for text in before[old_start:old_end])
        else:
            yield from (Line("-", text) for text in before[old_start:old_end])
            yield from (Line("+", text) for text in after[new_start:new_end])


def added(text: str) -> tuple[Hunk, ...]:
    """The hunk of a new file."""
    lines = tuple(Line("+", line) for line in _split(text))
    return (Hunk(lines, new=1),) if lines else ()


def stat(change: Change) -> Text:
    """`path  +3 -1`, and whether the file is new, gone or moved."""
    plus, minus = change.counts
    words = {"add": " new", "update": "", "delete": " deleted"}[change.kind]
    text = Text(change.path)
    if change.moved_to:
        text.append(f" → {change.moved_to}")
    text.append(words, "bold")
    if plus:
        text.append(f"  +{plus:,}", "green")
    if minus:
        text.append(f"{' ' if plus else '  '}-{minus:,}", "red")
    return text


def draw_change(change: Change, look: Look) -> list[Row]:
    """The lines of a change, numbered where numbers are known; the first of them unless all is asked for."""
    rows: list[Row] = []
    width = _number_width(change)
    for place, hunk in enumerate(change.hunks):
        if place:
            rows.append(Row("⋯", "dim", " " * width))
        rows.extend(_numbered(hunk, width, look))
    hidden = 0 if look.full or len(rows) <= SHOWN + 1 else len(rows) - SHOWN
    return [*rows[: len(rows) - hidden], Row(f"… {counted(hidden, 'more line')}", "dim")] if hidden else rows


def _number_width(change: Change) -> int:
    highest = max(((hunk.new or hunk.old or 0) + len(hunk.lines) for hunk in change.hunks), default=0)
    known = any(hunk.new is not None or hunk.old is not None for hunk in change.hunks)
    return len(str(highest)) + 1 if known else 0


def _numbered(hunk: Hunk, width: int, look: Look) -> Iterator[Row]:
    old, new = hunk.old, hunk.new
    for line in hunk.lines:
        number = old if line.mark == "-" else new
        prefix = f"{number if number is not None else '':>{width - 1}} " if width else ""
        text = safe(line.text.rstrip("\r").replace("\r", "\\r"), tabs=4)
        text = text if look.full else clipped(text, LONGEST_LINE)
        yield Row(text, STYLES[line.mark], f"{prefix}{line.mark} ", STYLES[line.mark])
        old = old + 1 if old is not None and line.mark != "+" else old
        new = new + 1 if new is not None and line.mark != "-" else new
