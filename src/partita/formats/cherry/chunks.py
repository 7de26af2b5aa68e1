"""Chunks as Cherry Studio stored them in its first versions → canonical parts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.event_streams import fold
from partita.formats.losses import Loss
from partita.types.chunks import Chunk, TextDelta, TextEnd
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Part
from partita.types.parts import DataPart

MIN_CUMULATIVE: Final = 3
"""If at least so many pieces each begin with the previous one, each of them is the whole text so far."""


def load_chunks(
    raws: Sequence[Json], message_id: str, path: str, losses: list[Loss]
) -> tuple[Sequence[Part], JsonObject]:
    """Return the parts of the chunks, and values that are not part of the message."""
    chunks: list[tuple[str, Chunk]] = []
    for index, raw in enumerate(raws):
        try:
            chunks.append((f"{path}[{index}]", read_chunk(raw)))
        except DecodeError as error:
            losses.append(Loss.of(f"{path}[{index}]", raw, f"not a chunk: {error}"))
    folded = fold(_as_deltas(chunks), message_id)
    losses.extend(folded.losses)
    other_values = dict(folded.beside)
    errors = [DataPart("error", {"message": text}) for text in other_values.pop("errors", ())]
    metadata = folded.message.content.metadata
    return (*folded.message.parts, *errors), other_values | (
        {} if metadata is UNSET else {"messageMetadata": metadata}
    )


def _as_deltas(chunks: Sequence[tuple[str, Chunk]]) -> Iterator[tuple[str, Chunk]]:
    """Yield the chunks. Pieces that are all of their text so far are replaced by the text they add."""
    cumulative = set(_cumulative_pieces(chunks))
    so_far: dict[str, str] = {}
    for place, (path, chunk) in enumerate(chunks):
        match chunk:
            case TextDelta(id=id_, delta=delta) if place in cumulative:
                yield path, replace(chunk, delta=delta.removeprefix(so_far.get(id_, "")))
                so_far[id_] = delta
            case TextEnd(id=id_):
                so_far.pop(id_, None)
                yield path, chunk
            case _:
                yield path, chunk


def _cumulative_pieces(chunks: Sequence[tuple[str, Chunk]]) -> Iterator[int]:
    """Yield the indexes of pieces that are all of their text so far."""
    open_: dict[str, list[tuple[int, str]]] = {}
    for place, (_, chunk) in enumerate(chunks):
        match chunk:
            case TextDelta(id=id_, delta=delta):
                open_.setdefault(id_, []).append((place, delta))
            case TextEnd(id=id_) if id_ in open_:
                yield from _if_cumulative(open_.pop(id_), _value(chunk))
            case _:
                pass
    for pieces in open_.values():
        yield from _if_cumulative(pieces, None)


def _if_cumulative(pieces: Sequence[tuple[int, str]], value: Json) -> Iterator[int]:
    texts = [text for _, text in pieces]
    grows = all(
        after.startswith(before) and len(after) > len(before) > 0 for before, after in pairwise(texts)
    )
    if len(texts) > 1 and grows and (len(texts) >= MIN_CUMULATIVE or value == texts[-1]):
        yield from (place for place, _ in pieces)


def _value(chunk: TextEnd) -> Json:
    """Return the whole text, which the end of a text repeats."""
    text = (chunk.provider_metadata or {}).get("text")
    return text.get("value") if is_object(text) else None
