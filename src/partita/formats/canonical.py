"""Partita's own messages and chunks as formats, and deprecated messages, whose content is one part.

Reading messages loses nothing: unknown members are kept in `extra`, and members of older forms get their new
names.
"""

from collections.abc import Sequence
from typing import Final

from partita.formats.losses import UNREAD
from partita.types.chunks import Chunk, ErrorChunk, MessageAbort, MessageFinish
from partita.types.codec import MESSAGES, read_chunk, read_message, to_json
from partita.types.json import Json, is_array, is_object
from partita.types.legacy import read_legacy, upgrade
from partita.types.messages import Message

from .format import Dumped, Format, Loaded
from .losses import Loss


def load_canonical(payload: Json) -> Loaded:
    """Read canonical messages, one or a list."""
    messages = MESSAGES.read(payload) if is_array(payload) else (read_message(payload),)
    return Loaded(messages, is_complete=True)


def dump_canonical(messages: Sequence[Message]) -> Dumped:
    """Write canonical messages."""
    return Dumped(to_json(messages))


def load_legacy(payload: Json) -> Loaded:
    """Read messages whose content is one part, also among messages with other contents."""
    raws = payload if is_array(payload) else [payload]
    return Loaded(tuple(upgrade(read_legacy(raw)) if _is_single(raw) else read_message(raw) for raw in raws))


def _is_single(raw: Json) -> bool:
    """Whether the content of a message is one part. Only such messages are deprecated."""
    content: Json = raw.get("content") if is_object(raw) else None
    return not isinstance(content, str) and not is_array(content)


class ChunkDecoder:
    """Reads chunks as they are. Its losses are members of chunks that never become part of a message."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self._count = 0

    def feed(self, event: Json) -> list[Chunk]:
        """Return the chunk of an event."""
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
        """Return nothing: what is open at the end of a stream of chunks stays open."""
        return []


class ChunkEncoder:
    """Writes chunks as they are."""

    losses: Final[tuple[Loss, ...]] = ()

    def feed(self, chunk: Chunk) -> list[Json]:
        """Return the event of a chunk."""
        return [to_json(chunk)]

    def finish(self) -> list[Json]:
        """Return nothing: what is open at the end of a stream of chunks stays open."""
        return []


FORMAT: Final = Format(
    "canonical", "Partita's own messages", load_canonical, dump_canonical, is_complete=True
)
LEGACY: Final = Format("legacy", "messages with one content (deprecated)", load_legacy, is_complete=True)
CHUNKS: Final = Format(
    "ai-sdk-chunks",
    "AI SDK UI message chunks, and ours",
    decoder=ChunkDecoder,
    encoder=ChunkEncoder,
    is_complete=True,
)
