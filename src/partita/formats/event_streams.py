"""Streams → messages, with the losses of a recording: values of events that are not in the messages.

`fold_events` folds events as they arrive, as a client does. `load_events` reads a recording of which all
events are available, and `fold` the chunks of one message. These two are tolerant: a delta of a text that
never started starts it, and chunks that do not fit are losses.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.core.members import parsed
from partita.stream.accumulator import Accumulator, Diagnostic, MessagesAccumulator
from partita.types.chunks import (
    ChildChunk,
    ChildMessage,
    Chunk,
    CustomChunk,
    DataChunk,
    FileChunk,
    MessageAbort,
    MessageFinish,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    SourceDocumentChunk,
    SourceUrlChunk,
    SteeringMessageChunk,
    StepReset,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalResponse,
    ToolInputDelta,
    UnknownChunk,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, limited_depth
from partita.types.messages import AssistantMessage, Message, ToolCallPart, network_call_id
from partita.types.parts import DataPart, ReasoningPart, TextPart, ToolOutputBase

from .format import Decoder, Loaded, losses_of
from .losses import ORDERED, OTHER_ID, OTHER_INPUT, REPLACED, UNREAD, Loss, json_losses

# Losses of chunks: in a live stream, a later chunk replaces metadata, data, an input or an output of an
# earlier one. A recording has both, so the replaced value is a loss. Each member of a chunk that can be
# replaced is compared with the part that it was for. Everything else in a chunk is in the message, because
# it is only added (texts, files and sources) or only connects chunks (the id of a text, an encoding).

RESET: Final = "a reset of the step has removed it"
TRANSIENT: Final = "transient data is not kept in the message"

PlacedChunk: TypeAlias = tuple[str, Chunk]
"""The path of an event, and a chunk of it."""

FIELDS: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "provider_metadata": (
        "providerMetadata",
        ("provider_metadata", "call_provider_metadata", "result_provider_metadata"),
    ),
    "tool_metadata": ("toolMetadata", ("tool_metadata",)),
    "tool_name": ("toolName", ("name",)),
    "title": ("title", ("title",)),
    "provider_executed": ("providerExecuted", ("provider_executed",)),
    "dynamic": ("dynamic", ("dynamic",)),
    "preliminary": ("preliminary", ("preliminary",)),
    "input": ("input", ("input", "raw_input")),
    "output": ("output", ("output",)),
    "error_text": ("errorText", ("output",)),
    "approval_id": ("approvalId", ("approval.id",)),
    "approved": ("approved", ("approval.approved",)),
    "reason": ("reason", ("approval.request_reason", "approval.reason")),
    "is_automatic": ("isAutomatic", ("approval.is_automatic",)),
    "signature": ("signature", ("approval.signature",)),
    "approval_descriptor": ("approvalDescriptor", ("approval.descriptor",)),
    "input_schema_input": ("inputSchemaInput", ("approval.input_schema_input",)),
    "data": ("data", ("data",)),
}
"""Fields of chunks that can be replaced: their names on the wire, and the fields of parts for them."""

BLOCKS: Final[Mapping[type[Any], type[Any]]] = {
    **dict.fromkeys((TextStart, TextDelta, TextEnd), TextPart),
    **dict.fromkeys((ReasoningStart, ReasoningDelta, ReasoningEnd), ReasoningPart),
}
"""Chunks that have no id of their part, and the type of that part."""

ADDED: Final = (
    CustomChunk,
    FileChunk,
    ReasoningFileChunk,
    SourceDocumentChunk,
    SourceUrlChunk,
    SteeringMessageChunk,
)
"""Chunks that become a part of their own."""

Thread: TypeAlias = tuple[str, ...]
"""The ids of the calls that lead to a sub-agent's messages; empty for the message itself."""


def chunk_losses(chunks: Sequence[PlacedChunk], message: AssistantMessage) -> Iterator[Loss]:
    """Yield a loss for each value of the chunks that is not in their message."""
    content = _Content()
    content.add(message, ())
    unwrapped = [(path, *_unwrapped(chunk)) for path, chunk in chunks]
    removed = set(_removed(unwrapped))
    for index, (path, thread, chunk) in enumerate(unwrapped):
        if index in removed:
            yield Loss.of(path, chunk, RESET)
        elif isinstance(chunk, ChildMessage):
            yield from _missing(to_json(chunk.message), map(to_json, content.messages.get(thread, ())), path)
        elif isinstance(chunk, DataChunk) and chunk.transient:
            yield Loss.of(path, chunk, TRANSIENT)
        else:
            yield from _fields(chunk, content, thread, path)
    yield from _replaced_inputs([one for at, one in enumerate(unwrapped) if at not in removed], content)


class _Content:
    """A message and those of its sub-agents, and their parts by the keys that chunks have for them."""

    def __init__(self) -> None:
        self.messages: dict[Thread, list[Message]] = {}
        self._parts: dict[tuple[Thread, Any], list[Any]] = {}

    def add(self, message: Message, thread: Thread) -> None:
        self.messages.setdefault(thread, []).append(message)
        for part in message.parts:
            self._parts.setdefault((thread, _owner_of(part)), []).append(part)
            if isinstance(part, ToolCallPart):
                if part.approval is not None:
                    self._parts.setdefault((thread, ("approval", part.approval.id)), []).append(part)
                for child in part.children:
                    self.add(child, (*thread, part.id))
        network = message.content.network_execution if isinstance(message, AssistantMessage) else None
        if network is not None and network.final_result is not None:
            for child in network.final_result.messages:
                self.add(child, (*thread, network_call_id(message.id)))

    def parts_of(self, chunk: Chunk, thread: Thread) -> Sequence[Any]:
        """Return the parts that a chunk may be for."""
        return self._parts.get((thread, _owner(chunk)), ())

    def call(self, thread: Thread, id_: str) -> ToolCallPart | None:
        """Return the first call of an id."""
        return next(iter(self._parts.get((thread, id_), ())), None)


def _owner_of(part: Any) -> Any:
    if isinstance(part, ToolCallPart):
        return part.id
    return ("data", part.name, part.id) if isinstance(part, DataPart) else type(part)


def _owner(chunk: Chunk) -> Any:
    """Return the key of the part that a chunk is for, an id or else a type; `None` if there is none."""
    if isinstance(chunk, DataChunk):
        return ("data", chunk.name, chunk.id)
    if isinstance(chunk, ToolApprovalResponse):
        return ("approval", chunk.approval_id)
    return BLOCKS.get(type(chunk)) or getattr(chunk, "tool_call_id", None)


def _unwrapped(chunk: Chunk) -> tuple[Thread, Chunk]:
    """Return the sub-agent that a chunk is for, and the chunk without the envelopes that address it."""
    thread: Thread = ()
    while isinstance(chunk, ChildChunk):
        thread, chunk = (*thread, *chunk.path), chunk.chunk
    return ((*thread, *chunk.path), chunk) if isinstance(chunk, ChildMessage) else (thread, chunk)


def _removed(chunks: Sequence[tuple[str, Thread, Chunk]]) -> Iterator[int]:
    """Yield the indexes of chunks that a reset of their step removes from the message.

    Chunks about a call of an earlier step are not removed.
    """
    steps: dict[Thread, list[int]] = {}
    earlier: dict[Thread, set[str]] = {}
    for index, (_, thread, chunk) in enumerate(chunks):
        step = steps.setdefault(thread, [])
        if isinstance(chunk, StepReset):
            yield from step
            step.clear()
        elif isinstance(chunk, StepStart | MessageStart):
            ids = (getattr(chunks[at][2], "tool_call_id", "") for at in step)
            earlier.setdefault(thread, set()).update(ids)
            step.clear()
        elif getattr(chunk, "tool_call_id", None) not in earlier.get(thread, ()) and _is_part(chunk):
            step.append(index)


def _is_part(chunk: Chunk) -> bool:
    """Whether a chunk is for a part."""
    return isinstance(chunk, ADDED) or _owner(chunk) is not None


def _fields(chunk: Chunk, content: _Content, thread: Thread, path: str) -> Iterator[Loss]:
    parts = content.parts_of(chunk, thread)
    if _owner(chunk) is not None:
        for name in chunk.__struct_fields__:
            value = getattr(chunk, name) if name in FIELDS else None
            if value is not None and value is not UNSET:
                wire_name, fields = FIELDS[name]
                candidates = (one for part in parts for field in fields for one in _values(part, field))
                yield from _missing(to_json(value), candidates, f"{path}.{wire_name}")
    metadata = getattr(chunk, "message_metadata", None)
    if metadata is not None and metadata is not UNSET:
        metadatas = (one.content.metadata for one in content.messages.get(thread, ()))
        yield from _missing(metadata, metadatas, f"{path}.messageMetadata")
    if isinstance(chunk, DataChunk):
        yield from _missing(dict(chunk.extra or {}), (dict(part.extra or {}) for part in parts), path)
    elif not isinstance(chunk, UnknownChunk):
        for name, value in (chunk.extra or {}).items():
            yield Loss.of(f"{path}.{name}", value, UNREAD)


def _values(part: Any, field: str) -> Iterator[Json]:
    """Yield the value of a field of a part; an output with its type, and without."""
    outer, _, inner = field.rpartition(".")
    holder = getattr(part, outer, None) if outer else part
    value = getattr(holder, inner, None)
    if isinstance(value, ToolOutputBase):
        yield to_json(getattr(value, "value", None))
    if value is not UNSET:
        yield to_json(value)


def _missing(value: Json, candidates: Iterable[Json], path: str) -> list[Loss]:
    """Return the losses of a value compared with the most similar of the values that may contain it."""
    if value == {}:
        return []
    fewest: list[Loss] | None = None
    for candidate in candidates:
        if value is False and candidate is None:  # a flag that is not set
            return []
        losses = [loss for loss in json_losses(value, candidate, path, REPLACED) if loss.what != "{}"]
        if not losses:
            return []
        if fewest is None or len(losses) < len(fewest):
            fewest = losses
    found = [Loss.of(path, value, REPLACED)] if fewest is None else fewest
    return [loss._replace(severity="lost") for loss in found]


def _replaced_inputs(chunks: Iterable[tuple[str, Thread, Chunk]], content: _Content) -> Iterator[Loss]:
    """Yield the losses of input deltas whose calls have another input."""
    deltas: dict[tuple[Thread, str], list[tuple[str, str]]] = {}
    for path, thread, chunk in chunks:
        if isinstance(chunk, ToolInputDelta):
            deltas.setdefault((thread, chunk.tool_call_id), []).append((path, chunk.input_text_delta))
    for (thread, id_), pieces in deltas.items():
        text = "".join([text for _, text in pieces])
        call = content.call(thread, id_)
        inputs = () if call is None else (call.raw_input, call.input)
        if not any(one is not UNSET and _is_input(text, one) for one in inputs):
            yield from (Loss.of(path, piece, OTHER_INPUT) for path, piece in pieces if piece)


def _is_input(text: str, value: Json) -> bool:
    """Whether a text is that input, in any order of its members."""
    return text == value or all(loss.why == ORDERED for loss in json_losses(parsed(text), value, "$", ""))


_EVENT: Final = re.compile(r"\$\[(\d+)\]")

UNNAMED = "message-1"
"""The id of a message that has none in its stream."""


class FoldedEvents(NamedTuple):
    """The messages of a stream, as far as it was received."""

    messages: tuple[AssistantMessage, ...]
    errors: tuple[str, ...]
    """The texts of error chunks."""
    diagnostics: tuple[Diagnostic, ...]
    """The chunks that were skipped because they did not fit."""
    losses: tuple[Loss, ...]
    """Values of events that are not in the messages; empty unless losses were requested."""


class Folded(NamedTuple):
    """The message of recorded chunks, and values that are not part of it."""

    message: AssistantMessage
    beside: JsonObject
    """Errors, aborts and finish reasons of the chunks."""
    losses: list[Loss]


@limited_depth()
def fold_events(
    decoder: Decoder, events: Iterable[Json], *, lenient: bool = False, losses: bool = False
) -> FoldedEvents:
    """Fold a stream into messages. `losses`: whether the events are compared with the messages."""
    accumulator = MessagesAccumulator(lenient=lenient)
    fed: dict[str, list[PlacedChunk]] = {}
    for path, chunk in _decoded(decoder, events, "event {}"):
        accumulator.feed(chunk)
        if losses:
            fed.setdefault(accumulator.current_id, []).append((path, chunk))
    messages = accumulator.snapshot()
    missing = [loss for message in messages for loss in chunk_losses(fed.get(message.id, []), message)]
    return FoldedEvents(
        tuple(message if message.id else replace(message, id=UNNAMED) for message in messages),
        accumulator.errors,
        tuple(accumulator.diagnostics),
        _with_decoder_losses(decoder, missing) if losses else (),
    )


@limited_depth()
def load_events(decoder: Decoder, events: Sequence[Json]) -> Loaded:
    """Read the messages of a recorded stream, with all losses."""
    losses: list[Loss] = []
    messages: list[AssistantMessage] = []
    for id_, chunks in _by_message(_decoded(decoder, events, "$[{}]")).items():
        folded = fold(chunks, id_)
        messages.append(folded.message)
        losses += folded.losses
    joined = tuple(_with_event(loss, events) for loss in _with_decoder_losses(decoder, losses))
    return Loaded(tuple(messages), joined, is_complete=True)


def fold(chunks: Iterable[PlacedChunk], message_id: str) -> Folded:
    """Fold recorded chunks, each with its path, into one message."""
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
    """Yield the chunks, with a start before each delta of a text that is not open."""
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


def _with_decoder_losses(decoder: Decoder, losses: Sequence[Loss]) -> tuple[Loss, ...]:
    """Return the losses of a decoder, and those of its chunks that are not among them."""
    known = losses_of(decoder)
    paths = {loss.path for loss in known}
    return (*known, *(loss for loss in losses if not any(path in paths for path in _ancestors(loss.path))))


def _with_event(loss: Loss, events: Sequence[Json]) -> Loss:
    """Return the loss of a whole event with the event as value."""
    found = _EVENT.fullmatch(loss.path)
    if found is None or int(found[1]) >= len(events):
        return loss
    return Loss.of(loss.path, events[int(found[1])], loss.why, loss.severity)


def _ancestors(path: str) -> Iterator[str]:
    """Yield a path, and the paths of the values that contain it."""
    while path:
        yield path
        path = path[: max(path.rfind("."), path.rfind("["), 0)]


def _by_message(decoded: Iterable[PlacedChunk]) -> dict[str, list[PlacedChunk]]:
    """Return the chunks of each message by its id. A start with another id begins the next message."""
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
    """Yield the chunks of a stream, each with the path of its event."""
    number = 0
    for number, event in enumerate(events):
        path = place.format(number)
        try:
            chunks = decoder.feed(event)
        except PartitaError as error:
            error.where = _path_inside(path, error.where)
            raise
        yield from ((f"$[{number}]", chunk) for chunk in chunks)
    yield from ((f"$[{number + 1}]", chunk) for chunk in decoder.finish())


def _path_inside(path: str, where: str) -> str:
    """Return a path inside an event."""
    if path.startswith("$"):
        return path + where.removeprefix("$")
    return f"{path}, {where}" if where else path
