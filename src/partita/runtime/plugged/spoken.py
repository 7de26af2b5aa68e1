"""Chunks that another package's event amounts to, with that event as it was."""

from collections.abc import Sequence

from partita.types.chunks import Chunk
from partita.types.events import AgentStreamEvent, ChunkEvent, RawEvent, raw_text


def spoken(chunks: Sequence[Chunk], raw: bytes) -> list[AgentStreamEvent]:
    """The chunks, the first of them with the event as a line of JSON; without any, that line alone."""
    line = raw_text(raw) + "\n"
    if not chunks:
        return [RawEvent(raw_text=line)]
    first = ChunkEvent(chunk=chunks[0], raw_text=line)
    return [first, *(ChunkEvent(chunk=chunk) for chunk in chunks[1:])]
