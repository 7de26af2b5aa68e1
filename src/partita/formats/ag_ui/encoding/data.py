"""Data as events: those that stand for an event become it again, all others are custom events."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET

from partita.formats.ag_ui import names
from partita.types.chunks import Chunk, DataChunk, type_of
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_array, is_object

from .telling import Telling

WHOLE: Final[Mapping[str, tuple[str, str]]] = {
    names.STATE: ("STATE_SNAPSHOT", "snapshot"),
    names.STATE_DELTA: ("STATE_DELTA", "delta"),
    names.MESSAGES: ("MESSAGES_SNAPSHOT", "messages"),
}
"""Data that are one member of an event."""

SPREAD: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    names.ACTIVITY: ("ACTIVITY_SNAPSHOT", ("activityType", "content")),
    names.ACTIVITY_DELTA: ("ACTIVITY_DELTA", ("messageId", "activityType", "patch")),
    names.RAW: ("RAW", ("event",)),
}
"""Data that are the members of an event, and which of them it must have."""

SILENT: Final = frozenset({names.REST, names.INTERRUPT})
"""Data that were members of other events, or that the end of the run tells."""

NO_PLACE: Final = "the event that it was has no place for it"


def tell_data(chunk: DataChunk, telling: Telling) -> None:
    """Tell of data."""
    data = chunk.data
    if chunk.type in SILENT:
        told = None if data is UNSET else data
        telling.lose("data", told, "it was part of an event", "minor")
    elif chunk.type == names.EVENT and is_object(data) and isinstance(data.get("type"), str):
        telling.emit_whole(data)
        _lose_marks(chunk, telling)
    elif (event := _known_event(chunk)) is not None:
        telling.emit_own(event)
        _lose_marks(chunk, telling)
    else:
        _tell_custom(chunk, telling)


def tell_whole(chunk: Chunk, telling: Telling) -> None:
    """Tell of a chunk that has no event: it travels as it is, and only we can read it."""
    value = to_json(chunk)
    kind = type_of(chunk)
    telling.emit("CUSTOM", name=f"{names.CHUNK}{kind}", value=value)
    telling.lose("", value, f"there is no event for {kind}: it is a custom one", "changed")


def _known_event(chunk: DataChunk) -> JsonObject | None:
    """The event that data stand for; `None` if they stand for none."""
    kind, data = chunk.type, chunk.data
    if kind in WHOLE and data is not UNSET and (kind == names.STATE or is_array(data)):
        type_, member = WHOLE[kind]
        return {"type": type_, member: data}
    if kind not in SPREAD or not is_object(data) or "type" in data:
        return None
    type_, needed = SPREAD[kind]
    if not all(name in data for name in needed):
        return None
    if kind != names.ACTIVITY:
        return {"type": type_, **data}
    is_named = chunk.id and names.MESSAGE_ID not in data
    return {"type": type_, names.MESSAGE_ID: chunk.id, **data} if is_named else None


def _lose_marks(chunk: DataChunk, telling: Telling) -> None:
    """Tell what data say of themselves, where their event has no place for it."""
    if chunk.id is not None and chunk.type != names.ACTIVITY:
        telling.lose("id", chunk.id, NO_PLACE, "minor")
    if chunk.transient is not None:
        telling.lose("transient", chunk.transient, NO_PLACE, "minor")


def _tell_custom(chunk: DataChunk, telling: Telling) -> None:
    """Data of the application. A value is required, be it null."""
    event: JsonObject = {"type": "CUSTOM", "name": chunk.name}
    event["value"] = None if chunk.data is UNSET else chunk.data
    marks: JsonObject = {"id": chunk.id, "transient": chunk.transient}
    if known := {name: value for name, value in marks.items() if value is not None}:
        event["metadata"] = known
    telling.emit_own(event)
    if chunk.data is UNSET:
        telling.lose("data", None, "an event without a value says null", "repaired")
