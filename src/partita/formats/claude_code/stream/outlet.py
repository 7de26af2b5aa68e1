"""Where chunks gather until the event that made them is done."""

from typing import Final

from msgspec import UNSET, UnsetType

from partita.types.chunks import (
    ChildChunk,
    ChildMessage,
    Chunk,
    DataChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
)
from partita.types.json import Json

UNKNOWN: Final = "data-claude-unknown"
"""The type of a chunk that holds what was not understood, whole."""


def data_type(name: str) -> str:
    """The type of a data chunk for an event of that name: `data-claude-compact-boundary`."""
    return f"data-claude-{name.replace('_', '-')}"


class Outlet:
    """Takes chunks in order and sees to it that a message has begun before anything is in it."""

    def __init__(self, message_id: str | None) -> None:
        self._message_id = message_id
        self._chunks: list[Chunk] = []
        self._ever_begun = False
        self.is_open = False
        """Whether a message has begun that nothing has ended yet."""

    def begin(self, metadata: Json | UnsetType = UNSET) -> None:
        """Begin the message, or go on with it: work after a result belongs to the same message."""
        if not self.is_open:
            self._chunks.append(MessageStart(None if self._ever_begun else self._message_id, metadata))
            self.is_open = self._ever_begun = True
        elif metadata is not UNSET:
            self._chunks.append(MessageMetadata(metadata))

    def emit(self, chunk: Chunk, path: tuple[str, ...] = ()) -> None:
        """Take a chunk of the main agent, or of the sub-agent that `path` leads to."""
        if not self.is_open:
            self.begin()
        bare = not path or type(chunk) is ChildMessage
        self._chunks.append(chunk if bare else ChildChunk(path, chunk))

    def tell(self, name: str, data: Json, *, id: str | None = None, transient: bool = False) -> None:
        """Take data about the work. It begins a message, but does not bring one back that has ended."""
        if not self._ever_begun:
            self.begin()
        self._chunks.append(DataChunk(data_type(name), data, id, transient or None))

    def puzzle(self, what: Json, path: tuple[str, ...] = ()) -> None:
        """Take what was not understood, whole."""
        if path:
            self.emit(DataChunk(UNKNOWN, what), path)
        else:
            self.tell("unknown", what)

    def end(self, chunk: MessageFinish | MessageAbort) -> None:
        """Take the end of the message."""
        self.begin()
        self._chunks.append(chunk)
        self.is_open = False

    def take(self) -> list[Chunk]:
        """The chunks since the last time."""
        chunks, self._chunks = self._chunks, []
        return chunks
