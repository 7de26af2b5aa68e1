"""For decoders whose records have ids: positions of their messages, and checks of the parents they name."""

from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import Envelope

from .sink import DUPLICATE_UUID, MISSING_PARENT, PARENT_CYCLE, LogSink, Position

# Messages with ids, which records may repeat or change


class TreePosition(NamedTuple):
    """The position of a message, even if it changes: the message that it follows, and its run."""

    parent_id: str
    run_id: str | None


class MessageTree:
    """The messages of a log. A new one follows `tail`; a known one keeps its position."""

    def __init__(self, sink: LogSink) -> None:
        self.tail = sink.tail or ""
        """The message that the next one follows."""
        self._sink = sink
        self._positions: dict[str, TreePosition] = {}
        self._digests: dict[str, bytes] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._positions

    def position(self, id: str) -> TreePosition:
        """Return the position of a message; a new one is added at the end."""
        position = self._positions.get(id)
        if position is None:
            position = self._positions[id] = TreePosition(self.tail, self._sink.run_id)
            self.tail = id
        return position

    def parent(self, id: str) -> str:
        """The message that a known one follows."""
        return self._positions[id].parent_id

    def envelope(
        self, id: str, time: datetime | None, *, internal: bool = False, position: TreePosition | None = None
    ) -> Envelope:
        """Return the members of a message besides its content, at `position` or its own."""
        position = position or self.position(id)
        return {
            "id": id,
            "thread_id": self._sink.thread_id,
            "parent_id": position.parent_id,
            "run_id": position.run_id,
            "created_at": time,
            "internal": internal,
        }

    def is_changed(self, id: str, record: JsonObject) -> bool | None:
        """Whether the record of a message differs from the last one; `None` if it is nested too deeply."""
        try:
            digest = blake2b(dumps(record), digest_size=16).digest()
        except DecodeError:
            return None
        before, self._digests[id] = self._digests.get(id), digest
        return digest != before


# Records that name their parents
#
# Duplicate ids, missing parents and cycles do not stop the reader: a prompt whose parent is not known follows
# the message before it. They are reported because other readers, and Claude Code itself when it resumes, lose
# everything above such a line (anthropics/claude-code#22245, #22526).

MAX_LINES: Final = 1 << 16
"""How many lines are remembered. With more, a parent that is not found may have been forgotten."""


class RecordLinks:
    """The ids of the records so far, each with its line number and its parent."""

    def __init__(self, sink: LogSink) -> None:
        self._sink = sink
        self._lines: dict[str, tuple[int, str | None]] = {}
        self._waiting: dict[
            str, list[tuple[Position, str]]
        ] = {}  # children of parents that were not read yet
        self._complete = True

    def forget(self) -> None:
        """Start in the middle of a file, where a parent that is not found may be above."""
        self._complete = False

    def add(self, uuid: str, parent: Json, *, may_be_elsewhere: bool = False) -> None:
        """Check a record. Unless `may_be_elsewhere`, its parent must be in the same file."""
        lines = self._lines
        above = parent if type(parent) is str else None
        if uuid not in lines and (above is None or above in lines) and uuid not in self._waiting:
            lines[uuid] = (self._sink.line, above)  # as nearly all are
            if len(lines) > 2 * MAX_LINES:
                self._shorten()
            return
        position = self._sink.position
        first = lines.get(uuid)
        if first is not None:
            self._report(DUPLICATE_UUID, position, f"{uuid}, first on line {first[0]}")
        else:
            lines[uuid] = (position.line, above)
        if above is not None and above not in lines and self._complete and not may_be_elsewhere:
            self._waiting.setdefault(above, []).append((position, uuid))
        children = self._waiting.pop(uuid, None)
        if above is not None and (first is not None or children is not None or above == uuid):
            self._check_cycle(uuid, above, position)

    def _shorten(self) -> None:
        self._lines = dict(islice(self._lines.items(), MAX_LINES, None))
        self._complete = False

    def finish(self) -> None:
        """Report the parents that are in no record."""
        for parent, children in self._waiting.items():
            for position, uuid in children:
                self._report(MISSING_PARENT, position, f"{parent}, the parent of {uuid}")
        self._waiting.clear()

    def _check_cycle(self, uuid: str, parent: str, position: Position) -> None:
        """Report a cycle above a line whose uuid an earlier line has or names as its parent."""
        path = [position.line]
        seen: set[str] = set()
        current: str | None = parent
        while current is not None and current != uuid and current not in seen and current in self._lines:
            seen.add(current)
            line, above = self._lines[current]
            path.append(line)
            current = above
        if current == uuid:
            self._report(PARENT_CYCLE, position, f"{uuid}: lines {', '.join(map(str, sorted(path)))}")

    def _report(self, what: str, position: Position, detail: str) -> None:
        self._sink.report_unknown(what, detail=detail, position=position)
