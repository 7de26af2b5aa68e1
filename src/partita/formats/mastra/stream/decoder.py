"""Chunks of Mastra's streams → our chunks: of agents, workflows and networks.

A stream may bring several messages: each begins with a start that names it. What has no place in a message
stands in its metadata under `mastra`; chunks that nobody knows are data. Told in `losses`: data that later
data replaced, and transient data.
"""

from partita.errors import StreamError
from partita.formats.losses import Loss
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, is_object, kind_of

from .network import Network
from .speaker import Speaker


class MastraStreamDecoder:
    """Chunks of Mastra in, ours out."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        """What came and went, with its path in the list of chunks."""
        self._fed = 0
        self._chunks: list[Chunk] = []
        self._speaker = Speaker(self._chunks, self.losses)
        self._network = Network(self._speaker)

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one of Mastra's amounts to."""
        where = f"$[{self._fed}]"
        chunk = _checked(event, where)
        self._fed += 1
        if not self._network.feed(chunk, where):
            self._speaker.feed(chunk, where)
        return self._take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open."""
        self._network.close()
        self._speaker.close()
        return self._take()

    def _take(self) -> list[Chunk]:
        chunks = list(self._chunks)
        self._chunks.clear()
        return chunks


def _checked(event: Json, where: str) -> JsonObject:
    if not is_object(event):
        raise StreamError(
            f"a chunk is an object, found {kind_of(event)}", where=where, hint="give parsed JSON"
        )
    if not isinstance(event.get("type"), str):
        raise StreamError(
            "a chunk without a type", where=f"{where}.type", hint="give {type, runId, from, payload}"
        )
    return event
