"""A recorded stream, all of its events at hand, as the message they amount to."""

from collections.abc import Iterator, Sequence

from partita.errors import PartitaError
from partita.types.chunks import Chunk, MessageStart
from partita.types.json import Json

from .folding import fold
from .format import Decoder, Loaded

UNNAMED = "message-1"
"""The id of a message whose stream gives it none."""


def load_events(decoder: Decoder, events: Sequence[Json]) -> Loaded:
    """The message that a stream amounts to, and what of its chunks the message does not show."""
    told = list(_told(decoder, events))
    starts = (chunk.message_id for _, chunk in told if isinstance(chunk, MessageStart))
    folded = fold(told, next(filter(None, starts), UNNAMED))
    return Loaded((folded.message,), tuple(folded.losses))


def _told(decoder: Decoder, events: Sequence[Json]) -> Iterator[tuple[str, Chunk]]:
    """The chunks of a stream, each with the path of its event."""
    for number, event in enumerate(events):
        path = f"$[{number}]"
        try:
            chunks = decoder.feed(event)
        except PartitaError as error:
            error.where = f"{path}{error.where.removeprefix('$') if error.where else ''}"
            raise
        yield from ((path, chunk) for chunk in chunks)
    yield from ((f"$[{len(events)}]", chunk) for chunk in decoder.finish())
