"""Recorded streams → messages, with what of the events is not in them.

`fold_events` folds events as they come, as a client does. `load_events` reads a recording of which all events
are available, and `fold` the chunks of one message: a delta of a text that never started starts it, and
chunks that do not fit are losses.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.reasons import OTHER_ID
from partita.stream.accumulator import Accumulator, Diagnostic
from partita.stream.messages import MessagesAccumulator
from partita.types.chunks import (
    MessageAbort,
    MessageFinish,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, limited_depth
from partita.types.messages import AssistantMessage

from .chunk_losses import PlacedChunk, chunk_losses
from .format import Decoder, Loaded, losses_of
from .losses import Loss

_EVENT: Final = re.compile(r"\$\[(\d+)\]")

UNNAMED = "message-1"
"""The id of a message whose stream gives it none."""


class FoldedEvents(NamedTuple):
    """The messages of a stream, as far as it came, and what was reported besides."""

    messages: tuple[AssistantMessage, ...]
    errors: tuple[str, ...]
    """The texts of the error chunks."""
    diagnostics: tuple[Diagnostic, ...]
    """The chunks that were skipped because they did not fit."""
    losses: tuple[Loss, ...]
    """What of the events is not in the messages; `()` unless losses were asked for."""


class Folded(NamedTuple):
    """A message of recorded chunks, and what is not in it."""

    message: AssistantMessage
    beside: JsonObject
    """Errors, and why the message ended, if there are such chunks."""
    losses: list[Loss]


@limited_depth()
def fold_events(
    decoder: Decoder, events: Iterable[Json], *, lenient: bool = False, losses: bool = False
) -> FoldedEvents:
    """Fold a stream into its messages. `losses` asks for a comparison of events and messages."""
    accumulator = MessagesAccumulator(lenient=lenient)
    fed: dict[str, list[PlacedChunk]] = {}
    for path, chunk in _decoded(decoder, events, "event {}"):
        accumulator.feed(chunk)
        if losses:
            fed.setdefault(accumulator.current_id, []).append((path, chunk))
    messages = accumulator.snapshot()
    missing = [loss for message in messages for loss in chunk_losses(fed.get(message.id, []), message)]
    return FoldedEvents(
        messages,
        accumulator.errors,
        tuple(accumulator.diagnostics),
        _joined(decoder, missing) if losses else (),
    )


@limited_depth()
def load_events(decoder: Decoder, events: Sequence[Json]) -> Loaded:
    """The messages of a recorded stream, and what of its events they do not have."""
    losses: list[Loss] = []
    messages: list[AssistantMessage] = []
    for id_, chunks in _by_message(_decoded(decoder, events, "$[{}]")).items():
        folded = fold(chunks, id_)
        messages.append(folded.message)
        losses += folded.losses
    joined = tuple(_with_event(loss, events) for loss in _joined(decoder, losses))
    return Loaded(tuple(messages), joined, is_complete=True)


def fold(chunks: Iterable[PlacedChunk], message_id: str) -> Folded:
    """The message of recorded chunks, each with its path."""
    accumulator = Accumulator(id=message_id, lenient=True)
    losses: list[Loss] = []
    fed: list[PlacedChunk] = []
    for path, chunk in _with_starts(chunks):
        own = chunk
        if isinstance(chunk, MessageStart) and chunk.message_id not in (None, message_id):
            losses.append(Loss.of(f"{path}.messageId", chunk.message_id, OTHER_ID))
            own = replace(chunk, message_id=None)  # another id would start another message
        skipped = len(accumulator.diagnostics)
        accumulator.feed(own)
        if len(accumulator.diagnostics) > skipped:
            losses.append(Loss.of(path, to_json(chunk), accumulator.diagnostics[-1].what))
        else:
            fed.append((path, own))
    message = accumulator.finish()
    losses.extend(chunk_losses(fed, message))
    reasons = [chunk.finish_reason for _, chunk in fed if isinstance(chunk, MessageFinish)]
    beside: JsonObject = {
        "errors": list(accumulator.errors),
        "aborts": [to_json(chunk) for _, chunk in fed if isinstance(chunk, MessageAbort)],
        "finishReasons": [reason for reason in reasons if reason is not None],
    }
    return Folded(message, {name: value for name, value in beside.items() if value}, losses)


def _with_starts(chunks: Iterable[PlacedChunk]) -> Iterator[PlacedChunk]:
    """The chunks, with a start before each delta of a text that is not open."""
    open_: set[tuple[str, str]] = set()
    for path, chunk in chunks:
        match chunk:
            case TextStart(id=id_):
                open_.add(("text", id_))
            case ReasoningStart(id=id_):
                open_.add(("reasoning", id_))
            case TextDelta(id=id_) if ("text", id_) not in open_:
                open_.add(("text", id_))
                yield path, TextStart(id_)
            case ReasoningDelta(id=id_) if ("reasoning", id_) not in open_:
                open_.add(("reasoning", id_))
                yield path, ReasoningStart(id_)
            case TextEnd(id=id_):
                open_.discard(("text", id_))
            case ReasoningEnd(id=id_):
                open_.discard(("reasoning", id_))
            case _:
                pass
        yield path, chunk


def _joined(decoder: Decoder, losses: Sequence[Loss]) -> tuple[Loss, ...]:
    """The losses of a decoder and those of its chunks, each once."""
    known = losses_of(decoder)
    paths = {loss.path for loss in known}
    return (*known, *(loss for loss in losses if not any(path in paths for path in _ancestors(loss.path))))


def _with_event(loss: Loss, events: Sequence[Json]) -> Loss:
    """A loss of a whole event with the event, which a decoder does not keep."""
    found = _EVENT.fullmatch(loss.path)
    if found is None or int(found[1]) >= len(events):
        return loss
    return Loss.of(loss.path, events[int(found[1])], loss.why, loss.severity)


def _ancestors(path: str) -> Iterator[str]:
    """A path, and those of the values that contain it."""
    while path:
        yield path
        path = path[: max(path.rfind("."), path.rfind("["), 0)]


def _by_message(decoded: Iterable[PlacedChunk]) -> dict[str, list[PlacedChunk]]:
    """The chunks of each message by its id. A start with another id begins the next message."""
    groups: dict[str, list[PlacedChunk]] = {}
    id_ = ""
    for path, chunk in decoded:
        if isinstance(chunk, MessageStart) and chunk.message_id is not None:
            before = groups.pop(id_, []) if not id_ else []
            if any(isinstance(one, MessageFinish) for _, one in before):
                groups[UNNAMED] = before
            elif before:  # chunks before the first id belong to the first message
                groups[chunk.message_id] = before
            id_ = chunk.message_id
        groups.setdefault(id_, []).append((path, chunk))
    return {id_ or UNNAMED: chunks for id_, chunks in groups.items()} or {UNNAMED: []}


def _decoded(decoder: Decoder, events: Iterable[Json], place: str) -> Iterator[PlacedChunk]:
    """The chunks of a stream, each with the place of its event."""
    number = 0
    for number, event in enumerate(events):
        path = place.format(number)
        try:
            chunks = decoder.feed(event)
        except PartitaError as error:
            error.where = _inside(path, error.where)
            raise
        yield from ((f"$[{number}]", chunk) for chunk in chunks)
    yield from ((f"$[{number + 1}]", chunk) for chunk in decoder.finish())


def _inside(path: str, where: str) -> str:
    """A place inside an event."""
    if path.startswith("$"):
        return path + where.removeprefix("$")
    return f"{path}, {where}" if where else path
