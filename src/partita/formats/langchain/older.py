"""Messages of LangChain as older code writes them → canonical messages.

How something is written is noted only where we would write it otherwise.
"""

from typing import Any

from msgspec.structs import replace

from partita.formats.format import Loaded
from partita.formats.framework.members import metadata_of, noted
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import ReasoningPart

from .dump import SPELLING, dump
from .envelope import NAME
from .load import load
from .plain import REASONING
from .shapes import SHAPE

NOTED = ("provider_metadata", "call_provider_metadata", "result_provider_metadata")
"""Where notes stand."""

STRING = (None, {NAME: {"string": True}})
THOUGHT = {NAME: {SHAPE: REASONING}}


def load_older(payload: Json) -> Loaded:
    """The messages, without notes that say nothing."""
    found = load(payload)
    return Loaded(tuple(map(_plainer, found.messages)), found.losses, found.request)


def _plainer(message: Message) -> Message:
    """The message without notes on its spelling, if it is written the same without them."""
    parts = tuple(map(_without_notes, message.parts))
    content = _without_notes(message.content)
    if content is message.content and all(
        one is part for one, part in zip(parts, message.parts, strict=True)
    ):
        return message
    plainer: Message = replace(message, content=replace(content, parts=parts))
    is_same = _is_usual(message) or dump([plainer], 0).payload == dump([message], 0).payload
    return plainer if is_same else message


def _is_usual(message: Message) -> bool:
    """Whether nothing is noted but what most answers have: words as a string, thoughts beside them."""
    return message.content.provider_metadata in STRING and all(map(_has_usual_notes, message.parts))


def _has_usual_notes(part: Any) -> bool:
    if type(part) is ReasoningPart and part.provider_metadata == THOUGHT:
        return True
    return all(getattr(part, name, None) is None for name in NOTED)


def _without_notes(value: Any) -> Any:
    """A part or a content without notes on its spelling."""
    if type(value) is not ToolCallPart and getattr(value, "provider_metadata", None) is None:
        return value
    notes = {name: metadata for name in NOTED if (metadata := getattr(value, name, None))}
    changed = {name: _rest(metadata) for name, metadata in notes.items() if _is_spelt(metadata)}
    return replace(value, **changed) if changed else value


def _is_spelt(metadata: JsonObject) -> bool:
    return not SPELLING.isdisjoint(noted(metadata, NAME))


def _rest(metadata: JsonObject) -> JsonObject | None:
    note = {key: value for key, value in metadata[NAME].items() if key not in SPELLING}
    return metadata_of(NAME, note, {key: value for key, value in metadata.items() if key != NAME})
