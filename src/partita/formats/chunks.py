"""UI message chunks as a stream format: each event is one chunk, as JSON."""

from partita.types.chunks import Chunk
from partita.types.codec import read_chunk
from partita.types.json import Json


class ChunkDecoder:
    """Chunks as they are."""

    def feed(self, event: Json) -> list[Chunk]:
        """The chunk that an event is."""
        return [read_chunk(event)]

    def finish(self) -> list[Chunk]:
        """Nothing: a stream of chunks closes itself, or stays open."""
        return []
