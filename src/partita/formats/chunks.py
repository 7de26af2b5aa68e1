"""UI message chunks as a stream format: each event is one chunk, as JSON."""

from typing import Final

from partita.formats.reasons import UNREAD
from partita.types.chunks import Chunk, ErrorChunk, MessageAbort, MessageFinish
from partita.types.codec import read_chunk, to_json
from partita.types.json import Json

from .format import Format
from .losses import Loss


class ChunkDecoder:
    """Chunks as they are. Its losses are chunks that never change the message."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self._count = 0

    def feed(self, event: Json) -> list[Chunk]:
        """The chunk of an event."""
        chunk = read_chunk(event)
        path = f"$[{self._count}]"
        self._count += 1
        match chunk:
            case ErrorChunk(error_text=text):
                self.losses.append(Loss.of(f"{path}.errorText", text, UNREAD))
            case MessageAbort(reason=str(reason)):
                self.losses.append(Loss.of(f"{path}.reason", reason, UNREAD))
            case MessageFinish(finish_reason=str(reason)):
                self.losses.append(Loss.of(f"{path}.finishReason", reason, UNREAD))
            case _:
                pass
        return [chunk]

    def finish(self) -> list[Chunk]:
        """Nothing: what is open at the end of a stream of chunks stays open."""
        return []


class ChunkEncoder:
    """Chunks as they are, as JSON."""

    losses: Final[tuple[Loss, ...]] = ()

    def feed(self, chunk: Chunk) -> list[Json]:
        """The event of a chunk."""
        return [to_json(chunk)]

    def finish(self) -> list[Json]:
        """Nothing: what is open at the end of a stream of chunks stays open."""
        return []


FORMAT: Final = Format(
    "ai-sdk-chunks",
    "AI SDK UI message chunks, and ours",
    decoder=ChunkDecoder,
    encoder=ChunkEncoder,
    is_complete=True,
)
