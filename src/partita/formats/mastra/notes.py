"""Notes about Mastra's messages: values that have no canonical field.

Unknown members are `extra` members of canonical values. The original form of a value is a note, in provider
metadata, or in `extra` of values without provider metadata.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from partita.formats.core.metadata import add_notes, notes, without_notes
from partita.formats.core.wire import Wire
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, NetworkExecution, ToolCallPart
from partita.types.value import Extra, Value, keep_fields, kept_fields, wire_names

from .wire import NAME

NOTE_PREFIX: Final = "mastra:"
"""The prefix of notes in `extra`."""

NOTE: Final = f"{NOTE_PREFIX}note"
"""The member of `extra` with the notes about a network execution, or its result.

Older versions also wrote such notes about messages and parts. They are not written back.
"""

ValueT = TypeVar("ValueT", bound=Value)


def unknown_members(block: Wire) -> JsonObject:
    """Return the members of a wire object that its type does not declare."""
    if not block.extra:
        return {}
    declared = wire_names(type(block))
    return {name: value for name, value in block.extra.items() if name not in declared}


def extra_of(rest: Mapping[str, Any], note: JsonObject, type_: type[Value]) -> Extra | None:
    """Return the `extra` of a `type_`: unknown members, and a note."""
    return keep_fields({**rest, **({NOTE: note} if note else {})}, type_)


def note_in_extra(value: Value) -> JsonObject:
    """Return the note in the `extra` of a value."""
    note = value.extra.get(NOTE) if value.extra else None
    return note if is_object(note) else {}


def members_of(value: Value) -> JsonObject:
    """Return the unknown members of a value by their names on the wire, without notes."""
    if not value.extra:
        return {}
    return {name: one for name, one in kept_fields(value.extra).items() if not name.startswith(NOTE_PREFIX)}


def metadata_field(part: Any) -> str:
    """Return the field of a part that has its notes."""
    return "call_provider_metadata" if isinstance(part, ToolCallPart) else "provider_metadata"


def part_notes(part: Any) -> JsonObject:
    """Return the notes about a part."""
    return notes(getattr(part, metadata_field(part), None), NAME)


def with_part_notes(part: Any, more: JsonObject) -> Any:
    """Return a part with more notes."""
    field = metadata_field(part)
    return replace(part, **{field: add_notes(getattr(part, field), NAME, more)}) if more else part


def strip_notes(message: Message) -> Message:
    """Return a message and the messages of its sub-agents without notes, for readers of other formats."""
    content: Any = _without_notes(message.content)
    changes: dict[str, Any] = {"parts": tuple(map(_strip_part, content.parts))}
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        changes["network_execution"] = _strip_network(message.content.network_execution)
    return replace(_without_notes(message), content=replace(content, **changes))


def _strip_part(part: Any) -> Any:
    if isinstance(part, ToolCallPart) and part.children:
        part = replace(part, children=tuple(map(strip_notes, part.children)))
    return _without_notes(part)


def _strip_network(execution: NetworkExecution) -> NetworkExecution:
    result = execution.final_result
    if result is not None:
        inner = tuple(map(strip_notes, result.messages))
        calls = tuple(map(_strip_part, result.tool_calls))
        result = replace(_without_notes(result), messages=inner, tool_calls=calls)
    return replace(_without_notes(execution), final_result=result)


def _without_notes(value: ValueT) -> ValueT:
    changes: dict[str, Any] = {}
    if value.extra and any(name.startswith(NOTE_PREFIX) for name in value.extra):
        left = {name: one for name, one in value.extra.items() if not name.startswith(NOTE_PREFIX)}
        changes["extra"] = Extra(left) if left else None
    field = metadata_field(value)
    metadata = getattr(value, field, None)
    if metadata and NAME in metadata:
        changes[field] = without_notes(metadata, NAME)
    return replace(value, **changes) if changes else value
