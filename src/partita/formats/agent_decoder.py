"""An agent's bytes → events, live and again later: the same bytes always give the same events.

Between the two marks of a model call, every chunk comes from the decoder. So a log can be read again with a
better decoder: the chunks between the marks are replaced, those outside stay.
"""

from typing import Final, Protocol, runtime_checkable

from msgspec import UNSET

from partita.errors import FormatError
from partita.stream.records import Framing, Record, RecordReader, reader_of
from partita.types.chunks import Chunk, DataChunk, MessageStart
from partita.types.events import AgentStreamEvent, ChunkEvent, RawEvent, raw_text
from partita.types.json import Json, JsonObject, is_object

from .format import Decoder
from .registry import get_format

CALL: Final = "data-partita-call"
"""The mark before what a model or an agent said; it tells which decoder reads it."""

AGENT_MESSAGE: Final = "agentMessageId"
"""Where the metadata of a message keeps what the agent itself calls it."""

SESSION: Final = "data-partita-session"
"""The note with the agent's own id of the conversation (`sessionId`), written as soon as it is known."""

CALL_END: Final = "data-partita-call-end"
"""The mark behind it."""


@runtime_checkable
class BodyDecoder(Decoder, Protocol):
    """A decoder that also reads an answer, or an error, that came in one piece."""

    def read_body(self, body: Json) -> list[Chunk]:
        """The chunks of the whole answer."""
        ...


class Decoding:
    """Bytes in, events out, for one call of a model or one turn of an agent."""

    def __init__(self, format_name: str, framing: Framing, facts: JsonObject | None = None) -> None:
        decoder = _decoder(format_name)
        self._decoder: Decoder = decoder
        self._read = (
            decoder.read_body if framing == "body" and isinstance(decoder, BodyDecoder) else decoder.feed
        )
        self._reader: RecordReader = reader_of(framing)
        self._facts: JsonObject = {"format": format_name, "framing": framing, **(facts or {})}

    def begin(self) -> list[AgentStreamEvent]:
        """The mark that opens the call."""
        return [ChunkEvent(chunk=DataChunk(CALL, self._facts, transient=True))]

    def feed(self, data: bytes) -> list[AgentStreamEvent]:
        """The events that these bytes complete."""
        return [event for record in self._reader.feed(data) for event in self._events(record)]

    def finish(self) -> list[AgentStreamEvent]:
        """The events that close what is open when the bytes end, and the mark that closes the call."""
        events = [event for record in self._reader.finish() for event in self._events(record)]
        events += [ChunkEvent(chunk=_unnamed(chunk)) for chunk in self._decoder.finish()]
        return [*events, ChunkEvent(chunk=DataChunk(CALL_END, transient=True))]

    def _events(self, record: Record) -> list[AgentStreamEvent]:
        text = raw_text(record.raw)
        if record.event is UNSET:
            return [RawEvent(raw_text=text)]
        chunks = [_unnamed(chunk) for chunk in self._read(record.event)]
        if not chunks:
            return [RawEvent(raw_agent_message=record.event, raw_text=text)]
        first = ChunkEvent(chunk=chunks[0], raw_agent_message=record.event, raw_text=text)
        return [first, *(ChunkEvent(chunk=chunk) for chunk in chunks[1:])]


def _unnamed(chunk: Chunk) -> Chunk:
    """A start without the agent's own name for the message: whoever asked chooses its id, and keeps it."""
    if not isinstance(chunk, MessageStart) or chunk.message_id is None:
        return chunk
    said: Json = chunk.message_metadata
    if said is not UNSET and not is_object(said):
        return MessageStart(message_metadata=said)
    return MessageStart(message_metadata={**(said or {}), AGENT_MESSAGE: chunk.message_id})


def is_mark(chunk: Chunk, kind: str) -> bool:
    """Whether a chunk opens or closes a call."""
    return isinstance(chunk, DataChunk) and chunk.type == kind and chunk.transient is True


def facts_of(chunk: Chunk) -> JsonObject:
    """What the mark of a call says."""
    data: Json = chunk.data if isinstance(chunk, DataChunk) else None
    return data if is_object(data) else {}


def _decoder(format_name: str) -> Decoder:
    format_ = get_format(format_name)
    if format_.decoder is None:
        raise FormatError(f"{format_.name} does not stream", hint="name a format that has a decoder")
    return format_.decoder()
