"""The bytes of a model or an agent → events, live and from a log: equal bytes always give equal events.

Between the two markers of a call, every chunk comes from the decoder. So a log can be reread with a better
decoder: the chunks between the markers are replaced, all others are kept.
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
"""The marker before the output of a model or an agent. It names the decoder."""

AGENT_MESSAGE: Final = "agentMessageId"
"""The member of the metadata of a message with the id that the agent itself gave it."""

SESSION: Final = "data-partita-session"
"""The marker with the id that the agent gave the conversation (`sessionId`), as soon as it is known."""

CALL_END: Final = "data-partita-call-end"
"""The marker after it."""


@runtime_checkable
class BodyDecoder(Decoder, Protocol):
    """A decoder that also reads a whole response body, or an error."""

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of the whole body."""
        ...


class CallDecoder:
    """Bytes in, events out: decodes one call of a model or one turn of an agent."""

    def __init__(self, format_name: str, framing: Framing, facts: JsonObject | None = None) -> None:
        decoder = _decoder(format_name)
        self._decoder: Decoder = decoder
        self._read = (
            decoder.read_body if framing == "body" and isinstance(decoder, BodyDecoder) else decoder.feed
        )
        self._reader: RecordReader = reader_of(framing)
        self._facts: JsonObject = {"format": format_name, "framing": framing, **(facts or {})}

    def start(self) -> list[AgentStreamEvent]:
        """The marker that opens the call."""
        return [ChunkEvent(chunk=DataChunk(CALL, self._facts, transient=True))]

    def feed(self, data: bytes) -> list[AgentStreamEvent]:
        """The events that these bytes complete."""
        return [event for record in self._reader.feed(data) for event in self._events(record)]

    def finish(self) -> list[AgentStreamEvent]:
        """The events that close what is open when the bytes end, and the marker that closes the call."""
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
    """A start whose message id, which the agent chose, is moved to the metadata: the caller has its own."""
    if not isinstance(chunk, MessageStart) or chunk.message_id is None:
        return chunk
    metadata: Json = chunk.message_metadata
    if metadata is not UNSET and not is_object(metadata):
        return MessageStart(message_metadata=metadata)
    return MessageStart(message_metadata={**(metadata or {}), AGENT_MESSAGE: chunk.message_id})


def is_marker(chunk: Chunk, kind: str) -> bool:
    """Whether a chunk opens or closes a call."""
    return isinstance(chunk, DataChunk) and chunk.type == kind and chunk.transient is True


def facts_of(chunk: Chunk) -> JsonObject:
    """The data of a marker."""
    data: Json = chunk.data if isinstance(chunk, DataChunk) else None
    return data if is_object(data) else {}


def _decoder(format_name: str) -> Decoder:
    format_ = get_format(format_name)
    if format_.decoder is None:
        raise FormatError(f"{format_.name} does not stream", hint="name a format that has a decoder")
    return format_.decoder()
