"""Decoding whole streams, and accumulating their chunks."""

from collections.abc import Iterable

from partita.formats.format import Decoder
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.json import Json
from partita.types.messages import AssistantMessage


def decode_all(decoder: Decoder, events: Iterable[Json]) -> list[Chunk]:
    """Return the chunks of all events, and those of the end of the stream."""
    return [*(chunk for event in events for chunk in decoder.feed(event)), *decoder.finish()]


def accumulated(chunks: Iterable[Chunk]) -> AssistantMessage:
    """Return the message after the last chunk. Every chunk must be known and valid."""
    accumulator = Accumulator(id="message")
    for chunk in chunks:
        accumulator.feed(chunk)
    assert not accumulator.diagnostics
    return accumulator.snapshot()
