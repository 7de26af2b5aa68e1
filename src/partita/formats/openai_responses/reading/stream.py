"""The events of a stream → the message of the model, and the request as far as the response repeats it."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from partita.formats.events import load_events
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.openai_responses.decoder import ResponsesDecoder
from partita.formats.openai_responses.ending import ECHOES
from partita.formats.openai_responses.fields import inner
from partita.formats.openai_responses.tools import read_request
from partita.types.chunks import Chunk, ReasoningDelta, ReasoningStart, TextStart
from partita.types.json import Json, JsonObject, is_object

REPEATED: Final = "the last event that brings the response says it again"


class _Reader(ResponsesDecoder):
    """The decoder, silent about metadata that come again when a text is whole."""

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to."""
        return [_brief(chunk) for chunk in super().feed(event)]


def _brief(chunk: Chunk) -> Chunk:
    if isinstance(chunk, TextStart | ReasoningStart | ReasoningDelta):
        return replace(chunk, provider_metadata=None)
    return chunk


def read_stream(events: Sequence[Json]) -> Loaded:
    """The answer that a stream amounts to."""
    loaded = load_events(_Reader(), events)
    responses = {
        f"$[{place}].response": inner(event, "response")
        for place, event in enumerate(events)
        if is_object(event) and inner(event, "response")
    }
    losses = [Loss.of(path, said, REPEATED, "minor") for path, said in [*responses.items()][:-1]]
    echoes = _echoes(responses.values())
    request = read_request(echoes, losses) if echoes else None
    return Loaded(loaded.messages, (*loaded.losses, *losses), request)


def _echoes(responses: Iterable[JsonObject]) -> JsonObject:
    """What the responses in a stream repeat of their request. The last word counts."""
    return {
        name: said
        for response in responses
        for name, said in response.items()
        if name in ECHOES and said is not None
    }
