"""The output of one call of a model or an agent: bytes → events, live and from a log.

Equal bytes always give equal events. All chunks between the two markers of a call come from its decoder. So a
log can be reread with a better decoder: those chunks are replaced, all others are kept.
"""

from typing import Final, Protocol, runtime_checkable

from msgspec import UNSET

from partita.errors import FormatError
from partita.stream.records import Framing, Record, RecordReader, reader_of
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    DataChunk,
    MessageStart,
    RawEvent,
    raw_text,
)
from partita.types.json import Json, JsonObject, is_object

from .format import Decoder
from .registry import get_format

CALL: Final = "data-partita-call"
"""The chunk before the output of a call. It names the decoder."""

AGENT_MESSAGE: Final = "agentMessageId"
"""The member of a message's metadata with the id that the agent gave the message."""

SESSION: Final = "data-partita-session"
"""The chunk with the id that the agent gave the conversation (`sessionId`), as soon as it is known."""

CALL_END: Final = "data-partita-call-end"
"""The chunk after the output of a call."""


@runtime_checkable
class BodyDecoder(Decoder, Protocol):
    """A decoder that can also read a whole response body, or an error."""

    def read_body(self, body: Json) -> list[Chunk]:
        """Return the chunks of a body."""
        ...


class CallDecoder:
    """Decodes the bytes of one call of a model, or of one turn of an agent, into events."""

    def __init__(self, format_name: str, framing: Framing, facts: JsonObject | None = None) -> None:
        decoder = _decoder(format_name)
        self._decoder: Decoder = decoder
        self._read = (
            decoder.read_body if framing == "body" and isinstance(decoder, BodyDecoder) else decoder.feed
        )
        self._reader: RecordReader = reader_of(framing)
        self._facts: JsonObject = {"format": format_name, "framing": framing, **(facts or {})}

    def start(self) -> list[AgentStreamEvent]:
        """Return the marker that begins the call."""
        return [ChunkEvent(chunk=DataChunk(CALL, self._facts, transient=True))]

    def feed(self, data: bytes) -> list[AgentStreamEvent]:
        """Return the events that these bytes complete."""
        return [event for record in self._reader.feed(data) for event in self._events(record)]

    def finish(self) -> list[AgentStreamEvent]:
        """Return the events that end whatever is open, and the marker that ends the call."""
        events = [event for record in self._reader.finish() for event in self._events(record)]
        events += [ChunkEvent(chunk=_without_id(chunk)) for chunk in self._decoder.finish()]
        return [*events, ChunkEvent(chunk=DataChunk(CALL_END, transient=True))]

    def _events(self, record: Record) -> list[AgentStreamEvent]:
        text = raw_text(record.raw)
        if record.event is UNSET:
            return [RawEvent(raw_text=text)]
        chunks = [_without_id(chunk) for chunk in self._read(record.event)]
        if not chunks:
            return [RawEvent(raw_agent_message=record.event, raw_text=text)]
        first = ChunkEvent(chunk=chunks[0], raw_agent_message=record.event, raw_text=text)
        return [first, *(ChunkEvent(chunk=chunk) for chunk in chunks[1:])]


def _without_id(chunk: Chunk) -> Chunk:
    """Return a message start without the id that the agent chose. It is moved to the metadata."""
    if not isinstance(chunk, MessageStart) or chunk.message_id is None:
        return chunk
    metadata: Json = chunk.message_metadata
    if metadata is not UNSET and not is_object(metadata):
        return MessageStart(message_metadata=metadata)
    return MessageStart(message_metadata={**(metadata or {}), AGENT_MESSAGE: chunk.message_id})


def is_marker(chunk: Chunk, kind: str) -> bool:
    """Whether a chunk is the marker of that kind."""
    return isinstance(chunk, DataChunk) and chunk.type == kind and chunk.transient is True


def facts_of(chunk: Chunk) -> JsonObject:
    """Return the data of a marker."""
    data: Json = chunk.data if isinstance(chunk, DataChunk) else None
    return data if is_object(data) else {}


def _decoder(format_name: str) -> Decoder:
    format_ = get_format(format_name)
    if format_.decoder is None:
        raise FormatError(f"{format_.name} does not stream", hint="name a format that has a decoder")
    return format_.decoder()
