"""The files that a thread changed, from the edits of its calls one after the other."""

from dataclasses import dataclass, field

from partita.types.overview import ChangedFile, PartPlace
from partita.types.tool_views import FileChange

from .call_data import comparable


@dataclass(slots=True)
class _File:
    path: str
    added: int = 0
    removed: int = 0
    created: bool = False
    deleted: bool = False
    edits: list[PartPlace] = field(default_factory=list[PartPlace])


class FileChanges:
    """The changes of files. A file that was moved is the same file."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def add(self, place: PartPlace, change: FileChange) -> None:
        """A change that succeeded."""
        file = self._file(change)
        file.deleted = change.change == "delete"
        file.added += change.added
        file.removed += change.removed
        if place not in file.edits[-1:]:
            file.edits.append(place)

    def _file(self, change: FileChange) -> _File:
        key = comparable(change.path)
        file = self._files.get(key)
        if file is None:
            file = self._files[key] = _File(change.path, created=change.change == "add")
        if change.moved_to:
            del self._files[key]
            file.path = change.moved_to
            self._files[comparable(change.moved_to)] = file
        return file

    def files(self) -> tuple[ChangedFile, ...]:
        """The files, in the order in which they were first changed."""
        return tuple(
            ChangedFile(
                path=one.path,
                added=one.added,
                removed=one.removed,
                created=one.created,
                deleted=one.deleted,
                edits=tuple(one.edits),
            )
            for one in self._files.values()
        )
