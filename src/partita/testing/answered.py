"""The messages of a recording."""

from contextlib import suppress

from partita.errors import StreamError
from partita.formats.agent_decoder import Decoding
from partita.runtime.recordings.recording import Exchange, Recording
from partita.stream.accumulator import Accumulator, close_message
from partita.types.chunks import Chunk
from partita.types.codec import CHUNK, MESSAGES
from partita.types.events import ChunkEvent
from partita.types.messages import Message


def messages_in(recording: Recording) -> tuple[Message, ...]:
    """The conversation; where none was stored, the answers, one message each."""
    if recording.messages:
        return MESSAGES.read(recording.messages)
    return tuple(_message(exchange, place) for place, exchange in enumerate(recording.exchanges, 1))


def _message(exchange: Exchange, place: int) -> Message:
    accumulator = Accumulator(id=f"answer-{place}")
    for chunk in _chunks(exchange):
        with suppress(StreamError):  # as when it was told
            accumulator.feed(chunk)
    return close_message(accumulator.snapshot(), "lost")


def _chunks(exchange: Exchange) -> list[Chunk]:
    pieces = [] if exchange.response is None else exchange.response.pieces
    framing = exchange.framing if exchange.response is None else exchange.response.framing
    if exchange.said is not None:
        pieces = [record.encode() for record in exchange.said]
    if exchange.format is None or framing is None:
        return [CHUNK.read(chunk) for chunk in exchange.chunks or ()]
    decoding = Decoding(exchange.format, framing)
    events = [event for piece in pieces for event in decoding.feed(piece)] + decoding.finish()
    return [event.chunk for event in events if isinstance(event, ChunkEvent)]
