"""The files that a thread changed, from the edits of its calls one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from partita.types.messages import ToolCallPart
from partita.types.overview import ChangedFile, DiffHunk, FileDiff, PartPlace
from partita.types.tool_views import FileChange

from .call_data import comparable
from .combined_diff import CombinedDiff
from .text import split_lines
from .tool_text import read_text


@dataclass(slots=True)
class _File:
    path: str
    old_path: str
    created: bool = False
    deleted: bool = False
    edits: list[PartPlace] = field(default_factory=list[PartPlace])
    diff: CombinedDiff = field(default_factory=CombinedDiff)


class FileChanges:
    """The changes of files. A file that was moved is the same file."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def add(self, place: PartPlace, change: FileChange, part: ToolCallPart) -> None:
        """A change that succeeded, of this call."""
        file = self._file(change)
        file.deleted = change.change == "delete"
        if place not in file.edits[-1:]:
            file.edits.append(place)
        edit = len(file.edits) - 1
        if whole := _whole_text(change, part):
            file.diff.write(edit, whole)
        else:
            file.diff.change(edit, change.hunks)
        if file.deleted:
            file.diff.delete(edit)

    def _file(self, change: FileChange) -> _File:
        key = comparable(change.path)
        file = self._files.get(key)
        if file is None:
            file = self._files[key] = _File(change.path, change.path, created=_creates(change))
        if change.moved_to:
            del self._files[key]
            file.path = change.moved_to
            self._files[comparable(change.moved_to)] = file
        return file

    def files(self) -> tuple[ChangedFile, ...]:
        """The files, in the order in which they were first changed."""
        return tuple(
            ChangedFile(
                path=diff.path,
                added=diff.added,
                removed=diff.removed,
                created=diff.created,
                deleted=diff.deleted,
                edits=tuple(file.edits),
            )
            for file, diff in self._diffs()
        )

    def diffs(self) -> tuple[FileDiff, ...]:
        """The files with all their edits as one diff."""
        return tuple(diff for _, diff in self._diffs())

    def _diffs(self) -> Iterator[tuple[_File, FileDiff]]:
        for one in self._files.values():
            hunks = tuple(
                DiffHunk(
                    lines=hunk.lines,
                    old_start=hunk.old_start,
                    new_start=hunk.new_start,
                    edits=tuple(one.edits[edit] for edit in hunk.edits),
                )
                for hunk in one.diff.hunks()
            )
            marks = [line[0] for hunk in hunks for line in hunk.lines]
            yield (
                one,
                FileDiff(
                    path=one.path,
                    moved_from=None if one.old_path == one.path else one.old_path,
                    added=marks.count("+"),
                    removed=marks.count("-"),
                    created=one.created,
                    deleted=one.deleted,
                    combined=one.diff.is_combined,
                    hunks=hunks,
                    line_count=len(marks),
                ),
            )


def _creates(change: FileChange) -> bool:
    """Whether the file did not exist. A unified diff of a new file begins at line 0."""
    return change.change == "add" or (len(change.hunks) == 1 and change.hunks[0].old_start == 0)


def _whole_text(change: FileChange, part: ToolCallPart) -> list[str] | None:
    """The lines of the file if the change wrote all of it."""
    for hunk in change.hunks:
        if hunk.text is not None:
            return split_lines(read_text(part, hunk.text))
    if change.change == "add":
        return [line[1:] for hunk in change.hunks for line in hunk.lines]
    return None
