"""UI message chunks as a stream format: each event is one chunk, as JSON."""

from partita.types.chunks import Chunk
from partita.types.codec import read_chunk, to_json
from partita.types.json import Json

from .losses import Loss


class ChunkDecoder:
    """Chunks as they are."""

    def feed(self, event: Json) -> list[Chunk]:
        """The chunk that an event is."""
        return [read_chunk(event)]

    def finish(self) -> list[Chunk]:
        """Nothing: a stream of chunks closes itself, or stays open."""
        return []


class ChunkEncoder:
    """Chunks as they are, as JSON."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """None, ever."""
        return ()

    def feed(self, chunk: Chunk) -> list[Json]:
        """The event that a chunk is."""
        return [to_json(chunk)]

    def finish(self) -> list[Json]:
        """Nothing: a stream of chunks closes itself, or stays open."""
        return []
