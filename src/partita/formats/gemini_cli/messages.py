"""Messages, as chats record them → canonical messages, and the pieces that a response is made of."""

from collections.abc import Callable, Container, Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import SystemPart, UserPart
from partita.types.parts import DataPart, TextPart

from .calls import call_chunks, calls_of
from .content import call_of, items_of, kept, leftovers, response_of, shown, words_of

Kind: TypeAlias = Literal["prompt", "context", "results", "response", "notice", "unknown"]

CONTEXT: Final = "<session_context>"
PLACES: Final = ("Workspace Directories:**\n  - ", "working in the directory: ")
"""What stands before the folder of the project in a context, in newer and older versions."""

NOTICES: Final = frozenset({"info", "warning", "error"})
STOPPED: Final = "Request cancelled."

COMMON: Final = frozenset({"id", "timestamp", "type", "content", "displayContent"})
FIELDS: Final = {
    "gemini": COMMON | {"model", "thoughts", "tokens", "toolCalls"},
}
"""The fields that are understood, of types that have more of them than all have."""


CHECKS: Final[dict[str, Callable[[Json], bool]]] = {
    "model": lambda value: value is None or isinstance(value, str),
    "tokens": lambda value: value is None or is_object(value),
    "thoughts": lambda value: value is None or is_array(value),
    "toolCalls": lambda value: value is None or (is_array(value) and all(map(is_object, value))),
}
"""What the fields of a response should be. One that is something else is kept as it is."""


class Piece(NamedTuple):
    """One part of a response, in the order in which we show them. A call has its id as `key`."""

    kind: Literal["thought", "content", "call"]
    key: str
    value: Json


def kind_of_record(record: JsonObject) -> Kind:
    """What a record amounts to. Most that a user is said to have said are results of tools."""
    type_ = record.get("type")
    if type_ == "gemini":
        return "response"
    if type_ == "user":
        content = record.get("content")
        if any(response_of(item) is not None for item in items_of(content)):
            return "results"
        return "context" if words_of(content).startswith(CONTEXT) else "prompt"
    return "notice" if isinstance(type_, str) and type_ in NOTICES else "unknown"


def folder_in(context: str) -> str | None:
    """The folder of the project that a context names."""
    for words in PLACES:
        _, found, rest = context.partition(words)
        if found:
            return rest.partition("\n")[0].strip() or None
    return None


def user_parts(record: JsonObject) -> tuple[UserPart, ...]:
    """What a user said; what tools gave back is not said again, but by its id."""
    parts: list[UserPart] = []
    for item in items_of(record.get("content")):
        response = response_of(item)
        if response is None:
            parts.append(shown(item) or kept(item))
        else:
            parts.append(DataPart("gemini-result", {"id": response.get("id"), "name": response.get("name")}))
    return tuple(parts)


def notice_parts(record: JsonObject) -> tuple[SystemPart, ...]:
    """A notice: its words, if it has any, and its kind."""
    content = record.get("content")
    words = words_of(content)
    data = DataPart(f"gemini-{record['type']}", {} if words else {"content": content})
    return (TextPart(words), data) if words else (data,)


def metadata_of(record: JsonObject, strange: list[str]) -> Json | UnsetType:
    """What a message holds besides its parts: the model, what was shown instead, and strange fields."""
    metadata: JsonObject = {}
    if isinstance(model := record.get("model"), str):
        metadata["model"] = model
    own = {key: record[key] for key in strange}
    if (display := record.get("displayContent")) is not None and display != record.get("content"):
        own["displayContent"] = display
    return {**metadata, **(leftovers(own) or {})} or UNSET


def strange_fields(record: JsonObject) -> list[str]:
    """The fields of a message that are not understood."""
    known = FIELDS.get(record["type"], COMMON)
    strange = [] if record.keys() <= known else [key for key in record if key not in known]
    if record["type"] == "gemini":
        strange += [key for key, is_good in CHECKS.items() if key in record and not is_good(record[key])]
    return strange


def pieces_of(record: JsonObject) -> list[Piece]:
    """A response: what the model thought, said and called."""
    thoughts = record.get("thoughts")
    pieces = [Piece("thought", "", thought) for thought in (thoughts if is_array(thoughts) else ())]
    calls: dict[str, JsonObject] = {}
    for call in calls_of(record):
        calls[_name(call, record, calls)] = call
    for item in items_of(record.get("content")):
        asked = call_of(item)
        if asked is None:
            pieces.append(Piece("content", "", item))
        elif asked.get("id") not in calls:
            calls[_name(asked, record, calls)] = asked
    return pieces + [Piece("call", name, call) for name, call in calls.items()]


def extends(told: list[Piece], pieces: list[Piece]) -> bool:
    """Whether a response only grew: new pieces at the end, calls that went on."""
    return len(told) <= len(pieces) and all(
        old == new
        or (old.kind == new.kind == "call" and old.key == new.key and _goes_on(old.value, new.value))
        for old, new in zip(told, pieces, strict=False)
    )


def _goes_on(old: JsonObject, new: JsonObject) -> bool:
    """Whether a call is the same, later. A title cannot be taken back by a chunk."""
    return old.get("name") == new.get("name") and old.get("displayName") == new.get("displayName")


def piece_chunks(piece: Piece, number: int) -> Iterator[Chunk]:
    """The chunks of a piece of a response."""
    if piece.kind == "call":
        yield from call_chunks(piece.key, piece.value)
    elif piece.kind == "thought":
        yield from _thought(piece.value, str(number))
    else:
        yield from _content(piece.value, str(number))


def _name(call: JsonObject, record: JsonObject, others: Container[str]) -> str:
    """The id of a call; one of our own, if it has none or another has it too."""
    id_ = call.get("id")
    if isinstance(id_, str) and id_ and id_ not in others:
        return id_
    return next(name for number in count() if (name := f"{record['id']}-call-{number}") not in others)


def _thought(thought: Json, block: str) -> Iterator[Chunk]:
    if not is_object(thought):
        yield DataChunk("data-gemini-thought", thought)
        return
    rest = {key: value for key, value in thought.items() if key != "description"}
    subject, description = thought.get("subject"), thought.get("description")
    title = f"**{subject}**" if isinstance(subject, str) and subject else ""
    lines = [text for text in (title, description) if isinstance(text, str) and text]
    yield ReasoningStart(block, leftovers(rest))
    yield ReasoningDelta(block, "\n".join(lines))
    yield ReasoningEnd(block)


def _content(item: Json, block: str) -> Iterator[Chunk]:
    part = shown(item)
    if part is None:
        yield DataChunk("data-gemini-part", item)
    elif not isinstance(part, TextPart):
        yield FileChunk(part.url, part.media_type or "", part.provider_metadata)
    elif is_object(item) and item.get("thought") is True:
        yield ReasoningStart(block, part.provider_metadata)
        yield ReasoningDelta(block, part.text)
        yield ReasoningEnd(block)
    else:
        yield TextStart(block, part.provider_metadata)
        yield TextDelta(block, part.text)
        yield TextEnd(block)


def moment_of(value: Json) -> datetime | None:
    """A time as records give it, in UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
