"""Stored chunks → a message, and what of them the message does not show.

A live stream may overwrite: a later chunk replaces metadata, data or an output that an earlier one brought.
Whoever stored the chunks still has both, so what was replaced is told as a loss. A piece of a text that never
began begins it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.stream.accumulator import Accumulator
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_object, same, walk
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import DataPart

from .losses import Loss
from .rows import unpacked

REPLACED: Final = "a later chunk has replaced it"
NO_PLACE: Final = "a message has no place for it"

CLAIMS: Final[Mapping[str, frozenset[str]]] = {
    "providerMetadata": frozenset({"providerMetadata", "callProviderMetadata", "resultProviderMetadata"}),
    "toolMetadata": frozenset({"toolMetadata"}),
    "toolName": frozenset({"name"}),
    "title": frozenset({"title"}),
    "providerExecuted": frozenset({"providerExecuted"}),
    "dynamic": frozenset({"dynamic"}),
    "preliminary": frozenset({"preliminary"}),
    "data": frozenset({"data"}),
    "input": frozenset({"input", "rawInput"}),
    "output": frozenset({"output"}),
    "errorText": frozenset({"output"}),
}
"""Members of chunks that must be found again in a part of the message, and under which names."""


ANYWHERE: Final = ""
Shown: TypeAlias = tuple[str, str, bytes]
"""What a message shows: the call it belongs to, the name of a member, its value."""


class Folded(NamedTuple):
    """A message made of stored chunks, and what was said beside it."""

    message: AssistantMessage
    beside: JsonObject
    """Errors, and why the message ended, if the chunks say so."""
    losses: list[Loss]


def fold(chunks: Iterable[tuple[str, Chunk]], message_id: str) -> Folded:
    """The message that stored chunks amount to. Each comes with its path."""
    accumulator = Accumulator(id=message_id, lenient=True)
    losses: list[Loss] = []
    fed: list[tuple[str, Chunk]] = []
    for path, chunk in _begun(chunks):
        own = _renamed(path, chunk, message_id, losses)
        troubles = len(accumulator.diagnostics)
        accumulator.feed(own)
        if len(accumulator.diagnostics) > troubles:
            losses.append(Loss.of(path, to_json(chunk), accumulator.diagnostics[-1].what))
        else:
            fed.append((path, own))
    message = accumulator.finish()
    losses.extend(losses_of_chunks(fed, message))
    return Folded(message, _beside(fed, accumulator), losses)


def losses_of_chunks(fed: list[tuple[str, Chunk]], message: AssistantMessage) -> Iterator[Loss]:
    """What chunks held and their message does not. Each chunk comes with its path."""
    yield from _overwritten(fed, message)
    yield from _unlike_pieces(fed, message)


def _begun(chunks: Iterable[tuple[str, Chunk]]) -> Iterator[tuple[str, Chunk]]:
    """The chunks, with a start before each piece of a text that is not open."""
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


def _renamed(path: str, chunk: Chunk, message_id: str, losses: list[Loss]) -> Chunk:
    """The chunk without an id of its own for the message, which would be the end of what came before."""
    if not isinstance(chunk, MessageStart) or chunk.message_id in (None, message_id):
        return chunk
    losses.append(Loss.of(f"{path}.messageId", chunk.message_id, "the message has the id of its row"))
    return replace(chunk, message_id=None)


def _beside(fed: list[tuple[str, Chunk]], accumulator: Accumulator) -> JsonObject:
    aborts = [to_json(chunk) for _, chunk in fed if isinstance(chunk, MessageAbort)]
    reasons = [chunk.finish_reason for _, chunk in fed if isinstance(chunk, MessageFinish)]
    found: JsonObject = {
        "errors": list(accumulator.errors),
        "aborts": aborts,
        "finishReasons": [reason for reason in reasons if reason is not None],
    }
    return {name: value for name, value in found.items() if value}


def _overwritten(fed: list[tuple[str, Chunk]], message: AssistantMessage) -> Iterator[Loss]:
    """What chunks brought and the message does not show."""
    shown = set(_shown(message))
    metadata = message.content.metadata
    merged = {(path, dumps(leaf)) for path, leaf in walk({} if metadata is UNSET else metadata)}
    for path, chunk in fed:
        plain: JsonObject = to_json(chunk)
        match chunk:
            case ErrorChunk():
                continue
            case DataChunk(transient=True):
                yield Loss.of(path, plain, "transient data leaves no trace")
                continue
            case DataChunk():
                if _is_extended(chunk, message):
                    continue
            case NetworkExecutionStart() | NetworkExecutionEnd():
                continue  # a message has one execution, and refuses another
            case _:
                unplaced: JsonObject = dict(chunk.extra or {})
                yield from (Loss.of(f"{path}.{name}", value, NO_PLACE) for name, value in unplaced.items())
        for name in CLAIMS:
            if name in plain and not _is_shown(plain, name, shown) and not _is_merged(plain, name, message):
                yield Loss.of(f"{path}.{name}", plain[name], REPLACED)
        for inside, leaf in walk(plain.get("messageMetadata", {})):
            if leaf != {} and (inside, dumps(leaf)) not in merged:
                yield Loss.of(f"{path}.messageMetadata{inside.removeprefix('$')}", leaf, REPLACED)


def _is_extended(chunk: DataChunk, message: AssistantMessage) -> bool:
    """Whether the data of the message, which may be of a later chunk, hold all of the chunk's."""
    for part in message.parts:
        if isinstance(part, DataPart) and (part.name, part.id) == (chunk.name, chunk.id):
            return _holds(part.data, chunk.data)
    return False


def _is_merged(chunk: JsonObject, name: str, message: AssistantMessage) -> bool:
    """Whether a part has all members of an object of a chunk, beside those of later chunks."""
    if not is_object(chunk[name]):
        return False
    for part in message.parts:
        if "toolCallId" not in chunk or (isinstance(part, ToolCallPart) and part.id == chunk["toolCallId"]):
            plain: JsonObject = to_json(part)
            if any(_holds(plain.get(place), chunk[name]) for place in CLAIMS[name]):
                return True
    return False


def _holds(whole: Json, piece: Json) -> bool:
    """Whether every value in `piece` is in `whole`, at the same place."""
    held = {(path, dumps(leaf)) for path, leaf in walk(whole)}
    return all((path, dumps(leaf)) in held for path, leaf in walk(piece))


def _shown(message: AssistantMessage) -> Iterator[Shown]:
    """The members of all parts, those of a call under its id too; an output with its type and without."""
    for part in message.parts:
        plain: JsonObject = {"dynamic": False, **to_json(part)}
        for name, value in plain.items():
            bare = [value.get("value"), value] if name == "output" and is_object(value) else [value]
            for shown in map(dumps, bare):
                yield ANYWHERE, name, shown
                if isinstance(part, ToolCallPart):
                    yield part.id, name, shown


def _is_shown(chunk: JsonObject, name: str, shown: set[Shown]) -> bool:
    owner = chunk.get("toolCallId", ANYWHERE)
    if not isinstance(owner, str):  # a member that no chunk of this kind has, kept as it was
        owner = ANYWHERE
    return any((owner, place, dumps(chunk[name])) in shown for place in CLAIMS[name])


def _unlike_pieces(fed: list[tuple[str, Chunk]], message: AssistantMessage) -> Iterator[Loss]:
    """The pieces of inputs that say something else than the whole input."""
    calls = {part.id: part for part in message.parts if isinstance(part, ToolCallPart)}
    whole = {chunk.tool_call_id for _, chunk in fed if isinstance(chunk, ToolInputAvailable)}
    pieces: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for path, chunk in fed:
        if isinstance(chunk, ToolInputDelta) and chunk.tool_call_id in whole:
            pieces.setdefault(chunk.tool_call_id, []).append(chunk.input_text_delta)
            first.setdefault(chunk.tool_call_id, path)
    for id_, texts in pieces.items():
        call = calls.get(id_)
        if call is None or call.input is UNSET or not same(unpacked("".join(texts)), call.input):
            yield Loss.of(first[id_], "".join(texts), "the whole input says something else")
