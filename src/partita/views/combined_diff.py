"""All edits of a file as one diff: from the first known state of its lines to the last one.

An edit contains only the lines that it changed and some lines around them. So the lines of a file are known
in fragments. An edit of lines that are known changes their fragment; others are fragments of their own. If an
edit does not fit to what is known, the file was also changed by something else: then a new diff begins after
the previous one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import islice
from typing import Final, NamedTuple

from partita.types.tool_views import Hunk

from .changes import CONTEXT, MOST_PAIRS, common_ends, count_pairs

LEAST: Final = 2
"""How many lines two edits must have in common to be parts of the same fragment."""

WORD: Final = re.compile(r"\w{3}")
"""In a line that is unlikely to be equal to another one by accident."""


class DiffLine(NamedTuple):
    """A line with its mark, and the number of the edit that added or removed it."""

    mark: str
    text: str
    edit: int | None = None


class CombinedHunk(NamedTuple):
    """Consecutive lines of a combined diff, where they begin, and the numbers of the edits that made them."""

    lines: tuple[str, ...]
    old_start: int | None
    new_start: int | None
    edits: tuple[int, ...]


@dataclass(slots=True)
class _Fragment:
    """Consecutive lines of the file that are known, and those that were removed between them."""

    lines: list[DiffLine]
    old_start: int | None = None
    new_start: int | None = None

    @property
    def visible(self) -> list[str]:
        """The lines that are in the file now."""
        return [line.text for line in self.lines if line.mark != "-"]

    @property
    def original(self) -> list[str]:
        """The lines that were in the file before all edits."""
        return [line.text for line in self.lines if line.mark != "+"]

    @property
    def end(self) -> int:
        """The number of the line behind it."""
        return (self.new_start or 0) + sum(line.mark != "-" for line in self.lines)

    @property
    def growth(self) -> int:
        """How many more lines it has now."""
        marks = [line.mark for line in self.lines]
        return marks.count("+") - marks.count("-")

    def apply(self, at: int, hunk: Sequence[DiffLine]) -> bool:
        """Change the lines that begin `at` a visible line. Returns whether they are what the hunk expects."""
        lines = iter(self.lines)
        made: list[DiffLine] = []
        while at > 0:
            made.append(next(lines))
            at -= made[-1].mark != "-"
        for change in hunk:
            if change.mark == "+":
                made.append(change)
                continue
            for line in lines:
                if line.mark != "-":
                    break
                made.append(line)
            else:
                return False
            if line.text != change.text:
                return False
            if change.mark == " ":
                made.append(line)
            elif line.mark == " ":
                made.append(change)
        self.lines = [*made, *lines]
        return True

    def find(self, wanted: Sequence[str], *, inside: bool) -> Iterator[int]:
        """Where these lines may begin, relative to its visible ones: `inside` it, or also over its ends."""
        visible = self.visible
        first, last = (
            (0, len(visible) - len(wanted)) if inside else (LEAST - len(wanted), len(visible) - LEAST)
        )
        for at in range(min(0, first), last + 1):
            common = visible[max(0, at) : at + len(wanted)]
            if common == wanted[max(0, -at) : max(0, -at) + len(common)] and (
                len(common) == len(wanted) or any(WORD.search(line) for line in common)
            ):
                yield at

    def extend(self, at: int, wanted: Sequence[str]) -> None:
        """Add the lines before and behind it that an edit knows, which begins `at` a line relative to it."""
        end = len(self.visible) - at
        self.lines = [
            *(DiffLine(" ", text) for text in wanted[: max(0, -at)]),
            *self.lines,
            *(DiffLine(" ", text) for text in wanted[max(0, end) :]),
        ]
        if at < 0 and self.old_start is not None and self.new_start is not None:
            self.old_start, self.new_start = self.old_start + at, self.new_start + at


@dataclass(slots=True)
class _Diff:
    """Edits that fit to each other."""

    fragments: list[_Fragment] = field(default_factory=list[_Fragment])
    is_complete: bool = False  # its only fragment is the whole file

    @property
    def has_positions(self) -> bool:
        return all(one.new_start is not None for one in self.fragments)

    def add(self, hunk: Sequence[DiffLine], start: int | None) -> bool:
        """Add a hunk that begins at a line, if that is known. Returns whether it fits."""
        wanted = [line.text for line in hunk if line.mark != "+"]
        if start is not None and self.has_positions and self._add_at(hunk, start, wanted):
            return True
        if wanted and self._change_known(hunk, wanted):
            return True
        if self.is_complete or (start is not None and self.fragments):
            return False
        self.fragments.append(_Fragment(list(hunk)))
        return True

    def _change_known(self, hunk: Sequence[DiffLine], wanted: Sequence[str]) -> bool:
        """Change known lines that are at exactly one place; in a whole file, at the first one."""
        for inside in (True,) if self.is_complete else (True, False):
            found = [(one, at) for one in self.fragments for at in islice(one.find(wanted, inside=inside), 2)]
            if len(found) == 1 or (found and self.is_complete):
                one, at = found[0]
                one.extend(at, wanted)
                before = one.growth
                one.apply(max(0, at), hunk)
                self._move(self.fragments.index(one) + 1, one.growth - before)
                return True
        return False

    def _add_at(self, hunk: Sequence[DiffLine], start: int, wanted: Sequence[str]) -> bool:
        end = start + len(wanted)
        first = next((n for n, one in enumerate(self.fragments) if one.end >= start), len(self.fragments))
        last = next(
            (n for n, one in enumerate(self.fragments) if (one.new_start or 0) > end), len(self.fragments)
        )
        touched = self.fragments[first:last]
        begin = min([start, *(one.new_start or 0 for one in touched)])
        shift = sum(one.growth for one in self.fragments[:first])
        merged = _Fragment([], begin - shift, begin)
        place = begin
        for one in touched:
            merged.lines += [
                DiffLine(" ", text) for text in wanted[place - start : (one.new_start or 0) - start]
            ]
            merged.lines += one.lines
            place = one.end
        merged.lines += [DiffLine(" ", text) for text in wanted[max(0, place - start) :]]
        before = merged.growth
        if not merged.apply(start - begin, hunk):
            return False
        self.fragments[first:last] = [merged]
        self._move(first + 1, merged.growth - before)
        return True

    def _move(self, first: int, lines: int) -> None:
        """Move the fragments behind one that has grown."""
        for one in self.fragments[first:]:
            if one.new_start is not None:
                one.new_start += lines


class CombinedDiff:
    """The edits of a file, which are added in order and have numbers."""

    def __init__(self) -> None:
        self._diffs: list[_Diff] = []

    @property
    def is_combined(self) -> bool:
        """Whether all edits fit to each other; otherwise the hunks are in their order."""
        return len(self._diffs) < 2

    def change(self, edit: int, hunks: Iterable[Hunk]) -> None:
        """Add the hunks of an edit."""
        growth = 0
        for hunk in hunks:
            lines = [
                DiffLine(line[0], line[1:], None if line[0] == " " else edit) for line in hunk.lines if line
            ]
            if not lines:
                continue
            is_insertion = all(line.mark == "+" for line in lines)
            # A hunk without old lines begins behind the line that it names.
            start = None if hunk.old_start is None else max(1, hunk.old_start + is_insertion) + growth
            if not (self._diffs and self._diffs[-1].add(lines, start)):
                self._diffs.append(_Diff())
                self._diffs[-1].add(lines, start)
            growth += sum((line.mark == "+") - (line.mark == "-") for line in lines)

    def write(self, edit: int, lines: Sequence[str]) -> None:
        """Replace the whole file by these lines."""
        known = self._diffs[-1].fragments[0].original if self._diffs and self._diffs[-1].is_complete else None
        if known is None:
            self._diffs.append(_Diff())
        made = list(compare_lines([DiffLine("-", text, edit) for text in known or ()], added(lines, edit)))
        self._diffs[-1] = _Diff([_Fragment(made, 1, 1)], is_complete=True)

    def delete(self, edit: int) -> None:
        """Remove all lines that are known to be the whole file."""
        if self._diffs and self._diffs[-1].is_complete:
            fragment = self._diffs[-1].fragments[0]
            fragment.lines = [DiffLine("-", text, edit) for text in fragment.original]

    def hunks(self) -> Iterator[CombinedHunk]:
        """The hunks of the diff."""
        for diff in self._diffs:
            for fragment in diff.fragments:
                yield from _hunks(fragment)


def added(lines: Iterable[str], edit: int) -> list[DiffLine]:
    """Lines that an edit adds."""
    return [DiffLine("+", line, edit) for line in lines]


def _hunks(fragment: _Fragment) -> Iterator[CombinedHunk]:
    """The changes of a fragment with a few lines around each."""
    lines = list(_tidied(fragment.lines))
    changed = [place for place, line in enumerate(lines) if line.mark != " "]
    old, new = fragment.old_start, fragment.new_start
    place = 0
    while changed:
        last = next(
            (n for n in range(len(changed) - 1) if changed[n + 1] - changed[n] > 2 * CONTEXT + 1),
            len(changed) - 1,
        )
        start, end = max(place, changed[0] - CONTEXT), min(len(lines), changed[last] + CONTEXT + 1)
        skipped, shown = lines[place:start], lines[start:end]
        old, new = _behind(skipped, old, new)
        yield CombinedHunk(
            tuple(line.mark + line.text for line in shown),
            old,
            new,
            tuple(dict.fromkeys(sorted(line.edit for line in shown if line.edit is not None))),
        )
        old, new = _behind(shown, old, new)
        place, changed = end, changed[last + 1 :]


def _behind(lines: Sequence[DiffLine], old: int | None, new: int | None) -> tuple[int | None, int | None]:
    """The numbers of the lines behind these."""
    removed, made = (sum(line.mark != mark for line in lines) for mark in "+-")
    return None if old is None else old + removed, None if new is None else new + made


def _tidied(lines: Sequence[DiffLine]) -> Iterator[DiffLine]:
    """The lines with the removed ones before the added ones, and without those that were put back."""
    removed: list[DiffLine] = []
    made: list[DiffLine] = []
    for line in lines:
        if line.mark == "-":
            removed.append(line)
        elif line.mark == "+":
            made.append(line)
        else:
            yield from compare_lines(removed, made)
            removed, made = [], []
            yield line
    yield from compare_lines(removed, made)


def compare_lines(removed: Sequence[DiffLine], made: Sequence[DiffLine]) -> Iterator[DiffLine]:
    """The difference between removed and added lines."""
    before, after = [line.text for line in removed], [line.text for line in made]
    start, end = common_ends(before, after)
    yield from (DiffLine(" ", text) for text in before[:start])
    old, new = removed[start : len(removed) - end], made[start : len(made) - end]
    old_texts, new_texts = before[start : len(before) - end], after[start : len(after) - end]
    if old and new and count_pairs(old_texts, new_texts) <= MOST_PAIRS:
        for tag, a, b, c, d in SequenceMatcher(None, old_texts, new_texts, autojunk=False).get_opcodes():
            if tag == "equal":
                yield from (DiffLine(" ", text) for text in old_texts[a:b])
            else:
                yield from (*old[a:b], *new[c:d])
    else:
        yield from (*old, *new)
    yield from (DiffLine(" ", text) for text in before[len(before) - end :])
