"""Checks the chain that records make by naming their parents: duplicate ids, missing parents and cycles.

None of them stops the reading: a prompt whose parent is not known follows the message before it. They are
reported because other readers, and the resume of Claude Code itself, lose everything above such a line
(anthropics/claude-code#22245, #22526).
"""

from itertools import islice
from typing import Final, Protocol

from partita.types.json import Json

from .diagnostics import DUPLICATE_UUID, MISSING_PARENT, PARENT_CYCLE, Place

KEPT: Final = 1 << 16
"""How many lines are remembered. After more, a parent that is not found may be one that was forgotten."""


class Sink(Protocol):
    """The members of `LogSink` that are used here."""

    @property
    def place(self) -> Place:
        """Where the current record is."""
        ...

    @property
    def line(self) -> int:
        """The number of the current record."""
        ...

    def report(self, what: str, place: Place, detail: str = "") -> None:
        """Something is wrong with the record at `place`."""


class Links:
    """The ids of the records so far, each with its line number and its parent."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._report = sink.report
        self._lines: dict[str, tuple[int, str | None]] = {}
        self._waiting: dict[str, list[tuple[Place, str]]] = {}  # children by a parent that has not come
        self._complete = True

    def forget(self) -> None:
        """The reading begins in the middle of a file: what is not found may be above."""
        self._complete = False

    def add(self, uuid: str, parent: Json, *, may_be_elsewhere: bool = False) -> None:
        """Check a record. Unless `may_be_elsewhere`, its parent must be in the same file."""
        lines = self._lines
        above = parent if type(parent) is str else None
        if uuid not in lines and (above is None or above in lines) and uuid not in self._waiting:
            lines[uuid] = (self._sink.line, above)  # as nearly all are
            if len(lines) > 2 * KEPT:
                self._shorten()
            return
        place = self._sink.place
        first = lines.get(uuid)
        if first is not None:
            self._report(DUPLICATE_UUID, place, f"{uuid}, first on line {first[0]}")
        else:
            lines[uuid] = (place.line, above)
        if above is not None and above not in lines and self._complete and not may_be_elsewhere:
            self._waiting.setdefault(above, []).append((place, uuid))
        children = self._waiting.pop(uuid, None)
        if above is not None and (first is not None or children is not None or above == uuid):
            self._check_cycle(uuid, above, place)

    def _shorten(self) -> None:
        self._lines = dict(islice(self._lines.items(), KEPT, None))
        self._complete = False

    def finish(self) -> None:
        """Report the parents that never came."""
        for parent, children in self._waiting.items():
            for place, uuid in children:
                self._report(MISSING_PARENT, place, f"{parent}, the parent of {uuid}")
        self._waiting.clear()

    def _check_cycle(self, uuid: str, parent: str, place: Place) -> None:
        """Walk up from a line whose uuid an earlier line names or has."""
        path = [place.line]
        seen: set[str] = set()
        at: str | None = parent
        while at is not None and at != uuid and at not in seen and at in self._lines:
            seen.add(at)
            line, above = self._lines[at]
            path.append(line)
            at = above
        if at == uuid:
            self._report(PARENT_CYCLE, place, f"{uuid}: lines {', '.join(map(str, sorted(path)))}")
