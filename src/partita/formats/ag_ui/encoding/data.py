"""Data as events: those that stand for an event become it again, all others are custom events."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET

from partita.types.chunks import DataChunk
from partita.types.json import JsonObject, is_array, is_object

from . import names

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


def event_of_data(chunk: DataChunk) -> JsonObject | None:
    """The event that tells of data; `None` if none does."""
    kind, data = chunk.type, chunk.data
    if kind in SILENT:
        return None
    if kind in WHOLE and data is not UNSET and (kind == names.STATE or is_array(data)):
        type_, member = WHOLE[kind]
        return {"type": type_, member: data}
    if kind in SPREAD and is_object(data):
        type_, needed = SPREAD[kind]
        named = {"messageId": chunk.id} if kind == names.ACTIVITY and chunk.id else {}
        if all(name in data for name in needed) and (kind != names.ACTIVITY or named):
            return {"type": type_, **named, **data}
    if kind == names.EVENT and is_object(data) and isinstance(data.get("type"), str):
        return data
    marks: JsonObject = {"id": chunk.id, "transient": chunk.transient}
    marks = {name: value for name, value in marks.items() if value is not None}
    metadata = {"metadata": marks} if marks else {}
    return {"type": "CUSTOM", "name": chunk.name, "value": None if data is UNSET else data, **metadata}
