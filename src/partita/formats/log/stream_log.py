"""A recorded stream, read as a log: the output of an agent that was saved to a file."""

from collections.abc import Callable
from typing import Final

from partita.formats.format import Decoder
from partita.types.chunks import Chunk, MessageFinish, MessageStart
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantContent, AssistantMessage

from .sink import Fact, LogSink

FACTS: Final[tuple[Fact, ...]] = ("sessionId", "model", "cwd")
"""The members of the metadata of messages that are facts about the thread."""


class StreamLogDecoder:
    """Reads the events of a stream. Each message of the stream becomes a message of the log."""

    def __init__(self, sink: LogSink, make: Callable[[], Decoder]) -> None:
        """`make` creates the decoder of the stream."""
        self._sink = sink
        self._decoder = make()
        self._count = 0
        self._message: str | None = None

    def feed(self, record: JsonObject) -> None:
        """Read the next event."""
        for chunk in self._decoder.feed(record):
            self._add(chunk)

    def finish(self) -> None:
        """End what is open."""
        for chunk in self._decoder.finish():
            self._add(chunk)

    def _add(self, chunk: Chunk) -> None:
        if isinstance(chunk, MessageStart) and chunk.message_id not in (None, self._message):
            self._message = None
        if self._message is None:
            self._count += 1
            id_ = chunk.message_id if isinstance(chunk, MessageStart) else None
            self._message = id_ or f"answer-{self._count}"
            content = AssistantContent(parts=())
            self._sink.open(AssistantMessage(id=self._message, created_at=self._sink.time, content=content))
        if isinstance(chunk, MessageStart):
            chunk = MessageStart(message_metadata=chunk.message_metadata)
            if is_object(chunk.message_metadata):
                self._set_facts(chunk.message_metadata)
        self._sink.append(self._message, chunk)
        if isinstance(chunk, MessageFinish):
            self._sink.close(self._message)
            self._sink.end_turn("failed" if chunk.finish_reason == "error" else "completed")
            self._message = None

    def _set_facts(self, metadata: JsonObject) -> None:
        for fact in FACTS:
            value = metadata.get(fact)
            if isinstance(value, str):
                self._sink.set_fact(fact, value)
